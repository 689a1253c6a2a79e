"""Plain numpy files: what numpy itself finds in them, and what they may hold."""

import numpy as np
import pytest
from format_games import assert_equal_games, games_of

import starmine
from starmine.data import read_games, write_games


def test_numpy_finds_the_arrays(tmp_path):
    games = games_of(starmine.variant("avalanche", players=3), count=4)
    write_games(games, tmp_path / "games.npz")
    with np.load(tmp_path / "games.npz", allow_pickle=False) as found:
        assert starmine.Variant.from_json(str(found["variant"])) == games.variant
        for name, array in games.to_dict().items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array)
        assert found["scores"].tolist() == [games.state(game).score for game in range(4)]
        assert found["names"].tolist() == ["0", "1", "2", "3"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["games.npz"]


def written(directory, **changes):
    """A file of three games with some arrays replaced; None leaves one out."""
    games = games_of(starmine.Variant(), count=3)
    arrays = {"variant": np.array(games.variant.to_json()), **games.to_dict(), **changes}
    np.savez(directory / "games.npz", **{name: array for name, array in arrays.items() if array is not None})
    return directory / "games.npz"


def test_scores_and_names_may_be_missing(tmp_path):
    found = read_games(written(tmp_path))
    assert found.recorded_scores.tolist() == [-1] * 3
    assert_equal_games(found.trajectories, games_of(starmine.Variant(), count=3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variant": None}, "it has no array 'variant'"),
        ({"variant": np.array("standard")}, "games.npz: "),
        ({"variant": np.array(starmine.variant("mini").to_json())}, "'decks' has 50 columns: expected 18"),
        ({"decks": None}, "'decks' is missing: expected uint8 with 2 axes"),
        ({"decks": np.zeros((3, 50))}, r"'decks' is float64 \(3, 50\): expected uint8"),
        ({"decks": np.full((3, 50), 25, np.uint8)}, r"deck\[0\]=25 is not a card of this variant: expected 0 to 24"),
        ({"decks": np.zeros((3, 50), np.uint8)}, "3 of 3 games do not hold"),
        ({"start_players": np.zeros(2, np.uint8)}, "'start_players' has 2 games: expected 3, as 'decks'"),
        ({"start_players": np.full(3, 2, np.uint8)}, "3 of 3 games do not hold"),
        ({"offsets": np.array([0, 1, 2, 3])}, r"'offsets' does not divide \d+ actions among 3 games"),
        ({"offsets": np.array([0, 3])}, "'offsets' does not divide"),
        ({"actions": np.zeros(5, np.uint8), "offsets": np.array([0, 4, 3, 5])}, "'offsets' does not divide"),
        ({"actions": np.zeros((5, 1), np.uint8)}, "'actions' is uint8"),
        ({"scores": np.array(["a", "b", "c"])}, "'scores' is <U1"),
        ({"scores": np.array([1, 2])}, "'scores' has 2 games"),
        ({"scores": np.array([-2, 99, 2**60])}, "game 2: its recorded score is 1152921504606846976: the rules give"),
        ({"names": np.array(7)}, "'names' is int64"),
        ({"names": np.array([None] * 3)}, "it is no .npz file without pickled objects"),
    ],
    ids=str,
)
def test_what_does_not_belong_together_is_refused(changes, message, tmp_path):
    with pytest.raises(starmine.StarmineError, match=message):
        read_games(written(tmp_path, **changes))


def test_other_rules_are_refused(tmp_path):
    with pytest.raises(starmine.StarmineError, match=r"variant=.* is not allowed: the file has Variant\(players=2\)"):
        read_games(written(tmp_path), variant=starmine.Variant(players=3))
