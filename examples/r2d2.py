"""R2D2 for Hanabi: recurrent Q-learning from a replay memory of whole games, with the team's value as a sum (VDN).

    python examples/r2d2.py --minutes 30              # two players
    python examples/r2d2.py --minutes 30 --sad --aux  # with a simplified action decoder and an auxiliary loss

The parts, of Kapturowski et al. (2019), Sunehag et al. (arXiv 1706.05296), and Hu and Foerster (arXiv 1912.02288):

- **Memory.** The network is SAD's: a layer, an LSTM and dueling heads over the observation with V0 beliefs. The hidden
  state of each seat is stepped on every turn of the game. On the turns of others the seat's only action is the no-op.
- **Value.** The team's value is the sum of the seats' values of their actions, so the best action of each seat is that
  with its own largest value.
- **Sequences.** A sequence is a whole game, from hidden states of zero. It needs no burn-in.
- **Targets.** Double Q-learning with a target network, over the rewards of n turns.
- **Replay.** Games are drawn by .9 of their largest error plus .1 of the mean one. The memory holds decks and moves.
  The drawn games are played again for their observations.
- **Exploration.** Each seat of each game has a rate of its own.
- `--sad`: all seats also see the move that the acting seat would have made without exploration, as a second section of
  the last move. Without exploration the two sections are equal.
- `--aux`: an auxiliary loss predicts whether each own card is playable, already played, or neither.
- `--other-play` (arXiv 2003.02979): in each game all seats but one see permuted colours.

Output folder, stopping and resuming are those of `examples/ppo.py`. `policy.safetensors` has SAD's names;
`starmine.load_policy` plays it with a memory of every turn. A checkpoint holds the replay memory.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from r2d2_games import Game, Games, Replay, Turn, joined
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, huber_loss

import starmine
from starmine.policies.foreign import sad_policy, save_sad
from starmine.policies.foreign.observations import with_v0_beliefs
from starmine.torch import unpack_bits
from starmine.training import (
    FinishedGames,
    OnUpdate,
    Run,
    Schedule,
    ScriptArgs,
    anneal,
    check_finite,
    command_line,
    draw_deals,
    explore,
    local_device,
    prepare_torch,
    progress_games,
    show_game,
)

MEASURES = ("loss", "aux_loss", "error", "value", "gradient_norm")
State = tuple[Tensor, Tensor] | None


@dataclass
class Args(ScriptArgs):
    """Train one policy for all seats of Hanabi with R2D2."""

    variant: str = "standard"
    """one of starmine.variants()"""
    players: int = 2
    lost_game_score: Literal["fireworks", "zero"] = "fireworks"
    """score of a lost game in training; evaluation counts it zero"""
    lost_game_penalty: float = 1.0
    """subtracted in training from the reward of the turn that loses a game"""
    points_taken: float = 1.0
    """share of its points that a lost game takes back at the end of the budget, linear from none; at 1, training ends
    with the score as it counts"""

    out: Path = Path("runs/r2d2")
    """output folder; an earlier run in it is moved to NAME.1"""

    sad: bool = False
    """show all seats the move that the acting seat would have made without exploration"""
    aux: bool = False
    """predict whether own cards are playable or already played"""
    other_play: bool = False
    """permute the colours that all seats but one see, anew in each game"""

    num_envs: int = 64
    """games played to their ends between two updates"""
    replay: int = 16384
    """games in the replay memory"""
    learning_starts: int = 256
    """games in the replay memory before learning"""
    epochs: float = 2.0
    """times that a game is learned from, on average"""
    minibatch: int = 16
    """games in a minibatch"""
    alpha: float = 0.9
    """how much the errors of games matter to the replay"""
    beta: float = 0.6
    """how much weights in the loss make up for it"""
    target_every: int = 25
    """minibatches after which the target network is the network"""
    lr: float = 5e-4
    lr_schedule: Schedule = "linear"
    """of the learning rate, to 0 over the budget"""
    gamma: float = 0.999
    n_step: int = 3
    """turns whose rewards make up a target, before the target network's value"""
    epsilon: float = 0.4
    """the largest rate of exploration; the smallest is its eighth power"""
    grad_norm: float = 5.0
    aux_weight: float = 0.25
    hidden: int = 128
    """width of the layer and of the LSTM's layers; 512 as published"""
    layers: int = 2
    """of the LSTM"""
    device: Literal["cpu", "cuda", "mps"] = "cpu"
    """of the networks"""

    eval_every: int = 20
    """updates between two greedy evaluations"""


# The arguments that a resumed run cannot change.
FIXED = (
    *("variant", "players", "lost_game_score", "sad", "aux", "other_play", "replay"),
    *("hidden", "layers", "device"),
)


class Network(nn.Module):
    """SAD's network, with its names. It evaluates T turns of B games, of all seats: (T, B, players, ...)."""

    encoder = "canonical"

    def __init__(self, args: Args, variant: starmine.Variant) -> None:
        super().__init__()
        self.variant, self.layout, self.sad = variant, variant.layout(), args.sad
        self.last_move = slice(self.layout["last_player"].start, self.layout["knowledge"].start)
        width = len(self.layout) + args.sad * (self.last_move.stop - self.last_move.start)
        self.net = nn.Sequential(nn.Linear(width, args.hidden), nn.ReLU())
        self.lstm = nn.LSTM(args.hidden, args.hidden, args.layers)
        self.fc_v, self.fc_a = nn.Linear(args.hidden, 1), nn.Linear(args.hidden, variant.num_actions + 1)
        self.pred = nn.Linear(args.hidden, 3 * variant.hand_size)  # of the auxiliary loss

    def remember(self, turns: Turn, state: State = None) -> tuple[Tensor, State]:
        """The LSTM's outputs (T, B, players, hidden) for turns, and the hidden states of all seats after them.

        Args:
            turns: of shape (T, B, ...), on the network's device.
            state: the hidden states before the turns; None for those before the first turn of games.
        """
        rows = with_v0_beliefs(self.variant, self.bits(turns.obs))
        if self.sad:
            rows = torch.cat([rows, self.bits(turns.shown)[:, self.last_move]], 1)
        core, state = self.lstm(self.net(rows).view(len(turns.obs), -1, self.net[0].out_features), state)
        return core.view(*turns.obs.shape[:3], -1), state

    def bits(self, packed: Tensor) -> Tensor:
        """Observations, float32 (n, D), of packed ones of any shape (..., bytes)."""
        return unpack_bits(packed.flatten(0, -2), len(self.layout))

    def values(self, core: Tensor, legal: Tensor) -> Tensor:
        """The values (..., A + 1) of all actions and the no-op, from outputs of the LSTM; those of legal ones count."""
        advantage = self.fc_a(core) * legal
        values: Tensor = self.fc_v(core) + advantage - advantage.mean(-1, keepdim=True)
        return values

    def save(self, path: Path, **about: Any) -> None:
        """Write a policy file."""
        save_sad(path, self.state_dict(), self.variant, about)


def best_actions(values: Tensor, legal: Tensor) -> Tensor:
    """The legal actions (...) with the largest values (..., A + 1)."""
    return values.masked_fill(~legal, -torch.inf).argmax(-1)


def n_step_targets(reward: Tensor, best: Tensor, gamma: float, steps: int) -> Tensor:
    """The discounted rewards (T, B) of n turns plus the value of the best action (T, B) after them; 0 after the end."""
    nothing, length = reward.new_zeros(steps, reward.shape[1]), len(reward)
    reward, best = torch.cat([reward, nothing]), torch.cat([best, nothing])
    rewards = sum(gamma**turn * reward[turn : turn + length] for turn in range(steps))
    return rewards + gamma**steps * best[steps:]


class R2D2:
    """The networks, their optimizer, their games and the replay memory."""

    def __init__(self, args: Args) -> None:
        self.args = args
        prepare_torch(args)
        self.device = local_device(args.device)
        self.variant = starmine.variant(args.variant, players=args.players, lost_game_score=args.lost_game_score)
        self.network = Network(args, self.variant).to(self.device)
        self.target = copy.deepcopy(self.network).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.network.parameters(), args.lr, eps=1.5e-5)
        self.replay = Replay(args.replay, args.alpha, args.beta)
        seen = (args.sad, args.other_play, args.seed)
        self.games, self.drawn = (Games(self.variant, count, *seen) for count in (args.num_envs, args.minibatch))
        self.dealt = self.minibatches = 0

    def update(self, fraction: float) -> tuple[dict[str, float], int]:
        """Play games and learn from the replay memory; returns measures for the log, and the turns played.

        Args:
            fraction: the spent part of the budget, for the schedules.
        """
        args = self.args
        lr = self.optimizer.param_groups[0]["lr"] = anneal(args.lr_schedule, args.lr, 0, fraction)
        measures, steps = self.collect()
        if len(self.replay.games) >= args.learning_starts:
            count = math.ceil(args.epochs * args.num_envs / args.minibatch)
            found = torch.stack([self.learn(args.points_taken * fraction) for _ in range(count)])
            measures |= dict(zip(MEASURES, found.mean(0).tolist(), strict=True))
        return measures | {"lr": lr}, steps

    @torch.no_grad()
    def collect(self) -> tuple[dict[str, float], int]:
        """Play games to their ends into the replay memory; returns their scores and the number of turns."""
        args, games, finished, moves = self.args, self.games, FinishedGames(), []
        rows, numbers = torch.arange(args.num_envs), np.arange(self.dealt, self.dealt + args.num_envs)
        epsilon = args.epsilon ** (1 + 7 * torch.randint(80, (args.num_envs, args.players)) / 79)
        decks, start_players = draw_deals(self.variant, args.num_envs)
        turn, state = games.deal(numbers, decks, start_players), None
        while games.running.any():
            now = joined([turn], self.device)
            core, state = self.network.remember(now, state)
            values = self.network.values(core, now.legal)
            check_finite(values.sum()[None, None], ["the sum of the values"], nn.Module())
            greedy = best_actions(values, now.legal)[0].cpu()[rows, turn.seat]
            action = explore(greedy, turn.legal[rows, turn.seat, :-1], epsilon[rows, turn.seat])
            moves.append(np.stack([action, greedy, games.running]).astype(np.uint8))
            turn = games.step(action.numpy(), greedy.numpy())
            finished.add(games.outputs)
        played = np.stack(moves, 2)  # (3, games, turns)
        for place, length in enumerate(played[2].sum(1)):
            dealt = (int(numbers[place]), decks[place], int(start_players[place]))
            self.replay.add(Game(*dealt, *played[:2, place, :length]))
        self.dealt += args.num_envs
        return finished.means(args.lost_game_score), int(played[2].sum())

    def learn(self, points_taken: float) -> Tensor:
        """Learn from a minibatch of games; returns its measures."""
        args = self.args
        place, drawn, weights = self.replay.sample(args.minibatch)
        turns, action, reward, valid = self.drawn.again(drawn, args.lost_game_penalty, points_taken, self.device)
        core, _ = self.network.remember(turns)
        values, count = self.network.values(core, turns.legal), valid.sum(0)
        guess, cards = self.network.pred(core).view(-1, 3), self.own_cards(turns, valid).flatten()
        aux_loss = cross_entropy(guess, cards, ignore_index=-1)
        with torch.no_grad():
            best = best_actions(values, turns.legal)[..., None]
            later = self.target.values(self.target.remember(turns)[0], turns.legal)
            best = later.gather(3, best)[..., 0].sum(2) * valid
        targets = n_step_targets(reward, best, args.gamma, args.n_step)
        value = values.gather(3, action[..., None])[..., 0].sum(2)
        errors = (targets - value) * valid
        losses = huber_loss(errors, torch.zeros_like(errors), reduction="none")
        q_loss = (losses * weights.to(self.device)).sum() / count.sum()
        self.optimizer.zero_grad()
        (q_loss + args.aux_weight * aux_loss * args.aux).backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), args.grad_norm)
        self.optimizer.step()
        errors = errors.detach().abs()
        means = [part.sum() / count.sum() for part in (errors, value * valid)]
        measures = torch.stack([q_loss, aux_loss, *means, norm]).detach().cpu()
        check_finite(measures[None], MEASURES, self.network)
        priorities = 0.9 * errors.amax(0) + 0.1 * errors.sum(0) / count
        self.replay.priorities[place] = priorities.clamp(min=1e-6).cpu().double()
        self.minibatches += 1
        if self.minibatches % args.target_every == 0:
            self.target.load_state_dict(self.network.state_dict())
        return measures

    def own_cards(self, turns: Turn, valid: Tensor) -> Tensor:
        """Of each own card (T, B, players, hand): 0 playable, 1 already played, 2 neither, -1 none."""
        fireworks, ranks = self.network.layout["fireworks"], self.variant.ranks
        tops = self.network.bits(turns.obs)[:, fireworks.slice].view(*turns.hands.shape[:3], -1, ranks)
        heights = (tops * torch.arange(1, ranks + 1, device=self.device)).sum(-1).long()  # (T, B, players, suits)
        ahead = turns.hands % ranks - heights.gather(3, turns.hands.clamp(min=0) // ranks)
        kinds = torch.where(ahead == 0, 0, torch.where(ahead < 0, 1, 2))
        return kinds.masked_fill((turns.hands < 0) | ~valid[:, :, None, None], -1)

    def player(self) -> Any:
        """A player with the network's weights, without exploration, all seats in true colours, as the policy file."""
        return sad_policy(self.network.state_dict(), self.variant)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        parts = {name: getattr(self, name).state_dict() for name in ("network", "target", "optimizer", "replay")}
        return parts | {"dealt": self.dealt, "minibatches": self.minibatches}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        for name in ("network", "target", "optimizer", "replay"):
            getattr(self, name).load_state_dict(state[name])
        self.dealt, self.minibatches = state["dealt"], state["minibatches"]


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results."""
    r2d2 = R2D2(args)
    with Run("r2d2", args, r2d2, FIXED, on_update=on_update) as run:
        while run.begin_update():
            measures, steps = r2d2.update(run.fraction)
            if run.is_due(args.eval_every):
                measures["greedy"] = progress_games(r2d2.player(), r2d2.variant, args.eval_games).mean
            run.end_update(measures, steps=steps)
        if run.finished:
            report(r2d2, run)


def report(r2d2: R2D2, run: Run) -> None:
    """Show a game, evaluate what was learned, and write it."""
    args, player = r2d2.args, r2d2.player()
    show_game(player, r2d2.variant, replay=args.out / "game.html")
    games = {
        "random policy": progress_games("random", r2d2.variant, args.final_games),
        "greedy policy": progress_games(player, r2d2.variant, args.final_games),
    }
    options = [name for name, chosen in (("SAD", args.sad), ("AUX", args.aux), ("OP", args.other_play)) if chosen]
    method = " + ".join(["R2D2-VDN", *options])
    title = f"{method}, {args.variant}, {args.players} players"
    run.report(games, title=title, method=method, network=r2d2.network)


if __name__ == "__main__":
    command_line(main, Args)
