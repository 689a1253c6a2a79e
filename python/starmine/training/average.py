"""An exponential moving average of a network's weights."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

Network = TypeVar("Network", bound=nn.Module)


class WeightAverage(Generic[Network]):
    """A copy of a network whose weights are an exponential moving average of the network's.

    Early updates weigh more than 1 - decay, so that the first weights are soon forgotten: the n-th has the weight
    max(1 - decay, 9 / (n + 10)).

    Args:
        network: the network, of which the copy is made.
        decay: from 0, for the network itself, to below 1.

    Attributes:
        network: the copy, to evaluate and to ship.
    """

    def __init__(self, network: Network, decay: float) -> None:
        self.network = copy.deepcopy(network).requires_grad_(False)
        self.decay, self._updates = decay, 0
        self._own: list[Tensor] = list(self.network.parameters())
        self._theirs: list[Tensor] = list(network.parameters())

    @torch.no_grad()
    def update(self) -> None:
        """Take the network's present weights into the average."""
        weight = max(1 - self.decay, 9 / (self._updates + 10))
        torch._foreach_lerp_(self._own, self._theirs, weight)
        self._updates += 1

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"network": self.network.state_dict(), "updates": self._updates}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.network.load_state_dict(state["network"])
        self._updates = state["updates"]
