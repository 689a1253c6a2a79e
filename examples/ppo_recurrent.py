"""PPO for Hanabi with a recurrent policy: each seat remembers its own turns of the game.

    python examples/ppo_recurrent.py                # two players, three minutes; with the options of examples/ppo.py

The network has a gated recurrent unit behind its hidden layers, and a hidden state for each seat of each game, which
changes at that seat's turns. Rollout, advantages and loss are those of `examples/ppo.py`. Here:

- while collecting, the hidden states pass from turn to turn, and start at zero with each game;
- a minibatch is the whole rollout of some games, and the network runs over it from the hidden states that the rollout
  began with (truncated backpropagation through time);
- a checkpoint holds the hidden states of the games in progress.

Output folder, stopping and resuming are those of `examples/ppo.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ppo
import torch
from torch import Tensor

from starmine.torch import HiddenState
from starmine.training import OnUpdate, Outputs, command_line


@dataclass
class Args(ppo.Args):
    """Train one recurrent policy for all seats of Hanabi with PPO."""

    out: Path = Path("runs/ppo_recurrent")
    """output folder; an earlier run in it is moved to NAME.1"""
    minibatch: int = 512
    """turns in a minibatch, of as many games as have them in a rollout"""


class RecurrentPPO(ppo.PPO):
    """PPO with hidden states.

    Attributes:
        seat: int64 (steps, games), who acted.
        hidden: float32 (games, players, width), the hidden states before the next turn.
        first_hidden: those before the first turn of the rollout.
        next_hidden: those after the turn, also of games that ended with it.
    """

    recurrent = True

    def __init__(self, args: Args) -> None:
        super().__init__(args)
        self.hidden = self.first_hidden = self.next_hidden = self.policy.initial_state(args.num_envs)
        self.seat = torch.empty_like(self.action)

    def infer(self, step: int, outputs: Outputs, inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log probabilities (N, A) and values (N,) before a turn; the hidden states go on from the turn before."""
        if step == 0:
            self.first_hidden = self.hidden
        else:
            self.hidden = self.next_hidden.masked_fill(self.terminated[step - 1, :, None, None], 0)
        seat = torch.from_numpy(outputs["current_player"]).long().to(self.device)
        if step < len(self.seat):
            self.seat[step] = seat
        going_on = torch.zeros_like(seat[None], dtype=torch.bool)
        log_probs, value, after = self.policy(inputs, mask, HiddenState(self.hidden, seat[None], going_on))
        assert after is not None
        self.next_hidden = after
        return log_probs, value

    def minibatches(self, size: int) -> Iterator[Tensor]:
        """The rows of an epoch's minibatches: all turns of some games, in order of time."""
        steps, games = self.seat.shape
        starts = games * torch.arange(steps, device=self.device)
        for chosen in torch.split(torch.randperm(games).to(self.device), max(1, size // steps)):
            yield (starts[:, None] + chosen).flatten()

    def evaluate_rows(self, rows: Tensor, inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log probabilities (n, A) and values (n,) of a minibatch, from the hidden states before the rollout."""
        games = rows[: len(rows) // len(self.seat)]
        episode_start = self.terminated.roll(1, 0)
        episode_start[0] = False  # `first_hidden` is zero already where a game starts with the rollout
        state = HiddenState(self.first_hidden[games], self.seat[:, games], episode_start[:, games])
        log_probs, value, _ = self.policy(inputs, mask, state)
        return log_probs, value

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        state = super().state_dict()
        return state | {"process": state["process"] | {"hidden": self.hidden.cpu()}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        super().load_state_dict(state)
        self.hidden = state["process"]["hidden"].to(self.device)


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results."""
    if args.num_threads is not None:
        torch.set_num_threads(args.num_threads)
    ppo.train("ppo_recurrent", RecurrentPPO(args), on_update)


if __name__ == "__main__":
    command_line(main, Args)
