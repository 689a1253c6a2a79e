"""The check that a player plays a variant."""

from __future__ import annotations

from typing import Any

from starmine._core import Batch, Variant, VariantError, _Player


def check_variant(player: Any, variant: Variant) -> None:
    """Refuse a player that does not play a variant. A text, and an object without the attribute `variant`, pass.

    A policy with an attribute `variant` plays these rules. Starting seat, names of suits and the score of a lost game
    make no difference to it.

    Raises:
        VariantError: it plays others.
    """
    if isinstance(player, _Player):  # the core checks it where it takes a seat
        Batch._without_learner(variant, [player] + [None] * (variant.players - 1), 1, 0, 0)
        return
    own = getattr(getattr(player, "example", player), "variant", None)
    if isinstance(own, Variant) and not variant._plays_alike(own):
        raise VariantError(f"{player!r} does not play this variant ({variant}): expected {own}")
