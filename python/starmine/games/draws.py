"""Numbers drawn by chance for a game: each is a function of the seed, the game's index and what it is drawn for.

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


def draw(seed: int | Numbers, purpose: int, *keys: Any) -> Numbers:
    """Numbers that are equally likely from 0 to 2**64 - 1; equal arguments give equal numbers.

    Args:
        seed: 0 to 2**64 - 1, or a uint64 array of seeds.
        purpose: what the numbers are for; those of other purposes are independent.
        *keys: the deal, the seat, ...: uint64 arrays or integers, which are broadcast. Other keys give other numbers.

    Returns:
        uint64 of at least one axis.
    """
    start = np.atleast_1d(np.asarray(seed, dtype=np.uint64))
    drawn = splitmix64(start + np.uint64((purpose * int(GOLDEN)) & _MASK))
    for key in keys:
        drawn = splitmix64(drawn ^ splitmix64(np.atleast_1d(np.asarray(key, dtype=np.uint64))))
    return drawn


def fractions(numbers: Numbers) -> NDArray[np.float64]:
    """The numbers as 53-bit fractions from 0 to below 1."""
    return (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53


def deal_number(games: Numbers, episodes: Numbers) -> Numbers:
    """The number of a deal among those of its seed, given the game's index and its episode; in episode 0 the index."""
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
    choices = ((numbers >> np.uint64(32)) * counts) >> np.uint64(32)  # which of the legal actions
    actions: NDArray[np.int64] = np.argmax(np.cumsum(masks, axis=1) > choices.astype(np.int64)[:, None], axis=1)
    return actions


def splitmix64(numbers: Numbers) -> Numbers:
    """A hash of each number: what SplitMix64 gives first when its state is this number."""
    numbers = numbers + GOLDEN
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
