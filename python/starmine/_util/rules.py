"""The check that a bot plays a variant."""

from __future__ import annotations

from starmine._core import Batch, Variant, _Player


def check_plays(variant: Variant, player: _Player | str | None, seed: int = 0) -> None:
    """Refuse a bot that is not known or does not play the variant, and a seed out of range."""
    Batch._of_table(variant, [player] + [None] * (variant.players - 1), 1, seed, 0)
