"""Values keep what they are: other encodings of the same values are read, and whatever would lose some is refused."""

import re

import numpy as np
import pytest
from stored_games import described, played_table, same_games

import starmine
from starmine.data import Dataset, replay_batch, verify
from starmine.data.schema import write_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MINI = starmine.variant("mini")
GAMES = starmine.play_games(["iggi"] * 2, 40, seed=1, variant=MINI, record=True).trajectories
OUTPUTS = ["obs", "action", "game", "turn"]


def columns():
    """Columns of games as lists; some games end with the action 0, as a file's bytes end with a zero."""
    bounds = zip(GAMES.offsets[:-1].tolist(), GAMES.offsets[1:].tolist(), strict=True)
    actions = [GAMES.actions[first:stop].tobytes() for first, stop in bounds]
    assert any(played.endswith(b"\0") for played in actions)
    assert any(deck.tobytes().endswith(b"\0") for deck in GAMES.decks)
    return {
        "deck": [deck.tobytes() for deck in GAMES.decks],
        "actions": actions,
        "first_player": GAMES.start_players.tolist(),
        "score": [GAMES.state(game).score for game in range(len(GAMES))],
    }


def rows_of(batch):
    return replay_batch(batch, MINI, outputs=OUTPUTS)


def same_rows(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def of_objects(values):
    made = np.empty(len(values), object)
    made[:] = values
    return made


HOLDERS = {
    "tuples": tuple,
    "arrays of objects": of_objects,
    "Arrow": pa.array,
    "chunks": lambda values: pa.chunked_array([values[:7], values[7:]]),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_games_that_end_with_a_zero_are_whole_however_they_are_held(holder):
    expected = GAMES.replay(["obs"], dtype="bits")["obs"]
    rows = rows_of(columns())
    assert np.array_equal(rows["obs"], expected)
    assert np.array_equal(rows["action"], GAMES.actions)
    assert same_rows(rows_of({name: HOLDERS[holder](values) for name, values in columns().items()}), rows)


@pytest.mark.parametrize("name", ["deck", "actions"])
def test_bytes_in_which_numpy_has_dropped_zeros_are_refused(name):
    batch = columns() | {name: np.array(columns()[name])}
    with pytest.raises(starmine.StarmineError, match=f"column {name} is an array of dtype .S.*drops zeros at the end"):
        rows_of(batch)


def changed(name, change):
    return columns() | {name: change(columns()[name])}


LOSSY = {
    "floats": ("score", lambda values: [value + 0.5 for value in values], "column score has type double"),
    "whole floats": ("score", lambda values: np.array(values, float), "column score has type double"),
    "negative": ("score", lambda values: [-1, *values[1:]], "column score has type int64"),
    "large": ("first_player", lambda values: np.array(values) + 256, "column first_player has type int64"),
    "bools": ("first_player", lambda values: np.array(values) == 1, "column first_player has type bool"),
    "digits": ("score", lambda values: list(map(str, values)), "column score has type string"),
    "text": ("actions", lambda values: ["abc"] * len(values), "column actions has type string"),
    "lists": ("actions", lambda values: [list(value) for value in values], "column actions has type list"),
    "matrix": ("deck", lambda values: GAMES.decks, "column deck has type list"),
    "mixture": ("score", lambda values: ["a", 1, *values[2:]], "column score is not allowed"),
    "masked": ("score", lambda values: np.ma.array(values, mask=[True] + [False] * 39), "score is a masked array"),
    "missing": ("score", lambda values: [None, *values[1:]], "column score has missing values"),
    "shorter": ("score", lambda values: values[1:], "the columns have different lengths"),
    "one number": ("score", lambda values: 3, "column score is not allowed|different lengths"),
    "complex": ("score", lambda values: np.array(values, complex), "column score is not allowed"),
}


@pytest.mark.parametrize("name", LOSSY)
def test_what_would_be_changed_is_refused(name):
    column, change, message = LOSSY[name]
    with pytest.raises(starmine.StarmineError, match=message):
        rows_of(changed(column, change))


@pytest.mark.parametrize("number", [2**63, -1, 0.5])
def test_the_number_of_a_game_is_not_wrapped(number):
    batch = columns() | {"game": np.array([number] * 40)}
    with pytest.raises(starmine.StarmineError, match=r"number=9223372036854775808 is not allowed|column game has type"):
        replay_batch(batch, MINI, outputs=["number"])


# --- Files ------------------------------------------------------------------------------------------------


def stored(tmp_path, change, name="games.parquet"):
    """Games of another writer."""
    table = played_table(40, seed=3, log_prob=True)
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
    ("log_prob", pa.large_list(pa.float64())),
]


@pytest.mark.parametrize(("name", "kind"), ENCODINGS, ids=str)
def test_the_same_values_in_another_encoding_are_read_filtered_and_verified(tmp_path, name, kind):
    table, path = stored(tmp_path, encoded(name, kind))
    data = Dataset(path)
    assert same_games(data[:], table)
    assert data.turns == len(table.trajectories.actions)
    kept = data.filter(
        min_score=int(table.scores.min()) + 1, ending=starmine.endings(), players=data.players[0]["name"]
    )
    assert len(kept) <= 40
    assert len(data.filter(score=int(table.scores[3]))) == (table.scores == table.scores[3]).sum()
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
        "score": {"score": 3},
        "ending": {"ending": "perfect"},
        "players": {"seats": [None, data.players[0]["name"]]},
    }
    calls = [lambda: data[:], lambda: data.filter(**conditions[name]), lambda: data.table([name])]
    for call in calls:
        with pytest.raises(starmine.StarmineError, match=message):
            call()
    assert re.search(message.partition(": ")[2], str(verify(path)))


@pytest.mark.parametrize(
    ("wrong", "expected"), [("scores", "score"), ("min_scor", "min_score"), ("endings", "ending"), ("seat", "seats")]
)
def test_a_condition_that_does_not_exist_is_refused_with_the_nearest(tmp_path, wrong, expected):
    _, path = stored(tmp_path, lambda arrow: arrow)
    with pytest.raises(TypeError, match=f"{wrong}.*did you mean .?{expected}"):
        Dataset(path).filter(**{wrong: 3})


# --- Numbers ----------------------------------------------------------------------------------------------


def test_masked_indices_and_lengths_are_refused(tmp_path):
    _, path = stored(tmp_path, lambda arrow: arrow)
    with pytest.raises(IndexError, match="games is a masked array"):
        Dataset(path)[np.ma.array([0, 1], mask=[True, False])]
    lengths = np.ma.array(GAMES.lengths, mask=GAMES.lengths < 0)
    with pytest.raises(starmine.ArrayError, match="lengths is a masked array"):
        starmine.replay(GAMES.decks, GAMES.actions, lengths, MINI)


def test_lengths_that_wrap_around_are_refused():
    lengths = np.array([2**63, 2**63], np.uint64)
    assert lengths.sum() == 0
    with pytest.raises(starmine.ArrayError, match="expected numbers from 0 that add up to 0"):
        starmine.replay(GAMES.decks[:2], GAMES.actions[:0], lengths, MINI)
