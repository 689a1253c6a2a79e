"""Moves as HLE has them, and the items of a game's history."""

from __future__ import annotations

import enum
from typing import Any

from starmine._core import StarmineError, Variant
from starmine._util.numbers import check_integer
from starmine.hle.cards import CHANCE_PLAYER_ID, COLOR_CHAR, card_text, color_char_to_idx, color_idx_to_char


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


class HanabiMove:
    """A move of a player, or the deal of a card. Moves never change; equal moves are equal, unlike HLE's."""

    __slots__ = ("_card_index", "_color", "_rank", "_target_offset", "_type")

    def __init__(
        self, kind: HanabiMoveType, card_index: int = -1, target_offset: int = -1, color: int = -1, rank: int = -1
    ) -> None:
        """Made by the `get_..._move` methods; -1 stands for what the kind does not have."""
        self._type = kind
        self._card_index = card_index
        self._target_offset = target_offset
        self._color = color
        self._rank = rank

    @staticmethod
    def get_play_move(card_index: int) -> HanabiMove:
        """Play the card of a slot from 0, the oldest. This and the next methods raise TypeError for no integer."""
        return HanabiMove(HanabiMoveType.PLAY, card_index=check_integer("card_index", card_index))

    @staticmethod
    def get_discard_move(card_index: int) -> HanabiMove:
        """Discard the card of a slot from 0, the oldest."""
        return HanabiMove(HanabiMoveType.DISCARD, card_index=check_integer("card_index", card_index))

    @staticmethod
    def get_reveal_color_move(target_offset: int, color: int) -> HanabiMove:
        """Hint a colour from 0 to the seat at an offset: 1 is the next one."""
        offset, color = check_integer("target_offset", target_offset), check_integer("color", color)
        return HanabiMove(HanabiMoveType.REVEAL_COLOR, target_offset=offset, color=color)

    @staticmethod
    def get_reveal_rank_move(target_offset: int, rank: int) -> HanabiMove:
        """Hint a rank from 0 to the seat at an offset: 1 is the next one."""
        offset, rank = check_integer("target_offset", target_offset), check_integer("rank", rank)
        return HanabiMove(HanabiMoveType.REVEAL_RANK, target_offset=offset, rank=rank)

    @staticmethod
    def get_deal_move(color: int, rank: int) -> HanabiMove:
        """Deal a card of a colour and a rank from 0. HLE's Python has no such method."""
        color, rank = check_integer("color", color), check_integer("rank", rank)
        return HanabiMove(HanabiMoveType.DEAL, color=color, rank=rank)

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

    def _key(self) -> tuple[int, int, int, int, int]:
        return (self._type, self._card_index, self._target_offset, self._color, self._rank)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, HanabiMove) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())


def move_of(action: dict[str, Any]) -> HanabiMove:
    """The move of HLE's dictionary."""
    kind: Any = action.get("action_type")
    if kind not in ENTRIES:
        if kind in HanabiMoveType.__members__:
            raise ValueError(f"Unknown action_type: {kind}")
        raise AssertionError(f"action_type: {kind!r} should be one of: {list(HanabiMoveType.__members__)}")
    entries = {
        name: color_char_to_idx(action[name]) if name == "color" else check_integer(name, action[name])
        for name in ENTRIES[kind]
    }
    return HanabiMove(HanabiMoveType[kind], **entries)


class HanabiHistoryItem:
    """A move that was made, and what it did."""

    __slots__ = (
        *("_color", "_dealt_to", "_move", "_newly", "_player", "_rank", "_scored", "_token", "_touched"),
        "_variant",
    )

    def __init__(
        self,
        move: HanabiMove,
        player: int,
        *,
        card: tuple[int, int] = (-1, -1),
        scored: bool = False,
        token: bool = False,
        touched: tuple[int, ...] = (),
        newly: tuple[int, ...] = (),
        dealt_to: int = -1,
        variant: Variant | None = None,
    ) -> None:
        """Made by `HanabiState.move_history` and `HanabiObservation.last_moves`."""
        self._move = move
        self._player = player
        self._color, self._rank = card
        self._scored = scored
        self._token = token
        self._touched = touched
        self._newly = newly
        self._dealt_to = dealt_to
        self._variant = variant  # the rules of the game, for `hle.state_of`; None if nobody told them

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
        return self._color

    def rank(self) -> int:
        """The rank of the card that was played or discarded; else -1."""
        return self._rank

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
        return HanabiHistoryItem(
            move,
            player,
            card=(self._color, self._rank),
            scored=self._scored,
            token=self._token,
            touched=self._touched,
            newly=self._newly,
            dealt_to=dealt_to,
            variant=self._variant,
        )

    def outcome(self) -> str:
        """What HLE's text of the item has behind the move and the seat, such as "scored R1". HLE has no such method."""
        parts = ["scored"] * self._scored + ["info_token"] * self._token
        if self._color >= 0:
            parts.append(card_text(self._color, self._rank))
        if self._touched:
            parts.append(f"reveal {','.join(map(str, self._touched))}")
        return " ".join(parts)

    def __str__(self) -> str:
        """HLE's text, such as "<(Play 0) by player 1 scored R1>"."""
        by = f"by player {self._player}" if self._player >= 0 else ""
        return f"<{' '.join(filter(None, (str(self._move), by, self.outcome())))}>"

    __repr__ = __str__


class IllegalMoveError(StarmineError, AssertionError):
    """A move that the rules refuse: an AssertionError, as HLE's `rl_env` raises, and a StarmineError."""


def check_move(move: Any) -> HanabiMove:
    """Refuse what is no `HanabiMove`."""
    if not isinstance(move, HanabiMove):
        raise IllegalMoveError(f"move={move!r} is not allowed: expected a HanabiMove, such as game.get_move(0)")
    return move
