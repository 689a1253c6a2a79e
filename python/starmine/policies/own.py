"""Starmine's networks that PyTorch plays: `PolicyNetwork`, and `ColorNetwork` with hidden states."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from starmine._core import SerializationError, StarmineError, Variant, shows_own_hand
from starmine._util.imports import look_up
from starmine.policies.agent import Agent, Outputs
from starmine.policies.files import BELIEF, COLORS, PLAIN, description, finite, safetensors

# Of each format the name of the network for `look_up`, and by their names in a file the arguments of its constructor.
NETWORKS = {
    PLAIN: ("plain_network", {name: name for name in ("hidden", "recurrent", "card_features", "layer_norm")}),
    COLORS: ("color_network", {"hidden": "hidden", "recurrent": "recurrent", BELIEF: "belief"}),
}


class FileNetwork(Agent):
    """A network of `starmine.torch` from a file, whose scores are logits without a mask, as the core computes them."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network: Any = network  # an `ActorCritic`
        self.variant, self.encoder, self.state_width = network.variant, network.encoder, network.state_width

    def turn(self, obs: Tensor, mask: Tensor, memory: Tensor, seats: Tensor) -> Outputs:
        """See `Agent`."""
        state = self.network.one_turn(memory) if self.state_width else None
        logits, values, after = self.network.evaluate(self.network.read(obs), state)
        return logits, values, memory if after is None else after[:, 0]


def read_network(name: str, data: bytes) -> FileNetwork:
    """The network of a file for which `plays_through_torch` holds.

    Raises:
        SerializationError: the file is damaged.
    """
    described = description(data)
    try:
        tensors = safetensors(data)
    except ValueError as error:
        raise _refusal(name, error) from error
    numbers = finite(name, tensors)
    try:
        return FileNetwork(_network(described, numbers))
    except (KeyError, TypeError, ValueError, RuntimeError, StarmineError) as error:
        raise _refusal(name, error) from error


def _refusal(name: str, error: Exception) -> SerializationError:
    """The error of a file that is damaged or says of itself what it does not hold."""
    told = " ".join(str(error).split())[:200]
    return SerializationError(f"policy={name!r} is not a valid policy: {told}")


def _network(described: Mapping[str, Any], tensors: dict[str, Tensor]) -> Any:
    """The network that a file describes, with its weights."""
    name, options = NETWORKS[described["format"]]
    given = {argument: described[name] for name, argument in options.items()}
    variant, encoder = Variant.from_json(json.dumps(described["variant"])), described["encoder"]
    kind = look_up(name)
    # Without memory, so that sizes are compared before anything is allocated, and no random weights are drawn.
    with torch.device("meta"):
        network = kind(variant, encoder, **given)
    if shows_own_hand(encoder):
        raise ValueError(f"encoder={encoder!r} shows the observer's own hand: expected one that a view shows")
    network.load_state_dict(tensors, assign=True)
    return network
