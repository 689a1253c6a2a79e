"""PPO for Hanabi with a recurrent policy: each seat remembers its own turns of the game.

    python examples/ppo_recurrent.py                # two players, three minutes of training

The network has a gated recurrent unit behind its hidden layers, and a hidden state for each seat of each game, which
changes at that seat's turns. Options, output folder, stopping and resuming are those of `examples/ppo.py`, and so is
the algorithm except for three things:

- while collecting, the hidden states pass from turn to turn, and start at zero with each game;
- a minibatch is the whole rollout of some games, and the network runs over it from the hidden states that the rollout
  began with (truncated backpropagation through time);
- a checkpoint holds the hidden states of the games in progress.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    print("loading PyTorch", flush=True)

import torch
from ppo import PPO, pick, train
from ppo import Args as PPOArgs
from torch import Tensor

from starmine.torch import HiddenState
from starmine.training import OnUpdate, command_line, sample_actions


@dataclass
class Args(PPOArgs):
    """Train one recurrent policy for all seats of Hanabi with PPO.

    Where the default is None it depends on the device; the text gives "on a CPU / on a GPU"; `eval_every` is
    40 / 100.
    """

    out: Path = Path("runs/ppo_recurrent")
    """output folder; without --resume, one that holds a run is refused"""


class RecurrentPPO(PPO):
    """PPO with hidden states.

    Attributes:
        seat: int64 (steps, games), who acted.
        hidden: float32 (games, players, width), the hidden states before the next turn.
        first_hidden: those before the first turn of the rollout.
    """

    recurrent = True

    def __init__(self, given: PPOArgs) -> None:
        super().__init__(given)
        self.seat = torch.zeros_like(self.action)
        self.hidden = self.policy.initial_state(self.args.num_envs)
        self.first_hidden = self.hidden.clone()

    def collect(self) -> None:
        """Play a rollout."""
        self.first_hidden.copy_(self.hidden)
        super().collect()

    def act(self, step: int, games: slice, outputs: dict[str, Tensor]) -> Tensor:
        """Choose the actions (n,) of a group's games, and keep the turn; after the last turn only its value counts."""
        mask, seat = outputs["action_mask"], outputs["current_player"].long()
        hidden = self.hidden[games]
        # A view of `self.hidden`: zero where a game has just been dealt, also after the last turn of the rollout.
        hidden.masked_fill_(outputs["terminated"][:, None, None], 0)
        inputs, action, log_prob, self.value[step, games], after = self.choose(outputs["obs"], mask, seat, hidden)
        if step < self.args.rollout:
            self.inputs[step, games], self.mask[step, games], self.seat[step, games] = inputs, mask, seat
            self.action[step, games], self.log_prob[step, games] = action, log_prob
            self.hidden[games] = after
        return action

    @torch.no_grad()
    def choose_actions(self, bits: Tensor, mask: Tensor, *memory: Tensor) -> tuple[Tensor, ...]:
        """What `PPO` returns, and the hidden states (n, players, width) after the turn."""
        seat, hidden = memory
        inputs, starts = self.policy.read(bits), torch.zeros_like(seat, dtype=torch.bool)
        log_probs, value, after = self.policy(inputs, mask, HiddenState(hidden, seat[None], starts[None]))
        action = sample_actions(log_probs.masked_fill(~mask, -inf))
        return inputs, action, pick(log_probs, action), value, after

    def minibatches(self, size: int) -> Iterator[Tensor]:
        """The games of each minibatch, of about `size` turns."""
        for _ in range(self.args.epochs):
            order = torch.randperm(self.args.num_envs, device=self.device)
            yield from torch.split(order, max(1, size // self.args.rollout))

    def evaluate_minibatch(self, chosen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """All turns of n games in order of time, and their log probabilities and values, with gradients."""
        steps, games = self.action.shape
        rows = (games * torch.arange(steps, device=self.device)[:, None] + chosen).flatten()
        episode_start = self.terminated.roll(1, 0)
        episode_start[0] = False  # `first_hidden` is zero already where a game starts with the rollout
        state = HiddenState(self.first_hidden[chosen], self.seat[:, chosen], episode_start[:, chosen])
        inputs, mask = (part.flatten(0, 1).index_select(0, rows) for part in (self.inputs, self.mask))
        log_probs, value, _ = self.policy(inputs, mask, state)
        return rows, log_probs, value

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        state = super().state_dict()
        return state | {"process": state["process"] | {"hidden": self.hidden.cpu().clone()}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        super().load_state_dict(state)
        self.hidden.copy_(state["process"]["hidden"])


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results."""
    train("ppo_recurrent", RecurrentPPO(args), on_update)


if __name__ == "__main__":
    command_line(main, Args)
