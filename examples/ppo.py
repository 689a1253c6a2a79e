"""PPO for Hanabi: one policy plays all seats and learns from thousands of games at once.

    python examples/ppo.py                          # two players, three minutes of training
    python examples/ppo.py --players 4 --minutes 60 --out runs/four
    python examples/ppo.py --minutes 180 --resume   # go on with the run in runs/ppo
    python examples/ppo.py --recurrent              # each seat remembers its own turns
    python examples/ppo.py --partner smart          # a best response to a bot
    torchrun --nproc-per-node 4 examples/ppo.py     # processes that average their gradients

Each turn is one sample, seen by the seat that plays it, and each game is one trajectory: the reward
is the team's, and the value that follows a turn is that of the next seat's observation.
With a partner the policy plays seat 0 alone: the environment plays the bot's turns, and a sample is a
turn of the policy. Observations stay packed, a bit for each feature, until the network needs them.

The output folder gets `log.jsonl` with a line for each update, TensorBoard's event files,
`learning_curve.png`, at the end `policy.safetensors`, and after every update `checkpoint.pt`. Ctrl-C
ends the update, saves and leaves; a killed run loses at most the update that it was in. Both go on with
`--resume`, to the same bits as a run that was never stopped (on the processor of the same machine, with
as many threads and the same options; schedules follow the budget, so they need the same one, counted in
steps).
"""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from operator import mul
from pathlib import Path
from typing import Any, Literal, TypeVar

import matplotlib as mpl
import numpy as np
import torch
import torch.distributed as dist
import tyro
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

import starmine
from starmine.torch import Minibatch, PolicyNetwork, Recall, RolloutBuffer, unpack_bits

mpl.use("Agg")
from matplotlib import pyplot as plt

FORMAT = 2  # of checkpoints
DEFEATS = [code for code, name in enumerate(starmine.endings(), 1) if name not in ("perfect", "deck_exhausted")]
EVALUATION_SEED = 2**32
SCORES = ("kept", "score", "greedy")
MEASURES = ("policy_loss", "value_loss", "entropy", "kl", "clipped", "gradient_norm")
Seen = dict[str, NDArray[Any]]
Choose = Callable[[Seen], NDArray[np.int64]]
Schedule = Literal["constant", "linear", "cosine"]
Thing = TypeVar("Thing")


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
    """games played at once, by each process"""
    rollout: int = 16
    """turns of each game from one update to the next"""
    epochs: int = 2
    minibatch: int = 2048
    """turns of a minibatch, in each process; a recurrent policy gets as many whole games as fit"""
    lr: float = 1e-3
    lr_schedule: Schedule = "constant"
    """how the learning rate goes to lr_end over the budget"""
    lr_end: float = 0.0
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    normalise_over: Literal["rollout", "minibatch"] = "rollout"
    """what the advantages are normalised over"""
    entropy_weight: float = 0.01
    entropy_schedule: Schedule = "constant"
    """how the weight of the entropy goes to entropy_end over the budget"""
    entropy_end: float = 0.0
    value_weight: float = 0.25
    value_clip: float | None = None
    """how far a value may move in an update before its gradient ends; None for any distance"""
    grad_norm: float = 0.5
    hidden: tuple[int, ...] = (256, 256)
    """widths of the hidden layers"""
    recurrent: bool = False
    """a gated recurrent unit, as wide as the last hidden layer, after the hidden layers"""
    card_features: bool = True
    """give the network, beside the observation, whether each card can be played or never will be"""
    device: Literal["cpu", "cuda"] = "cpu"
    """of the network; with torchrun each process takes a GPU of its own"""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """of the matrix products; bfloat16 pays only on a processor with instructions for it"""
    compile: bool = False
    """compile the network, which takes a minute at the start and a C++ compiler"""

    eval_every: int = 40
    """updates from one greedy evaluation to the next"""
    eval_games: int = 200
    """games of each, but for the last"""
    final_games: int = 1000
    """games of the last evaluation, and of the random policy's"""


# What cannot change when a run goes on, and what changes without a word.
FIXED = (
    *("variant", "players", "partner", "encoder", "lost_game_score", "num_envs"),
    *("hidden", "recurrent", "card_features", "device"),
)
FREE = ("out", "resume", "minutes", "total_steps")


@torch.no_grad()
def look(network: PolicyNetwork, seen: Seen, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Log probabilities, values and memories of a turn of all games; FloatingPointError where they are not finite."""
    arrays = [torch.from_numpy(seen[name]).to(memory.device) for name in ("obs", "action_mask", "current_player")]
    seat = arrays[2].long()[None]
    recall = Recall(memory, seat, torch.zeros_like(seat, dtype=torch.bool))
    log_probs, value, memory = network(unpack_bits(arrays[0], network.features), arrays[1], recall)
    if not torch.isfinite(log_probs.sum() + value.sum()):
        raise FloatingPointError("the network's output is not finite")
    return log_probs, value, memory


def player(network: PolicyNetwork, games: int, sampled: bool = False) -> Choose:
    """Plays games that begin now: the most likely actions, or with their probabilities."""
    memory = network.blank(games)

    def choose(seen: Seen) -> NDArray[np.int64]:
        nonlocal memory
        log_probs, _, memory = look(network, seen, memory)
        actions: NDArray[np.int64] = (draw_actions(log_probs) if sampled else log_probs.argmax(1)).cpu().numpy()
        return actions

    return choose


def draw_actions(log_probs: Tensor) -> Tensor:
    """An action of each row with its probability."""
    return (log_probs - torch.empty_like(log_probs).exponential_().log()).argmax(1)


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


def show_game(args: Args, policy: PolicyNetwork) -> None:
    """Print one game, a line for each turn with the table after it."""
    variant = starmine.variant(args.variant, players=args.players, lost_game_score="zero")
    state, choose = variant.new_game(seed=EVALUATION_SEED), player(policy, 1)
    print(f"\nOne game, played greedily:\n{state}\n")
    while not state.is_terminal:
        bits = np.packbits(state.encode(state.current_player, encoder=args.encoder), bitorder="little")
        packed = np.pad(bits, (0, -len(bits) % 8))
        seat, mask = np.array([state.current_player]), state.legal_action_mask()[None]
        state.apply(int(choose({"obs": packed[None], "action_mask": mask, "current_player": seat})[0]))
        stacks = " ".join(map(str, state.fireworks))
        tokens = f"{state.information_tokens}i {state.life_tokens}l {state.deck_size:2}d"
        hands = " | ".join(" ".join(map(str, hand)) for hand in state.hands)
        print(f"{state.length:3}  {state.history[-1]!s:46} {state.score:2} = {stacks}  {tokens}  {hands}")
    print(f"\n{state.ending}, score {state.score} of {variant.max_score}")


def rank() -> int:
    """Which of torchrun's processes this is; 0 without it."""
    return dist.get_rank() if dist.is_initialized() else 0


def processes() -> int:
    """How many processes train together; 1 without torchrun."""
    return dist.get_world_size() if dist.is_initialized() else 1


def everyone(thing: Thing) -> list[Thing]:
    """What each of torchrun's processes gave, by rank."""
    if not dist.is_initialized():
        return [thing]
    things = [thing] * processes()
    dist.all_gather_object(things, thing)
    return things


def average_gradients(policy: nn.Module) -> None:
    """Give every process the mean of all processes' gradients."""
    if dist.is_initialized():
        gradients = [parameter.grad for parameter in policy.parameters() if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        flat /= processes()
        means = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, mean in zip(gradients, means, strict=True):
            gradient.copy_(mean.view_as(gradient))


def scheduled(schedule: Schedule, start: float, end: float, spent: float) -> float:
    """Where a number is on its way from start to end, of a budget that is spent to a part of 1."""
    if schedule == "constant":
        return start
    left = 1 - spent if schedule == "linear" else (1 + math.cos(math.pi * spent)) / 2
    return end + (start - end) * left


def network(args: Args, variant: starmine.Variant) -> PolicyNetwork:
    """A network that has learned nothing."""
    dtype = torch.bfloat16 if args.dtype == "bfloat16" else torch.float32
    return PolicyNetwork(variant, args.encoder, args.hidden, args.recurrent, args.card_features, dtype)


class Run:
    """A policy in training, with all that a checkpoint needs."""

    def __init__(self, args: Args) -> None:
        self.args = args
        self.device = torch.device("cpu" if args.device == "cpu" else f"cuda:{os.environ.get('LOCAL_RANK', 0)}")
        torch.manual_seed(args.seed)
        variant = starmine.variant(args.variant, players=args.players, lost_game_score=args.lost_game_score)
        settings: dict[str, Any] = {"encoder": args.encoder, "dtype": "bits", "partners": partners(args)}
        seed = args.seed + (rank() << 40)  # other games in each process
        self.batch = starmine.Batch(variant, args.num_envs, seed=seed, **settings)
        features, actions = len(self.batch.layout), variant.num_actions
        self.policy = network(args, variant).to(self.device)
        if rank() > 0:
            torch.manual_seed(seed)  # the same weights, but other actions
        if args.compile:
            self.policy.compile(dynamic=False)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), args.lr, eps=1e-5, fused=True)
        self.steps, self.updates, self.seconds = 0, 0, 0.0
        self.rollout = RolloutBuffer(args.rollout, args.num_envs, features, actions, device=self.device)
        self.seats = torch.zeros(args.rollout, args.num_envs, dtype=torch.int64, device=self.device)
        self.memory = self.policy.blank(args.num_envs)
        self.first_memory = self.memory
        """what the seats remembered when the rollout began"""

    @property
    def spent(self) -> float:
        """How much of the budget, 1 for all."""
        args = self.args
        return self.seconds / (args.minutes * 60) if args.total_steps is None else self.steps / args.total_steps

    def update(self) -> dict[str, float]:
        """Play a rollout and learn from it; returns what that showed."""
        args, spent = self.args, min(self.spent, 1.0)
        lr = scheduled(args.lr_schedule, args.lr, args.lr_end, spent)
        entropy_weight = scheduled(args.entropy_schedule, args.entropy_weight, args.entropy_end, spent)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        advantage, shown = self.collect()
        shown |= self.learn(advantage, entropy_weight)
        self.steps += len(self.rollout) * processes()
        self.updates += 1
        return shown | {"lr": lr, "entropy_weight": entropy_weight}

    def collect(self) -> tuple[Tensor, dict[str, float]]:
        """Play the policy's actions for a rollout; returns its advantages and how its games ended."""
        args, now = self.args, self.batch.observe()
        scores, endings = [], []
        self.rollout.clear()
        self.first_memory = self.memory
        for step in range(args.rollout):
            log_probs, value, memory = look(self.policy, now, self.memory)
            action = draw_actions(log_probs)
            after = self.batch.step(action.cpu())
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
            self.seats[step] = torch.from_numpy(now["current_player"])
            self.memory = memory.masked_fill(self.rollout.terminated[step, :, None, None], 0)
            scores.append(after["final_score"][ended])
            endings.append(ending[ended])
            now = after
        _, last_value, _ = look(self.policy, now, self.memory)
        advantage = self.rollout.advantages(last_value, args.gamma, args.gae_lambda)
        return advantage, self.played(np.concatenate(scores), np.concatenate(endings))

    def minibatches(self) -> Iterator[tuple[Minibatch, Recall | None]]:
        """The samples of the rollout once: single turns, or with recurrence all turns of some games."""
        size, steps = self.args.minibatch, self.args.rollout
        if not self.args.recurrent:
            for samples in self.rollout.minibatches(size):
                yield samples, None
            return
        begins = self.rollout.terminated.roll(1, 0)
        begins[0] = False  # the memory before the rollout knows
        for samples in self.rollout.sequences(max(1, size // steps)):
            turns = samples.rows.view(steps, -1)
            yield samples, Recall(self.first_memory[turns[0]], self.seats.flatten()[turns], begins.flatten()[turns])

    def learn(self, advantage: Tensor, entropy_weight: float) -> dict[str, float]:
        """Epochs of clipped updates on the rollout; returns the means of what the minibatches showed."""
        args, rows = self.args, []
        returns = (advantage + self.rollout.value).flatten()
        advantage = (normalised(advantage) if args.normalise_over == "rollout" else advantage).flatten()
        for _ in range(args.epochs):
            for samples, recall in self.minibatches():
                gains = advantage[samples.rows]
                if args.normalise_over == "minibatch":
                    gains = normalised(gains)
                loss, measures = self.loss(samples, recall, gains, returns[samples.rows], entropy_weight)
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                average_gradients(self.policy)
                norm = nn.utils.clip_grad_norm_(self.policy.parameters(), args.grad_norm)
                self.optimizer.step()
                rows.append(torch.stack([*measures, norm]).detach())
        shown = torch.stack(rows).cpu()
        for minibatch, column in (~shown.isfinite()).nonzero().tolist():
            found = f"{MEASURES[column]} is {shown[minibatch, column]}"
            raise FloatingPointError(f"{found} in minibatch {minibatch + 1} of {len(shown)}")
        for name, parameter in self.policy.named_parameters():
            if not parameter.isfinite().all():
                raise FloatingPointError(f"a weight of {name} is not finite")
        explained = 1 - (returns - self.rollout.value.flatten()).var() / returns.var().clamp(min=1e-8)
        return dict(zip(MEASURES, shown.mean(0).tolist(), strict=True)) | {"explained_variance": explained.item()}

    def loss(
        self, samples: Minibatch, recall: Recall | None, advantage: Tensor, returns: Tensor, entropy_weight: float
    ) -> tuple[Tensor, list[Tensor]]:
        """The loss of a minibatch, and its measures but for the gradient's."""
        args = self.args
        log_probs, value, _ = self.policy(samples.obs, samples.action_mask, recall)
        change = pick(log_probs, samples.action) - samples.log_prob
        ratio = change.exp()
        gain = torch.min(ratio * advantage, ratio.clamp(1 - args.clip, 1 + args.clip) * advantage).mean()
        entropy = -(log_probs.exp() * log_probs).sum(1).mean()
        errors = (value - returns).square()
        if args.value_clip is not None:
            near = samples.value + (value - samples.value).clamp(-args.value_clip, args.value_clip)
            errors = torch.max(errors, (near - returns).square())
        value_loss = errors.mean()
        clipped = ((ratio - 1).abs() > args.clip).float().mean()
        loss = args.value_weight * value_loss - gain - entropy_weight * entropy
        return loss, [-gain, value_loss, entropy, (ratio - 1 - change).mean(), clipped]

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
        cuda = torch.cuda.get_rng_state(self.device) if self.args.device == "cuda" else None
        random = (torch.get_rng_state(), cuda)
        weights = b"".join(parameter.detach().cpu().numpy().tobytes() for parameter in self.policy.parameters())
        own = everyone(
            {
                "random": random,
                "batch": self.batch.to_bytes(),
                "memory": self.memory.cpu(),
                "weights": sha256(weights).hexdigest(),
            }
        )
        if len({process["weights"] for process in own}) > 1:
            raise SystemExit(f"update {self.updates}: the processes' weights differ; {path} is of the update before")
        if rank() > 0:
            return
        state = {
            "identity": identity(),
            "args": asdict(self.args) | {"out": str(self.args.out)},
            "policy": self.policy.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "progress": (self.steps, self.updates, self.seconds),
            "processes": own,
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
        self.policy.load_state_dict(checkpoint["policy"])
        self.optimizer.load_state_dict(checkpoint["optimizer"])
        self.steps, self.updates, self.seconds = checkpoint["progress"]
        own = checkpoint["processes"][rank()]
        self.batch = starmine.Batch.from_bytes(own["batch"])
        self.memory = own["memory"].to(self.device)
        random, cuda = own["random"]
        torch.set_rng_state(random)
        if cuda is not None:
            torch.cuda.set_rng_state(cuda, self.device)


def normalised(advantage: Tensor) -> Tensor:
    """The advantages with mean 0 and deviation 1."""
    return (advantage - advantage.mean()) / (advantage.std() + 1e-8)


def pick(log_probs: Tensor, action: Tensor) -> Tensor:
    """The log probability of each row's action."""
    return log_probs.gather(1, action[:, None])[:, 0]


def identity() -> dict[str, Any]:
    """What a checkpoint shares with the program that reads it, whatever the arguments."""
    return {"format": FORMAT, "starmine": starmine.__version__, "processes": processes()}


def read_checkpoint(args: Args) -> dict[str, Any]:
    """The checkpoint to resume; SystemExit names what does not fit the program or the arguments."""
    path = args.out / "checkpoint.pt"
    if not path.exists():
        raise SystemExit(f"{path} does not exist: expected the checkpoint of the run to resume")
    try:
        checkpoint: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
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
    beside = "" if args.partner is None else f" with {args.partner}"
    axes.set_title(f"PPO{beside}, {args.variant}, {args.players} players: {last.score.mean():.2f}")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def means(rows: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each number over the rows that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}


def train(run: Run, log: Log | None) -> bool:
    """Update until the budget is spent; whether it was, rather than stopped by a signal."""
    args, signalled, stopped = run.args, False, False

    def stop(signum: int, _: Any) -> None:
        nonlocal signalled
        signalled = True
        signal.signal(signum, signal.SIG_DFL)  # a second one ends at once

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    while run.spent < 1 and not stopped:
        start, steps = time.perf_counter(), run.steps
        shown = run.update()
        if run.updates % args.eval_every == 0 and rank() == 0:
            games = args.eval_games
            shown["greedy"] = float(evaluate(args, player(run.policy, games), games).score.mean())
        reports = everyone((shown, time.perf_counter() - start, signalled))
        seconds, stopped = reports[0][1], any(report[2] for report in reports)
        run.seconds += seconds
        row = {"update": run.updates, "steps": run.steps, "seconds": run.seconds}
        row |= means([report[0] for report in reports]) | {"steps_per_second": (run.steps - steps) / seconds}
        if log is not None:
            log.add(row, run.spent)
        run.save(args.out / "checkpoint.pt")
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return not stopped


def train_safely(run: Run, log: Log | None) -> bool:
    """The same; SystemExit where numbers are not finite or files cannot be written."""
    path = run.args.out / "checkpoint.pt"
    try:
        return train(run, log)
    except FloatingPointError as error:
        raise SystemExit(f"stopped in update {run.updates + 1}: {error}; {path} is of the last good update") from error
    except OSError as error:
        raise SystemExit(f"update {run.updates} could not be saved: {error}; {path} is of an update before") from error
    finally:
        if log is not None:
            log.close()


def finish(run: Run, curve: list[dict[str, float]]) -> None:
    """Evaluate and show what was learned."""
    args, games = run.args, run.args.final_games
    print(f"{run.steps:,} turns in {run.updates} updates, {run.seconds:.0f} s of training")
    if args.partner is None:
        show_game(args, run.policy)
    chance = evaluate(args, random_policy(), games)
    sampled = evaluate(args, player(run.policy, games, sampled=True), games)
    greedy = evaluate(args, player(run.policy, games), games)
    if curve:
        draw(args.out / "learning_curve.png", args, curve, chance, greedy)
    path = args.out / "policy.safetensors"
    run.policy.save(path, **about(run, greedy))
    print(f"\nrandom policy, {games:,} games: {chance}")
    print(f"drawn actions, {games:,} games: {sampled}")
    print(f"greedy policy, {games:,} games: {greedy}")
    print(
        f"results in {args.out}: log.jsonl, learning_curve.png, {path.name}, checkpoint.pt, TensorBoard's event files"
    )


def about(run: Run, greedy: Scores) -> dict[str, Any]:
    """What the policy's file says of it."""
    usual = Args()
    chosen = {key: value for key, value in asdict(run.args).items() if key not in ("out", "resume")}
    changed = {key: value for key, value in chosen.items() if value != getattr(usual, key)}
    return {
        "method": "IPPO" if run.args.partner is None else f"PPO, a best response to {run.args.partner}",
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
    if "RANK" in os.environ and not dist.is_initialized():
        dist.init_process_group("gloo" if args.device == "cpu" else "cpu:gloo,cuda:nccl")
    checkpoint = read_checkpoint(args) if args.resume else None
    run = Run(args)
    if checkpoint is not None:
        run.load(checkpoint)
    log = None
    if rank() == 0:
        output_folder(args)
        log = Log(args.out, run)
    spent = train_safely(run, log)
    if log is not None and spent:
        finish(run, log.rows)
    elif log is not None:
        print(f"stopped after update {run.updates}: --resume goes on from {args.out / 'checkpoint.pt'}")


if __name__ == "__main__":
    main(tyro.cli(Args))
    if dist.is_initialized():
        dist.destroy_process_group()
