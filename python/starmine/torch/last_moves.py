"""Observations whose last move is another than the one that was played."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Variant

SHOWN = ("last_type", "last_target", "last_color", "last_rank", "last_slot", "last_announced")


class LastMoves:
    """Rewrites the last move of packed observations.

    The simplified action decoder (SAD; Hu & Foerster, 2020) uses it in training, to show teammates the greedy action
    when an exploring action was played.

    Only what the move itself says is rewritten: its type, target, colour, rank, slot, and in variants with
    `timed_display` the colour that a play announces. The outcome of the move, such as the card that was played or the
    slots that a hint touched, stays. The outcome of a move that was not played would tell the observer something that
    it may not know.

    Args:
        variant: the rules.
        encoder: of the observations.

    Attributes:
        sections: names of the sections that are rewritten.
    """

    def __init__(self, variant: Variant, encoder: str = "canonical") -> None:
        layout = variant.layout(encoder)
        self.sections = [section.name for section in layout.sections if section.name in SHOWN]
        self._places = {name: layout[name].start for name in self.sections}
        self._players, self._length = variant.players, len(layout)
        kept = np.ones(len(layout), np.bool_)
        for name in self.sections:
            kept[layout[name].slice] = False
        self._kept = self._packed(kept)
        moves = [_described(variant, action) for action in range(variant.num_actions)]
        self._moves = np.stack([[self._row(move, offset) for offset in range(self._players)] for move in moves])

    def show(
        self, obs: NDArray[np.uint8], actions: NDArray[np.integer[Any]], offsets: NDArray[np.integer[Any]]
    ) -> NDArray[np.uint8]:
        """Copy observations and replace their last moves.

        Args:
            obs: packed observations, uint8 (n, 8 * ceil(D / 64)).
            actions: ids of the actions to show, integers (n,).
            offsets: integers (n,), the seat that chose the action, relative to the observer: 0 is the observer itself,
                1 the next seat.

        Returns:
            The new observations, in the shape of `obs`.
        """
        found: NDArray[np.uint8] = obs & self._kept | self._moves[actions, offsets]
        return found

    def _row(self, move: dict[str, int], offset: int) -> NDArray[np.uint8]:
        """The bits of a move by the seat at an offset, packed."""
        bits = np.zeros(self._length, np.bool_)
        for name, value in move.items():
            at = (offset + value) % self._players if name == "last_target" else value
            bits[self._places[name] + at] = True
        return self._packed(bits)

    def _packed(self, bits: NDArray[np.bool_]) -> NDArray[np.uint8]:
        packed = np.packbits(bits, bitorder="little")
        return np.pad(packed, (0, -len(packed) % 8))


def _described(variant: Variant, action: int) -> dict[str, int]:
    """Which bit of each section says what an action is; the target relative to who acts."""
    hand, others = variant.hand_size, variant.players - 1
    if action < hand:
        return {"last_type": 1, "last_slot": action}
    if action < 2 * hand:
        return {"last_type": 0, "last_slot": action - hand}
    hint = action - 2 * hand
    if hint < others * variant.colors:
        target, color = divmod(hint, variant.colors)
        return {"last_type": 2, "last_target": 1 + target, "last_color": color}
    hint -= others * variant.colors
    if hint < others * variant.ranks:
        target, rank = divmod(hint, variant.ranks)
        return {"last_type": 3, "last_target": 1 + target, "last_rank": rank}
    slot, color = divmod(hint - others * variant.ranks, variant.colors)
    return {"last_type": 0, "last_slot": slot, "last_announced": color}
