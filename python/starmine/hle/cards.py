"""Cards as HLE has them, and what hints say about one."""

from __future__ import annotations

from starmine._util.numbers import check_number

COLOR_CHAR = ["R", "Y", "G", "W", "B"]
CHANCE_PLAYER_ID = -1


def color_idx_to_char(color_idx: int) -> str | None:
    """The letter of a colour's index from 0; None for -1.

    Raises:
        AssertionError: the index is not an integer.
        IndexError: there is no such colour.
    """
    if not isinstance(color_idx, int):
        raise AssertionError(f"color_idx={color_idx!r} is not allowed: expected an integer")
    if color_idx < -1:
        raise IndexError(f"color_idx={color_idx} is not allowed: expected -1 to {len(COLOR_CHAR) - 1}")
    return None if color_idx == -1 else COLOR_CHAR[color_idx]


def color_char_to_idx(color_char: str) -> int:
    """The index from 0 of a colour's letter.

    Raises:
        AssertionError: it is not text.
        ValueError: there is no such colour.
    """
    if not isinstance(color_char, str):
        raise AssertionError(f"color={color_char!r} is not allowed: expected a letter")
    if color_char not in COLOR_CHAR:
        raise ValueError(f"Invalid color: {color_char}. Should be one of {COLOR_CHAR}.")
    return COLOR_CHAR.index(color_char)


def card_text(color: int, rank: int) -> str:
    """HLE's text of a card, "R1" for (0, 0), and "XX" for a hidden one."""
    return f"{COLOR_CHAR[color]}{rank + 1}" if color >= 0 and rank >= 0 else "XX"


class HanabiCard:
    """A card; a hidden one has colour and rank -1."""

    __slots__ = ("_color", "_rank")

    def __init__(self, color: int, rank: int) -> None:
        """A card of a colour and a rank, both from 0."""
        self._color = color
        self._rank = rank

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HanabiCard):
            return NotImplemented
        return (self._color, self._rank) == (other._color, other._rank)

    def __hash__(self) -> int:
        """Equal cards have equal hashes; HLE's cards have none."""
        return hash((self._color, self._rank))


class HanabiCardKnowledge:
    """What the hints say about one card."""

    __slots__ = ("_color", "_colors", "_rank", "_ranks")

    def __init__(self, color: int | None, rank: int | None, colors: tuple[bool, ...], ranks: tuple[bool, ...]) -> None:
        """Made by `HanabiObservation.card_knowledge`: the hinted colour and rank, and which of each are plausible."""
        self._color = color
        self._rank = rank
        self._colors = colors
        self._ranks = ranks

    def color(self) -> int | None:
        """The colour that a hint named; None if none did."""
        return self._color

    def rank(self) -> int | None:
        """The rank that a hint named; None if none did."""
        return self._rank

    def color_plausible(self, color_index: int) -> bool:
        """Whether no hint excludes the colour.

        Raises:
            StarmineError: there is no such colour.
            TypeError: it is not an integer.
        """
        return self._colors[check_number("color_index", color_index, 0, len(self._colors) - 1)]

    def rank_plausible(self, rank_index: int) -> bool:
        """Whether no hint excludes the rank.

        Raises:
            StarmineError: there is no such rank.
            TypeError: it is not an integer.
        """
        return self._ranks[check_number("rank_index", rank_index, 0, len(self._ranks) - 1)]

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
