"""The generator of random variants for all Python tests; it fails where `starmine.Variant` has other parameters."""

import inspect
import random

from oracle_rules import COLOR_NAMES

import starmine


def random_copies(rng, colors, ranks):
    """None, or a table that often has few or many copies of every card."""
    if rng.random() < 0.5:
        return None
    counts = rng.choice([[1], [2], [1, 2], [1, 1, 1, 2, 3], [1, 2, 3], [2, 3]])
    return [[rng.choice(counts) for _ in range(ranks)] for _ in range(colors)]


def random_parameters(rng):
    """Parameters from the whole supported ranges, the extremes often; some of them are no legal variant.

    The first choice of each parameter makes a legal variant: Hypothesis shrinks to it.
    """
    colors = rng.choice([1, 2, 3, 4, 5, 5, 6, 6])
    ranks = rng.choice([1, 2, 3, 4, 5, 5, 5])
    return {
        "players": rng.randint(2, 5),
        "colors": colors,
        "ranks": ranks,
        "hand_size": rng.choice([1, 2, 3, 4, 5, 6, None]),
        "max_information_tokens": rng.choice([0, 1, 1, 2, 3, 4, 6, 8, 8, 8, 10, rng.randint(0, 16)]),
        "max_life_tokens": rng.choice([1, 2, 3, 3, rng.randint(1, 8)]),
        "copies": random_copies(rng, colors, ranks),
        **{name: rng.random() < 0.4 for name in starmine.Variant().switches},
        "lost_game_score": rng.choice(["zero", "zero", "fireworks"]),
        "edition": rng.choice(list(COLOR_NAMES)),
    }


def random_variant(rng):
    """A legal variant."""
    while True:
        try:
            return starmine.Variant(**random_parameters(rng))
        except starmine.VariantError:
            continue


def check_parameters():
    """Fails where the generator and `starmine.Variant` have different parameters."""
    drawn, known = set(random_parameters(random.Random(0))), set(inspect.signature(starmine.Variant).parameters)
    assert drawn == known, f"random_parameters and starmine.Variant differ in {', '.join(sorted(drawn ^ known))}"


check_parameters()
