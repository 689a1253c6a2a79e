"""PPO for Hanabi: one policy plays all seats and learns from thousands of games at once.

    python examples/ppo.py                          # two players, three minutes of training
    python examples/ppo.py --players 4 --minutes 60 --out runs/four
    python examples/ppo.py --minutes 180 --resume   # go on with the run in runs/ppo
    python examples/ppo.py --partner smart          # a best response to a bot

Each turn is one sample, seen by the seat that plays it, and each game is one trajectory: the reward
is the team's, and the value that follows a turn is that of the next seat's observation.
With a partner the policy plays seat 0 alone: the environment plays the bot's turns, and a sample is a
turn of the policy. Observations stay packed, a bit for each feature, until the network needs them.

The output folder gets TensorBoard's event files, `learning_curve.png`, and after every update
`checkpoint.pt`. Ctrl-C ends the update, saves and leaves; a killed run loses at most the update that
it was in. Both go on with `--resume`, to the same bits as a run that was never stopped (on the same
machine, with as many threads).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from operator import mul
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

import starmine
from starmine.torch import RolloutBuffer, unpack_bits

mpl.use("Agg")
from matplotlib import pyplot as plt

DEFEATS = [code for code, name in enumerate(starmine.endings(), 1) if name not in ("perfect", "deck_exhausted")]
MASKED_LOGIT = -1e9
EVALUATION_SEED = 2**32
SCORES = ("kept", "score", "greedy")
Choose = Callable[[NDArray[np.uint8], NDArray[np.bool_]], NDArray[np.int64]]


@dataclass
class Args:
    """Train one policy for all seats of Hanabi with PPO."""

    variant: str = "standard"
    """one of starmine.variants()"""
    players: int = 2
    partner: str | None = None
    """one of starmine.bots(), which plays all seats but the first"""
    encoder: str = "canonical"
    """one of starmine.encoders()"""
    lost_game_score: Literal["fireworks", "zero"] = "fireworks"
    """what a lost game scores in training; evaluation counts it zero"""
    lost_game_penalty: float = 1.0
    """taken off the reward of the turn that loses a game, in training"""

    minutes: float = 3.0
    """time to train, that before a resume included"""
    total_steps: int | None = None
    """turns to train, instead of minutes"""
    out: Path = Path("runs/ppo")
    """folder of the results; an earlier run in it is moved aside"""
    resume: bool = False
    """go on with the run in the output folder"""
    seed: int = 1
    threads: int | None = None
    """of the network; None for what torch takes"""

    num_envs: int = 1024
    """games played at once"""
    rollout: int = 16
    """turns of each game from one update to the next"""
    epochs: int = 2
    minibatch: int = 2048
    lr: float = 1e-3
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy_weight: float = 0.01
    value_weight: float = 0.25
    grad_norm: float = 0.5
    hidden: tuple[int, ...] = (256, 256)
    """widths of the hidden layers"""
    card_features: bool = True
    """give the network, beside the observation, whether each card can be played or never will be"""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """of the matrix products; bfloat16 pays only on a processor with instructions for it"""

    eval_every: int = 40
    """updates from one greedy evaluation to the next"""
    eval_games: int = 200
    """games of each, but for the last"""
    final_games: int = 1000
    """games of the last evaluation, and of the random policy's"""


# What cannot change when a run goes on, and what changes without a word.
FIXED = ("variant", "players", "partner", "encoder", "lost_game_score", "num_envs", "hidden", "card_features")
FREE = ("out", "resume", "minutes", "total_steps")


class CardFeatures(nn.Module):
    """Says of each card how probably it can be played now, and how probably never again.

    An own card is taken for each that its hints allow, all equally likely, a card in sight for
    itself. All of this follows from the observation; a network of this size learns it slowly.
    """

    def __init__(self, layout: starmine.Layout) -> None:
        super().__init__()
        self.sections = {section.name: section for section in layout}

    def section(self, bits: Tensor, name: str) -> Tensor:
        """A part of the observations in its shape (n, ...)."""
        return bits[:, self.sections[name].slice].view(-1, *self.sections[name].shape)

    def forward(self, bits: Tensor) -> Tensor:
        """Two numbers for each card (n, 2 * cards) of observations (n, features)."""
        stacks = self.section(bits, "fireworks")  # of each suit, a one for its height, from 1
        playable = torch.cat([1 - stacks.sum(2, keepdim=True), stacks[..., :-1]], 2)
        dead = stacks.flip(2).cumsum(2).flip(2)
        kinds = torch.stack([playable.flatten(1), dead.flatten(1)], 2)
        cards = self.section(bits, "hands").flatten(1, 2).flatten(2)
        if "knowledge" in self.sections:
            possible = self.section(bits, "knowledge").flatten(1, 2)[..., : kinds.shape[1]]
            cards = torch.cat([cards, possible / possible.sum(2, keepdim=True).clamp(min=1)], 1)
        return (cards @ kinds).flatten(1)


class Policy(nn.Module):
    """A trunk shared by the logits of the actions and the value."""

    def __init__(self, layout: starmine.Layout, actions: int, args: Args) -> None:
        super().__init__()
        self.features, self.mixed = len(layout), args.dtype == "bfloat16"
        self.card_features = CardFeatures(layout) if args.card_features else None
        with torch.no_grad():
            inputs = self.inputs(torch.zeros(1, self.features)).shape[1]
        layers: list[nn.Module] = []
        for fan_in, fan_out in zip((inputs, *args.hidden), args.hidden, strict=False):
            layers += [orthogonal(nn.Linear(fan_in, fan_out), 2**0.5), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.heads = orthogonal(nn.Linear(args.hidden[-1], actions + 1), 0.01)

    def inputs(self, bits: Tensor) -> Tensor:
        """What the trunk gets of the unpacked observations."""
        return bits if self.card_features is None else torch.cat([bits, self.card_features(bits)], 1)

    def forward(self, bits: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log probabilities (n, actions) and values (n,) of unpacked observations (n, features)."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.mixed):
            heads = self.heads(self.trunk(self.inputs(bits))).float()
        logits = heads[:, :-1].masked_fill(~mask, MASKED_LOGIT)
        return logits.log_softmax(1), heads[:, -1]

    @torch.no_grad()
    def look(self, packed: NDArray[np.uint8], mask: NDArray[np.bool_]) -> tuple[Tensor, Tensor]:
        """The same of packed observations (n, bytes), without gradients."""
        log_probs, value = self(unpack_bits(packed, self.features), torch.from_numpy(mask))
        return log_probs, value

    def greedy(self, packed: NDArray[np.uint8], mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The most likely actions (n,)."""
        actions: NDArray[np.int64] = self.look(packed, mask)[0].argmax(1).numpy()
        return actions


def orthogonal(layer: nn.Linear, gain: float) -> nn.Linear:
    """The layer with orthogonal weights and without bias."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


@dataclass
class Scores:
    """How evaluated games ended, one entry for each."""

    kept: NDArray[np.float64]
    """the points on the table at the end, of a lost game too"""
    lost: NDArray[np.bool_]
    perfect: NDArray[np.bool_]

    @property
    def score(self) -> NDArray[np.float64]:
        """With zero for a lost game."""
        return np.where(self.lost, 0.0, self.kept)

    def __str__(self) -> str:
        error = self.score.std(ddof=1) / len(self.score) ** 0.5
        return (
            f"score {self.score.mean():.2f} ± {error:.2f}, perfect {self.perfect.mean():.1%}, "
            f"lost {self.lost.mean():.1%} (points of lost games kept: {self.kept.mean():.2f})"
        )


def partners(args: Args) -> dict[int, str]:
    """The seats that the partner plays."""
    return {} if args.partner is None else dict.fromkeys(range(1, args.players), args.partner)


def evaluate(args: Args, choose: Choose, games: int) -> Scores:
    """Play the same games for every policy, each to its end."""
    variant = starmine.variant(args.variant, players=args.players, lost_game_score="fireworks")
    settings: dict[str, Any] = {"encoder": args.encoder, "dtype": "bits", "partners": partners(args)}
    batch = starmine.Batch(variant, games, seed=EVALUATION_SEED, **settings)
    out = batch.observe()
    kept, endings = np.zeros(games), np.zeros(games, np.int8)
    running = np.arange(games)
    while len(running):
        actions = out["action_mask"].argmax(1)  # anything legal where a finished game was dealt anew
        actions[running] = choose(out["obs"][running], out["action_mask"][running])
        batch.step_into(actions, **out)
        ended = running[out["terminated"][running]]
        kept[ended], endings[ended] = out["final_score"][ended], out["final_ending"][ended]
        running = running[~out["terminated"][running]]
    return Scores(kept, np.isin(endings, DEFEATS), kept == variant.max_score)


def random_policy() -> Choose:
    """Any legal action, all equally likely."""
    rng = np.random.default_rng(EVALUATION_SEED)
    return lambda _, mask: (rng.random(mask.shape) * mask).argmax(1)


def show_game(args: Args, policy: Policy) -> None:
    """Print one game, a line for each turn with the table after it."""
    variant = starmine.variant(args.variant, players=args.players, lost_game_score="zero")
    state = variant.new_game(seed=EVALUATION_SEED)
    print(f"\nOne game, played greedily:\n{state}\n")
    while not state.is_terminal:
        bits = torch.from_numpy(state.encode(state.current_player, encoder=args.encoder)).float()
        log_probs, _ = policy(bits[None], torch.from_numpy(state.legal_action_mask())[None])
        state.apply(int(log_probs.argmax()))
        stacks = " ".join(map(str, state.fireworks))
        tokens = f"{state.information_tokens}i {state.life_tokens}l {state.deck_size:2}d"
        hands = " | ".join(" ".join(map(str, hand)) for hand in state.hands)
        print(f"{state.length:3}  {state.history[-1]!s:46} {state.score:2} = {stacks}  {tokens}  {hands}")
    print(f"\n{state.ending}, score {state.score} of {variant.max_score}")


class Run:
    """A policy in training, with all that a checkpoint needs."""

    def __init__(self, args: Args) -> None:
        self.args = args
        torch.manual_seed(args.seed)
        variant = starmine.variant(args.variant, players=args.players, lost_game_score=args.lost_game_score)
        settings: dict[str, Any] = {"encoder": args.encoder, "dtype": "bits", "partners": partners(args)}
        self.batch = starmine.Batch(variant, args.num_envs, seed=args.seed, **settings)
        self.policy = Policy(self.batch.layout, variant.num_actions, args)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), args.lr, eps=1e-5, fused=True)
        self.steps, self.updates, self.seconds = 0, 0, 0.0
        self.curve: list[dict[str, float]] = []
        self.rollout = RolloutBuffer(args.rollout, args.num_envs, len(self.batch.layout), variant.num_actions)

    def collect(self) -> tuple[Tensor, dict[str, float]]:
        """Play the policy's actions for a rollout; returns its advantages and how its games ended."""
        args, now = self.args, self.batch.observe()
        scores, endings = [], []
        self.rollout.clear()
        for _ in range(args.rollout):
            log_probs, value = self.policy.look(now["obs"], now["action_mask"])
            noise = torch.empty_like(log_probs).exponential_()
            action = (log_probs - noise.log()).argmax(1)
            after = self.batch.step(action)
            ended, ending = after["terminated"], after["final_ending"]
            self.rollout.add(
                obs=now["obs"],
                action_mask=now["action_mask"],
                action=action,
                log_prob=pick(log_probs, action),
                value=value,
                reward=after["reward"] - args.lost_game_penalty * np.isin(ending, DEFEATS),
                terminated=ended,
            )
            scores.append(after["final_score"][ended])
            endings.append(ending[ended])
            now = after
        _, last_value = self.policy.look(now["obs"], now["action_mask"])
        self.steps += len(self.rollout)
        advantage = self.rollout.advantages(last_value, args.gamma, args.gae_lambda)
        return advantage, self.played(np.concatenate(scores), np.concatenate(endings))

    def learn(self, advantage: Tensor) -> dict[str, float]:
        """Epochs of clipped updates on the rollout; returns what the last minibatch showed."""
        args = self.args
        returns = (advantage + self.rollout.value).flatten()
        advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-8)).flatten()
        for _ in range(args.epochs):
            for samples in self.rollout.minibatches(args.minibatch):
                log_probs, value = self.policy(samples.obs, samples.action_mask)
                ratio = (pick(log_probs, samples.action) - samples.log_prob).exp()
                gain = torch.min(
                    ratio * advantage[samples.rows],
                    ratio.clamp(1 - args.clip, 1 + args.clip) * advantage[samples.rows],
                ).mean()
                entropy = -(log_probs.exp() * log_probs).sum(1).mean()
                value_loss = (value - returns[samples.rows]).square().mean()
                loss = args.value_weight * value_loss - gain - args.entropy_weight * entropy
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.policy.parameters(), args.grad_norm)
                self.optimizer.step()
        self.updates += 1
        clipped = ((ratio - 1).abs() > args.clip).float().mean()
        return {"entropy": entropy.item(), "value_loss": value_loss.item(), "clipped": clipped.item()}

    def played(self, kept: NDArray[np.int32], endings: NDArray[np.int8]) -> dict[str, float]:
        """Of finished games, the mean score, with points of lost games kept too, and the share lost."""
        if not len(kept):
            return {}
        lost = np.isin(endings, DEFEATS)
        if self.args.lost_game_score == "zero":
            return {"score": float(kept.mean()), "lost": float(lost.mean())}
        score = np.where(lost, 0, kept)
        return {"score": float(score.mean()), "kept": float(kept.mean()), "lost": float(lost.mean())}

    def save(self, path: Path) -> None:
        """Write the checkpoint aside, then rename it: the file is always whole."""
        state = {
            "args": asdict(self.args) | {"out": str(self.args.out)},
            "policy": self.policy.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "batch": self.batch.to_bytes(),
            "progress": (self.steps, self.updates, self.seconds),
            "curve": self.curve,
        }
        aside = path.with_suffix(".tmp")
        with aside.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)

    def load(self, checkpoint: dict[str, Any]) -> None:
        """Take over all of a checkpoint but its arguments."""
        self.policy.load_state_dict(checkpoint["policy"])
        self.optimizer.load_state_dict(checkpoint["optimizer"])
        for group in self.optimizer.param_groups:
            group["lr"] = self.args.lr
        torch.set_rng_state(checkpoint["random"])
        self.batch = starmine.Batch.from_bytes(checkpoint["batch"])
        self.steps, self.updates, self.seconds = checkpoint["progress"]
        self.curve = checkpoint["curve"]


def read_checkpoint(args: Args) -> dict[str, Any]:
    """The checkpoint to resume; SystemExit names what does not fit the arguments."""
    path = args.out / "checkpoint.pt"
    if not path.exists():
        raise SystemExit(f"{path} does not exist: expected the checkpoint of the run to resume")
    checkpoint: dict[str, Any] = torch.load(path, weights_only=True)
    given, found = asdict(args), checkpoint["args"]
    changed = [name for name in given if name not in FREE and given[name] != found.get(name)]
    fixed = [f"{name}={found.get(name)!r}, not {given[name]!r}" for name in changed if name in FIXED]
    if fixed:
        raise SystemExit(f"{path} cannot be resumed with these arguments: it has {'; '.join(fixed)}")
    for name in changed:
        print(f"resuming with {name}={given[name]!r} instead of {found.get(name)!r}")
    return checkpoint


def pick(log_probs: Tensor, action: Tensor) -> Tensor:
    """The log probability of each row's action."""
    return log_probs.gather(1, action[:, None])[:, 0]


def output_folder(args: Args) -> Path:
    """The folder to write to, without an earlier run unless that goes on."""
    if not args.resume and (args.out / "checkpoint.pt").exists():
        number = 1
        while (aside := args.out.with_name(f"{args.out.name}.{number}")).exists():
            number += 1
        args.out.rename(aside)
        print(f"the earlier run in {args.out} is kept in {aside}")
    args.out.mkdir(parents=True, exist_ok=True)
    return args.out


def draw(path: Path, args: Args, curve: list[dict[str, float]], chance: Scores, last: Scores) -> None:
    """The learning curve, with a random policy's scores."""
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    lines = {
        "kept": ("in training, points of lost games kept", "tab:blue", "-"),
        "score": ("in training, lost games count zero", "tab:orange", "-"),
        "greedy": ("greedy, lost games count zero", "black", "o-"),
    }
    for key, (label, color, style) in lines.items():
        rows = [row for row in curve if key in row]
        axes.plot([row["steps"] for row in rows], [row[key] for row in rows], style, color=color, label=label)
    axes.axhline(chance.kept.mean(), color="tab:blue", linestyle=":", label="random policy, points kept")
    axes.axhline(chance.score.mean(), color="tab:orange", linestyle=":", label="random policy")
    axes.set(xlabel="environment steps (turns)", ylabel="mean score", ylim=(-0.2, None))
    pace = curve[-1]["seconds"] / 60 / curve[-1]["steps"]
    time_axis = axes.secondary_xaxis("top", functions=(partial(mul, pace), partial(mul, 1 / pace)))
    time_axis.set_xlabel("training time (minutes)")
    beside = "" if args.partner is None else f" with {args.partner}"
    axes.set_title(f"PPO{beside}, {args.variant}, {args.players} players: {last.score.mean():.2f}")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def train(run: Run, folder: Path) -> bool:
    """Update until the budget is spent; whether it was, rather than stopped by a signal."""
    args, stopped = run.args, False

    def stop(signum: int, _: Any) -> None:
        nonlocal stopped
        stopped = True
        signal.signal(signum, signal.SIG_DFL)  # a second one ends at once

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}

    def done() -> float:
        return run.seconds if args.total_steps is None else run.steps

    budget = args.minutes * 60 if args.total_steps is None else args.total_steps
    writer = SummaryWriter(str(folder), purge_step=run.steps + 1)
    form = "{percentage:3.0f}%|{bar}| {elapsed}{postfix}"
    with tqdm(total=budget, initial=min(done(), budget), bar_format=form) as bar:
        while done() < budget and not stopped:
            start, steps = time.perf_counter(), run.steps
            advantage, shown = run.collect()
            shown |= run.learn(advantage)
            if run.updates % args.eval_every == 0:
                shown["greedy"] = float(evaluate(args, run.policy.greedy, args.eval_games).score.mean())
            seconds = time.perf_counter() - start
            run.seconds += seconds
            shown |= {"steps_per_second": (run.steps - steps) / seconds}
            run.curve.append({"steps": run.steps, "seconds": run.seconds} | shown)
            run.save(folder / "checkpoint.pt")
            for name, number in shown.items():
                writer.add_scalar(name, number, run.steps)
            bar.update(min(done(), budget) - bar.n)
            rate = f"{shown['steps_per_second']:,.0f} steps/s"
            bar.set_postfix_str(", ".join([f"{key} {shown[key]:.2f}" for key in SCORES if key in shown] + [rate]))
    writer.close()
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return not stopped


def main(args: Args) -> None:
    """Train, evaluate and show."""
    if (args.minutes if args.total_steps is None else args.total_steps) <= 0:
        raise SystemExit("there is nothing to train: expected a budget above 0")
    if args.threads is not None:
        torch.set_num_threads(args.threads)
    checkpoint = read_checkpoint(args) if args.resume else None
    run = Run(args)
    if checkpoint is not None:
        run.load(checkpoint)
    folder = output_folder(args)
    if not train(run, folder):
        print(f"stopped after update {run.updates}: --resume goes on from {folder / 'checkpoint.pt'}")
        return
    print(f"{run.steps:,} turns in {run.updates} updates, {run.seconds:.0f} s of training")
    if args.partner is None:
        show_game(args, run.policy)
    chance = evaluate(args, random_policy(), args.final_games)
    greedy = evaluate(args, run.policy.greedy, args.final_games)
    draw(folder / "learning_curve.png", args, run.curve, chance, greedy)
    print(f"\nrandom policy, {args.final_games:,} games: {chance}")
    print(f"greedy policy, {args.final_games:,} games: {greedy}")
    print(f"results in {folder}: learning_curve.png, checkpoint.pt, TensorBoard's event files")


if __name__ == "__main__":
    main(tyro.cli(Args))
