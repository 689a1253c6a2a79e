"""What the forks of the Hanabi Learning Environment let agents know of cards in hands."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Variant


def with_v0_beliefs(variant: Variant, obs: NDArray[Any]) -> NDArray[np.float32]:
    """Observations with "V0 beliefs" in the place of the cards that hints allow.

    The probability of a card is proportional to the number of its copies that are neither discarded nor played, if
    the hints allow the card, as in the forks of HLE of SAD and OBL, and in JaxMARL.

    Args:
        variant: the rules.
        obs: canonical observations of 0 and 1, (..., D).

    Returns:
        float32, of the same shape.
    """
    layout, cards = variant.layout(), variant.colors * variant.ranks
    found = obs.reshape(-1, len(layout)).astype(np.float32)
    copies = np.array(variant.copies).ravel()
    # The discards hold a bit for each copy of each card, the fireworks the top rank of each stack.
    of_card = np.repeat(np.eye(cards, dtype=np.float32), copies, axis=0)
    tops = found[:, layout["fireworks"].slice].reshape(-1, variant.colors, variant.ranks)
    played = tops[..., ::-1].cumsum(-1)[..., ::-1].reshape(-1, cards)
    left = copies.astype(np.float32) - found[:, layout["discards"].slice] @ of_card - played
    knowledge = found[:, layout["knowledge"].start :].reshape(len(found), variant.players * variant.hand_size, -1)
    weights = knowledge[..., :cards] * left[:, None]  # a view of `found`, which is changed here
    total = weights.sum(-1, keepdims=True)
    knowledge[..., :cards] = weights / np.where(total > 0, total, 1)
    return found.reshape(obs.shape)
