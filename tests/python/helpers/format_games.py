"""Games for the tests of formats."""

import numpy as np

import starmine
from starmine.data.formats.records import ReadGames, check

ARRAYS = ("decks", "start_players", "actions", "offsets")


def games_of(variant, count=12, seed=0, bot="random"):
    """Recorded games of bots."""
    return starmine.play_games(
        [bot] * variant.players, games=count, seed=seed, variant=variant, record=True
    ).trajectories


def imported(trajectories):
    """The same games as a reader gives them."""
    return check(ReadGames.of(trajectories), "raise", "the games")


def assert_equal_games(found, expected):
    """Compares the arrays of two `Trajectories` and their dtypes."""
    assert found.variant == expected.variant
    for name in ARRAYS:
        one, other = getattr(found, name), getattr(expected, name)
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other, err_msg=name)
