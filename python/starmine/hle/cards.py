"""Cards as HLE has them, and what hints say about one."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

from starmine._core import StarmineError

COLOR_CHAR = ["R", "Y", "G", "W", "B"]
CHANCE_PLAYER_ID = -1


def whole(name: str, value: Any, count: int | None = None) -> int:
    """An argument as an integer, where HLE takes one; True and False are 1 and 0, as there.

    Args:
        name: of the argument.
        value: what was given.
        count: expect 0 to `count - 1`; None for no bounds.

    Raises:
        TypeError: it is not an integer.
        StarmineError: it is out of bounds; HLE reads beyond its memory.
    """
    try:
        number = int(index(value))
    except TypeError:
        raise TypeError(f"{name}={value!r} is not allowed: expected an integer") from None
    if count is not None and not 0 <= number < count:
        raise StarmineError(f"{name}={number} is not allowed: expected 0 to {count - 1}")
    return number


def color_idx_to_char(color_idx: int) -> str | None:
    """The letter of a colour's index from 0; None for -1."""
    return None if color_idx == -1 else COLOR_CHAR[color_idx]


def color_char_to_idx(color_char: str) -> int:
    """The index from 0 of a colour's letter.

    Raises:
        ValueError: there is no such colour.
    """
    if color_char not in COLOR_CHAR:
        raise ValueError(f"Invalid color: {color_char}. Should be one of {COLOR_CHAR}.")
    return COLOR_CHAR.index(color_char)


def card_text(color: int, rank: int) -> str:
    """HLE's text of a card, "R1" for (0, 0), and "XX" for a hidden one."""
    return f"{COLOR_CHAR[color]}{rank + 1}" if color >= 0 and rank >= 0 else "XX"


@dataclass(frozen=True, slots=True, repr=False)
class HanabiCard:
    """A card of a colour and a rank, both from 0; a hidden one has colour and rank -1."""

    _color: int
    _rank: int

    def color(self) -> int:
        """The colour's index from 0; -1 where the card is hidden."""
        return self._color

    def rank(self) -> int:
        """The rank from 0; -1 where the card is hidden."""
        return self._rank

    def valid(self) -> bool:
        """Whether the card is not hidden."""
        return self._color >= 0 and self._rank >= 0

    def to_dict(self) -> dict[str, str | int | None]:
        """Colour, a letter, and rank."""
        return {"color": color_idx_to_char(self._color), "rank": self._rank}

    def __str__(self) -> str:
        """Letter and rank from 1, or "XX"."""
        return card_text(self._color, self._rank)

    __repr__ = __str__


@dataclass(frozen=True, slots=True, repr=False)
class HanabiCardKnowledge:
    """What the hints say about one card."""

    _color: int | None
    _rank: int | None
    _colors: tuple[bool, ...]
    _ranks: tuple[bool, ...]

    def color(self) -> int | None:
        """The colour that a hint named; None if none did."""
        return self._color

    def rank(self) -> int | None:
        """The rank that a hint named; None if none did."""
        return self._rank

    def color_plausible(self, color_index: int) -> bool:
        """Whether no hint excludes the colour."""
        return self._colors[whole("color_index", color_index, len(self._colors))]

    def rank_plausible(self, rank_index: int) -> bool:
        """Whether no hint excludes the rank."""
        return self._ranks[whole("rank_index", rank_index, len(self._ranks))]

    def to_dict(self) -> dict[str, str | int | None]:
        """The hinted colour, a letter, and the hinted rank; None for what was not hinted."""
        return {"color": None if self._color is None else COLOR_CHAR[self._color], "rank": self._rank}

    def __str__(self) -> str:
        """Hinted colour and rank, or X, then the plausible ones: "RX|R12345"."""
        color = "X" if self._color is None else COLOR_CHAR[self._color]
        rank = "X" if self._rank is None else str(self._rank + 1)
        colors = "".join(COLOR_CHAR[index] for index, plausible in enumerate(self._colors) if plausible)
        ranks = "".join(str(index + 1) for index, plausible in enumerate(self._ranks) if plausible)
        return f"{color}{rank}|{colors}{ranks}"

    __repr__ = __str__
