"""Behaviour cloning for Hanabi: a network learns to play as those who played stored games.

    python examples/behaviour_cloning.py                      # 100,000 games of `smart`, three minutes of training
    python examples/behaviour_cloning.py --bot information --games 10000 --minutes 10
    python examples/behaviour_cloning.py --data people --games None --held-out 100    # any data set, such as people's
    python examples/behaviour_cloning.py --minutes 30 --resume

Without `--data` the games are generated first, once: `runs/games/BOT-VARIANT-PLAYERS-GAMES` keeps them, where GAMES
includes the held-out ones. `starmine generate` and `starmine data convert` make data sets too, the latter of other
people's files.

A sample is one turn: the observation of the seat that played it, and its action, whose probability is maximised. The
network sees the present turn alone: a hidden state for each seat made no difference to the score of a clone of `smart`.
`GamesDataset` replays the games when their turns are needed and shuffles the turns.

The first games of the data set are held out: accuracy is measured on games that were never trained on. Self-play is on
decks of another seed. If one bot played all games, the clone also plays with it, in the first or the last seat.

The output folder gets the same files as that of `examples/ppo.py`, and runs stop and resume in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

if __name__ == "__main__":
    print("loading PyTorch", flush=True)

import torch
from torch import Tensor, nn

import starmine
from starmine.data import Dataset, generate
from starmine.games import Games
from starmine.torch import ActorCritic, ColorNetwork, GamesDataset, PolicyNetwork
from starmine.training import (
    Amount,
    Count,
    OnUpdate,
    Partner,
    Run,
    ScriptArgs,
    Share,
    WeightAverage,
    anneal,
    check_finite,
    command_line,
    flat_weights,
    local_device,
    network_player,
    prepare_torch,
    progress_games,
    refuse_without_effect,
    show_game,
)

GAMES = Path("runs/games")
DATA_SEED = 1  # of generated games
OUTPUTS = ("obs", "action_mask", "action")
MEASURES = ("loss", "accuracy", "gradient_norm")


@dataclass
class StoredGames:
    """The games to learn from."""

    data: str | None = None
    """folder or file of a data set; None for games of the bot, which are generated where they are missing"""
    bot: str = "smart"
    """one of starmine.bots(), whose games are generated"""
    variant: str = "standard"
    """of generated games: a preset, with parameters after it (standard, max_life_tokens=4); the seats as --players"""
    players: int = 2
    """of generated games"""
    games: int | None = 100_000
    """games to learn from, those that follow the held-out ones; None for all of a data set"""
    held_out: int = 1000
    """games, the first of the data set, that are only predicted"""
    permute_colors: bool = False
    """show each game in other colours in each epoch, which makes no difference to a network by colour"""
    encoder: str = "canonical"
    """one of starmine.encoders()"""


@dataclass
class Network:
    """The network, and the device that computes it."""

    device: Literal["cpu", "cuda"] = "cpu"
    """of the network"""
    network: Literal["colors", "plain"] = "colors"
    """weights that all colours share, with card features in which each own slot counts by itself; or hidden layers over
    the bits of the observation"""
    hidden: tuple[int, ...] = (96, 128)
    """widths of a colour's tower and of the trunk; for a plain network of the hidden layers"""


@dataclass
class Optimiser:
    """How the network learns from the games."""

    minibatch: Count = 512
    """turns in a minibatch"""
    minibatches: Count = 64
    """of an update; evaluations and checkpoints come between updates"""
    lr: Amount = 2e-3
    """learning rate of Adam"""
    grad_norm: Amount = 0.5
    """longest gradient; longer ones are scaled down"""
    average: Share = 0.995
    """decay of the moving average of the weights, which is evaluated and saved; 0 for the last weights"""


@dataclass
class Args(Optimiser, Network, StoredGames, ScriptArgs):
    """Train one policy to play as the players of stored games."""

    out: Path = Path("runs/behaviour_cloning")
    """output folder; without --resume, one that holds a run is refused"""
    eval_every: Count = 10
    """updates between two evaluations"""


class Cloning:
    """The policy, its optimizer, and the games that it learns from."""

    def __init__(self, args: Args) -> None:
        self.args = args
        prepare_torch(args)
        if args.data is not None:
            refuse_without_effect(args, ("bot", "variant", "players"), "with data")
        self.device = local_device(args.device)
        data = Dataset(generated(args) if args.data is None else args.data)
        self.variant, self.teacher = data.variant, teacher(data)
        self.held_out, games = split(data, args)
        self.turns = self.in_minibatches(games, learns=True)
        self.minibatches = self.epochs()
        kind = ColorNetwork if args.network == "colors" else PolicyNetwork
        network: ActorCritic = kind(self.variant, args.encoder, args.hidden)
        self.policy = network.to(self.device)
        self.weights = flat_weights(self.policy)
        self.average = WeightAverage(self.policy, self.weights, args.average)
        self.optimizer = torch.optim.Adam([self.weights], args.lr, eps=1e-5, fused=True)

    def update(self, fraction: float) -> tuple[dict[str, float], int]:
        """Learn from the next turns; returns measures for the log, and the number of turns.

        Args:
            fraction: the spent part of the budget, for the schedule.
        """
        args, rows, turns = self.args, [], 0
        lr = anneal(args.lr, 0.0, fraction)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        for _ in range(args.minibatches):
            loss, correct = self.predict(self.policy, next(self.minibatches))
            self.optimizer.zero_grad(set_to_none=False)
            loss.mean().backward()  # type: ignore[no-untyped-call]
            norm = nn.utils.clip_grad_norm_(self.policy.parameters(), args.grad_norm)
            self.optimizer.step()
            self.average.update()
            rows.append(torch.stack([loss.mean(), correct.float().mean(), norm]).detach())
            turns += len(loss)
        found = torch.stack(rows).cpu()
        check_finite(found, MEASURES, self.policy)
        return dict(zip(MEASURES, found.mean(0).tolist(), strict=True)) | {"lr": lr}, turns

    def in_minibatches(self, games: Dataset, learns: bool) -> GamesDataset:
        """The turns of games. Those to learn from are shuffled."""
        args = self.args
        return GamesDataset(
            games,
            args.minibatch,
            encoder=args.encoder,
            dtype="bits",
            outputs=OUTPUTS,
            shuffle=learns,
            seed=args.seed,
            permute_colors=learns and args.permute_colors,
        )

    def epochs(self) -> Iterator[dict[str, Tensor]]:
        """The minibatches of one epoch after another, each in another order."""
        while True:
            yield from self.turns
            self.turns.set_epoch(self.turns.epoch + 1)

    def predict(self, network: ActorCritic, rows: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Minus the log probability (n,) of each action of a minibatch, and whether it was the likeliest, bool (n,)."""
        obs, mask, action = (rows[name].to(self.device) for name in OUTPUTS)
        log_probs, _, _ = network(network.read(obs), mask)
        return -log_probs.gather(1, action[:, None])[:, 0], log_probs.argmax(1) == action

    @torch.no_grad()
    def held_out_accuracy(self, games: int) -> dict[str, float]:
        """The loss and the accuracy over all turns of the first held-out games."""
        turns = self.in_minibatches(self.held_out.select(slice(games)), learns=False)
        found = [self.predict(self.average.network, rows) for rows in turns]
        loss, correct = (torch.cat(column) for column in zip(*found, strict=True))
        return {"held_out_loss": float(loss.mean()), "held_out_accuracy": float(correct.float().mean())}

    def play(self, games: int, sampled: bool = False) -> Games:
        """Play all seats."""
        return progress_games(network_player(self.average.network, sampled), self.variant, games)

    def cross_play(self, games: int) -> dict[str, Games]:
        """Play the first or the last seat; the bot that was cloned plays all others."""
        if self.teacher is None:
            return {}
        player, partners = network_player(self.average.network), [Partner(self.teacher, self.teacher)]
        return {
            f"in seat {seat} with {self.teacher}": progress_games(player, self.variant, games, partners, seats=[seat])
            for seat in (0, self.variant.players - 1)
        }

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        kept: dict[str, Any] = {
            "policy": self.policy,
            "average": self.average,
            "optimizer": self.optimizer,
            "turns": self.turns,
        }
        return {name: part.state_dict() for name, part in kept.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.policy.load_state_dict(state["policy"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.turns.load_state_dict(state["turns"])


def generated(args: Args) -> Path:
    """The folder of the bot's games, of which those that are missing are made."""
    if args.games is None:
        raise starmine.StarmineError("games=None needs data: expected a number of games to generate")
    rules, games = starmine.variant(args.variant, players=args.players), args.games + args.held_out
    folder = GAMES / f"{args.bot}-{args.variant}-{args.players}-{games}"
    print(generate([args.bot] * args.players, games, folder, rules, DATA_SEED, shard_size=100_000, progress=True))
    return folder


def teacher(data: Dataset) -> str | None:
    """The bot that played all games; None if several did, or others."""
    names = {player.name for player in data.roster}
    return names.pop() if len(names) == 1 and names <= {*starmine.bots(), *starmine.policies.shipped()} else None


def split(data: Dataset, args: Args) -> tuple[Dataset, Dataset]:
    """The held-out games, and those to learn from, which follow them."""
    games = len(data) if args.games is None else args.held_out + args.games
    if not 0 < args.held_out < games <= len(data):
        wanted = f"at least one of each, and together no more than {len(data):,}, the games of the data set"
        raise starmine.StarmineError(
            f"held_out={args.held_out} and games={args.games} are not allowed: expected {wanted}"
        )
    return data.select(slice(args.held_out)), data.select(slice(args.held_out, games))


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results."""
    cloning = Cloning(args)
    with Run("behaviour_cloning", args, cloning, on_update=on_update) as run:
        while run.begin_update():
            measures, turns = cloning.update(run.fraction)
            if run.is_due(args.eval_every):
                measures |= cloning.held_out_accuracy(min(args.eval_games, args.held_out))
                measures["greedy"] = cloning.play(args.eval_games).mean
            run.end_update(measures, turns)
        if run.finished:
            report(cloning, run)


def report(cloning: Cloning, run: Run) -> None:
    """Show a game, evaluate what was learned, and write it."""
    args, count = cloning.args, cloning.args.final_games
    show_game(network_player(cloning.average.network), cloning.variant, replay=args.out / "game.html")
    print(f"\nevaluating the policy: {count:,} games each", flush=True)
    held_out = cloning.held_out_accuracy(args.held_out)
    games = {
        "random policy": progress_games("random", cloning.variant, count),
        **cloning.cross_play(count),
        "drawn actions": cloning.play(count, sampled=True),
        "greedy policy": cloning.play(count),
    }
    data, accuracy = cloning.turns.data, f"{held_out['held_out_accuracy']:.1%}"
    epochs = run.steps / data.turns
    title = f"A clone of {cloning.teacher or 'players'}, {len(data):,} games, accuracy {accuracy}"
    notes = {"teacher": cloning.teacher, "learned_from": len(data), "epochs": epochs, **held_out}
    run.report(games, title=title, method="behaviour cloning", network=cloning.average.network, notes=notes)
    print(f"accuracy {accuracy} on {args.held_out:,} held-out games, after {epochs:.2f} epochs of the others")


if __name__ == "__main__":
    command_line(main, Args)
