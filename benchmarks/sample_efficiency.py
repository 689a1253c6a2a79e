"""Four attempts to learn more from each turn: quantiles, weights shared over slots or over seats, and restarts.

    python benchmarks/sample_efficiency.py --trial quantiles --total-steps 10000000 --seed 1 --out runs/quantiles-1
    python benchmarks/sample_efficiency.py --trial slots --total-steps 10000000 --seed 1 --out runs/slots-1
    python benchmarks/sample_efficiency.py --trial restarts --total-steps 10000000 --seed 1 --out runs/restarts-1
    python benchmarks/sample_efficiency.py --trial seats --players 5 --total-steps 10000000 --seed 1 --out runs/seats-1

The control of each is examples/ppo.py with the same arguments. tools/update_trials.py compares them. Networks with
other layers are not saved: as in benchmarks/ablation.py `scores.json` gets their scores over 10,000 games. A run with
restarts cannot be resumed.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import torch
from ablation import Unsaved, player
from torch import Tensor, nn
from torch.nn.functional import huber_loss, relu

sys.path.append(str(Path(__file__).parents[1] / "examples"))

import ppo
from ppo import PPO, Args

from starmine import Batch
from starmine.torch import ActorCritic, ColorNetwork, HiddenState
from starmine.torch.network import orthogonal
from starmine.training import Outputs, command_line, training_seed

QUANTILES = 16
LATE, RESTARTS = 2, 2  # rollouts before the stored state, and how often games start from it
ROOT2 = 2**0.5


@dataclass
class TrialArgs(Args):
    """Train one policy with PPO and a change that may learn more from each turn."""

    trial: Literal["quantiles", "slots", "narrow-slots", "seats", "restarts"] = "quantiles"
    """the value as the mean of 16 quantiles of the return; weights shared over the slots of a hand, also in narrower
    layers; weights shared over the other seats; or half of the games start again from stored late states"""


def layer(fan_in: int, fan_out: int, gain: float = ROOT2) -> nn.Linear:
    """A linear layer, initialised as those of the network by colour."""
    return orthogonal(nn.Linear(fan_in, fan_out), gain)


class QuantileColors(Unsaved, ColorNetwork):
    """The network by colour with quantiles of the return in place of its mean.

    Attributes:
        quantiles: (n, 16), those of the last inputs.
    """

    def __init__(self, *rules: Any, **settings: Any) -> None:
        super().__init__(*rules, **settings)
        self.heads = layer(self.hidden[1], self.plain + self.groups + QUANTILES, 0.01)

    def evaluate(self, inputs: Tensor, hidden_state: HiddenState | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Logits (n, A), values (n,), and the hidden states as they were."""
        split = self.color_features.colors * len(self.color_features.row)
        rows, rest = inputs[:, :split].contiguous(), inputs[:, split:].contiguous()
        rows = rows.view(len(inputs), self.color_features.colors, -1)
        tower, pooled = self.layer(self.color[0], rows, self.color_rest, rest)
        tower, pooled = self.layer(self.color[1], tower, self.color_pooled, pooled)
        x = relu(self.trunk(torch.cat([pooled, relu(self.rest(rest))], 1)))
        plain, groups, self.quantiles = self.heads(x).float().split([self.plain, self.groups, QUANTILES], 1)
        by_color = groups[:, None] + self.color_heads(tower).float()
        columns: Any = self.columns
        logits = torch.cat([plain, by_color.flatten(1)], 1).index_select(1, columns)
        return logits, self.quantiles.mean(1), None if hidden_state is None else hidden_state.values


class SharedColors(Unsaved, ColorNetwork):
    """The network by colour, with parts of its inputs read by layers with shared weights.

    A subclass gives the sections that it replaces, reads them, and computes the logits.
    """

    ROW: tuple[str, ...]  # the replaced sections of a colour's row
    REST: tuple[str, ...]  # those of the rest

    def __init__(self, *rules: Any, **settings: Any) -> None:
        super().__init__(*rules, **settings)
        self.hand = self.variant.hand_size
        parts = self.color_features.row, self.color_features.rest
        self.sections: list[dict[str, Any]] = [{section.name: section for section in layout} for layout in parts]
        self.kept = [
            [index for section in layout if section.name not in names for index in range(*section.slice.indices(9999))]
            for layout, names in zip(parts, (self.ROW, self.REST), strict=True)
        ]
        self.share()

    def resize(self, row: int, rest: int) -> None:
        """Replace the first layers: they read this many outputs of the shared layers, and the kept sections."""
        width = self.hidden[0]
        row, rest = row + len(self.kept[0]), rest + len(self.kept[1])
        self.color[0], self.color_rest, self.rest = layer(row, width), layer(rest, width), layer(rest, width)

    @abstractmethod
    def share(self) -> None:
        """Make the shared layers."""

    @abstractmethod
    def shared(self, row: Mapping[str, Tensor], rest: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Any]:
        """Outputs of the shared layers: for each colour (n, C, ...), for the rest (n, ...), and parts for the heads."""

    @abstractmethod
    def logits(self, x: Tensor, tower: Tensor, parts: Any) -> tuple[Tensor, Tensor]:
        """Logits (n, A) and values (n,), from the trunk's outputs, the towers' and the parts."""

    def evaluate(self, inputs: Tensor, hidden_state: HiddenState | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Logits (n, A), values (n,), and the hidden states as they were."""
        split = self.color_features.colors * len(self.color_features.row)
        rows, rest = inputs[:, :split].view(len(inputs), self.color_features.colors, -1), inputs[:, split:]
        whole = [
            {name: part[..., known[name].slice].reshape(*part.shape[:-1], *known[name].shape) for name in names}
            for part, known, names in zip((rows, rest), self.sections, (self.ROW, self.REST), strict=True)
        ]
        of_rows, of_rest, parts = self.shared(*whole)
        rows = torch.cat([of_rows, rows[..., self.kept[0]]], -1).contiguous()
        rest = torch.cat([of_rest, rest[:, self.kept[1]]], -1).contiguous()
        tower, pooled = self.layer(self.color[0], rows, self.color_rest, rest)
        tower, pooled = self.layer(self.color[1], tower, self.color_pooled, pooled)
        x = relu(self.trunk(torch.cat([pooled, relu(self.rest(rest))], 1)))
        logits, value = self.logits(x, tower, parts)
        columns: Any = self.columns
        return logits.index_select(1, columns), value, None if hidden_state is None else hidden_state.values


class SlotColors(SharedColors):
    """One layer reads each slot of a hand, and one computes the logits of its play and discard.

    The places of the slots stay known: the towers read them side by side, and the logits' layer has a bias for each.
    """

    ROW = ("cards", "card_flags", "own", "plausible", "hinted")
    REST = ("own_flags", "flags", "card_ranks", "hinted_ranks")
    CELL, HEAD = 16, 64

    def share(self) -> None:
        """Make the shared layers."""
        ranks, others, trunk = self.variant.ranks, self.players - 1, self.hidden[1]
        self.own_cell, self.cell = layer(2 * ranks + 1, self.CELL), layer(2 * ranks + 4, self.CELL)
        self.own_slot, self.slot = layer(ranks + 3, self.CELL), layer(2 * ranks + 3, self.CELL)
        cells = (1 + others) * self.hand * self.CELL
        self.resize(cells, cells)
        self.of_slot, self.of_trunk = layer(3 * self.CELL, self.HEAD), layer(trunk, self.HEAD)
        self.place = nn.Parameter(torch.zeros(self.hand, self.HEAD))
        self.moves = layer(self.HEAD, 2, 0.01)
        self.heads = layer(trunk, self.plain - 2 * self.hand + self.groups + 1, 0.01)

    def shared(self, row: Mapping[str, Tensor], rest: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Any]:
        """See `SharedColors`."""
        hinted = row["hinted"].unsqueeze(-1)
        # The height of the colour's stack, which all of its cells need.
        start = self.sections[0]["firework"].slice
        height = self.height[..., start].unsqueeze(2).expand(-1, -1, self.hand, -1)
        own = relu(self.own_cell(torch.cat([row["own"], height, hinted[:, :, 0]], -1)))
        cells = relu(self.cell(torch.cat([row["cards"], row["plausible"], row["card_flags"], hinted[:, :, 1:]], -1)))
        ranks = rest["hinted_ranks"]
        own_slot = relu(self.own_slot(torch.cat([rest["own_flags"], ranks[:, 0]], -1)))
        slots = relu(self.slot(torch.cat([rest["flags"], rest["card_ranks"], ranks[:, 1:]], -1)))
        of_rows = torch.cat([own.flatten(2), cells.flatten(2)], -1)
        of_rest = torch.cat([own_slot.flatten(1), slots.flatten(1)], -1)
        return of_rows, of_rest, torch.cat([own.mean(1), own.amax(1), own_slot], -1)

    def evaluate(self, inputs: Tensor, hidden_state: HiddenState | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """See `SharedColors`."""
        split = self.color_features.colors * len(self.color_features.row)
        self.height = inputs[:, :split].view(len(inputs), self.color_features.colors, -1)
        return super().evaluate(inputs, hidden_state)

    def logits(self, x: Tensor, tower: Tensor, parts: Any) -> tuple[Tensor, Tensor]:
        """See `SharedColors`."""
        hidden = relu(self.of_slot(parts) + self.of_trunk(x)[:, None] + self.place)
        moves = self.moves(hidden).float().transpose(1, 2).flatten(1)  # discards of all slots, then plays
        heads = self.heads(x).float()
        hints = self.plain - 2 * self.hand
        by_color = heads[:, None, hints:-1] + self.color_heads(tower).float()
        return torch.cat([moves, heads[:, :hints], by_color.flatten(1)], 1), heads[:, -1]


class NarrowSlots(SlotColors):
    """The same with narrower layers, so that a turn takes less time."""

    CELL, HEAD = 8, 32


class SeatColors(SharedColors):
    """One layer reads the hand of each other seat, and one computes the logits of the hints to it.

    The offsets of the seats stay known: the towers read them side by side, and the logits' layer has a bias for each.
    """

    ROW = ("cards", "card_flags", "plausible")
    REST = ("flags", "card_ranks")
    CELL, HEAD = 32, 64

    def share(self) -> None:
        """Make the shared layers."""
        ranks, hand, others, trunk = self.variant.ranks, self.hand, self.players - 1, self.hidden[1]
        self.of_color, self.of_all = layer(hand * (2 * ranks + 3), self.CELL), layer(hand * (ranks + 3), self.CELL)
        self.resize(others * self.CELL, others * self.CELL)
        self.of_seat, self.of_trunk = layer(self.CELL, self.HEAD), layer(trunk, self.HEAD)
        self.offset = nn.Parameter(torch.zeros(others, self.HEAD))
        self.hints = layer(self.HEAD, ranks + 1, 0.01)
        self.color_heads = layer(self.hidden[0], self.HEAD)
        self.color_seat, self.color_hint = layer(self.CELL, self.HEAD), layer(self.HEAD, 1, 0.01)
        self.color_offset = nn.Parameter(torch.zeros(others, self.HEAD))
        self.heads = layer(trunk, 2 * hand + 1, 0.01)

    def shared(self, row: Mapping[str, Tensor], rest: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Any]:
        """See `SharedColors`."""
        cells = relu(self.of_color(torch.cat([row[name].flatten(3) for name in self.ROW], -1)))
        seats = relu(self.of_all(torch.cat([rest[name].flatten(2) for name in self.REST], -1)))
        return cells.flatten(2), seats.flatten(1), (cells, seats)

    def logits(self, x: Tensor, tower: Tensor, parts: Any) -> tuple[Tensor, Tensor]:
        """See `SharedColors`."""
        cells, seats = parts
        hidden = relu(self.of_seat(seats) + self.of_trunk(x)[:, None] + self.offset)
        hints, heads = self.hints(hidden).float(), self.heads(x).float()
        of_cell = relu(self.color_seat(cells) + self.color_heads(tower)[:, :, None] + self.color_offset)
        by_color = hints[:, None, :, -1] + self.color_hint(of_cell).float()[..., 0]
        return torch.cat([heads[:, :-1], hints[..., :-1].flatten(1), by_color.flatten(1)], 1), heads[:, -1]


class RestartingGames:
    """Two batches of half of the games; all games of the second begin together and play late turns again and again.

    The second batch is stored after rollout 2, restored after rollouts 4 and 6, and reset after rollout 8; then this
    repeats. The turns of each restart are sampled afresh.
    """

    def __init__(self, variant: Any, num_envs: int, **settings: Any) -> None:
        seed = settings.pop("seed")
        self.batches = [Batch(variant, num_envs // 2, seed=seed + (part << 60), **settings) for part in range(2)]
        self.names: list[str] = []
        self.rollouts, self.stored = 0, self.batches[1]

    def observe(self) -> Outputs:
        """The outputs of all games, without a step."""
        first, second = (batch.observe() for batch in self.batches)
        return {name: np.concatenate([first[name], second[name]]) for name in first}

    def step(self, actions: Any) -> Outputs:
        """Play a turn in all games."""
        parts = torch.as_tensor(actions).chunk(2)
        first, second = (batch.step(part) for batch, part in zip(self.batches, parts, strict=True))
        return {name: np.concatenate([first[name], second[name]]) for name in first}

    def end_rollout(self) -> None:
        """Store the states, or go back to them, where it is time; call it between rollouts."""
        self.rollouts += 1
        place, rounds = self.rollouts % LATE, self.rollouts // LATE % (RESTARTS + 2)
        if place == 0 and rounds == 1:
            self.stored = self.batches[1].copy()
        elif place == 0 and rounds > 1:
            self.batches[1] = self.stored.copy()
        elif place == 0:
            self.batches[1].reset()

    def state_dict(self) -> dict[str, Any]:
        """Nothing: the run cannot be resumed."""
        return {}


NETWORKS: dict[str, type[ActorCritic]] = {
    "quantiles": QuantileColors,
    "slots": SlotColors,
    "narrow-slots": NarrowSlots,
    "seats": SeatColors,
}


class Trial(PPO):
    """PPO with one of the changes."""

    def __init__(self, args: TrialArgs) -> None:
        with patch.object(ppo, "ColorNetwork", NETWORKS.get(args.trial, ColorNetwork)):
            super().__init__(args)
        self.trial = args.trial
        if args.trial == "restarts":
            settings: dict[str, Any] = {"seed": training_seed(args.seed), "encoder": args.encoder, "dtype": "bits"}
            self.games: Any = RestartingGames(self.variant, args.num_envs, **settings)

    def collect(self, points_taken: float) -> tuple[Tensor, dict[str, float]]:
        """Play a rollout, as PPO does; then games may start from stored states."""
        found = super().collect(points_taken)
        if self.trial == "restarts":
            self.games.end_rollout()
        return found

    def value_loss(self, value: Tensor, returns: Tensor) -> Tensor:
        """As in PPO; with quantiles the quantile Huber loss (Dabney et al., 2018) of those of the last pass.

        It is multiplied by 4: then small errors have the gradient of the squared error.
        """
        if not isinstance(self.policy, QuantileColors):
            return super().value_loss(value, returns)
        levels, quantiles = (torch.arange(QUANTILES) + 0.5) / QUANTILES, self.policy.quantiles
        targets = returns[:, None].expand_as(quantiles)
        size = huber_loss(quantiles, targets, reduction="none")
        found: Tensor = 4 * ((levels - (targets < quantiles).float()).abs() * size).mean()
        return found


def main(args: TrialArgs) -> None:
    """Train and evaluate."""
    with patch.object(ppo, "network_player", player):
        ppo.train("ppo", Trial(args))


if __name__ == "__main__":
    command_line(main, TrialArgs)
