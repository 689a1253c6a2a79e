"""Off-belief learning, level 1: Q-learning whose seats read nothing into a move but what the rules say.

    python examples/obl.py --minutes 30  # two players

Self-play lets a hint mean whatever the team has come to mean by it, and each run comes to mean something else. In
off-belief learning (Hu et al., arXiv 2103.04000) a seat answers as if all moves so far had been those of level 0, a
random policy, so that a hint tells it what the rules say of the cards, and no more:

- **Belief.** Level 0 chooses the kind of its move without a look at the cards, and a hint by a random card, whose
  colour or rank it names. Such a hint is as probable in every world in which it touches the same cards. So all worlds
  are alike that agree with what a seat has seen, and `View.sample_hands` draws from its belief by exact counting. The
  paper learns a belief model.
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
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import huber_loss

import starmine
from starmine.envs.rewards import taken_back
from starmine.torch import ColorNetwork
from starmine.training import (
    Act,
    FinishedGames,
    OnUpdate,
    Outputs,
    Run,
    Schedule,
    Scores,
    ScriptArgs,
    WeightAverage,
    anneal,
    check_finite,
    command_line,
    draw_deals,
    evaluate_policy,
    network_player,
    random_policy,
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
    lost_game_score: Literal["fireworks", "zero"] = "fireworks"
    """score of a lost game in training; evaluation counts it zero"""
    lost_game_penalty: float = 1.0
    """subtracted in training from the reward of the turn that loses a game"""

    out: Path = Path("runs/obl")
    """output folder; an earlier run in it is moved to NAME.1"""

    num_envs: int = 64
    """games played to their ends between two updates"""
    epochs: int = 2
    minibatch: int = 256
    """turns in a minibatch"""
    lr: float = 7e-4
    lr_schedule: Schedule = "linear"
    """of the learning rate, to 0 over the budget"""
    gamma: float = 0.999
    epsilon: float = 0.4
    """the largest rate of exploration of a seat in a game; the smallest is its eighth power"""
    grad_norm: float = 5.0
    average: float = 0.995
    """decay of the moving average of the weights, which is evaluated and saved; 0 for the last weights"""
    hidden: tuple[int, ...] = (96, 256)
    """widths of a colour's tower and of the trunk"""

    eval_every: int = 20
    """updates between two greedy evaluations"""


# The arguments that a resumed run cannot change.
FIXED = ("variant", "players", "encoder", "lost_game_score", "num_envs", "hidden")


class Tables:
    """N games that are played to their ends side by side, and a fictitious world of each.

    Args:
        variant: the rules.
        num_envs: number of games, N.
        encoder: of the observations, packed bits.

    Attributes:
        running: bool (N,), whether the game goes on.
        worlds: a batch with the fictitious worlds.
    """

    def __init__(self, variant: starmine.Variant, num_envs: int, encoder: str = "canonical") -> None:
        # What ended games play is of no matter, but may be illegal.
        settings: dict[str, Any] = {"encoder": encoder, "dtype": "bits", "illegal_action": "terminate", "seed": 0}
        self.variant, self.running = variant, np.zeros(num_envs, np.bool_)
        self.games, self.worlds = (starmine.Batch(variant, num_envs, **settings) for _ in range(2))
        self.slots = [variant.move(action).slot for action in range(variant.num_actions)]

    def deal(self, decks: NDArray[np.uint8], start_players: NDArray[np.uint8]) -> Outputs:
        """Begin games with decks (N, deck_size); the outputs of a batch."""
        outputs = self.games.reset(decks=decks, start_players=start_players)
        nothing = np.zeros(0, np.uint8)
        dealt = starmine.Trajectories(self.variant, decks, start_players, nothing, np.zeros(len(decks) + 1, np.int64))
        self.states = [dealt.state(game) for game in range(len(decks))]
        size, players = self.variant.hand_size, self.variant.players
        hands = [list(range(seat * size, (seat + 1) * size)) for seat in range(players)]
        self.places = [[list(hand) for hand in hands] for _ in decks]  # in the deck, of the cards of each hand
        self.decks, self.start_players, self.running = decks, start_players, np.ones(len(decks), np.bool_)
        self.actions: list[NDArray[np.int64]] = []
        return outputs

    def step(self, actions: NDArray[np.int64]) -> Outputs:
        """Play a turn of the running games; "terminated" is true for those that ended in it."""
        outputs = self.games.step(actions)
        for game in np.flatnonzero(self.running).tolist():
            action, state = int(actions[game]), self.states[game]
            hand, left, slot = self.places[game][state.current_player], state.deck_size, self.slots[action]
            state.apply(action)
            if slot is not None:
                del hand[slot]
            if state.deck_size < left:
                hand.append(self.variant.deck_size - left)
        self.actions.append(actions)
        outputs["terminated"] = outputs["terminated"] & self.running
        self.running = self.running & ~outputs["terminated"]
        return outputs

    def redraw(self) -> NDArray[np.uint8]:
        """Decks (N, deck_size) with what the acting seats cannot see, drawn anew from their exact beliefs."""
        count, size = self.decks.shape
        decks, keys = self.decks.copy(), torch.rand(count, size).numpy()
        hidden, place = np.zeros((count, size), np.bool_), np.arange(size)
        seeds = torch.randint(2**62, (count,)).tolist()
        hands = np.zeros((count, self.variant.hand_size), np.uint8)
        places = np.full(hands.shape, -1)
        for game in np.flatnonzero(self.running).tolist():
            state = self.states[game]
            own, next_card = self.places[game][state.current_player], size - state.deck_size
            hands[game, : len(own)] = state.view(state.current_player).sample_hands(1, seeds[game])[0]
            places[game, : len(own)], hidden[game, own] = own, True
            hidden[game, next_card:] = True
            keys[game, :next_card] = place[:next_card] - size  # the cards that were dealt keep their places
        for slot in range(self.variant.hand_size):  # the card that was drawn changes places with the own one
            rows = np.flatnonzero(places[:, slot] >= 0)
            own, wanted = places[rows, slot], hands[rows, slot]
            found = (hidden[rows] & (decks[rows] == wanted[:, None])).argmax(1)
            decks[rows, found], decks[rows, own] = decks[rows, own], wanted
            hidden[rows, own] = False
        order = np.where(self.running[:, None], keys.argsort(1), place)
        return np.take_along_axis(decks, order, 1)

    def imagine(self, decks: NDArray[np.uint8]) -> None:
        """Bring the fictitious worlds, with these decks, to the turn of the games."""
        self.worlds.reset_into(decks=decks, start_players=self.start_players)
        for actions in self.actions:
            self.worlds.step_into(actions)


def action_values(logits: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """The value of each action (n, A): the state's plus the advantage over the mean of the legal; -inf if illegal."""
    mean = (logits * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True)
    return (value[:, None] + logits - mean).masked_fill(~mask, -torch.inf)


def explore(action: Tensor, mask: Tensor, epsilon: Tensor) -> Tensor:
    """The actions (n,), each replaced with its probability epsilon (n,) by a uniformly random legal one."""
    random = torch.rand(mask.shape).masked_fill(~mask, -1).argmax(1)
    return torch.where(torch.rand(len(action)) < epsilon, random, action)


class OBL:
    """The network, its optimizer and its games."""

    def __init__(self, args: Args) -> None:
        self.args = args
        torch.manual_seed(args.seed)
        self.variant = starmine.variant(args.variant, players=args.players, lost_game_score=args.lost_game_score)
        self.network = ColorNetwork(self.variant, args.encoder, args.hidden)
        self.network.fuse_kernels()
        self.average = WeightAverage(self.network, args.average)
        self.optimizer = torch.optim.Adam(self.network.parameters(), args.lr, eps=1e-5)
        self.tables = Tables(self.variant, args.num_envs, args.encoder)

    def update(self, fraction: float) -> tuple[dict[str, float], int]:
        """Play games and learn from them; returns measures for the log, and the turns played.

        Args:
            fraction: the spent part of the budget, for the learning rate.
        """
        args = self.args
        lr = anneal(args.lr_schedule, args.lr, 0, fraction)
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
            finished.add(outputs)
        return [torch.cat(column) for column in zip(*turns, strict=True)], finished.means(args.lost_game_score)

    def targets(self, actions: NDArray[np.int64]) -> Tensor:
        """What the acting seats can expect of their actions (N,), in one world each that they hold for possible."""
        args, tables, discount = self.args, self.tables, 1.0
        tables.imagine(tables.redraw())
        found, running = np.zeros(len(actions), np.float32), tables.running
        for _ in range(args.players):
            outputs = tables.worlds.step(actions)
            found += running * discount * (outputs["reward"] - taken_back(outputs, args.lost_game_penalty))
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
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                norm = nn.utils.clip_grad_norm_(self.network.parameters(), args.grad_norm)
                self.optimizer.step()
                self.average.update()
                found.append(torch.stack([loss, (target - value).abs().mean(), value.mean(), norm]).detach())
        measures = torch.stack(found)
        check_finite(measures, MEASURES, self.network)
        return dict(zip(MEASURES, measures.mean(0).tolist(), strict=True))

    def evaluate(self, act: Act, games: int) -> Scores:
        """Play games without exploration."""
        return evaluate_policy(act, self.variant, games, encoder=self.args.encoder)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {name: getattr(self, name).state_dict() for name in ("network", "average", "optimizer")}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        for name in ("network", "average", "optimizer"):
            getattr(self, name).load_state_dict(state[name])


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results."""
    if args.num_threads is not None:
        torch.set_num_threads(args.num_threads)
    obl = OBL(args)
    with Run("obl", args, obl, FIXED, on_update=on_update) as run:
        while run.begin_update():
            measures, steps = obl.update(run.fraction)
            if run.is_due(args.eval_every):
                scores = obl.evaluate(network_player(obl.average.network, args.eval_games), args.eval_games)
                measures["greedy"] = float(scores.score.mean())
            run.end_update(measures, steps=steps)
        if run.finished:
            report(obl, run)


def report(obl: OBL, run: Run) -> None:
    """Show a game, evaluate what was learned, and write it."""
    args, games, network = obl.args, obl.args.final_games, obl.average.network
    show_game(network_player(network, 1), obl.variant, args.encoder, replay=args.out / "game.html")
    scores = {
        "random policy": obl.evaluate(random_policy(), games),
        "greedy policy": obl.evaluate(network_player(network, games), games),
    }
    title = f"off-belief learning, level 1, {args.variant}, {args.players} players"
    run.report(scores, title=title, method="OBL-1", network=network)


if __name__ == "__main__":
    command_line(main, Args)
