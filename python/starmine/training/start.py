"""The weights with which a training run begins."""

from __future__ import annotations

from torch import nn

from starmine.trained import load_policy


def begin_with(network: nn.Module, policy: str) -> None:
    """Give a network the weights of a policy.

    Args:
        network: of the same form as the policy's.
        policy: one of `starmine.policies()`, or the path of a policy's file.

    Raises:
        SystemExit: the policy has another network.
        StarmineError: see `starmine.load_policy`.
    """
    weights = load_policy(policy).network().state_dict()
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        message = f"start={policy!r} is not allowed: expected a policy of the same network; {error}"
        raise SystemExit(message) from error
