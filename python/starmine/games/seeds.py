"""The seeds that the package takes, and those that it keeps for evaluations."""

from __future__ import annotations

import operator
import os
from typing import Any, SupportsIndex

import numpy as np

from starmine._core import StarmineError

#: The default seed of `evaluate`, `play_games` and `starmine eval`, 5,000,000,000. No default of
#: training deals its decks: the training scripts take seeds below 2**32 and add multiples of 2**40, `generate` takes 1,
#: and an environment without a seed draws one of 2**64.
EVALUATION_SEED = 5_000_000_000
TABLES_SEED = 0  # of the tables in the documentation
MOST_GAMES = 2**32 - 1  # of a seed
EVALUATION_SEEDS = (TABLES_SEED, EVALUATION_SEED)  # `generate` deals their decks only where it is asked to


def integer_seed(seed: Any) -> Any:
    """An integer of any kind, also an array without axes, as an int; other seeds as they are.

    Raises:
        TypeError: text, or an array without axes that is not an integer.
    """
    if isinstance(seed, str | bytes):
        raise TypeError(f"seed={seed!r} is not allowed: expected an integer, found {type(seed).__name__}")
    if isinstance(seed, SupportsIndex) and not isinstance(seed, bool) and getattr(seed, "ndim", 0) == 0:
        try:
            return operator.index(seed)
        except TypeError:
            raise TypeError(f"seed={seed!r} is not allowed: expected an integer") from None
    return seed


def game_seed(seed: Any) -> int | None:
    """The seed of a class that takes one integer for all its games, as an int; None as it is.

    Raises:
        TypeError: neither an integer nor None.
        StarmineError: not 0 to 2**64 - 1.
    """
    seed = integer_seed(seed)
    if not isinstance(seed, int | None) or isinstance(seed, bool):
        raise TypeError(f"seed={seed!r} is not allowed: expected an integer or None, found {type(seed).__name__}")
    if seed is not None and not 0 <= seed < 2**64:
        raise StarmineError(f"seed={seed} is not allowed: expected 0 to 2**64 - 1")
    return seed


class OwnSeed:
    """The seed of an environment that is given none.

    The processes that reset copies of the environment, such as the workers of a `DataLoader`, each draw another one.

    Args:
        seed: of the environment; None for a random one.
    """

    def __init__(self, seed: Any) -> None:
        self._process = os.getpid() if seed is None else None  # that drew the seed

    def of_reset(self, seed: Any) -> Any:
        """The seed of a reset: the one that is given, a new one in another process, or None to go on."""
        if seed is not None:
            self._process = None
        elif self._process not in (None, os.getpid()):
            self._process = os.getpid()
            return int(np.random.default_rng().integers(2**63))
        return seed
