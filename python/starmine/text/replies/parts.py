"""Action ids from the parts of a move: a slot, a seat, a suit, a rank."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from starmine._core import Variant, View
from starmine._util.numbers import is_integer
from starmine.games.variants import named_suits

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
    )
}
MULTICOLOUR = ["multicolor", "multicoloured", "multicolored", "multi", "rainbow"]


class UnreadableError(Exception):
    """Why a reply cannot be used."""


def distinct(moves: Iterable[int]) -> list[int]:
    """The different moves, in their order."""
    return list(dict.fromkeys(moves))


class Parts:
    """The parts of moves in one view, and the actions that they make.

    Attributes:
        observer: the seat that moves.
        variant: the rules.
        colors: the suits by their names and other words for them.
        letters: the suits by their letters, in lower case.
    """

    def __init__(self, view: View) -> None:
        self.observer, self.variant = view.observer, view.variant
        self.colors, self.letters = _suit_words(self.variant)

    def placed(self, kind: str, slot: int, announced: int | None = None) -> int:
        """The action of a play or discard."""
        size = self.variant.hand_size
        if not 0 <= slot < size:
            raise UnreadableError(f"slot {slot} does not exist: expected 0 to {size - 1}, 0 for the oldest card")
        if announced is None:
            return self.variant.action(f"{kind} {slot}")
        if kind != "play" or not self.variant.timed_display:
            raise UnreadableError("it announces a suit, which this game does not have: leave the announcement out")
        return self.variant.action(f"play {slot} {named_suits(self.variant)[announced].name}")

    def hinted(self, seat: int | None, color: int | None, rank: int | None) -> int:
        """The action of a hint of a colour or a rank from 1; without a seat, of two players, to the other."""
        variant = self.variant
        if seat is None:
            if variant.players > 2:
                raise UnreadableError('it does not say to whom the hint goes: name a seat, such as "hint seat 1 red"')
            seat = 1 - self.observer
        if not 0 <= seat < variant.players or seat == self.observer:
            others = [str(other) for other in range(variant.players) if other != self.observer]
            raise UnreadableError(f"a hint cannot go to seat {seat}: expected seat {' or '.join(others)}")
        offset = (seat - self.observer) % variant.players
        if (color is None) == (rank is None):
            raise UnreadableError("a hint names one colour or one rank")
        if rank is not None and not 1 <= rank <= variant.ranks:
            raise UnreadableError(f"rank {rank} does not exist: expected 1 to {variant.ranks}")
        return variant.action(f"hint +{offset} {rank if color is None else named_suits(variant)[color].name}")

    def numbered(self, action: int) -> int:
        """An action id."""
        if not 0 <= action < self.variant.num_actions:
            raise UnreadableError(f"action {action} does not exist: expected 0 to {self.variant.num_actions - 1}")
        return action

    def seat_at(self, offset: int) -> int:
        """The seat so many places after the one that moves."""
        return (self.observer + offset) % self.variant.players

    def color(self, value: Any) -> int:
        """A suit by its name or letter."""
        word = str(value).strip().lower()
        color = self.colors.get(word, self.letters.get(word))
        if color is None:
            names = ", ".join(suit.name for suit in named_suits(self.variant))
            raise UnreadableError(f"{value!r} is no suit of this game: expected {names}")
        return color


def integer(name: str, value: Any) -> int:
    """An integer, also as text; `name` is what the message calls it."""
    found = number(value.strip().lower()) if isinstance(value, str) else value
    if not is_integer(found):
        raise UnreadableError(f"{name} {value!r} is no whole number of at least 0")
    return int(found)


def number(word: str) -> int | None:
    """A whole number of at least 0, as digits or a word; None for other words."""
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    return int(word) if re.fullmatch(r"[0-9]{1,9}", word) else None


@lru_cache(maxsize=64)
def _suit_words(variant: Variant) -> tuple[dict[str, int], dict[str, int]]:
    """The suits of a variant by their words, and by their letters."""
    colors: dict[str, int] = {}
    suits = named_suits(variant)
    for color, suit in enumerate(suits):
        words = [suit.name, suit.name.rstrip("s"), suit.name + "s"]
        colors |= dict.fromkeys(words + MULTICOLOUR * (suit.name == "multicolour"), color)
    return colors, {suit.letter.lower(): color for color, suit in enumerate(suits)}
