"""A policy network as a player of batches."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from starmine.torch import ActorCritic, HiddenState
from starmine.training.evaluation import Act, Outputs


@torch.no_grad()
def infer(network: ActorCritic, outputs: Outputs, hidden: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Evaluate the next turn of N games, without gradients.

    Args:
        network: the policy.
        outputs: of a batch of dtype "bits" whose observations are those of the seats to act.
        hidden: float32 (N, players, width), the hidden states; needed by a recurrent network.

    Returns:
        Log probabilities float32 (N, A), values float32 (N,), and the hidden states after the turn, or None without
        `hidden`; on the network's device.

    Raises:
        FloatingPointError: they are not finite.
    """
    device = network.heads.weight.device
    mask, seat = (torch.from_numpy(outputs[name]).to(device) for name in ("action_mask", "current_player"))
    inputs = network.read(torch.from_numpy(outputs["obs"]).to(device))
    state = None
    if hidden is not None:
        state = HiddenState(hidden, seat.long()[None], torch.zeros(1, len(seat), dtype=torch.bool, device=device))
    log_probs, value, hidden = network(inputs, mask, state)
    if not torch.isfinite(log_probs.sum() + value.sum()):
        raise FloatingPointError("the network's output is not finite")
    return log_probs, value, hidden


def sample_actions(log_probs: Tensor) -> Tensor:
    """Actions int64 (N,), each drawn with its probability from a row of log probabilities (N, A).

    This is the Gumbel-max trick: minus the logarithm of exponential noise is Gumbel noise.
    """
    return (log_probs - torch.empty_like(log_probs).exponential_().log()).argmax(1)


def network_player(network: ActorCritic, games: int, sampled: bool = False) -> Act:
    """The network as the player of N games that begin now.

    Args:
        network: the policy.
        games: number of games, N.
        sampled: sample the actions; else the most probable action is played.
    """
    hidden: Tensor | None = network.initial_state(games)

    def act(outputs: Outputs) -> NDArray[np.int64]:
        nonlocal hidden
        log_probs, _, hidden = infer(network, outputs, hidden)
        actions: NDArray[np.int64] = (sample_actions(log_probs) if sampled else log_probs.argmax(1)).cpu().numpy()
        return actions

    return act
