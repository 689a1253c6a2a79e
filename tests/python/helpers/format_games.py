"""Games for the tests of formats."""

import numpy as np

import starmine

ARRAYS = ("decks", "start_players", "actions", "offsets")


def games_of(variant, count=12, seed=0, bot="random"):
    """Games of bots."""
    return starmine.play_games([bot] * variant.players, games=count, seed=seed, variant=variant)


def read_and_skipped(*arguments, **options):
    """What `read_games` reads, and what it leaves out."""
    skipped = []
    return starmine.data.read_games(*arguments, **options, on_skip=skipped.append), skipped


def assert_equal_games(found, expected):
    """Compares the decks and actions of two `Games` and their dtypes."""
    assert found.variant == expected.variant
    for name in ARRAYS:
        one, other = getattr(found, name), getattr(expected, name)
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other, err_msg=name)
