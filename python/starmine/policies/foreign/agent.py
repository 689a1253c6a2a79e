"""The network of another library with its own inputs, as `ModulePolicy` plays it."""

from __future__ import annotations

from torch import Tensor

from starmine._core import Variant
from starmine.policies.agent import Agent, Outputs
from starmine.policies.foreign.networks import R2D2, Actor, HumanClone, QNetwork
from starmine.policies.foreign.observations import Inputs


class ForeignAgent(Agent):
    """A network of another library. If it is recurrent, its hidden states change at every turn, as in its training.

    Args:
        network: the network, which is not trained any more.
        variant: the rules that it fits.
        inputs: what it sees, computed from canonical observations.
    """

    dtype = "uint8"

    def __init__(self, network: Actor | HumanClone | QNetwork | R2D2, variant: Variant, inputs: Inputs) -> None:
        super().__init__()
        self.network = network.eval().requires_grad_(False)
        self.state_width, self.all_turns = network.width, network.width > 0
        self.variant, self.inputs = variant, inputs

    def turn(self, obs: Tensor, mask: Tensor, memory: Tensor, seats: Tensor) -> Outputs:
        """See `Agent`. The network's last score, that of the no-op, is left out."""
        scores, values, after = self.network(self.inputs.rows(self.variant, obs, seats), memory)
        return scores[:, :-1], values, after

    def best(self, scores: Tensor, mask: Tensor) -> Tensor:
        """The best legal actions, int64 (K,), by the agent's own formula."""
        if isinstance(self.network, R2D2):
            return ((1 + scores - scores.min(-1, keepdim=True).values) * mask).argmax(-1)
        return super().best(scores, mask)
