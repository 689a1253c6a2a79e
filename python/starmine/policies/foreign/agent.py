"""The network of another library with its own inputs, as a `TorchPolicy` plays it."""

from __future__ import annotations

from torch import Tensor

from starmine._core import Variant
from starmine.policies.foreign.networks import R2D2, Actor, HumanClone, QNetwork
from starmine.policies.foreign.observations import Inputs
from starmine.policies.torch_policy import Agent, Outputs


class ForeignAgent(Agent):
    """A network of another library. If it is recurrent, its hidden states change at every turn, as in its training.

    Args:
        network: the network, which is not trained any more.
        variant: the rules that it fits.
        inputs: what it sees, computed from canonical observations.
    """

    def __init__(self, network: Actor | HumanClone | QNetwork | R2D2, variant: Variant, inputs: Inputs) -> None:
        super().__init__(network.eval().requires_grad_(False), network.width)
        self.all_turns = network.width > 0
        self.variant, self.inputs = variant, inputs

    def forward(self, obs: Tensor, memory: Tensor, seats: Tensor) -> Outputs:
        """See `Agent`. The network's last score, that of the no-op, is left out."""
        scores, values, after = self.network(self.inputs.rows(self.variant, obs, seats), memory)
        return scores[:, :-1], values, after

    def best(self, scores: Tensor, legal: Tensor) -> Tensor:
        """The best legal actions, int64 (K,), by the agent's own formula."""
        if isinstance(self.network, R2D2):
            return ((1 + scores - scores.min(-1, keepdim=True).values) * legal).argmax(-1)
        return super().best(scores, legal)
