"""V0 beliefs, the probabilities that observations of SAD, of off-belief learning and of JaxMARL have of each card."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from starmine._core import Variant


def v0_beliefs(variant: Variant, obs: Any, sections: Mapping[str, slice], constant: Callable[[Any], Any]) -> Any:
    """What hints and public cards say of each card in the hands: (N, hands * slots, cards), float32.

    The probability of a card is proportional to the number of its copies that are neither discarded nor played, if the
    hints allow the card.

    Args:
        variant: the rules.
        obs: canonical observations of 0 and 1, (N, D), float32, of PyTorch, JAX or NumPy.
        sections: where the "fireworks", the "discards" and the "knowledge" stand in a row.
        constant: makes an array of this library of a NumPy array.
    """
    colors, ranks = variant.colors, variant.ranks
    cards, copies = colors * ranks, np.array(variant.copies, np.float32).ravel()
    # The discards hold a bit for each copy of each card, the fireworks the top rank of each stack.
    of_card = np.repeat(np.eye(cards, dtype=np.float32), copies.astype(int), axis=0)
    below_top = np.kron(np.eye(colors, dtype=np.float32), np.tril(np.ones((ranks, ranks), np.float32)))
    played = obs[:, sections["fireworks"]] @ constant(below_top)
    left = constant(copies) - obs[:, sections["discards"]] @ constant(of_card) - played
    hands = variant.players * variant.hand_size
    allowed = obs[:, sections["knowledge"]].reshape(len(obs), hands, -1)[..., :cards]
    weights = allowed * left[:, None]
    total = weights.sum(-1)[..., None]
    return weights / (total + (total == 0))
