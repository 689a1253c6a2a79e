"""PQN for Hanabi: Q-learning without replay and without a target network, from hundreds of games at once.

    python examples/pqn_vdn.py                          # two players, three minutes of training
    python examples/pqn_vdn.py --mixing none            # without the values of the seats that wait
    python examples/pqn_vdn.py --players 4 --minutes 60 --out runs/four
    python examples/pqn_vdn.py --minutes 180 --resume   # go on with the run in runs/pqn_vdn
    python examples/pqn_vdn.py --partner smart          # a best response to a bot

One network plays all seats, epsilon-greedily. After each short rollout it learns Q(lambda) returns in
a few passes over it and forgets it; layer normalisation keeps this stable (Gallici et al.,
"Simplifying deep temporal difference learning", 2024). The reward is the team's, and so is the value:

- `--mixing vdn` (value decomposition networks; the default, as in JaxMARL's baseline): it is the sum of
  one value for each seat, of what that seat sees. The seat to act has the value of its action, and each
  seat that waits that of a no-op, its only action. The sum is trained; which action is best depends on
  the first part alone, so playing needs no more than the actor's observation. The others see what the
  actor cannot, its own cards first of all; the price is a look of the network for each seat.
- `--mixing none`: it is the value of the actor's action alone, and the return of a turn continues with
  the best action of the seat that acts next, of what that one sees.

With a partner the policy plays seat 0 alone, so nothing is mixed: the environment plays the bot's turns,
and a sample is a turn of the policy. Observations stay packed, a bit for each feature, until the network
needs them.

The output folder gets `log.jsonl` with a line for each update, TensorBoard's event files,
`learning_curve.png`, at the end `policy.safetensors`, and after every update `checkpoint.pt`. Ctrl-C
ends the update, saves and leaves; a killed run loses at most the update that it was in. Both go on with
`--resume`, to the same bits as a run that was never stopped (on the same machine, with as many threads
and the same options; the learning rate's schedule follows the budget, so it needs the same one, counted
in steps).
"""

from __future__ import annotations

import io
import json
import math
import os
import pickle
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
from starmine.torch import CardFeatures, PolicyNetwork, RolloutBuffer, unpack_bits

mpl.use("Agg")
from matplotlib import pyplot as plt

PROGRAM, FORMAT = "pqn_vdn", 1  # of checkpoints
DEFEATS = [code for code, name in enumerate(starmine.endings(), 1) if name not in ("perfect", "deck_exhausted")]
EVALUATION_SEED = 2**32
SCORES = ("kept", "score", "greedy")
MEASURES = ("loss", "value", "gradient_norm")
Seen = dict[str, NDArray[Any]]
Choose = Callable[[Seen], NDArray[np.int64]]
Schedule = Literal["constant", "linear", "cosine"]


@dataclass
class Args:
    """Train one policy for all seats of Hanabi with PQN."""

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
    out: Path = Path("runs/pqn_vdn")
    """folder of the results; an earlier run in it is moved aside"""
    resume: bool = False
    """go on with the run in the output folder"""
    seed: int = 1
    threads: int | None = None
    """of the network; None for what torch takes"""

    num_envs: int = 512
    """games played at once"""
    rollout: int = 8
    """turns of each game from one update to the next"""
    epochs: int = 2
    minibatch: int = 256
    """turns of a minibatch"""
    lr: float = 5e-4
    lr_schedule: Schedule = "linear"
    """how the learning rate goes to lr_end over the budget"""
    lr_end: float = 0.0
    gamma: float = 0.99
    q_lambda: float = 0.8
    """weight of longer returns"""
    mixing: Literal["vdn", "none"] = "vdn"
    """the team's value: the sum of the values of all seats, or that of the seat to act"""
    epsilon: float = 0.1
    """share of random actions at the start"""
    epsilon_end: float = 0.01
    epsilon_steps: int = 500_000
    """turns from the first share to the last, in a straight line"""
    grad_norm: float = 10.0
    hidden: tuple[int, ...] = (256, 256)
    """widths of the hidden layers"""
    card_features: bool = True
    """give the network, beside the observation, whether each card can be played or never will be"""

    eval_every: int = 20
    """updates from one greedy evaluation to the next"""
    eval_games: int = 200
    """games of each, but for the last"""
    final_games: int = 1000
    """games of the last evaluation, and of the random policy's"""

    @property
    def seats(self) -> int:
        """How many seats' values make up the team's."""
        return self.players if self.mixing == "vdn" and self.partner is None else 1


# What cannot change when a run goes on, and what changes without a word.
FIXED = ("variant", "players", "partner", "encoder", "lost_game_score", "num_envs", "mixing", "hidden", "card_features")
FREE = ("out", "resume", "minutes", "total_steps")


class QNetwork(nn.Module):
    """The values of all actions and of the no-op, each as the state's value and what it changes."""

    def __init__(self, args: Args, variant: starmine.Variant) -> None:
        super().__init__()
        layout = variant.layout(args.encoder)
        self.features = len(layout)
        self.card_features = CardFeatures(layout) if args.card_features else None
        with torch.no_grad():
            inputs = self.inputs(torch.zeros(1, self.features)).shape[1]
        layers: list[nn.Module] = []
        for fan_in, fan_out in zip((inputs, *args.hidden), args.hidden, strict=False):
            layers += [nn.Linear(fan_in, fan_out), nn.LayerNorm(fan_out), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.heads = nn.Linear(args.hidden[-1], variant.num_actions + 2)
        nn.init.orthogonal_(self.heads.weight, 0.01)
        nn.init.zeros_(self.heads.bias)

    def inputs(self, bits: Tensor) -> Tensor:
        """What the trunk gets of the unpacked observations."""
        return bits if self.card_features is None else torch.cat([bits, self.card_features(bits)], 1)

    def forward(self, bits: Tensor) -> Tensor:
        """Values (n, seats, actions + 1), the no-op's last, of unpacked observations (n, seats, features)."""
        heads = self.heads(self.trunk(self.inputs(bits.flatten(0, 1))))
        advantage = heads[:, :-1] - heads[:, :-1].mean(1, keepdim=True)
        values: Tensor = (heads[:, -1:] + advantage).view(*bits.shape[:2], -1)
        return values

    @torch.no_grad()
    def policy(self, args: Args, variant: starmine.Variant) -> PolicyNetwork:
        """The same network as one whose logits are the values of the actions, which plays anywhere."""
        found = PolicyNetwork(variant, args.encoder, args.hidden, card_features=args.card_features, layer_norm=True)
        weights = {f"trunk.{name}": weight for name, weight in self.trunk.state_dict().items()}
        for name, weight in self.heads.state_dict().items():
            advantages, value = weight[:-1], weight[-1:]
            weights[f"heads.{name}"] = torch.cat([advantages[:-1] - advantages.mean(0) + value, value])
        found.load_state_dict(weights)
        return found


@torch.no_grad()
def look(network: QNetwork, packed: NDArray[np.uint8]) -> Tensor:
    """The values of packed observations (n, seats, bytes); FloatingPointError where they are not finite."""
    values: Tensor = network(unpack_bits(packed, network.features))
    if not torch.isfinite(values.sum()):
        raise FloatingPointError("the network's output is not finite")
    return values


def greedy(network: QNetwork, seen: Seen) -> NDArray[np.int64]:
    """The best actions (n,) of what the actors see."""
    values = look(network, seen["obs"][:, None])
    actions: NDArray[np.int64] = best(values, torch.from_numpy(seen["action_mask"]))[0].numpy()
    return actions


def best(values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The best legal actions (n,) and what the team expects of them (n,).

    Of values (n, seats, actions + 1) with the actor's seat first, and the mask (n, actions).
    """
    action = values[:, 0, :-1].masked_fill(~mask, -torch.inf).argmax(1)
    return action, of_team(values, action)


def of_team(values: Tensor, action: Tensor) -> Tensor:
    """What the team expects (n,): the value of the actor's action, and those of the other seats' no-ops."""
    return values[:, 0].gather(1, action[:, None])[:, 0] + values[:, 1:, -1].sum(1)


def explore(action: Tensor, mask: Tensor, epsilon: float) -> Tensor:
    """The actions, but for that share of the rows any legal action, all equally likely."""
    random = torch.rand(mask.shape).masked_fill(~mask, -1).argmax(1)
    return torch.where(torch.rand(len(action)) < epsilon, random, action)


def q_lambda_returns(rollout: RolloutBuffer, last_value: Tensor, gamma: float, q_lambda: float) -> Tensor:
    """What to learn of each turn (steps, games), where `rollout.value` is that of the best action.

    A turn is followed by the next one's return with weight lambda, and else by its best action's
    value: with these as values, generalised advantages are what such returns have over them.
    """
    return rollout.advantages(last_value, gamma, q_lambda) + rollout.value[: rollout.filled]


def actor_first(obs: NDArray[np.uint8], current_player: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Observations of all seats (n, players, bytes) in the order of play, from the one to act."""
    order = (current_player[:, None] + np.arange(obs.shape[1])) % obs.shape[1]
    return np.take_along_axis(obs, order[:, :, None], 1)


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
    """Play the same games for every policy, each to its end; what is dealt after that does not count."""
    variant = starmine.variant(args.variant, players=args.players, lost_game_score="fireworks")
    settings: dict[str, Any] = {"encoder": args.encoder, "dtype": "bits", "partners": partners(args)}
    batch = starmine.Batch(variant, games, seed=EVALUATION_SEED, **settings)
    now = batch.observe()
    kept, endings, running = np.zeros(games), np.zeros(games, np.int8), np.ones(games, np.bool_)
    while running.any():
        now = batch.step(choose(now))
        ended = running & now["terminated"]
        kept[ended], endings[ended] = now["final_score"][ended], now["final_ending"][ended]
        running &= ~ended
    return Scores(kept, np.isin(endings, DEFEATS), kept == variant.max_score)


def random_policy() -> Choose:
    """Any legal action, all equally likely."""
    rng = np.random.default_rng(EVALUATION_SEED)
    return lambda seen: (rng.random(seen["action_mask"].shape) * seen["action_mask"]).argmax(1)


def show_game(args: Args, network: QNetwork) -> None:
    """Print one game, a line for each turn with the table after it."""
    variant = starmine.variant(args.variant, players=args.players, lost_game_score="zero")
    state = variant.new_game(seed=EVALUATION_SEED)
    print(f"\nOne game, played greedily:\n{state}\n")
    while not state.is_terminal:
        bits = np.packbits(state.encode(state.current_player, encoder=args.encoder), bitorder="little")
        packed = np.pad(bits, (0, -len(bits) % 8))
        seen = {"obs": packed[None], "action_mask": state.legal_action_mask()[None]}
        state.apply(int(greedy(network, seen)[0]))
        stacks = " ".join(map(str, state.fireworks))
        tokens = f"{state.information_tokens}i {state.life_tokens}l {state.deck_size:2}d"
        hands = " | ".join(" ".join(map(str, hand)) for hand in state.hands)
        print(f"{state.length:3}  {state.history[-1]!s:46} {state.score:2} = {stacks}  {tokens}  {hands}")
    print(f"\n{state.ending}, score {state.score} of {variant.max_score}")


def scheduled(schedule: Schedule, start: float, end: float, spent: float) -> float:
    """Where a number is on its way from start to end, of a budget that is spent to a part of 1."""
    if schedule == "constant":
        return start
    left = 1 - spent if schedule == "linear" else (1 + math.cos(math.pi * spent)) / 2
    return end + (start - end) * left


class Run:
    """A network in training, with all that a checkpoint needs."""

    def __init__(self, args: Args) -> None:
        self.args = args
        torch.manual_seed(args.seed)
        variant = starmine.variant(args.variant, players=args.players, lost_game_score=args.lost_game_score)
        settings: dict[str, Any] = {"encoder": args.encoder, "dtype": "bits", "partners": partners(args)}
        observers = "current" if args.seats == 1 else "all"
        self.batch = starmine.Batch(variant, args.num_envs, seed=args.seed, observers=observers, **settings)
        features, actions = len(self.batch.layout), variant.num_actions
        self.network = QNetwork(args, variant)
        self.optimizer = torch.optim.RAdam(self.network.parameters(), args.lr)
        self.steps, self.updates, self.seconds = 0, 0, 0.0
        self.rollout = RolloutBuffer(args.rollout, args.num_envs, features, actions, players=args.seats)

    @property
    def spent(self) -> float:
        """How much of the budget, 1 for all."""
        args = self.args
        return self.seconds / (args.minutes * 60) if args.total_steps is None else self.steps / args.total_steps

    def update(self) -> dict[str, float]:
        """Play a rollout and learn from it; returns what that showed."""
        args = self.args
        lr = scheduled(args.lr_schedule, args.lr, args.lr_end, min(self.spent, 1.0))
        epsilon = scheduled("linear", args.epsilon, args.epsilon_end, min(self.steps / max(1, args.epsilon_steps), 1.0))
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        returns, shown = self.collect(epsilon)
        shown |= self.learn(returns)
        self.steps += len(self.rollout)
        self.updates += 1
        return shown | {"lr": lr, "epsilon": epsilon}

    def seen(self, now: Seen) -> NDArray[np.uint8]:
        """What the seats see whose values are summed (n, seats, bytes), the actor first."""
        obs = now["obs"]
        return obs[:, None] if self.args.seats == 1 else actor_first(obs, now["current_player"])

    def collect(self, epsilon: float) -> tuple[Tensor, dict[str, float]]:
        """Play epsilon-greedily for a rollout; returns what it teaches and how its games ended."""
        args, now = self.args, self.batch.observe()
        no_log_prob = torch.zeros(args.num_envs)  # the buffer asks for what only policy gradients need
        scores, endings = [], []
        self.rollout.clear()
        for _ in range(args.rollout):
            seen, mask = self.seen(now), torch.from_numpy(now["action_mask"])
            action, value = best(look(self.network, seen), mask)
            action = explore(action, mask, epsilon)
            after = self.batch.step(action)
            ended, ending = after["terminated"], after["final_ending"]
            self.rollout.add(
                obs=seen,
                action_mask=mask,
                action=action,
                log_prob=no_log_prob,
                value=value,
                reward=after["reward"] - args.lost_game_penalty * np.isin(ending, DEFEATS),
                terminated=ended,
            )
            scores.append(after["final_score"][ended])
            endings.append(ending[ended])
            now = after
        _, last_value = best(look(self.network, self.seen(now)), torch.from_numpy(now["action_mask"]))
        returns = q_lambda_returns(self.rollout, last_value, args.gamma, args.q_lambda)
        return returns, self.played(np.concatenate(scores), np.concatenate(endings))

    def learn(self, returns: Tensor) -> dict[str, float]:
        """Epochs of minibatches of the rollout; returns the means of what the minibatches showed."""
        args, rows, returns = self.args, [], returns.flatten()
        for _ in range(args.epochs):
            for samples in self.rollout.minibatches(args.minibatch):
                value = of_team(self.network(samples.obs), samples.action)
                loss = (value - returns[samples.rows]).square().mean() / 2
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                norm = nn.utils.clip_grad_norm_(self.network.parameters(), args.grad_norm)
                self.optimizer.step()
                rows.append(torch.stack([loss, value.mean(), norm]).detach())
        shown = torch.stack(rows)
        for minibatch, column in (~shown.isfinite()).nonzero().tolist():
            found = f"{MEASURES[column]} is {shown[minibatch, column]}"
            raise FloatingPointError(f"{found} in minibatch {minibatch + 1} of {len(shown)}")
        for name, parameter in self.network.named_parameters():
            if not parameter.isfinite().all():
                raise FloatingPointError(f"a weight of {name} is not finite")
        return dict(zip(MEASURES, shown.mean(0).tolist(), strict=True))

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
            "identity": identity(),
            "args": asdict(self.args) | {"out": str(self.args.out)},
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "progress": (self.steps, self.updates, self.seconds),
            "random": torch.get_rng_state(),
            "batch": self.batch.to_bytes(),
        }
        data = io.BytesIO()
        torch.save(state, data)
        aside = path.with_suffix(".tmp")
        try:
            with aside.open("wb") as file:
                file.write(data.getbuffer())
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        except OSError:
            aside.unlink(missing_ok=True)
            raise

    def load(self, checkpoint: dict[str, Any]) -> None:
        """Take over all of a checkpoint but its arguments."""
        self.network.load_state_dict(checkpoint["network"])
        self.optimizer.load_state_dict(checkpoint["optimizer"])
        self.steps, self.updates, self.seconds = checkpoint["progress"]
        torch.set_rng_state(checkpoint["random"])
        self.batch = starmine.Batch.from_bytes(checkpoint["batch"])


def identity() -> dict[str, Any]:
    """What a checkpoint shares with the program that reads it, whatever the arguments."""
    return {"program": PROGRAM, "format": FORMAT, "starmine": starmine.__version__}


def read_checkpoint(args: Args) -> dict[str, Any]:
    """The checkpoint to resume; SystemExit names what does not fit the program or the arguments."""
    path = args.out / "checkpoint.pt"
    if not path.exists():
        raise SystemExit(f"{path} does not exist: expected the checkpoint of the run to resume")
    try:
        checkpoint: dict[str, Any] = torch.load(path, weights_only=True)
        found = checkpoint["args"] | checkpoint.get("identity", {})
    except (RuntimeError, pickle.UnpicklingError, EOFError, TypeError, KeyError) as error:
        raise SystemExit(f"{path} is no checkpoint of this program: {error}") from error
    given = asdict(args) | identity()
    changed = [name for name in given if name not in FREE and given[name] != found.get(name)]
    fixed = [f"{name}={found.get(name)!r}, not {given[name]!r}" for name in changed if name in (*FIXED, *identity())]
    if fixed:
        raise SystemExit(f"{path} cannot be resumed with these arguments: it has {'; '.join(fixed)}")
    for name in changed:
        print(f"resuming with {name}={given[name]!r} instead of {found.get(name)!r}")
    return checkpoint


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


class Log:
    """What each update showed: a line of `log.jsonl`, points of TensorBoard's, and the progress bar."""

    def __init__(self, folder: Path, run: Run) -> None:
        path = folder / "log.jsonl"
        self.rows = read_log(path, run.updates)
        self.file = path.open("a")
        self.writer = SummaryWriter(str(folder), purge_step=run.steps + 1)
        form = "{percentage:3.0f}%|{bar}| {elapsed}{postfix}"
        self.bar = tqdm(total=1.0, initial=min(run.spent, 1.0), bar_format=form)

    def add(self, row: dict[str, float], spent: float) -> None:
        """Write a row and show it."""
        self.rows.append(row)
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()
        for name in row.keys() - {"update", "steps", "seconds"}:
            self.writer.add_scalar(name, row[name], int(row["steps"]))
        self.bar.update(min(spent, 1.0) - self.bar.n)
        rate = f"{row['steps_per_second']:,.0f} steps/s"
        self.bar.set_postfix_str(", ".join([f"{key} {row[key]:.2f}" for key in SCORES if key in row] + [rate]))

    def close(self) -> None:
        """Leave whole files."""
        self.bar.close()
        self.writer.close()
        self.file.close()


def read_log(path: Path, updates: int) -> list[dict[str, float]]:
    """The rows of the first updates; what follows is cut off the file."""
    rows: list[dict[str, float]] = []
    length = 0
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else []:
        if not line.endswith(b"\n") or json.loads(line)["update"] > updates:
            os.truncate(path, length)
            break
        rows.append(json.loads(line))
        length += len(line)
    return rows


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
    name = "PQN" if args.seats == 1 else "PQN-VDN"
    beside = "" if args.partner is None else f" with {args.partner}"
    axes.set_title(f"{name}{beside}, {args.variant}, {args.players} players: {last.score.mean():.2f}")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def train(run: Run, log: Log) -> bool:
    """Update until the budget is spent; whether it was, rather than stopped by a signal."""
    args, stopped = run.args, False

    def stop(signum: int, _: Any) -> None:
        nonlocal stopped
        stopped = True
        signal.signal(signum, signal.SIG_DFL)  # a second one ends at once

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    while run.spent < 1 and not stopped:
        start, steps = time.perf_counter(), run.steps
        shown = run.update()
        if run.updates % args.eval_every == 0:
            shown["greedy"] = float(evaluate(args, partial(greedy, run.network), args.eval_games).score.mean())
        seconds = time.perf_counter() - start
        run.seconds += seconds
        row = {"update": run.updates, "steps": run.steps, "seconds": run.seconds}
        log.add(row | shown | {"steps_per_second": (run.steps - steps) / seconds}, run.spent)
        run.save(args.out / "checkpoint.pt")
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return not stopped


def train_safely(run: Run, log: Log) -> bool:
    """The same; SystemExit where numbers are not finite or files cannot be written."""
    path = run.args.out / "checkpoint.pt"
    try:
        return train(run, log)
    except FloatingPointError as error:
        raise SystemExit(f"stopped in update {run.updates + 1}: {error}; {path} is of the last good update") from error
    except OSError as error:
        raise SystemExit(f"update {run.updates} could not be saved: {error}; {path} is of an update before") from error
    finally:
        log.close()


def finish(run: Run, curve: list[dict[str, float]]) -> None:
    """Evaluate and show what was learned."""
    args, games = run.args, run.args.final_games
    print(f"{run.steps:,} turns in {run.updates} updates, {run.seconds:.0f} s of training")
    if args.partner is None:
        show_game(args, run.network)
    chance = evaluate(args, random_policy(), games)
    learned = evaluate(args, partial(greedy, run.network), games)
    if curve:
        draw(args.out / "learning_curve.png", args, curve, chance, learned)
    path = args.out / "policy.safetensors"
    variant = starmine.variant(args.variant, players=args.players, lost_game_score=args.lost_game_score)
    run.network.policy(args, variant).save(path, **about(run, learned))
    print(f"\nrandom policy, {games:,} games: {chance}")
    print(f"greedy policy, {games:,} games: {learned}")
    print(
        f"results in {args.out}: log.jsonl, learning_curve.png, {path.name}, checkpoint.pt, TensorBoard's event files"
    )


def about(run: Run, greedy: Scores) -> dict[str, Any]:
    """What the policy's file says of it."""
    usual = Args()
    chosen = {key: value for key, value in asdict(run.args).items() if key not in ("out", "resume")}
    changed = {key: value for key, value in chosen.items() if value != getattr(usual, key)}
    return {
        "method": "PQN" if run.args.seats == 1 else "PQN-VDN",
        "arguments": json.loads(json.dumps(changed)),
        "steps": run.steps,
        "seconds": round(run.seconds),
        "games": len(greedy.score),
        "score": round(float(greedy.score.mean()), 3),
        "standard_error": round(float(greedy.score.std(ddof=1)) / len(greedy.score) ** 0.5, 3),
        "perfect": round(float(greedy.perfect.mean()), 4),
        "lost": round(float(greedy.lost.mean()), 4),
    }


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
    output_folder(args)
    log = Log(args.out, run)
    if train_safely(run, log):
        finish(run, log.rows)
    else:
        print(f"stopped after update {run.updates}: --resume goes on from {args.out / 'checkpoint.pt'}")


if __name__ == "__main__":
    main(tyro.cli(Args))
