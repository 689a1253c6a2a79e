"""R2D2 for Hanabi: recurrent Q-learning from a replay memory of whole games, with the team's value as a sum (VDN).

    python examples/r2d2.py --minutes 30              # two players
    python examples/r2d2.py --minutes 30 --sad --aux  # with a simplified action decoder and an auxiliary loss

The parts, of Kapturowski et al. (2019), Sunehag et al. (arXiv 1706.05296), and Hu and Foerster (arXiv 1912.02288):

- **Value.** The team's value is the sum of a value for each seat, of its own observation. The acting seat adds the
  advantage of its action over the mean of the legal ones; a waiting seat has no choice and adds none. So the best
  action is that with the largest output, and the network is a policy file like any other.
- **Memory.** A hidden state for each seat changes at the seat's own turns; a waiting seat is evaluated, but remembers
  nothing. Sequences are whole games, from hidden states of zero.
- **Targets.** Double Q-learning with a target network, over the rewards of n turns.
- **Replay.** Games are drawn by .9 of their largest error plus .1 of the mean one. The memory holds decks and actions;
  the drawn games are played again for their observations.
- **Exploration.** Each seat of each game has a rate of its own.
- `--sad`: the other seats also see which move the acting seat would have made without exploration, as a section of its
  own with its own weights, next to the move that was made. It enters the memory as the difference from that move, which
  is the same to a linear layer. Where nobody explores, it is zero, so a policy file needs no such input.
- `--aux`: an auxiliary loss predicts whether each own card is playable, already played, or neither.
- `--other-play` (arXiv 2003.02979): in each game all seats but one see permuted colours. A network by colour, the
  default, plays the same with any colours, so this makes a difference to `--network plain` and with `--sad`.

Output folder, stopping and resuming are those of `examples/ppo.py`. A checkpoint holds the replay memory.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, huber_loss

import starmine
from starmine.torch import ActorCritic, CardFeatures, ColorNetwork, HiddenState, PolicyNetwork, unpack_bits
from starmine.training import (
    Act,
    FinishedGames,
    GameReplay,
    OnUpdate,
    Run,
    Schedule,
    Scores,
    ScriptArgs,
    SeatGames,
    SeatTurns,
    anneal,
    check_finite,
    command_line,
    draw_deals,
    evaluate_policy,
    network_player,
    other_colors,
    padded_turns,
    random_policy,
    show_game,
)

MEASURES = ("loss", "aux_loss", "error", "value", "gradient_norm")


@dataclass
class Args(ScriptArgs):
    """Train one policy for all seats of Hanabi with R2D2."""

    variant: str = "standard"
    """one of starmine.variants()"""
    players: int = 2
    encoder: str = "canonical"
    """one of starmine.encoders()"""
    lost_game_score: Literal["fireworks", "zero"] = "fireworks"
    """score of a lost game in training; evaluation counts it zero"""
    lost_game_penalty: float = 1.0
    """subtracted in training from the reward of the turn that loses a game"""

    out: Path = Path("runs/r2d2")
    """output folder; an earlier run in it is moved to NAME.1"""

    sad: bool = False
    """show the others the move that the acting seat would have made without exploration"""
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
    network: Literal["colors", "plain"] = "colors"
    """weights that all colours share, with exact card features; or hidden layers over the bits of the observation"""
    hidden: tuple[int, ...] = (96, 128)
    """widths of a colour's tower and of trunk and memory; for a plain network of the hidden layers"""

    eval_every: int = 20
    """updates between two greedy evaluations"""


# The arguments that a resumed run cannot change.
FIXED = ("variant", "players", "encoder", "lost_game_score", "sad", "aux", "other_play", "replay", "network", "hidden")


class QNetwork(nn.Module):
    """A policy network whose outputs are advantages and values, with what training adds to it."""

    def __init__(self, args: Args, variant: starmine.Variant) -> None:
        super().__init__()
        kind = ColorNetwork if args.network == "colors" else PolicyNetwork
        self.policy: ActorCritic = kind(variant, args.encoder, args.hidden, recurrent=True)
        self.policy.fuse_kernels()
        self.sad, self.difference = args.sad, cast("Tensor | None", None)
        self.greedy_move = nn.Linear(self.policy.features, self.policy.state_width, bias=False)
        self.own_cards = nn.Linear(self.policy.state_width, 3 * variant.hand_size)
        memory = self.policy.get_submodule("memory")
        memory.register_forward_pre_hook(self.add_greedy_move)
        memory.register_forward_hook(self.remember)

    def add_greedy_move(self, module: nn.Module, given: tuple[Tensor, HiddenState]) -> tuple[Tensor, HiddenState]:
        """Add the section of the greedy move to what the memory sees; none where the policy plays by itself."""
        difference, self.difference = self.difference, None
        return given if difference is None else (given[0] + self.greedy_move(difference), given[1])

    def remember(self, module: nn.Module, given: Any, found: tuple[Tensor, Tensor]) -> None:
        """Keep what the memory gives, for the auxiliary loss."""
        self.remembered = found[0]

    def inputs(self, obs: Tensor, shown: Tensor) -> Tensor:
        """The policy's input for packed observations (n, bytes), with the last moves that were made and the greedy."""
        if self.sad:
            self.difference = unpack_bits(shown, self.policy.features) - unpack_bits(obs, self.policy.features)
        return self.policy.read(obs)

    def forward(self, turns: SeatTurns) -> Tensor:
        """The team's value of each action (T, B, A), -inf where it is not legal."""
        length, games, players = turns.obs.shape[:3]
        waiting = torch.arange(players) != turns.seat[:, :, None]
        alone = torch.zeros(length, games * players)  # each seat of each game has a hidden state
        hidden = torch.zeros(games * players, 1, self.policy.state_width)
        state = HiddenState(hidden, alone.long(), alone.bool(), waiting.flatten(1))
        inputs = self.inputs(turns.obs.flatten(0, 2), turns.shown.flatten(0, 2))
        logits, value, _ = self.policy.evaluate(inputs, state)
        acting = logits.view(length, games, players, -1)[~waiting].view(length, games, -1)
        return team_values(acting, value.view(length, games, players), turns.mask)


def team_values(acting: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """The team's value of each action (T, B, A), -inf where it is not legal.

    Args:
        acting: the outputs (T, B, A) of the acting seat.
        value: of all seats (T, B, players).
        mask: bool (T, B, A), the legal actions.
    """
    mean = (acting * mask).sum(2, keepdim=True) / mask.sum(2, keepdim=True)
    return (value.sum(2, keepdim=True) + acting - mean).masked_fill(~mask, -torch.inf)


def n_step_targets(reward: Tensor, best: Tensor, gamma: float, steps: int) -> Tensor:
    """The discounted rewards (T, B) of n turns plus the value of the best action (T, B) after them; 0 after the end."""
    nothing, length = reward.new_zeros(steps, reward.shape[1]), len(reward)
    reward, best = torch.cat([reward, nothing]), torch.cat([best, nothing])
    rewards = sum(gamma**turn * reward[turn : turn + length] for turn in range(steps))
    return rewards + gamma**steps * best[steps:]


def explore(action: Tensor, mask: Tensor, epsilon: Tensor) -> Tensor:
    """The actions (n,), each replaced with its probability epsilon (n,) by a uniformly random legal one."""
    random = torch.rand(mask.shape).masked_fill(~mask, -1).argmax(1)
    return torch.where(torch.rand(len(action)) < epsilon, random, action)


class R2D2:
    """The networks, their optimizer, their games and the replay memory."""

    def __init__(self, args: Args) -> None:
        self.args = args
        torch.manual_seed(args.seed)
        self.variant = starmine.variant(args.variant, players=args.players, lost_game_score=args.lost_game_score)
        self.network = QNetwork(args, self.variant)
        self.target = copy.deepcopy(self.network).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.network.parameters(), args.lr, eps=1.5e-5)
        self.replay = GameReplay(self.variant, args.replay, args.alpha, args.beta)
        self.games = SeatGames(self.variant, args.num_envs, args.encoder, permuted=args.other_play)
        self.cards = CardFeatures(self.variant.layout(args.encoder))
        self.dealt = self.minibatches = 0

    def update(self, fraction: float) -> tuple[dict[str, float], int]:
        """Play games and learn from the replay memory; returns measures for the log, and the turns played.

        Args:
            fraction: the spent part of the budget, for the learning rate.
        """
        args = self.args
        lr = anneal(args.lr_schedule, args.lr, 0, fraction)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        measures, steps = self.collect()
        if len(self.replay) >= args.learning_starts:
            found = torch.stack([self.learn() for _ in range(math.ceil(args.epochs * args.num_envs / args.minibatch))])
            measures |= dict(zip(MEASURES, found.mean(0).tolist(), strict=True))
        return measures | {"lr": lr}, steps

    @torch.no_grad()
    def collect(self) -> tuple[dict[str, float], int]:
        """Play games to their ends into the replay memory; returns their scores and the number of turns."""
        args, finished = self.args, FinishedGames()
        numbers = np.arange(self.dealt, self.dealt + args.num_envs)
        self.dealt += args.num_envs
        colors = other_colors(self.variant, args.seed, numbers) if args.other_play else None
        hidden = self.network.policy.initial_state(args.num_envs)
        epsilon = args.epsilon ** (1 + 7 * torch.randint(80, (args.num_envs, args.players)) / 79)
        outputs = self.games.deal(*draw_deals(self.variant, args.num_envs), colors)
        while self.games.running.any():
            names = ("obs", "shown", "action_mask", "current_player")
            obs, shown, mask, seat = (torch.from_numpy(outputs[name]) for name in names)
            state = HiddenState(hidden, seat.long()[None], torch.zeros(1, len(seat), dtype=torch.bool))
            logits, _, after = self.network.policy.evaluate(self.network.inputs(obs, shown), state)
            check_finite(logits.sum()[None, None], ["the sum of the values"], nn.Module())
            hidden = hidden if after is None else after
            greedy = logits.masked_fill(~mask, -torch.inf).argmax(1)
            action = explore(greedy, mask, epsilon.gather(1, seat.long()[:, None])[:, 0])
            outputs = self.games.step(action.numpy(), greedy.numpy())
            finished.add(outputs)
        played = self.games.played()
        self.replay.add(played)
        return finished.means(args.lost_game_score), len(played.greedy)

    def learn(self) -> Tensor:
        """Learn from a minibatch of games; returns its measures."""
        args = self.args
        place, games, weights = self.replay.sample(args.minibatch)
        turns = padded_turns(games, args.encoder)
        reward, count = turns.reward - args.lost_game_penalty * turns.lost, turns.valid.sum(0)
        values = self.network(turns)
        guess = self.network.own_cards(self.network.remembered).view(-1, 3)
        aux_loss = cross_entropy(guess, self.own_cards(turns).flatten(), ignore_index=-1)
        with torch.no_grad():
            best = self.target(turns).gather(2, values.argmax(2, keepdim=True))[:, :, 0] * turns.valid
        targets = n_step_targets(reward, best, args.gamma, args.n_step)
        value = values.gather(2, turns.action[:, :, None])[:, :, 0]
        errors = (targets - value) * turns.valid
        q_loss = (huber_loss(errors, torch.zeros_like(errors), reduction="none") * weights).sum() / count.sum()
        self.optimizer.zero_grad()
        (q_loss + args.aux_weight * aux_loss * args.aux).backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), args.grad_norm)
        self.optimizer.step()
        errors = errors.detach().abs()
        means = [part.sum() / count.sum() for part in (errors, value * turns.valid)]
        measures = torch.stack([q_loss, aux_loss, *means, norm]).detach()
        check_finite(measures[None], MEASURES, self.network)
        self.replay.set_priorities(place, (0.9 * errors.amax(0) + 0.1 * errors.sum(0) / count).clamp(min=1e-6))
        self.minibatches += 1
        if self.minibatches % args.target_every == 0:
            self.target.load_state_dict(self.network.state_dict())
        return measures

    def own_cards(self, turns: SeatTurns) -> Tensor:
        """For each own card of all seats (T * B * players, hand): 0 playable, 1 already played, 2 neither, -1 none."""
        hand, before = self.variant.hand_size, self.args.players - 2
        next_seat = unpack_bits(turns.obs.roll(-1, 2).flatten(0, 2), self.network.policy.features)
        # The next seat sees the own hand as that of the last of the others.
        flags = self.cards(next_seat).view(len(next_seat), -1, 2)[:, before * hand : (before + 1) * hand]
        held = self.cards.section(next_seat, "hands")[:, before].flatten(2).sum(2) > 0
        played = turns.valid[:, :, None].expand(-1, -1, self.args.players).flatten()
        kinds = torch.where(flags[..., 0] > 0, 0, torch.where(flags[..., 1] > 0, 1, 2))
        return kinds.masked_fill(~(held & played[:, None]), -1)

    def evaluate(self, act: Act, games: int) -> Scores:
        """Play games without exploration, all seats in true colours."""
        return evaluate_policy(act, self.variant, games, encoder=self.args.encoder)

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
    if args.num_threads is not None:
        torch.set_num_threads(args.num_threads)
    r2d2 = R2D2(args)
    with Run("r2d2", args, r2d2, FIXED, on_update=on_update) as run:
        while run.begin_update():
            measures, steps = r2d2.update(run.fraction)
            if run.is_due(args.eval_every):
                scores = r2d2.evaluate(network_player(r2d2.network.policy, args.eval_games), args.eval_games)
                measures["greedy"] = float(scores.score.mean())
            run.end_update(measures, steps=steps)
        if run.finished:
            report(r2d2, run)


def report(r2d2: R2D2, run: Run) -> None:
    """Show a game, evaluate what was learned, and write it."""
    args, games, network = r2d2.args, r2d2.args.final_games, r2d2.network.policy
    show_game(network_player(network, 1), r2d2.variant, args.encoder, replay=args.out / "game.html")
    scores = {
        "random policy": r2d2.evaluate(random_policy(), games),
        "greedy policy": r2d2.evaluate(network_player(network, games), games),
    }
    options = [name for name, chosen in (("SAD", args.sad), ("AUX", args.aux), ("OP", args.other_play)) if chosen]
    method = " + ".join(["R2D2-VDN", *options])
    run.report(scores, title=f"{method}, {args.variant}, {args.players} players", method=method, network=network)


if __name__ == "__main__":
    command_line(main, Args)
