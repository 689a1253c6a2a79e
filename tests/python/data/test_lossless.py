"""Values keep what they are: other encodings of the same values are read, and whatever would lose some is refused."""

import re

import numpy as np
import pytest
from stored_games import described, played_table

import starmine
from starmine.data import Dataset, verify
from starmine.data.schema import write_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MINI = starmine.variant("mini")
GAMES = starmine.play_games(["iggi"] * 2, 40, seed=1, variant=MINI)

# --- Files ------------------------------------------------------------------------------------------------


def stored(tmp_path, change, name="games.parquet"):
    """Games of another writer."""
    table = played_table(40, seed=3, search_values=True)
    arrow = change(write_table(table, described(table)))
    pq.write_table(arrow, tmp_path / name)
    return table, tmp_path / name


def encoded(name, kind):
    def change(arrow):
        place = arrow.schema.get_field_index(name)
        column = arrow.column(name)
        column = column.dictionary_encode() if kind == "dictionary" else column.cast(kind)
        return arrow.set_column(place, pa.field(name, column.type), column)

    return change


ENCODINGS = [
    *((name, pa.int64()) for name in ("game", "first_player", "length", "score", "fireworks", "ending")),
    *((name, "dictionary") for name in ("game", "first_player", "length", "score", "ending", "deck", "actions")),
    *((name, pa.large_binary()) for name in ("deck", "actions")),
    ("deck", pa.binary()),
    ("players", pa.large_list(pa.int64())),
    ("players", pa.list_(pa.int32(), 2)),
    ("search_values", pa.large_list(pa.float64())),
]


@pytest.mark.parametrize(("name", "kind"), ENCODINGS, ids=str)
def test_the_same_values_in_another_encoding_are_read_filtered_and_verified(tmp_path, name, kind):
    table, path = stored(tmp_path, encoded(name, kind))
    data = Dataset(path)
    assert data[:] == table
    assert data.turns == len(table.actions)
    kept = data.filter(min_score=int(table.scores.min()) + 1, ending=starmine.endings(), players=data.roster[0].name)
    assert len(kept) <= 40
    assert (
        len(data.filter(min_score=int(table.scores[3]), max_score=int(table.scores[3])))
        == (table.scores == table.scores[3]).sum()
    )
    assert data.table([name]).column(name).type == write_table(table, described(table)).column(name).type
    found = verify(path)
    assert found.holds, found


def test_files_of_different_encodings_are_one_table(tmp_path):
    stored(tmp_path, encoded("score", pa.int64()), "1.parquet")
    stored(tmp_path, encoded("actions", pa.large_binary()), "2.parquet")
    assert len(Dataset(tmp_path).table()) == 80
    assert len(Dataset(tmp_path).filter(min_score=0)) == 80


REFUSED = [
    ("score", lambda column: pa.array([str(value) for value in column.to_pylist()]), "column score has type string"),
    ("score", lambda column: column.cast(pa.float64()), "column score has type double: expected uint8"),
    ("score", lambda column: pa.array([None, *column.to_pylist()[1:]], pa.uint8()), "column score has missing values"),
    ("ending", lambda column: pa.array([300] * len(column)), "column ending has type int64: expected uint8"),
    ("players", lambda column: column.cast(pa.list_(pa.float32())), "column players has type list"),
]


@pytest.mark.parametrize(("name", "change", "message"), REFUSED)
def test_other_values_are_named_wherever_a_file_is_read(tmp_path, name, change, message):
    def replaced(arrow):
        column = change(arrow.column(name))
        return arrow.set_column(arrow.schema.get_field_index(name), pa.field(name, column.type), column)

    _, path = stored(tmp_path, replaced)
    data, message = Dataset(path), re.escape(str(path)) + ": " + message
    conditions = {
        "score": {"min_score": 3},
        "ending": {"ending": "perfect"},
        "players": {"seats": [None, data.roster[0].name]},
    }
    calls = [lambda: data[:], lambda: data.filter(**conditions[name]), lambda: data.table([name])]
    for call in calls:
        with pytest.raises(starmine.StarmineError):
            call()
    assert re.search(message.partition(": ")[2], str(verify(path)))


# --- Numbers ----------------------------------------------------------------------------------------------


def test_masked_indices_and_lengths_are_refused(tmp_path):
    _, path = stored(tmp_path, lambda arrow: arrow)
    with pytest.raises(IndexError):
        Dataset(path)[np.ma.array([0, 1], mask=[True, False])]
