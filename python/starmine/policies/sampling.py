"""Draws actions. Imported with torch alone."""

from __future__ import annotations

import torch
from torch import Tensor

from starmine._core import StarmineError
from starmine._util.arrays import Array


def sampled(logits: Tensor, uniform: Array | None) -> Tensor:
    """An action for each row, drawn with the probabilities of its logits.

    Args:
        logits: float32 (K, A), -inf for actions that are not drawn, but finite for one at least.
        uniform: float64 (K,), the numbers of `Turns.uniform`.

    Returns:
        int64 (K,).

    Raises:
        StarmineError: there are no numbers to draw by.
    """
    if uniform is None:
        raise StarmineError(
            "turns without `uniform` are not allowed for a sampled policy: expected a number for each row"
        )
    bounds = logits.double().softmax(-1).cumsum(-1)
    drawn = torch.from_numpy(uniform).to(bounds.device)[:, None] * bounds[:, -1:]
    # A product that is rounded up to the last bound chooses the last action that has a probability.
    last = (bounds < bounds[:, -1:]).sum(-1)
    return torch.minimum((bounds <= drawn).sum(-1), last)
