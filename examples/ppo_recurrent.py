"""PPO for Hanabi with a recurrent policy: each seat remembers its own turns of the game.

    python examples/ppo_recurrent.py                # with the options of examples/ppo.py
    torchrun --nproc-per-node 4 examples/ppo_recurrent.py

The network has a gated recurrent unit behind its hidden layers, and a hidden state for each seat of each game, which
changes at that seat's turns. Collecting, the loss and the loop are those of `examples/ppo.py`; this file adds what
recurrence needs:

- while collecting, the hidden states pass from turn to turn, and start at zero with each game;
- a minibatch is the whole rollout of some games, and the network runs over it from the hidden states that the rollout
  began with (truncated backpropagation through time);
- a checkpoint holds the hidden states of the games in progress.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from ppo import PPO, Args
from ppo import main as train
from torch import Tensor

from starmine.torch import HiddenState, Minibatch
from starmine.training import OnUpdate, Outputs, command_line, infer


class RecurrentPPO(PPO):
    """PPO with hidden states, float32 (games, players, width).

    Attributes:
        hidden: before the next turn.
        hidden_after: after the turn predicted last, before games that ended in it start anew.
        first_hidden: before the first turn of the rollout.
        seat: int64 (steps, games), the seat that played each turn of the rollout.
    """

    program, recurrent = "ppo_recurrent", True

    def __init__(self, args: Args) -> None:
        super().__init__(args)
        self.hidden = self.hidden_after = self.first_hidden = self.policy.initial_state(args.num_envs)
        self.seat = torch.zeros(args.rollout, args.num_envs, dtype=torch.int64, device=self.device)

    def predict(self, outputs: Outputs) -> tuple[Tensor, Tensor]:
        """Log probabilities (N, A) and values (N,) of the turn after those in the rollout, without gradients."""
        step = self.rollout.filled
        if step == 0:
            self.first_hidden = self.hidden
        else:
            self.hidden = self.hidden_after.masked_fill(self.rollout.terminated[step - 1, :, None, None], 0)
        log_probs, value, hidden = infer(self.policy, outputs, self.hidden, self.read(outputs))
        assert hidden is not None
        self.hidden_after = hidden
        if step < len(self.seat):
            self.seat[step] = torch.from_numpy(outputs["current_player"])
        return log_probs, value

    def minibatches(self) -> Iterator[Minibatch]:
        """All samples of the rollout once, in minibatches of whole games, as many as `minibatch` has room for."""
        return self.rollout.sequences(max(1, self.minibatch // self.args.rollout), dtype=None)

    def forward(self, samples: Minibatch) -> tuple[Tensor, Tensor]:
        """Log probabilities (n, A) and values (n,) of some games' rollouts, with gradients."""
        turns = samples.rows.view(self.args.rollout, -1)  # (steps, games)
        episode_start = self.rollout.terminated.roll(1, 0)
        episode_start[0] = False  # `first_hidden` is zero already where a game starts with the rollout
        state = HiddenState(self.first_hidden[turns[0]], self.seat.flatten()[turns], episode_start.flatten()[turns])
        log_probs, value, _ = self.policy(self.inputs_of(samples), samples.action_mask, state)
        return log_probs, value

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        state = super().state_dict()
        state["process"]["hidden"] = self.hidden.cpu()
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        super().load_state_dict(state)
        self.hidden = state["process"]["hidden"].to(self.device)


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results."""
    train(args, RecurrentPPO, on_update)


if __name__ == "__main__":
    command_line(main, Args)
