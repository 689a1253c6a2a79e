"""The cards that HLE deals for a seed: the same decks as HLE's library, as the GNU compiler builds it.

HLE draws each card when it is dealt, from a Mersenne Twister that all states of a game share. Starmine wants a whole
deck. The deck is therefore planned from the numbers that come next, and planned anew when other states have taken some.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from starmine._core import StarmineError

AHEAD = 1024  # random numbers that are made at once
WORD = 2**32
WORD_AS_FLOAT, SQUARE = 2.0**32, 2.0**64


class Deals:
    """The random numbers of a game.

    Attributes:
        used: how many of them have been drawn.
    """

    def __init__(self, seed: int) -> None:
        if not -(2**31) <= seed < WORD:
            raise StarmineError(f"seed={seed} is not allowed: expected {-(2**31)} to {WORD - 1}")
        self.used = 0
        self._generator = np.random.RandomState(seed % WORD)  # seeds the twister as C++ does
        self._numbers: list[int] = []
        self._first = 0  # the index of the first number that is kept

    def _next(self, count: int) -> list[int]:
        """The numbers that come next; draws none of them."""
        start = self.used - self._first
        if start + count > len(self._numbers):
            self._numbers = self._numbers[start:] + self._generator.randint(0, WORD, AHEAD, np.uint32).tolist()
            self._first, start = self.used, 0
        return self._numbers[start : start + count]

    def start_player(self, players: int) -> int:
        """Draw the seat that starts."""
        while True:
            scaled = self._next(1)[0] * players
            self.used += 1
            if scaled % WORD >= WORD % players:
                return scaled // WORD

    def plan(self, rest: list[int]) -> tuple[list[int], int]:
        """The order in which the next draws would deal the rest of a deck; draws nothing.

        Args:
            rest: the numbers of the cards that are left.

        Returns:
            The cards in the order of dealing, and how many of the last ones are dealt without a draw, since they
            are all the same.
        """
        rest = sorted(rest)
        numbers = self._next(2 * len(rest))
        order = []
        for low, high in zip(numbers[::2], numbers[1::2], strict=True):
            if rest[0] == rest[-1]:
                break
            # The first card whose cumulated probability is not below the drawn one.
            drawn = (low + high * WORD_AS_FLOAT) / SQUARE
            order.append(rest.pop(ceil(drawn * len(rest)) - 1 if drawn else 0))
        return order + rest, len(rest)
