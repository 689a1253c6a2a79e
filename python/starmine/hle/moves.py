"""Moves as HLE has them, and the items of a game's history."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starmine._core import StarmineError
from starmine.hle.cards import CHANCE_PLAYER_ID, COLOR_CHAR, card_text, color_char_to_idx, color_idx_to_char, whole


class HanabiMoveType(enum.IntEnum):
    """The kinds of moves, with HLE's numbers."""

    INVALID = 0
    PLAY = 1
    DISCARD = 2
    REVEAL_COLOR = 3
    REVEAL_RANK = 4
    DEAL = 5


# For each kind of move, the keys that its dictionary has besides the kind.
ENTRIES = {
    "PLAY": ("card_index",),
    "DISCARD": ("card_index",),
    "REVEAL_COLOR": ("target_offset", "color"),
    "REVEAL_RANK": ("target_offset", "rank"),
    "DEAL": ("color", "rank"),
}


@dataclass(frozen=True, slots=True, repr=False)
class HanabiMove:
    """A move of a player, or the deal of a card; -1 stands for what the kind does not have. Equal moves are equal."""

    _type: HanabiMoveType
    _card_index: int = -1
    _target_offset: int = -1
    _color: int = -1
    _rank: int = -1

    @staticmethod
    def get_play_move(card_index: int) -> HanabiMove:
        """Play the card of a slot from 0, the oldest."""
        return HanabiMove(HanabiMoveType.PLAY, _card_index=whole("card_index", card_index))

    @staticmethod
    def get_discard_move(card_index: int) -> HanabiMove:
        """Discard the card of a slot from 0, the oldest."""
        return HanabiMove(HanabiMoveType.DISCARD, _card_index=whole("card_index", card_index))

    @staticmethod
    def get_reveal_color_move(target_offset: int, color: int) -> HanabiMove:
        """Hint a colour from 0 to the seat at an offset: 1 is the next one."""
        offset = whole("target_offset", target_offset)
        return HanabiMove(HanabiMoveType.REVEAL_COLOR, _target_offset=offset, _color=whole("color", color))

    @staticmethod
    def get_reveal_rank_move(target_offset: int, rank: int) -> HanabiMove:
        """Hint a rank from 0 to the seat at an offset: 1 is the next one."""
        offset = whole("target_offset", target_offset)
        return HanabiMove(HanabiMoveType.REVEAL_RANK, _target_offset=offset, _rank=whole("rank", rank))

    @property
    def c_move(self) -> HanabiMove:
        """The move itself: there is no C++ object behind it."""
        return self

    def type(self) -> HanabiMoveType:
        """The kind."""
        return self._type

    def card_index(self) -> int:
        """The slot of a play or a discard; else -1."""
        return self._card_index

    def target_offset(self) -> int:
        """The offset of the seat that a hint goes to; else -1."""
        return self._target_offset

    def color(self) -> int:
        """The colour of a colour hint or a deal; else -1."""
        return self._color

    def rank(self) -> int:
        """The rank of a rank hint or a deal; else -1."""
        return self._rank

    def to_dict(self) -> dict[str, Any]:
        """HLE's dictionary of the move.

        Raises:
            ValueError: the kind is INVALID.
        """
        if self._type.name not in ENTRIES:
            raise ValueError(f"Unsupported move: {self}")
        entries = {name: getattr(self, f"_{name}") for name in ENTRIES[self._type.name]}
        if "color" in entries:
            entries["color"] = color_idx_to_char(self._color)
        return {"action_type": self._type.name, **entries}

    def __str__(self) -> str:
        """HLE's text, such as "(Play 0)" or "(Reveal player +1 color R)"."""
        if self._type == HanabiMoveType.PLAY:
            return f"(Play {self._card_index})"
        if self._type == HanabiMoveType.DISCARD:
            return f"(Discard {self._card_index})"
        if self._type == HanabiMoveType.REVEAL_COLOR:
            color = COLOR_CHAR[self._color] if 0 <= self._color < len(COLOR_CHAR) else "X"
            return f"(Reveal player +{self._target_offset} color {color})"
        if self._type == HanabiMoveType.REVEAL_RANK:
            rank = self._rank + 1 if 0 <= self._rank < 5 else "X"
            return f"(Reveal player +{self._target_offset} rank {rank})"
        if self._type == HanabiMoveType.DEAL:
            return f"(Deal {card_text(self._color, self._rank)})"
        return "(INVALID)"

    __repr__ = __str__


def move_of(action: Mapping[str, Any]) -> HanabiMove:
    """The move of HLE's dictionary."""
    kind: Any = action.get("action_type")
    if kind not in ENTRIES:
        if kind in HanabiMoveType.__members__:
            raise ValueError(f"Unknown action_type: {kind}")
        raise AssertionError(f"action_type: {kind!r} should be one of: {list(HanabiMoveType.__members__)}")
    entries = {
        name: color_char_to_idx(action[name]) if name == "color" else whole(name, action[name])
        for name in ENTRIES[kind]
    }
    return HanabiMove(HanabiMoveType[kind], **{f"_{name}": entry for name, entry in entries.items()})


@dataclass(frozen=True, slots=True, repr=False)
class HanabiHistoryItem:
    """A move that was made, and what it did."""

    _move: HanabiMove
    _player: int
    _card: tuple[int, int] = (-1, -1)
    _scored: bool = False
    _token: bool = False
    _touched: tuple[int, ...] = ()
    _newly: tuple[int, ...] = ()
    _dealt_to: int = -1

    def move(self) -> HanabiMove:
        """The move."""
        return self._move

    def player(self) -> int:
        """The seat that made it, in an observation its offset; -1 for a deal."""
        return self._player

    def scored(self) -> bool:
        """Whether a play added a card to the fireworks."""
        return self._scored

    def information_token(self) -> bool:
        """Whether a play or a discard gave an information token back."""
        return self._token

    def color(self) -> int:
        """The colour of the card that was played or discarded; else -1."""
        return self._card[0]

    def rank(self) -> int:
        """The rank of the card that was played or discarded; else -1."""
        return self._card[1]

    def card_info_revealed(self) -> list[int]:
        """The slots that a hint named."""
        return list(self._touched)

    def card_info_newly_revealed(self) -> list[int]:
        """Those of them whose colour or rank no hint had named before."""
        return list(self._newly)

    def deal_to_player(self) -> int:
        """The seat that a card was dealt to, in an observation its offset; -1 for other moves."""
        return self._dealt_to

    def relative_to(self, observer: int, players: int, show_cards: bool) -> HanabiHistoryItem:
        """The item as an observer sees it: seats are offsets, and a card dealt to the observer may be hidden."""
        move, player, dealt_to = self._move, self._player, self._dealt_to
        if player == CHANCE_PLAYER_ID:
            dealt_to = (dealt_to - observer) % players
            if dealt_to == 0 and not show_cards:
                move = HanabiMove(HanabiMoveType.DEAL)
        else:
            player = (player - observer) % players
        return replace(self, _move=move, _player=player, _dealt_to=dealt_to)

    def __str__(self) -> str:
        """HLE's text, such as "<(Play 0) by player 1 scored R1>"."""
        parts = [str(self._move)]
        if self._player >= 0:
            parts.append(f"by player {self._player}")
        if self._scored:
            parts.append("scored")
        if self._token:
            parts.append("info_token")
        if self._card[0] >= 0:
            parts.append(card_text(*self._card))
        if self._touched:
            parts.append(f"reveal {','.join(map(str, self._touched))}")
        return f"<{' '.join(parts)}>"

    __repr__ = __str__


class IllegalMoveError(StarmineError, AssertionError):
    """A move that the rules refuse: an AssertionError, as HLE's `rl_env` raises, and a StarmineError."""
