"""Trained policies: the shipped ones, and files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from starmine._core import SerializationError, UnknownNameError, Variant, _Network, _Player, _policy_bytes
from starmine._core import policies as _shipped
from starmine._util.arrays import Array, check_array
from starmine._util.imports import look_up
from starmine.policies.files import BELIEF, PolicyFile, description, plays_through_torch
from starmine.policies.foreign.files import is_foreign
from starmine.policies.foreign.load import read_foreign

if TYPE_CHECKING:
    from starmine.torch import ModulePolicy

CARDS = Path(__file__).parent
POLICY_FILE = "policy.safetensors"  # of a run's folder: the policy that the run ended with
MOST_RUNS = 10  # that a message names


def shipped() -> list[str]:
    """The names of the policies that come with the package.

    Each of `ippo-2p` to `ippo-5p` has a small version, such as `ippo-2p-small`. It is another policy, which scores
    less. Its moves take about a third of the time: the small ones are meant as partners in training.
    """
    return _shipped()


def policy_file(path: str) -> str:
    """The policy file of a run's folder; other paths as they are.

    Raises:
        UnknownNameError: there is no such file or folder, or the folder has no policy file.
    """
    if os.path.dirname(path) and not os.path.exists(path):
        expected = f"expected a policy's file or the folder of a run{_runs_near(path)}"
        raise UnknownNameError(f"policy={path!r} does not exist: {expected}")
    if not os.path.isdir(path):
        return path
    found = os.path.join(path, POLICY_FILE)
    if not os.path.isfile(found):
        expected = f"expected the folder of a run that has ended, with {POLICY_FILE}{_runs_near(path)}"
        raise UnknownNameError(f"policy={path!r} is a folder without a policy: {expected}; --resume goes on with a run")
    return found


def _runs_near(path: str) -> str:
    """The folders of runs that have ended, next to a path or below it, and in "runs"; nothing where there are none."""
    parents = (Path(path).parent, Path(path), Path("runs"))
    runs = dict.fromkeys(str(file.parent) for parent in parents for file in sorted(parent.glob(f"*/{POLICY_FILE}")))
    shown = ", ".join([*runs][:MOST_RUNS]) + f" and {len(runs) - MOST_RUNS} more" * (len(runs) > MOST_RUNS)
    return f", such as {shown}" * bool(runs)


class TrainedPolicy:
    """A trained policy that the core plays: a `ColorNetwork` without recurrence, as all shipped policies are.

    It can hold a seat in `play_games`, `evaluate` and `partners`. It plays the weights that were loaded, whatever its
    file holds later; so does a pickle of it.

    Attributes:
        name: of a shipped policy, else the file's path.
        variant: the rules that it was trained on.
        encoder: the encoder of its observations.
        recurrent: False; `load_policy` returns a `ModulePolicy` for recurrent networks.
        about: notes from when it was saved, such as steps, seconds, score and its standard error.
        sampled: whether `bot` samples its moves; else it plays the most probable one.
        options: of its network: hidden, belief and recurrent, arguments of `ColorNetwork`.
        data: the contents of the safetensors file.
    """

    def __init__(self, name: str, data: bytes, sampled: bool) -> None:
        """Made by `load_policy`."""
        self._network = _Network(name, data)
        described = json.loads(self._network.metadata)
        self.file = PolicyFile(name, data, about=described.get("about", {}))
        self.name, self.data, self.about = name, data, self.file.about
        self._player = _Player.of_network(self._network, name, sampled)
        self.sampled = sampled
        self.variant = Variant.from_json(json.dumps(described["variant"]))
        self.encoder: str = described["encoder"]
        self.recurrent = False
        self.options = {
            "hidden": described["hidden"],
            "recurrent": described["recurrent"],
            "belief": described[BELIEF],
        }

    @property
    def bot(self) -> str:
        """The text by which `starmine eval` and every function that takes a bot's name load this policy.

        The file is read again then: if it has been replaced, the text names other weights than this object has.
        """
        return self._player.text

    @property
    def checksum(self) -> str:
        """The SHA-256 of its file."""
        return self.file.checksum

    @property
    def card(self) -> str:
        """The model card in Markdown; for a policy that is not shipped, a list of its notes."""
        if self.name in shipped():
            return (CARDS / f"{self.name}.md").read_text(encoding="utf-8")
        return self.file.card

    def logits(self, observations: Array, memory: Array | None = None) -> tuple[Array, Array, Array]:
        """Evaluate the network, without torch.

        Args:
            observations: uint8 (K, D), each 0 or 1, of its encoder.
            memory: None, or the empty array float32 (K, 0) that an earlier call returned, as of a `ModulePolicy`.

        Returns:
            Logits float32 (K, A) of all actions, legal or not, values float32 (K,), and an empty array, float32 (K, 0).

        Raises:
            ArrayError: another type or shape, or an observation that is neither 0 nor 1.
        """
        logits, values = self._network.logits(observations)
        if memory is not None:
            check_array("memory", memory, np.float32, (len(logits), 0))
        return logits, values, np.zeros((len(logits), 0), np.float32)

    def network(self) -> Any:
        """The network as a `ColorNetwork` of `starmine.torch` with these weights, in float32 on the CPU.

        Raises:
            ImportError: torch or safetensors is missing.
        """
        from safetensors.torch import load

        network = look_up("color_network")(self.variant, self.encoder, **self.options)
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


def load_own(policy: str | os.PathLike[str], sampled: bool = False) -> TrainedPolicy | ModulePolicy:
    """`load_policy` for what needs a policy of Starmine.

    Raises:
        SerializationError: the file is of another library, or of none.
        StarmineError: see `load_policy`.
    """
    found = load_policy(policy, sampled)
    if found.file is not None and found.file.format != "starmine":
        raise SerializationError(
            f"policy={found.name!r} is of another library ({found.file.format}): expected a policy of Starmine"
        )
    return found


def load_policy(policy: str | os.PathLike[str], sampled: bool = False) -> TrainedPolicy | ModulePolicy:
    """Load a trained policy.

    A `ColorNetwork` without recurrence is a `TrainedPolicy`, which the core plays. PyTorch plays all other networks, a
    `ModulePolicy`: a `PolicyNetwork`, a recurrent `ColorNetwork`, and the networks of other libraries. Both kinds hold
    seats in `play_games`, `evaluate`, `generate` and environments. Only a `TrainedPolicy` can be the blueprint of a
    search, a partner in the training scripts, or hold a seat in a `Batch`.

    Args:
        policy: one of `starmine.policies.shipped()`; a file that the `save` of a network of `starmine.torch` wrote, as
            the example scripts do; the folder of a run of these scripts, whose `policy.safetensors` is the policy that
            the run ended with; or a file of OBL, SAD or JaxMARL. `starmine.policies.foreign` lists the formats of other
            libraries, and has options for them.
        sampled: sample its moves with their probabilities, as in training, instead of playing the most probable one.
            For Starmine's policies of action values, as `examples/obl.py` trains, the probabilities are a softmax of
            these. Action values of other libraries are not sampled.

    Raises:
        UnknownNameError: there is no such policy, and no file that can be read.
        SerializationError: the file is not a policy file, or its weights are so large that its outputs may overflow.
        StarmineError: `sampled` for action values of another library, or its network fits no preset.
        ImportError: PyTorch plays the policy, and is missing.

    >>> import starmine
    >>> policy = starmine.load_policy("ippo-2p")
    >>> policy.variant.players
    2
    >>> games = starmine.play_games([policy, "smart"], games=10)
    """
    name = os.fspath(policy)
    name = name if name in shipped() else policy_file(name)
    return read_policy(name, _policy_bytes(name), sampled)


def read_policy(name: str, data: bytes, sampled: bool = False) -> TrainedPolicy | ModulePolicy:
    """`load_policy` for the contents of a file; errors call it by this name."""
    if is_foreign(data):
        return read_foreign(name, data, sampled)
    if not plays_through_torch(data):
        return TrainedPolicy(name, data, sampled)
    try:
        from starmine.policies.own import read_network
    except ImportError as error:
        raise ImportError(f"policy={name!r} needs torch: install starmine with the extra torch") from error
    file = PolicyFile(name, data, about=description(data).get("about", {}))
    policy: ModulePolicy = look_up("module_policy")(read_network(name, data), sampled=sampled, file=file)
    return policy
