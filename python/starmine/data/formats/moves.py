"""Moves behind action ids, for formats that write moves in another way."""

from __future__ import annotations

from dataclasses import dataclass

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


def move_of(variant: Variant, action: int) -> Move:
    """The move of an action id of the variant that announces nothing."""
    hand, colors, ranks = variant.hand_size, variant.colors, variant.ranks
    if action < hand:
        return Move(DISCARD, action)
    if action < 2 * hand:
        return Move(PLAY, action - hand)
    hint = action - 2 * hand
    if hint < (variant.players - 1) * colors:
        return Move(COLOR_HINT, hint // colors + 1, hint % colors)
    hint -= (variant.players - 1) * colors
    return Move(RANK_HINT, hint // ranks + 1, hint % ranks)


def action_of(variant: Variant, move: Move) -> int | None:
    """The action id of a move, or None where the variant has no such move."""
    hand, colors, ranks, others = variant.hand_size, variant.colors, variant.ranks, variant.players - 1
    if move.kind in (DISCARD, PLAY):
        return move.place + (hand if move.kind == PLAY else 0) if 0 <= move.place < hand else None
    values = colors if move.kind == COLOR_HINT else ranks
    if not (1 <= move.place <= others and 0 <= move.value < values):
        return None
    before = 2 * hand + (0 if move.kind == COLOR_HINT else others * colors)
    return before + (move.place - 1) * values + move.value
