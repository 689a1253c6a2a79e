"""The weights with which a training run begins."""

from __future__ import annotations

import hashlib

from starmine.policies.load import load_own
from starmine.torch import ActorCritic
from starmine.training.checkpoint import error_line
from starmine.training.errors import TrainingError
from starmine.training.evaluation import scored_zero


def begin_with(network: ActorCritic, policy: str) -> dict[str, str]:
    """Give a network the weights of a policy.

    Args:
        network: of the same rules and form as the policy's. What a lost game scores may differ.
        policy: one of `starmine.policies.shipped()`, or the path of a policy's file.

    Returns:
        The policy as given, and the SHA-256 checksum of its file, for `config.json`; see `Run`.

    Raises:
        TrainingError: the policy has other rules or another network.
        StarmineError: see `starmine.load_policy`.
    """
    trained = load_own(policy)
    start = f"start={policy!r} is not allowed"
    if scored_zero(trained.variant) != scored_zero(network.variant):
        raise TrainingError(f"{start}: it plays {trained.variant}, not {network.variant}")
    given = trained.network()
    own, others = form(network), form(given)
    different = [f"{name}={value!r}, not {own[name]!r}" for name, value in others.items() if own.get(name) != value]
    expected = f"{start}: expected a policy of the same network"
    if trained.encoder != network.encoder:
        raise TrainingError(f"{expected}; it has {different[0]}")
    try:
        network.load_state_dict(given.state_dict())
    except RuntimeError as error:
        found = f"it has {', '.join(different)}" if different else error_line(error)
        raise TrainingError(f"{expected}; {found}") from error
    return {"policy": policy, "sha256": hashlib.sha256(trained.data).hexdigest()}


def form(network: ActorCritic) -> dict[str, object]:
    """What two networks must share for their weights to be exchanged."""
    return {"encoder": network.encoder, "network": "plain"} | {
        name: value for name, value in network.described().items() if name != "format"
    }
