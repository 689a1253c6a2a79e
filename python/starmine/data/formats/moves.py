"""Moves behind action ids, for formats that write moves in another way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from starmine._core import Move as CoreMove
from starmine._core import Variant

DISCARD, PLAY, COLOR_HINT, RANK_HINT = "discard", "play", "color hint", "rank hint"


@dataclass(frozen=True)
class Move:
    """A move without an announcement.

    Attributes:
        kind: DISCARD, PLAY, COLOR_HINT or RANK_HINT.
        place: the slot of a card, or the offset of a hinted teammate.
        value: the colour or rank of a hint, from 0.
    """

    kind: str
    place: int
    value: int = 0


@lru_cache(maxsize=64)
def _moves(variant: Variant) -> list[Move]:
    """The move of each action, without what it announces."""
    found = []
    for move in map(variant.move, range(variant.num_actions)):
        kind = move.kind.replace("_", " ")
        found.append(Move(kind, move.slot) if move.slot is not None else Move(kind, move.offset or 0, _hinted(move)))
    return found


def _hinted(move: CoreMove) -> int:
    """The colour or rank of a hint."""
    return (move.rank if move.color is None else move.color) or 0


@lru_cache(maxsize=64)
def _actions(variant: Variant) -> dict[Move, int]:
    """The first action of each move."""
    moves = _moves(variant)
    return {move: action for action, move in reversed(list(enumerate(moves)))}


def move_of(variant: Variant, action: int) -> Move:
    """The move of an action id, without what it announces."""
    return _moves(variant)[action]


def action_of(variant: Variant, move: Move) -> int | None:
    """The action id of a move, or None where the variant has no such move."""
    return _actions(variant).get(move)
