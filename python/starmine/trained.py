"""Policies that were trained: those that come with the package, and those in files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from starmine._core import Variant, _Network, _policy_bytes, policies

if TYPE_CHECKING:
    from starmine.torch import PolicyNetwork

CARDS = Path(__file__).parent / "policies"
Array = NDArray[Any]


class TrainedPolicy:
    """A trained policy. It takes a seat in `play_games`, `evaluate` and `partners`, itself or by its `bot` text.

    Attributes:
        name: of those that come with the package, else the file's path.
        variant: the rules that it was trained on.
        encoder: whose observations it gets.
        recurrent: whether each seat has a memory of its own turns.
        about: what was noted when it was saved, such as steps, seconds, score and its standard error.
        sampled: whether `bot` draws its moves by their probabilities; else it plays the likeliest.
        options: of its network: hidden, recurrent, card_features, layer_norm.
        data: the safetensors file.
    """

    def __init__(self, name: str, data: bytes, sampled: bool) -> None:
        """Made by `load_policy`."""
        self._network = _Network(name, data)
        described = json.loads(self._network.metadata)
        self.name = name
        self.data = data
        self.sampled = sampled
        self.variant = Variant.from_json(json.dumps(described["variant"]))
        self.encoder: str = described["encoder"]
        self.recurrent: bool = described["recurrent"]
        self.about: dict[str, Any] = described.get("about", {})
        self.options = {name: described[name] for name in ("hidden", "recurrent", "card_features")}
        self.options["layer_norm"] = described.get("layer_norm", False)

    @property
    def bot(self) -> str:
        """The text that takes a seat wherever a bot's name does, also in `starmine eval`."""
        if self.sampled:
            return f"policy: {self.name}; sampled"
        return self.name if self.name in policies() else f"policy: {self.name}"

    @property
    def card(self) -> str:
        """The model card, in Markdown; of other files than the package's the notes in it, a line for each."""
        if self.name in policies():
            return (CARDS / f"{self.name}.md").read_text(encoding="utf-8")
        return "\n".join([f"# {self.name}", "", *(f"- {name}: {value}" for name, value in self.about.items()), ""])

    def logits(self, observations: Array, memory: Array | None = None) -> tuple[Array, Array, Array]:
        """What the network says, computed without torch; legal or not.

        Args:
            observations: uint8 (K, D), each 0 or 1, of its encoder.
            memory: float32 (K, width), of the seats to act before this turn; None for a game's first. The width is 0
                without recurrence.

        Returns:
            Logits float32 (K, A), values float32 (K,), and the memories after this turn.

        Raises:
            ArrayError: another type or shape, or an observation that is neither 0 nor 1.
        """
        return self._network.logits(observations, memory)

    def network(self) -> PolicyNetwork:
        """The network with its weights as a torch module, in float32 on the CPU.

        Raises:
            ImportError: torch or safetensors is missing.
        """
        from safetensors.torch import load

        from starmine.torch import PolicyNetwork

        network = PolicyNetwork(self.variant, self.encoder, **self.options)
        network.load_state_dict({name: tensor.float() for name, tensor in load(self.data).items()})
        return network

    def __repr__(self) -> str:
        """The text that takes a seat, and the variant."""
        return f"<TrainedPolicy {self.bot!r}: {self.variant}>"


def load_policy(policy: str | os.PathLike[str], sampled: bool = False) -> TrainedPolicy:
    """A trained policy.

    Args:
        policy: one of `starmine.policies()`, or a file that `starmine.torch.PolicyNetwork.save` wrote, as
            the example scripts do.
        sampled: draw its moves by their probabilities, as in training, instead of playing the likeliest. For one
            that has learned values of actions, as `examples/pqn_vdn.py` does, they are a softmax of these.

    Raises:
        TypeError: the policy is neither text nor a path.
        UnknownNameError: there is neither such a policy nor a file that can be read.
        SerializationError: the file holds no policy.

    >>> import starmine
    >>> policy = starmine.load_policy("ippo-2p")
    >>> policy.variant.players
    2
    >>> games = starmine.play_games([policy.bot, "smart"], games=10)
    """
    name = os.fspath(policy) if isinstance(policy, str | os.PathLike) else None
    if not isinstance(name, str):
        expected = f"the path of a policy's file, or one of {', '.join(policies())}"
        raise TypeError(f"policy={policy!r} is a {type(policy).__name__}: expected {expected}")
    return TrainedPolicy(name, _policy_bytes(name), sampled)
