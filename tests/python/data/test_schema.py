"""What is written into a table of games is read back, and has one checksum however it is stored."""

import dataclasses
import json
import random

import numpy as np
import pytest
from random_variants import random_variant
from stored_games import described, played_table, store

import starmine
from starmine._util.durable import DamagedFileError
from starmine.data import Dataset, checksum_of, verify
from starmine.data.metadata import Metadata
from starmine.data.schema import read_table, write_table
from starmine.games import Games, RosterPlayer
from starmine.games.roster import UNKNOWN

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize("seed", range(8))
def test_games_are_read_as_they_were_written(seed, tmp_path):
    rng = random.Random(seed)
    table = played_table(rng.choice([1, 7, 40]), random_variant(rng), seed, first=5, search_values=rng.random() < 0.5)
    written = write_table(table, described(table, seed=seed))
    assert read_table(written, described(table)) == table
    pq.write_table(written, tmp_path / "games.parquet", row_group_size=rng.choice([3, 100]))
    assert read_table(pq.read_table(tmp_path / "games.parquet"), described(table)) == table


def test_the_columns_are_those_of_the_schema(tmp_path):
    path = store(tmp_path / "games.parquet", played_table(3))
    kinds = {field.name: str(field.type) for field in pq.read_schema(path)}
    assert kinds == {
        "game": "uint64",
        "seed": "uint64",
        "index": "uint64",
        "episode": "uint64",
        "deck": "fixed_size_binary[50]",
        "first_player": "uint8",
        "actions": "binary",
        "length": "uint16",
        "score": "uint8",
        "fireworks": "uint8",
        "ending": "uint8",
        "players": "list<element: int16 not null>",
    }
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"


def test_games_that_were_not_dealt_here_have_no_deal():
    table = dataclasses.replace(played_table(9), seed=None, index=None, episode=None)
    back = read_table(write_table(table, described(table)), described(table))
    assert back.seed is None
    assert back.index is None
    assert back == table


@pytest.mark.parametrize("games", [0, 1])
def test_few_games(games):
    table = played_table(1, search_values=True)[:games]
    back = read_table(write_table(table, described(table)), described(table))
    assert len(back) == games
    assert back == table


def test_a_part_of_a_table_is_read():
    table = played_table(40, search_values=True)
    written = write_table(table, described(table))
    assert read_table(written.slice(7, 20), described(table)) == table[7:27]
    assert read_table(written.to_batches()[0].slice(3), described(table)) == table[3:]
    joined = pa.concat_tables([written.slice(30), written.slice(0, 5)])
    assert read_table(joined, described(table)) == table[[*range(30, 40), *range(5)]]


def test_columns_of_wider_types_are_read():
    table = played_table(12)
    written = write_table(table, described(table))
    wide = {"actions": pa.large_binary(), "players": pa.large_list(pa.int64()), "length": pa.int64()}
    fields = [pa.field(field.name, wide.get(field.name, field.type)) for field in written.schema]
    assert read_table(written.cast(pa.schema(fields)), described(table)) == table


def test_a_table_is_taken_apart_and_joined():
    table = played_table(30, search_values=True)
    mask = np.arange(30) % 3 == 0
    assert table[mask] == table[np.flatnonzero(mask)]
    assert Games.concatenate([table[:11], table[11:]]) == table
    assert table[4].state(0, 3).history == table.state(4, 3).history
    with pytest.raises(starmine.StarmineError):
        Games.concatenate([table, played_table(2, starmine.Variant(players=3))])


def test_a_column_of_another_shape_is_refused():
    table = played_table(3)
    with pytest.raises(starmine.ArrayError):
        dataclasses.replace(table, players=table.players[:, :1])


# --- Checksums ---------------------------------------------------------------------------------------------


def test_the_checksum_does_not_depend_on_the_files_layout(tmp_path):
    table = played_table(60, search_values=True)
    expected = checksum_of(table)
    for rows, compression in [(7, "zstd"), (60, "none"), (13, "snappy")]:
        path = tmp_path / f"{rows}.parquet"
        pq.write_table(write_table(table, described(table)), path, row_group_size=rows, compression=compression)
        file = pq.ParquetFile(path)
        pieces = (read_table(file.read_row_group(group), described(table)) for group in range(file.num_row_groups))
        assert checksum_of(pieces) == expected
        assert checksum_of(read_table(pq.read_table(path), described(table))) == expected


def test_texts_that_are_not_unicode_have_the_checksum_of_what_is_stored(tmp_path):
    """A name in JSON, or a message of an exception, may hold half a surrogate pair."""
    table = dataclasses.replace(played_table(2), names=np.array(["a", "\ud800"], np.object_))
    path = store(tmp_path / "games.parquet", table)
    assert verify(path).holds
    assert list(Dataset(path)[:].names) == ["a", "?"]
    assert checksum_of(Dataset(path)[:]) == checksum_of(table)


def test_the_checksum_depends_on_every_column():
    table = played_table(5, search_values=True)
    hashes = {checksum_of(table), checksum_of(table[::-1]), checksum_of(table[:4])}
    names = ("number", "seed", "index", "episode", "scores", "fireworks", "endings", "search_values")
    for name in names:
        hashes.add(checksum_of(dataclasses.replace(table, **{name: getattr(table, name) + 1})))
    for name in ("decks", "actions", "start_players"):
        hashes.add(checksum_of(dataclasses.replace(table, **{name: getattr(table, name) ^ 1})))
    hashes.add(checksum_of(dataclasses.replace(table, offsets=table.offsets + np.array([0, 1, 0, 0, 0, 0]))))
    hashes.add(checksum_of(dataclasses.replace(table, seed=None)))
    hashes.add(checksum_of(dataclasses.replace(table, players=table.players[:, ::-1])))
    assert len(hashes) == 3 + len(names) + 3 + 3


def test_the_checksum_of_known_games_is_known():
    variant, numbers = starmine.Variant(), np.arange(6, dtype=np.uint8)
    offsets = np.array([0, 1, 3, 6])
    decks = np.tile(np.arange(50, dtype=np.uint8) // 2, (3, 1))
    deal = dict.fromkeys(("number", "seed", "index", "episode"), numbers[:3].astype(np.uint64))
    players = np.ones((3, 2), np.int16)
    table = Games(variant, decks, numbers[:3], numbers, offsets, *[numbers[3:]] * 3, players, UNKNOWN * 2, **deal)
    assert checksum_of(table) == "3a085b22730a2e351d3a70c45d7d727376502b172cc7c3e3295cf7db4508bd50"


# --- Metadata ----------------------------------------------------------------------------------------------


def test_metadata_are_read_as_they_were_written():
    variant = starmine.variant("avalanche", players=3)
    roster = (RosterPlayer("smart"), RosterPlayer("ippo-3p", "ab" * 32, "policy: " + "ab" * 32))
    metadata = Metadata(variant, roster, 7, 2, 10, "0.1", extra={"epsilon": 0.25})
    assert Metadata.from_json(metadata.to_json()) == metadata
    assert json.loads(metadata.to_json())["variant"]["players"] == 3


def test_every_changed_character_of_metadata_is_damage_or_changes_nothing():
    extra = {10: {"b": 0.1, "a": [1e300]}, 9: 1}  # JSON sorts numbers and texts in other orders
    metadata = Metadata(starmine.variant("mini"), (RosterPlayer("smart"),), 3, 0, 1, extra=extra)
    text = metadata.to_json().encode()
    for place in range(len(text)):
        changed = bytearray(text)
        changed[place] ^= 1
        try:
            found = Metadata.from_json(bytes(changed))
        except DamagedFileError:
            continue
        assert found == Metadata.from_json(text), (place, bytes(changed[place - 20 : place + 20]))


def test_metadata_of_other_games_are_refused():
    table = played_table(2)
    for metadata in (Metadata(starmine.Variant(players=3), table.roster), Metadata(table.variant, table.roster[:1])):
        with pytest.raises(starmine.StarmineError):
            write_table(table, metadata)
