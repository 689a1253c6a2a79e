"""Recognises a policy of another library by its tensors, and makes a player of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from starmine._core import SerializationError, StarmineError, Variant, _policy_bytes, _unknown_name, variants
from starmine._core import variant as preset
from starmine._util.imports import look_up
from starmine.policies.files import PolicyFile
from starmine.policies.foreign.files import (
    AS_MODULE,
    FORMATS,
    SAD_NAMES,
    Read,
    lstm_scopes,
    read_tensors,
    refuse_sb3,
    refuse_unread,
)

if TYPE_CHECKING:
    from torch import Tensor

    from starmine.policies.foreign.networks import R2D2, Actor, HumanClone, QNetwork
    from starmine.policies.foreign.observations import Inputs
    from starmine.torch import ModulePolicy

ACTIVATIONS = ("relu", "tanh", "gelu")
# The formats whose scores are logits, with the activation of their libraries' configurations, which no file says.
USUAL = {"jaxmarl-actor": "relu", "ah2ac2": "gelu"}


def load_foreign(
    policy: str | os.PathLike[str],
    sampled: bool = False,
    *,
    variant: Variant | None = None,
    skip_connect: bool = False,
    activation: str | None = None,
) -> ModulePolicy:
    """Load the policy file of another library, with options; `load_policy` does it with the defaults.

    Args:
        policy: the path of a file in one of `FORMATS`.
        sampled: sample the moves of a JaxMARL actor or a clone of AH2AC2; else the best move by the agent's own
            formula is played.
        variant: the rules that it was trained on, which no file says. None for the standard game of the number of
            players that the widths of the network fit, or the first preset that does.
        skip_connect: of SAD's networks: whether a connection skips the LSTM, as in some of the other-play agents.
        activation: of JaxMARL's actors and AH2AC2's clones: "relu", "tanh" or "gelu". None stands for "relu" in
            JaxMARL's actors and for "gelu" in AH2AC2's clones, as in the configurations of these libraries.

    Raises:
        UnknownNameError: there is no such file or activation.
        SerializationError: the file is damaged, or of no known format.
        StarmineError: the widths of the network fit no variant, action values are to be sampled, or an option is not
            for this format.
        ImportError: torch or safetensors is missing.
    """
    if activation is not None and activation not in ACTIVATIONS:
        raise _unknown_name("activation", activation, list(ACTIVATIONS))
    name = os.fspath(policy)
    return read_foreign(name, _policy_bytes(name), sampled, variant, skip_connect, activation)


def read_foreign(
    name: str,
    data: bytes,
    sampled: bool,
    variant: Variant | None = None,
    skip_connect: bool = False,
    activation: str | None = None,
) -> ModulePolicy:
    """`load_foreign` for the contents of a file."""
    refuse_sb3(data, name)
    try:
        from starmine.policies.foreign.agent import ForeignAgent
    except ImportError as error:
        raise ImportError(f"policy={name!r} needs torch: install starmine with the extra torch") from error
    given = tensors = Read(read_tensors(data, name))
    found = _format(tensors)
    if found is None:
        some = ", ".join(sorted(tensors)[:3])
        known = "starmine.policies.foreign.FORMATS lists the networks of other libraries"
        raise SerializationError(f"policy={name!r} has the tensors {some}, ...: {AS_MODULE}; {known}")
    try:
        if "priv_net_dense_0,kernel" in tensors:
            from starmine.policies.foreign.networks import torch_names

            tensors = Read(torch_names(tensors))
        rules, inputs = _fit(name, found, tensors, variant)
        network = _network(found, tensors, rules, inputs, skip_connect, activation or USUAL.get(found, "relu"))
        _check_widths(network, inputs.width(rules), rules.num_actions + 1)
        refuse_unread(given, tensors)
    except (KeyError, ValueError, RuntimeError, IndexError) as error:
        if isinstance(error, StarmineError):
            raise
        told = " ".join(str(error).split())[:200]
        raise SerializationError(f"policy={name!r} is not a valid policy of {FORMATS[found]}: {told}") from error
    for option, is_given, readers in (
        (f"activation={activation!r}", activation is not None, tuple(USUAL)),
        ("skip_connect=True", skip_connect, ("sad",)),
    ):
        if is_given and found not in readers:
            only = " and ".join(FORMATS[reader] for reader in readers)
            raise StarmineError(f"policy={name!r} is {FORMATS[found]}: {option} is only for {only}")
    if sampled and found not in USUAL:
        raise StarmineError(
            f"policy={name!r} has action values, so it plays greedily: expected sampled=False, or no '; sampled'"
        )
    unusual = activation not in (None, USUAL.get(found))
    options = {"skip_connect": skip_connect, f"activation={activation}": unusual, str(variant): variant is not None}
    file = PolicyFile(name, data, found, options=tuple(option for option, is_chosen in options.items() if is_chosen))
    policy: ModulePolicy = look_up("module_policy")(ForeignAgent(network, rules, inputs), sampled=sampled, file=file)
    return policy


def _check_widths(network: Actor | HumanClone | QNetwork | R2D2, inputs: int, outputs: int) -> None:
    """Evaluate two rows, since the widths of the layers may not fit each other.

    Raises:
        RuntimeError: they do not.
        ValueError: there is another number of outputs.
    """
    import torch

    with torch.no_grad():
        scores = network(torch.zeros(2, inputs), torch.zeros(2, network.width))[0]
    if scores.shape != (2, outputs):
        raise ValueError(f"it has {scores.shape[-1]} outputs: expected {outputs}")


def _format(tensors: dict[str, Tensor]) -> str | None:
    names = set(tensors)
    if {"priv_net.0.weight", "publ_net.0.weight", "fc_a.weight"} <= names or "priv_net_dense_0,kernel" in names:
        return "obl"
    if names >= SAD_NAMES:
        return "sad" if "lstm.weight_ih_l0" in names else "feed-forward"
    if "Dense_0,kernel" not in names:
        return None
    if lstm_scopes(tensors):
        return "ah2ac2"
    return "jaxmarl-q" if any(name.startswith(("LayerNorm_", "BatchNorm_")) for name in names) else "jaxmarl-actor"


def _fit(name: str, found: str, tensors: dict[str, Tensor], variant: Variant | None) -> tuple[Variant, Inputs]:
    """The variant and the inputs that the widths of a network fit."""
    from starmine.policies.foreign.observations import Inputs

    if found == "ah2ac2" or found.startswith("jaxmarl"):
        width = tensors["Dense_0,kernel"].shape[0]
        heads = [tensor.shape[1] for key, tensor in tensors.items() if key.endswith(",kernel") and "Dense" in key]
        possible, outputs = [Inputs(), Inputs(seat=True)][: 1 if found == "ah2ac2" else 2], heads
    else:
        width = tensors["priv_net.0.weight" if found == "obl" else "net.0.weight"].shape[1]
        possible = [Inputs(own_hand, last_action) for own_hand in (False, True) for last_action in (False, True)]
        outputs = [tensors["fc_a.weight"].shape[0]]
    for rules in _candidates() if variant is None else [variant]:
        if rules.num_actions + 1 in outputs:
            for inputs in possible:
                if inputs.width(rules) == width:
                    return rules, inputs
    if variant is not None:
        expected = f"{' or '.join(str(inputs.width(variant)) for inputs in possible)} inputs"
        expected += f" and {variant.num_actions + 1} outputs"
        raise StarmineError(f"policy={name!r} has {width} inputs and layers of {outputs}: expected {expected}")
    raise StarmineError(f"policy={name!r} has {width} inputs, which no preset has: expected its variant as an argument")


def _candidates() -> list[Variant]:
    """The standard games first, since nearly all agents of the literature play them."""
    names = ["standard", *(name for name in variants() if name != "standard")]
    found = []
    for name in names:
        for players in range(2, 6):
            try:
                found.append(preset(name, players=players))
            except StarmineError:  # the preset does not allow this number of players
                continue
    return found


def _network(
    found: str, tensors: dict[str, Tensor], rules: Variant, inputs: Inputs, skip_connect: bool, activation: str
) -> Actor | HumanClone | QNetwork | R2D2:
    from starmine.policies.foreign.networks import R2D2, Actor, HumanClone, QNetwork

    if found == "jaxmarl-actor":
        return Actor(tensors, activation)
    if found == "jaxmarl-q":
        return QNetwork(tensors)
    if found == "ah2ac2":
        return HumanClone(tensors, activation)
    hand = rules.hand_size * rules.colors * rules.ranks
    return R2D2(tensors, (rules.players - 1 + inputs.own_hand) * hand, skip_connect)
