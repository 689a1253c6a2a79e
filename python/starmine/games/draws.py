"""Numbers drawn by chance for a game: each is a function of the seed, the game's index and the place in the game.

No generator runs from game to game, so that any machine can draw the numbers of any game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEAT, NOISE, POLICY = 2, 3, 4  # what a number is drawn for
_MASK = 2**64 - 1
GOLDEN = np.uint64(0x9E3779B97F4A7C15)

Numbers = NDArray[np.uint64]


def draw(seed: int | Numbers, purpose: int, *places: Any) -> Numbers:
    """Numbers that are equally likely, by the finaliser of SplitMix64.

    Args:
        seed: 0 to 2**64 - 1, or a uint64 array of seeds.
        purpose: what the numbers are for; those of other purposes are independent.
        *places: the game's index, the seat, ...: uint64 arrays or integers, which are broadcast.

    Returns:
        uint64 of at least one axis.
    """
    start = np.atleast_1d(np.asarray(seed, dtype=np.uint64))
    drawn = mixed(start + np.uint64((purpose * int(GOLDEN)) & _MASK))
    for place in places:
        drawn = mixed(drawn ^ mixed(np.atleast_1d(np.asarray(place, dtype=np.uint64))))
    return drawn


def fractions(numbers: Numbers) -> NDArray[np.float64]:
    """The numbers as 53-bit fractions from 0 to below 1."""
    return (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53


def place_of(games: Numbers, episodes: Numbers) -> Numbers:
    """A place for `draw` that stands for games and their episodes, uint64 each; in episode 0 it is the game's index."""
    return games + episodes * GOLDEN


def choose(numbers: Numbers, weights: Sequence[float]) -> NDArray[np.int64]:
    """Choices 0 to K - 1, each with a probability in proportion to its weight."""
    bounds = np.cumsum(np.asarray(weights, dtype=np.float64))
    chosen = np.searchsorted(bounds, fractions(numbers) * bounds[-1], side="right")
    # A product that is rounded up to the last bound chooses the last one that has a weight.
    indices: NDArray[np.int64] = np.minimum(chosen, int(np.flatnonzero(weights)[-1]))
    return indices


def choose_legal(numbers: Numbers, masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each row of the masks (K, A), one of its actions."""
    counts = masks.sum(axis=1).astype(np.uint64)
    place = ((numbers >> np.uint64(32)) * counts) >> np.uint64(32)
    actions: NDArray[np.int64] = np.argmax(np.cumsum(masks, axis=1) > place.astype(np.int64)[:, None], axis=1)
    return actions


def mixed(numbers: Numbers) -> Numbers:
    """The finaliser of SplitMix64: a hash of each number, the same on every platform."""
    numbers = numbers + GOLDEN
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
