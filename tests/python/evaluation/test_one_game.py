"""One game, and one game of each pairing, give numbers without nan: a single value has no standard error."""

import json

import numpy as np
import pytest

import starmine
from starmine.games.scores import mean_and_error, with_error


def numbers(value):
    """Every number in dictionaries and lists."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, float) else []


def test_the_error_of_a_single_value_is_none():
    assert mean_and_error(np.array([7])) == (7.0, None)
    assert mean_and_error(np.array([7, 9])) == (8.0, 1.0)
    assert with_error(7, None, 2) == "7.00"
    assert with_error(8, 1.0, 3) == "8.000 ± 1.000"


def test_one_game_among_bots():
    games = starmine.play_games(["simple", "simple"], games=1, seed=0)
    assert repr(games) == f"<1 game: mean score {games.scores[0]}.000>"
    assert sum(games.share(ending) for ending in starmine.endings()) == 1


@pytest.mark.parametrize("players", [2, 3])
def test_one_game_of_each_pairing(players, tmp_path):
    found = starmine.evaluate(["simple", "random"], games=1, variant=starmine.Variant(players=players), output=tmp_path)
    pairing = found.pairing("simple", "random")
    assert (pairing.standard_error, pairing.fireworks_standard_error) == (None, None)
    assert pairing.score == found.scores[0, 1] == found.as_player("simple")[0]
    assert found.as_player("simple")[1] is None
    assert found.difference(["simple", "simple"], ["random", "random"])[1] is None
    assert [seat["games"] for seat in pairing.seats] == ([] if players == 2 else [1, 0, 0])
    assert [seat["score"] for seat in pairing.seats] == ([] if players == 2 else [pairing.score, None, None])
    assert "nan" not in str(found)
    assert np.isfinite(numbers(found.to_dict())).all()
    json.dumps(found.to_dict(), allow_nan=False)
    for results in ("eval.csv", "table.csv"):
        assert "nan" not in (tmp_path / results).read_text()


def test_one_player_has_no_others():
    found = starmine.evaluate(["simple"], games=1, variant="mini")
    assert found.to_dict()["players"][0]["as_player"] is None
    json.dumps(found.to_dict(), allow_nan=False)
