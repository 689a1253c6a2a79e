"""Off-belief learning: Q-learning whose seats read moves as the level below would have meant them.

    python examples/obl.py --minutes 30  # level 1, two players
    python examples/obl.py --minutes 30 --below runs/obl/policy.safetensors --out runs/obl2  # level 2

Self-play lets a hint mean whatever the team has come to mean by it, and each run comes to mean something else. In
off-belief learning (Hu et al., arXiv 2103.04000) a seat answers as if all moves so far had been those of the level
below. Level 0 is a random policy, so that a hint tells level 1 what the rules say of the cards, and no more:

- **Belief in level 0.** It chooses the kind of its move without a look at the cards, and a hint by a random card, whose
  colour or rank it names. Such a hint is as probable in every world in which it touches the same cards. So all worlds
  are alike that agree with what a seat has seen, and `View.sample_hands` draws from its belief by exact counting.
- **Belief in a policy.** From level 2 on, that draws `--candidates` worlds. One of them is kept with a probability in
  proportion to that of the other seats' moves: the level below makes its best move, or with `--below-epsilon` a random
  legal one. With more candidates this comes closer to Bayes' rule. The paper learns a belief model.
- **Fictitious worlds.** Games are played with exploration. At each turn the acting seat's own hand and the rest of the
  deck are drawn anew. In that world the seat makes its move, its partners answer greedily until it is to act again, and
  its target is the rewards of these turns plus its best value then. The game itself goes on as it was.
- **Values.** Each seat learns a value of its own, by a network without memory: dueling values, Huber loss. The network
  that plays the games computes the targets, and learns from them afterwards, so that it is its own target network.

Output folder, stopping and resuming are those of `examples/ppo.py`; a resumed run needs the same budget, in steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from obl_worlds import LevelBelow, Tables
from torch import Tensor, nn
from torch.nn.functional import huber_loss

import starmine
from starmine.envs import Rewards
from starmine.torch import ColorNetwork
from starmine.training import (
    FinishedGames,
    OnUpdate,
    Outputs,
    Run,
    ScriptArgs,
    WeightAverage,
    anneal,
    check_finite,
    command_line,
    draw_deals,
    explore,
    flat_weights,
    network_player,
    prepare_torch,
    progress_games,
    show_game,
)

MEASURES = ("loss", "error", "value", "gradient_norm")


@dataclass
class Args(ScriptArgs):
    """Train one policy for all seats of Hanabi with off-belief learning."""

    variant: str = "standard"
    """one of starmine.variants()"""
    players: int = 2
    encoder: str = "canonical"
    """one of starmine.encoders()"""
    lost_game_penalty: float = 1.0
    """points that are subtracted in training from the last reward of a lost game; evaluation counts it zero"""

    out: Path = Path("runs/obl")
    """output folder; without --resume, one that holds a run is refused"""

    num_envs: int = 64
    """games played to their ends between two updates"""
    epochs: int = 2
    minibatch: int = 256
    """turns in a minibatch"""
    lr: float = 7e-4
    gamma: float = 0.999
    epsilon: float = 0.4
    """the largest rate of exploration of a seat in a game; the smallest is its eighth power"""
    grad_norm: float = 5.0
    below: str | None = None
    """the policy of the level below, such as the file of a run; None for level 0"""
    below_epsilon: float = 0.1
    """share of random moves of that policy"""
    candidates: int = 16
    """worlds of which one is kept by the probability of that policy's moves"""
    average: float = 0.995
    """decay of the moving average of the weights, which is evaluated and saved; 0 for the last weights"""
    hidden: tuple[int, ...] = (96, 256)
    """widths of a colour's tower and of the trunk"""

    eval_every: int = 20
    """updates between two greedy evaluations"""


# The arguments that a resumed run cannot change.
FIXED = ("variant", "players", "encoder", "num_envs", "hidden", "below")


def action_values(logits: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """The value of each action (n, A): the state's plus the advantage over the mean of the legal; -inf if illegal."""
    mean = (logits * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True)
    return (value[:, None] + logits - mean).masked_fill(~mask, -torch.inf)


class OBL:
    """The network, its optimizer and its games."""

    def __init__(self, args: Args) -> None:
        self.args = args
        prepare_torch(args)
        self.variant = starmine.variant(args.variant, players=args.players)
        self.rewards = Rewards(self.variant, "fireworks", args.lost_game_penalty)
        self.network = ColorNetwork(self.variant, args.encoder, args.hidden)
        self.network.fuse_kernels()
        self.weights = flat_weights(self.network)
        self.average = WeightAverage(self.network, self.weights, args.average)
        self.optimizer = torch.optim.Adam([self.weights], args.lr, eps=1e-5, fused=True)
        below = None
        if args.below is not None:
            below = LevelBelow(args.below, self.variant, args.encoder, args.below_epsilon)
        self.tables = Tables(self.rewards.rules, args.num_envs, args.encoder, below, args.candidates)

    def update(self, fraction: float) -> tuple[dict[str, float], int]:
        """Play games and learn from them; returns measures for the log, and the turns played.

        Args:
            fraction: the spent part of the budget, for the learning rate.
        """
        args = self.args
        lr = anneal(args.lr, 0.0, fraction)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        samples, measures = self.collect()
        return measures | self.learn(samples) | {"lr": lr}, len(samples[0])

    def values(self, outputs: Outputs, rows: NDArray[np.int64]) -> Tensor:
        """The values of all actions (n, A) in some games."""
        logits, value, _ = self.network.evaluate(self.network.read(outputs["obs"][rows]), None)
        if not torch.isfinite(logits.sum() + value.sum()):
            raise FloatingPointError("the network's output is not finite")
        return action_values(logits, value, torch.from_numpy(outputs["action_mask"][rows]))

    @torch.no_grad()
    def collect(self) -> tuple[list[Tensor], dict[str, float]]:
        """Play games to their ends; their turns as observations, masks, actions and targets, and the scores."""
        args, tables, finished = self.args, self.tables, FinishedGames()
        epsilon = args.epsilon ** (1 + 7 * torch.rand(args.num_envs, args.players))
        outputs, turns = tables.deal(*draw_deals(self.variant, args.num_envs)), []
        while tables.running.any():
            rows = np.flatnonzero(tables.running)
            mask, seat = torch.from_numpy(outputs["action_mask"][rows]), outputs["current_player"][rows]
            action = explore(self.values(outputs, rows).argmax(1), mask, epsilon[rows, seat])
            actions = np.zeros(args.num_envs, np.int64)
            actions[rows] = action.numpy()
            targets = self.targets(actions)[rows]
            turns.append((torch.from_numpy(outputs["obs"][rows]), mask, action, targets))
            outputs = tables.step(actions)
            ended = outputs["terminated"]
            finished.add(outputs["final_score"][ended], outputs["final_ending"][ended])
        return [torch.cat(column) for column in zip(*turns, strict=True)], finished.means()

    def targets(self, actions: NDArray[np.int64]) -> Tensor:
        """What the acting seats can expect of their actions (N,), in one world each that they hold for possible."""
        args, tables, discount = self.args, self.tables, 1.0
        tables.imagine(tables.believe())
        found, running = np.zeros(len(actions), np.float32), tables.running
        for _ in range(args.players):
            outputs = tables.worlds.step(actions)
            self.rewards.step(outputs)
            found += running * discount * outputs["reward"]
            running, discount = running & ~outputs["terminated"], discount * args.gamma
            rows = np.flatnonzero(running)
            if not len(rows):
                return torch.from_numpy(found)
            best = self.values(outputs, rows).max(1)
            actions = np.zeros(len(actions), np.int64)
            actions[rows] = best.indices.numpy()
        found[rows] += discount * best.values.numpy()
        return torch.from_numpy(found)

    def learn(self, samples: list[Tensor]) -> dict[str, float]:
        """Fit the values to the targets in epochs of minibatches; returns the means of their measures."""
        args, found = self.args, []
        for _ in range(args.epochs):
            for chosen in torch.split(torch.randperm(len(samples[0])), args.minibatch):
                obs, mask, action, target = (column[chosen] for column in samples)
                logits, state_value, _ = self.network.evaluate(self.network.read(obs), None)
                value = action_values(logits, state_value, mask).gather(1, action[:, None])[:, 0]
                loss = huber_loss(value, target)
                self.optimizer.zero_grad(set_to_none=False)
                loss.backward()  # type: ignore[no-untyped-call]
                norm = nn.utils.clip_grad_norm_(self.network.parameters(), args.grad_norm)
                self.optimizer.step()
                self.average.update()
                found.append(torch.stack([loss, (target - value).abs().mean(), value.mean(), norm]).detach())
        measures = torch.stack(found)
        check_finite(measures, MEASURES, self.network)
        return dict(zip(MEASURES, measures.mean(0).tolist(), strict=True))

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {name: getattr(self, name).state_dict() for name in ("network", "average", "optimizer")}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        for name in ("network", "average", "optimizer"):
            getattr(self, name).load_state_dict(state[name])


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results."""
    obl = OBL(args)
    with Run("obl", args, obl, FIXED, on_update=on_update) as run:
        while run.begin_update():
            measures, steps = obl.update(run.fraction)
            if run.is_due(args.eval_every):
                player = network_player(obl.average.network)
                measures["greedy"] = progress_games(player, obl.variant, args.eval_games).mean
            run.end_update(measures, steps=steps)
        if run.finished:
            report(obl, run)


def report(obl: OBL, run: Run) -> None:
    """Show a game, evaluate what was learned, and write it."""
    args, player = obl.args, network_player(obl.average.network)
    show_game(player, obl.variant, replay=args.out / "game.html")
    games = {
        "random policy": progress_games("random", obl.variant, args.final_games),
        "greedy policy": progress_games(player, obl.variant, args.final_games),
    }
    level = 1 if obl.tables.below is None else obl.tables.below.level + 1
    title = f"off-belief learning, level {level}, {args.variant}, {args.players} players"
    run.report(games, title=title, method=f"OBL-{level}", network=obl.average.network)


if __name__ == "__main__":
    command_line(main, Args)
