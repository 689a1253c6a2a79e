"""What networks of other libraries see: canonical observations with probabilities instead of possible cards."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from starmine._core import Variant
from starmine.policies.v0_beliefs import v0_beliefs


@dataclass(frozen=True)
class Inputs:
    """The sections of a network's inputs, in their order.

    Attributes:
        own_hand: zeros in the place of the own cards come first (SAD).
        last_action: the sections "last_player" to "last_regained" are repeated at the end, as SAD's greedy action,
            which is the action that was played in evaluations.
        seat: the seat, one-hot, comes last (JaxMARL's `CTRolloutManager`).
    """

    own_hand: bool = False
    last_action: bool = False
    seat: bool = False

    def width(self, variant: Variant) -> int:
        """Numbers in a row."""
        layout = variant.layout()
        hand = variant.hand_size * variant.colors * variant.ranks
        return (
            len(layout)
            + self.own_hand * hand
            + self.last_action * (layout["knowledge"].start - layout["last_player"].start)
            + self.seat * variant.players
        )

    def rows(self, variant: Variant, obs: Tensor, seats: Tensor) -> Tensor:
        """The inputs, float32 (K, width).

        Args:
            variant: the rules.
            obs: canonical observations of 0 and 1, (K, D).
            seats: int64 (K,), the seats that observe.
        """
        parts = [with_v0_beliefs(variant, obs)]
        if self.own_hand:
            parts.insert(0, parts[0].new_zeros(len(obs), variant.hand_size * variant.colors * variant.ranks))
        if self.last_action:
            layout = variant.layout()
            parts.append(parts[-1][:, layout["last_player"].start : layout["knowledge"].start])
        if self.seat:
            parts.append(torch.nn.functional.one_hot(seats, variant.players).float())
        return torch.cat(parts, dim=1)


def with_v0_beliefs(variant: Variant, obs: Tensor) -> Tensor:
    """The observations with V0 beliefs in the place of the cards that hints allow, float32 (K, D)."""
    layout = variant.layout()
    sections = {name: layout[name].slice for name in ("fireworks", "discards", "knowledge")}
    obs, (start, stop) = obs.float(), (layout["knowledge"].start, layout["knowledge"].stop)
    beliefs = v0_beliefs(variant, obs, sections, lambda array: torch.as_tensor(array, device=obs.device))
    knowledge = obs[:, start:stop].reshape(len(obs), variant.players * variant.hand_size, -1)
    known = torch.cat([beliefs, knowledge[..., variant.colors * variant.ranks :]], dim=-1)
    return torch.cat([obs[:, :start], known.reshape(len(obs), -1), obs[:, stop:]], dim=1)
