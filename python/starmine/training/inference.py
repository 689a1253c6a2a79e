"""Drawing actions."""

from __future__ import annotations

import torch
from torch import Tensor


def sample_actions(log_probs: Tensor) -> Tensor:
    """Actions int64 (N,), each drawn with its probability from a row of log probabilities (N, A).

    This is the Gumbel-max trick: minus the logarithm of exponential noise is Gumbel noise.
    """
    return (log_probs - torch.empty_like(log_probs).exponential_().log()).argmax(1)
