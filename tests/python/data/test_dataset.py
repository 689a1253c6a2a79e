"""A data set gives the games of its files, their columns, and the rows that a batch would show."""

import dataclasses
import pickle
import random
import shutil

import numpy as np
import pytest
from random_variants import random_variant
from stored_games import described, played_table, store

import starmine
from starmine import StarmineError
from starmine._util.durable import DamagedFileError
from starmine.data import generate, read_games
from starmine.data.dataset import Dataset
from starmine.data.prefetch import ahead
from starmine.data.schema import read_table, schema, shard_name, write_table
from starmine.games import Games, RosterPlayer

pq = pytest.importorskip("pyarrow.parquet")

ALL = ("obs", "action_mask", "action", "current_player", "reward", "return_to_go", "game", "turn")


def folder_of(path, table, shards=3, rows=8):
    """A folder of shards with small row groups."""
    path.mkdir(exist_ok=True)
    size = -(-len(table) // shards)
    for shard in range(shards):
        part = table[shard * size : (shard + 1) * size]
        pq.write_table(write_table(part, described(table, shard=shard)), path / shard_name(shard), row_group_size=rows)
    return path


@pytest.fixture(scope="module")
def table():
    return played_table(60, seed=5, search_values=True)


@pytest.fixture
def folder(tmp_path, table):
    return folder_of(tmp_path / "games", table)


def test_a_folder_is_its_shards_in_order(folder, table):
    data = Dataset(folder)
    assert len(data) == 60
    assert data.variant == table.variant
    assert data.turns == len(table.actions)
    assert [metadata.shard for metadata in data.metadata] == [0, 1, 2]
    assert [player.name for player in data.roster] == ["player 0", "player 1"]
    assert [group.games for group in data.row_groups()] == [8, 8, 4] * 3
    assert Games.concatenate(list(data.tables())) == table
    assert data[:] == table


def test_one_file_and_several_are_data_sets(folder, table):
    assert Dataset(folder / shard_name(1))[:] == table[20:40]
    files = [folder / shard_name(2), str(folder / shard_name(0))]
    assert Dataset(files)[:] == table[[*range(40, 60), *range(20)]]


def test_games_are_chosen_as_numpy_chooses(folder, table):
    data = Dataset(folder)
    for chosen in (slice(5, 40, 3), [59, 0, 0, 33], np.arange(60) % 7 == 1, slice(0, 0)):
        assert data[chosen] == table[chosen]
    game = data[-1]
    assert game == table[59]
    assert data.state(59, 3).history == game.state(0, 3).history == table.state(59, 3).history
    assert [game.roster[row].name for row in game.players[0]] == ["player 1", "player 0"]


def test_a_data_set_has_the_columns_and_means_of_its_games(folder, table):
    data = Dataset(folder)
    for name in ("scores", "fireworks", "endings", "lengths", "players", "number", "failures"):
        found, expected = getattr(data, name), getattr(table, name)
        assert found is expected or (found.dtype == expected.dtype and np.array_equal(found, expected)), name
    assert (data.mean, data.standard_error, data.summary()) == (table.mean, table.standard_error, table.summary())
    assert data.share("lost") == table.share("lost")
    assert data[data.scores == table.scores.max()] == table[table.scores == table.scores.max()]


@pytest.mark.parametrize("games", [60, [3, -61], [0.5], np.ones(59, bool)], ids=str)
def test_games_that_are_not_there_are_refused(games, folder, table):
    for held in (Dataset(folder), table):
        with pytest.raises(IndexError):
            held[games]


def test_columns_of_no_games_have_their_dtypes(folder, table):
    none = Dataset(folder).filter(min_score=26)
    for name in ("scores", "fireworks", "endings", "lengths", "players", "number"):
        assert getattr(none, name).dtype == getattr(table, name).dtype
        assert getattr(none, name).shape == getattr(table[:0], name).shape


def test_games_come_one_by_one(folder, table):
    assert [int(game.number[0]) for game in Dataset(folder)] == list(range(60))
    assert [int(game.lengths[0]) for game in Dataset(folder)] == table.lengths.tolist()


def test_a_data_set_can_be_pickled(folder, table):
    data = Dataset(folder).select(range(3, 9))
    data[2]  # whose row group stays in memory, and is not pickled
    assert len(pickle.dumps(data)) < 10_000
    data = pickle.loads(pickle.dumps(data))
    assert data[:] == table[3:9]


# --- Views -------------------------------------------------------------------------------------------------


def test_filters_keep_the_games_that_meet_all_conditions(folder, table):
    code = starmine.endings().index("lost") + 1
    scores, seats = table.fireworks, table.players
    table = dataclasses.replace(table, scores=table.fireworks)
    data = Dataset(folder_of(folder, table))
    middle, some = int(np.median(scores)), np.isin(np.arange(60), range(50, 10, -2))
    for view, mask in [
        (data.filter(min_score=middle), scores >= middle),
        (data.filter(max_score=middle), scores <= middle),
        (data.filter(min_score=middle, max_score=middle), scores == middle),
        (data.filter(min_score=middle + 1, max_score=middle), scores < 0),
        (data.filter(min_score=-1, max_score=10**30), scores >= 0),
        (data.filter(ending="lost"), table.endings == code),
        (data.filter(ending=["perfect", "deck_exhausted"]), np.isin(table.endings, [2, 4])),
        (data.filter(seats=["player 1", None]), seats[:, 0] == 1),
        (data.filter(players=["player 0"]), (seats == 0).all(axis=1)),
        (data.filter(players=["player 0", "player 1"], min_score=1), scores >= 1),
        (data.filter(min_score=1).filter(seats=[None, "player 0"]), (scores >= 1) & (seats[:, 1] == 0)),
        (
            data.select(range(50, 10, -2)).filter(min_score=middle),
            (scores >= middle) & some,
        ),
    ]:
        assert view[:] == table[mask]
        assert len(view) == mask.sum()
        assert view.turns == table.lengths[mask].sum()
        assert view.table(["score"]).column("score").to_pylist() == scores[mask].tolist()
        assert view.number.tolist() == np.flatnonzero(mask).tolist()
    assert len(data) == 60
    assert not data.filter(min_score=25)
    assert list(data.filter(min_score=25).replay()) == []


def test_a_selection_is_in_the_order_of_the_data_set(folder, table):
    data = Dataset(folder)
    assert data.select([40, 3, 17])[:] == table[[3, 17, 40]]
    assert data.select(slice(10, 30)).select(np.arange(20) % 2 == 0)[:] == table[10:30:2]
    with pytest.raises(starmine.StarmineError):
        data.select([1, 1])


def test_players_tables_of_files_are_merged(tmp_path):
    first, second = played_table(4), played_table(4, first=4)
    for number, (part, names) in enumerate(((first, "ab"), (second, "bc"))):
        part = dataclasses.replace(part, roster=tuple(map(RosterPlayer, names)))
        pq.write_table(write_table(part, described(part)), tmp_path / shard_name(number))
    data = Dataset(tmp_path)
    assert [player.name for player in data.roster] == ["a", "b", "c"]
    assert data[:].players.tolist() == [*first.players.tolist(), *(second.players + 1).tolist()]
    assert data.table(["players"]).column("players").to_pylist() == data[:].players.tolist()
    assert data.filter(seats=["c", None]).number.tolist() == [5, 7]


def test_more_players_than_a_column_can_number_are_refused(tmp_path):
    for number in range(2):
        part = played_table(4, first=4 * number)
        part = dataclasses.replace(part, roster=tuple(RosterPlayer(f"{number} {player}") for player in range(20_000)))
        pq.write_table(write_table(part, described(part)), tmp_path / shard_name(number))
        assert len(Dataset(tmp_path / shard_name(number)).roster) == 20_000
    with pytest.raises(starmine.StarmineError):
        Dataset(tmp_path)


# --- Columns and rows ----------------------------------------------------------------------------------------


def test_columns_are_those_of_the_files(folder, table):
    data = Dataset(folder)
    assert data.table().schema.names == schema(table.variant, ["search_values"]).names
    assert read_table(data.table(), described(table)) == table
    assert data.table(["length", "score"]).column("length").to_pylist() == table.lengths.tolist()


def sorted_rows(pieces):
    """The rows of all pieces by game and turn."""
    rows = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    order = np.lexsort((rows["turn"], rows["game"]))
    return {name: array[order] for name, array in rows.items()}


@pytest.mark.parametrize("seed", range(5))
def test_a_replay_gives_the_rows_of_every_turn(seed, tmp_path):
    rng = random.Random(seed)
    variant, observers = random_variant(rng), rng.choice(["current", "all"])
    encoder, dtype = rng.choice(starmine.encoders()), rng.choice(["float32", "float16", "uint8", "bits"])
    table = played_table(30, variant, seed, search_values=True)
    data, settings = Dataset(folder_of(tmp_path, table)), {"encoder": encoder, "dtype": dtype, "observers": observers}
    outputs = (*ALL, "score", "terminated", "number", "player")
    pieces = list(data.replay(batch_size=37, **settings, outputs=outputs))
    assert all(
        1 <= len(piece["game"]) <= 37 and {len(array) for array in piece.values()} == {len(piece["game"])}
        for piece in pieces
    )
    rows, played = sorted_rows(pieces), table
    expected = played.replay(("obs", "action_mask", "current_player", "reward", "score", "terminated"), **settings)
    for name, array in expected.items():
        assert rows[name].dtype == array.dtype
        assert (rows[name] == array).all()
    game = np.repeat(np.arange(30), played.lengths)
    assert (rows["action"] == played.actions).all()
    assert (rows["game"] == game).all()
    assert (rows["number"] == table.number[game].astype(np.int64)).all()
    assert (rows["player"] == table.players[game, rows["current_player"]]).all()
    for index, (first, stop) in enumerate(zip(played.offsets[:-1], played.offsets[1:], strict=True)):
        assert (rows["turn"][first:stop] == np.arange(stop - first)).all()
        rewards = rows["reward"][first:stop]
        assert (rows["return_to_go"][first:stop] == np.cumsum(rewards[::-1])[::-1]).all()
        assert rewards.sum() == table.scores[index]


def test_a_replay_has_the_named_outputs_in_their_dtypes(folder):
    rows = next(iter(Dataset(folder).replay()))
    kinds = {name: str(array.dtype) for name, array in rows.items()}
    assert tuple(kinds) == ALL
    assert kinds == {
        "obs": "float32",
        "action_mask": "bool",
        "action": "int64",
        "current_player": "int32",
        "reward": "float32",
        "return_to_go": "float32",
        "game": "int64",
        "turn": "int32",
    }


def test_a_view_is_replayed_by_its_own_indices(folder, table):
    view = Dataset(folder).select([7, 30, 55])
    rows = sorted_rows(list(view.replay(dtype="bits", outputs=(*ALL, "number"))))
    assert (rows["action"] == table[[7, 30, 55]].actions).all()
    assert np.unique(rows["game"]).tolist() == [0, 1, 2]
    assert rows["number"].dtype == np.int64
    assert np.unique(rows["number"]).tolist() == view.number.tolist() == [7, 30, 55]


def test_a_row_group_is_read_with_its_optional_columns_or_without_all_of_them(tmp_path):
    table = dataclasses.replace(played_table(3, search_values=True), names=np.array(["a", "b", "c"], np.object_))
    data = Dataset(store(tmp_path / "games.parquet", table))
    (whole,), plain = data.tables(), data.read(0, optional=False)
    assert whole == table
    assert plain == dataclasses.replace(table, search_values=None, names=None)
    assert next(data.tables(optional=False)) == plain


# --- Files that cannot be read -------------------------------------------------------------------------------


def test_other_files_of_a_folder_are_ignored(folder, table):
    for name in ("shard-000003.parquet.part", "manifest.json", ".lock", ".hidden.parquet", "notes.txt"):
        (folder / name).write_bytes(b"not games")
    assert Dataset(folder)[:] == table


def test_games_of_different_rules_are_refused(folder):
    store(folder / shard_name(3), played_table(2, starmine.Variant(players=3)))
    with pytest.raises(starmine.StarmineError):
        Dataset(folder)


def test_a_file_of_another_format_is_refused(folder, table):
    metadata = dataclasses.replace(described(table), format=9)
    pq.write_table(write_table(table, metadata), folder / shard_name(3))
    with pytest.raises(starmine.StarmineError):
        Dataset(folder)


@pytest.mark.parametrize("kept", [0, 3, 100, -1, -9])
def test_a_truncated_file_is_named(folder, kept):
    path = folder / shard_name(1)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DamagedFileError):
        Dataset(folder)


def test_a_changed_byte_is_found(tmp_path, table):
    path = store(tmp_path / shard_name(0), table)
    whole, data = path.read_bytes(), Dataset(path)
    column = pq.ParquetFile(path).metadata.row_group(0).column(4)
    start = column.data_page_offset
    for place in range(start + 300, start + column.total_compressed_size, 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        with pytest.raises(DamagedFileError):
            data.read(0)


def test_a_file_that_was_replaced_or_removed_is_named(folder):
    data = Dataset(folder)
    shutil.copy(folder / shard_name(0), folder / "copy")
    store(folder / shard_name(0), played_table(3))
    with pytest.raises(DamagedFileError):
        data.read(0)
    (folder / shard_name(1)).unlink()
    with pytest.raises(FileNotFoundError):
        list(data.select(slice(20, 40)).replay())


def test_a_file_that_was_replaced_by_one_with_as_many_games_is_named(tmp_path):
    """Its games would have the names of other players."""
    for name, players in (("a", ["iggi", "piers"]), ("b", ["piers", "iggi"])):
        generate(players, 20, tmp_path / name, "mini", num_threads=1)
    data = Dataset(tmp_path / "a")
    (tmp_path / "b" / shard_name(0)).replace(tmp_path / "a" / shard_name(0))
    for call in (lambda: data[3], lambda: data.filter(min_score=5), lambda: list(data.replay())):
        with pytest.raises(DamagedFileError):
            call()


def test_a_file_without_a_checksum_that_was_replaced_is_named(tmp_path):
    """It is known by its inode, size and time: another program's file of the same players says the same of itself."""
    path, other = tmp_path / "games.parquet", tmp_path / "other.parquet"
    for file, seed in ((path, 1), (other, 2)):
        table = played_table(5, seed=seed)
        pq.write_table(write_table(table, described(table)), file)
    data = Dataset(path)
    assert data.read(0) == data.read(0)
    other.replace(path)
    for call in (
        lambda: data[3],
        lambda: data.filter(min_score=5),
        lambda: list(data.replay()),
        lambda: pickle.loads(pickle.dumps(data)).read(0),
        lambda: data.fingerprint,
    ):
        with pytest.raises(DamagedFileError):
            call()


def test_a_file_that_is_given_twice_is_refused(folder):
    for twice in ([folder, folder], [folder / shard_name(0), folder], [folder, folder / ".." / folder.name]):
        for call in (Dataset, read_games):
            with pytest.raises(StarmineError):
                call(twice)


def test_a_game_that_breaks_the_rules_is_refused_with_its_file(tmp_path, table):
    actions = table.actions.copy()
    actions[:] = 0
    broken = dataclasses.replace(table, actions=actions)
    data = Dataset(store(tmp_path / "games.parquet", broken))
    with pytest.raises(starmine.StarmineError):
        list(data.replay())


def test_an_unlisted_player_is_refused(tmp_path, table):
    import pyarrow

    path = store(tmp_path / "games.parquet", table)
    written = pq.read_table(path)
    place = written.schema.get_field_index("players")
    column = pyarrow.array((table.players + 1).tolist(), written.schema.field(place).type)
    pq.write_table(written.set_column(place, written.schema.field(place), column), path)
    with pytest.raises(starmine.StarmineError):
        Dataset(path)[:]


# --- Reading ahead -------------------------------------------------------------------------------------------


def counted(numbers, made):
    try:
        for number in numbers:
            made.append(number)
            yield number
    finally:
        made.append("closed")


def test_a_thread_is_one_item_ahead():
    made = []
    items = ahead(counted(range(5), made))
    assert next(items) == 0
    assert list(items) == [1, 2, 3, 4]
    assert made == [0, 1, 2, 3, 4, "closed"]


def test_reading_ahead_ends_with_its_consumer():
    made = []
    items = ahead(counted(range(100), made))
    next(items)
    items.close()
    assert made == [0, 1, "closed"]


def test_an_error_while_reading_ahead_is_raised_in_its_place():
    items = ahead(1 // (2 - number) for number in range(5))
    assert [next(items), next(items)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(items)
