"""Trained policies: the shipped ones, and files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starmine._core import SerializationError, UnknownNameError, Variant, _Network, _Player, _policy_bytes
from starmine._core import policies as _shipped
from starmine._util.arrays import Array
from starmine._util.imports import registered
from starmine._util.keywords import named_keywords
from starmine.policies.foreign.files import is_foreign
from starmine.policies.foreign.load import of_bytes

if TYPE_CHECKING:
    from starmine.policies.foreign.policy import ForeignPolicy
    from starmine.torch.network import ActorCritic

CARDS = Path(__file__).parent
POLICY_FILE = "policy.safetensors"  # of a run's folder: the policy that the run ended with


def shipped() -> list[str]:
    """The names of the policies that come with the package.

    Each of `ippo-2p` to `ippo-5p` has a small version, such as `ippo-2p-small`. It is another policy, which scores
    less. Its moves take about a third of the time: the small ones are meant as partners in training.
    """
    return _shipped()


def policy_file(path: str) -> str:
    """The policy file of a run's folder; other paths as they are.

    Raises:
        UnknownNameError: the folder has no policy file.
    """
    if not os.path.isdir(path):
        return path
    found = os.path.join(path, POLICY_FILE)
    if not os.path.isfile(found):
        expected = f"expected the folder of a run that has ended, with {POLICY_FILE}"
        raise UnknownNameError(f"policy={path!r} is a folder without a policy: {expected}")
    return found


class TrainedPolicy:
    """A trained policy. It can hold a seat in `play_games`, `evaluate` and `partners`.

    It plays the weights that were loaded, whatever its file holds later; so does a pickle of it.

    Attributes:
        name: of a shipped policy, else the file's path.
        variant: the rules that it was trained on.
        encoder: the encoder of its observations.
        recurrent: whether it has a hidden state for each seat.
        about: notes from when it was saved, such as steps, seconds, score and its standard error.
        sampled: whether `bot` samples its moves; else it plays the most probable one.
        options: of its network: hidden and recurrent; also card_features and layer_norm, or, for a `ColorNetwork`,
            weights.
        data: the contents of the safetensors file.
    """

    def __init__(self, name: str, data: bytes, sampled: bool) -> None:
        """Made by `load_policy`."""
        self._network = _Network(name, data)
        described = json.loads(self._network.metadata)
        if not isinstance(described.get("about", {}), dict):
            found = f'"about" in its metadata is {described["about"]!r}: expected an object'
            raise SerializationError(f"policy={name!r} is not a valid policy: {found}")
        self.name = name
        self.data = data
        self._player = _Player.of_network(self._network, name, sampled)
        self.sampled = sampled
        self.variant = Variant.from_json(json.dumps(described["variant"]))
        self.encoder: str = described["encoder"]
        self.recurrent: bool = described["recurrent"]
        self.about: dict[str, Any] = described.get("about", {})
        self.options = {name: described[name] for name in ("hidden", "recurrent")}
        if described["format"] == 2:
            self.options["weights"] = described["weights"]
        else:
            self.options["card_features"] = described["card_features"]
            self.options["layer_norm"] = described.get("layer_norm", False)

    @property
    def bot(self) -> str:
        """The text by which `starmine eval` and every function that takes a bot's name load this policy.

        The file is read again then: if it has been replaced, the text names other weights than this object has.
        """
        return self._player.text

    @property
    def card(self) -> str:
        """The model card in Markdown; for a policy that is not shipped, a list of its notes."""
        if self.name in shipped():
            return (CARDS / f"{self.name}.md").read_text(encoding="utf-8")
        return "\n".join([f"# {self.name}", "", *(f"- {name}: {value}" for name, value in self.about.items()), ""])

    def logits(self, observations: Array, memory: Array | None = None) -> tuple[Array, Array, Array]:
        """Evaluate the network, without torch.

        Args:
            observations: uint8 (K, D), each 0 or 1, of its encoder.
            memory: float32 (K, width), the hidden states of the seats to act; None for zeros, as before a seat's first
                turn. The width is 0 without recurrence.

        Returns:
            Logits float32 (K, A) of all actions, legal or not, values float32 (K,), and the hidden states after this
            turn, float32 (K, width).

        Raises:
            ArrayError: another type or shape, or an observation that is neither 0 nor 1.
        """
        return self._network.logits(observations, memory)

    def network(self) -> ActorCritic:
        """The network as a torch module with these weights, in float32 on the CPU.

        Raises:
            ImportError: torch or safetensors is missing.
        """
        from safetensors.torch import load

        kind = registered("color_network" if "weights" in self.options else "plain_network")
        network: ActorCritic = kind(self.variant, self.encoder, **self.options)
        network.load_state_dict({name: tensor.float() for name, tensor in load(self.data).items()})
        return network

    def __reduce__(self) -> tuple[type[TrainedPolicy], tuple[str, bytes, bool]]:
        """A pickle holds the weights."""
        return TrainedPolicy, (self.name, self.data, self.sampled)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same weights and settings, and both sample their moves or none does."""
        if not isinstance(other, TrainedPolicy):
            return NotImplemented
        return self.sampled == other.sampled and self.data == other.data

    def __hash__(self) -> int:
        return hash((self.sampled, self.data))

    def __repr__(self) -> str:
        """The `bot` text and the variant."""
        return f"<TrainedPolicy {self.bot!r}: {self.variant}>"


def load_own(policy: str | os.PathLike[str], sampled: bool = False) -> TrainedPolicy:
    """`load_policy` for what needs a policy of `starmine.torch`.

    Raises:
        SerializationError: the file is of another library, or of none.
        StarmineError: see `load_policy`.
    """
    found = load_policy(policy, sampled)
    if not isinstance(found, TrainedPolicy):
        raise SerializationError(
            f"policy={found.name!r} is of another library ({found.format}): expected a policy that Starmine trained"
        )
    return found


@named_keywords
def load_policy(policy: str | os.PathLike[str], sampled: bool = False) -> TrainedPolicy | ForeignPolicy:
    """Load a trained policy.

    Args:
        policy: one of `starmine.policies.shipped()`, as a partner in training better a small one, such as
            `ippo-2p-small`; a file that the `save` of a network of `starmine.torch` wrote, as
            the example scripts do; the folder of a run of these scripts, whose `policy.safetensors` is the policy that
            the run ended with; or a file of OBL, SAD or JaxMARL. `starmine.policies.foreign` lists the formats of other
            libraries, and has options for them.
        sampled: sample its moves with their probabilities, as in training, instead of playing the most probable one.
            For a policy of action values, as `examples/obl.py` trains, the probabilities are a softmax of these.

    Raises:
        TypeError: the policy is neither text nor a path.
        UnknownNameError: there is no such policy, and no file that can be read.
        SerializationError: the file is not a policy file, or its weights are so large that its outputs may overflow.
        ImportError: the file is of another library, and torch is missing.

    >>> import starmine
    >>> policy = starmine.load_policy("ippo-2p")
    >>> policy.variant.players
    2
    >>> games = starmine.play_games([policy, "smart"], games=10)
    """
    name = os.fspath(policy) if isinstance(policy, str | os.PathLike) else None
    if not isinstance(name, str):
        expected = f"the path of a policy's file, or one of {', '.join(shipped())}"
        raise TypeError(f"policy={policy!r} is a {type(policy).__name__}: expected {expected}")
    name = name if name in shipped() else policy_file(name)
    data = _policy_bytes(name)
    return of_bytes(name, data, sampled) if is_foreign(data) else TrainedPolicy(name, data, sampled)
