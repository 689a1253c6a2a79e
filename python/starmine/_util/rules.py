"""What players need to know of rules and encoders."""

from __future__ import annotations

from functools import cache

from starmine._core import Batch, StarmineError, Variant, _Player
from starmine._core import variant as preset

INDIFFERENT = ("random_start_player", "edition", "lost_game_score")  # parameters that make no difference to a policy


@cache
def shows_own_hand(encoder: str) -> bool:
    """Whether the observations of an encoder show the observer's own hand, which a `View` refuses."""
    try:
        preset("very-small").new_game(seed=0).view(0).encode(encoder)
    except StarmineError:
        return True
    return False


def plays_alike(one: Variant, other: Variant) -> bool:
    """Whether a policy for one of the variants also plays the other."""
    first, second = one.parameters(), other.parameters()
    return all(first[name] == second[name] for name in first if name not in INDIFFERENT)


def check_plays(variant: Variant, player: _Player | str | None, seed: int = 0) -> None:
    """Refuse a bot that is not known or does not play the variant, and a seed out of range."""
    Batch._of_table(variant, [player] + [None] * (variant.players - 1), 1, seed, 0, every_turn=True)
