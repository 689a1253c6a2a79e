"""A training run: budget, log, checkpoints, resume and signals in one object."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import MISSING, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from starmine._core import StarmineError
from starmine.durable import DamagedFileError
from starmine.players import shows_own_hand
from starmine.torch import ActorCritic
from starmine.training.checkpoint import (
    DataclassInstance,
    Progress,
    error_line,
    load_checkpoint,
    refusal,
    save_checkpoint,
)
from starmine.training.curve import draw_learning_curve
from starmine.training.distributed import all_gather, process_count, rank
from starmine.training.folder import CHECKPOINT, claim_folder
from starmine.training.log import Log, Row
from starmine.training.scores import Scores
from starmine.training.stopping import StopSignals


class RunArgs(DataclassInstance, Protocol):
    """The arguments of a script that `Run` reads: a dataclass with these fields and any others.

    Attributes:
        out: the output folder.
        resume: whether to go on with the run in that folder.
        minutes: the budget, as training time; that before a resume counts.
        total_steps: the budget in turns, instead of minutes.
    """

    out: Path
    resume: bool
    minutes: float
    total_steps: int | None


class Learner(Protocol):
    """What a run trains."""

    def state_dict(self) -> dict[str, Any]:
        """All that training needs to go on, of types that `torch.load(weights_only=True)` reads.

        An entry "process" belongs to this process alone, such as its batch; every other entry must be the same in all
        processes. Torch's random number generators are saved beside it.
        """

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned; tensors are on the CPU."""


class Run:
    """A training run and its output folder.

    While entered, the run holds the lock of the folder, so that no other run writes to it or moves it. The folder gets
    a checkpoint after every update, `checkpoint.pt`, beside the one before it, `checkpoint.previous.pt`, and the log;
    see `Log`. SIGINT and SIGTERM end the run after the update in progress. The loop of a script is::

        with Run("ppo", args, learner) as run:
            while run.begin_update():
                run.end_update(learner.update(run.fraction), steps=len(learner.rollout))
            if run.finished:
                run.report(...)

    Args:
        program: the script's name; a run resumes only with the script that began it.
        args: the script's arguments.
        learner: what is trained, just constructed. With `args.resume` it gets the state of the checkpoint when the run
            is entered.
        fixed: names of the arguments that a resumed run cannot change, such as the sizes of the network.

    Attributes:
        steps: turns played, in all processes.
        updates: completed updates.
        seconds: training time.
        rows: the rows of the log, empty but in the first process.

    Raises:
        SystemExit: with a line that says why: no budget; when entered, a folder that another run writes to or a
            checkpoint that is damaged or does not fit; and while entered, numbers that are not finite, or files that
            cannot be written.
    """

    def __init__(self, program: str, args: RunArgs, learner: Learner, fixed: Sequence[str] = ()) -> None:
        if (args.minutes if args.total_steps is None else args.total_steps) <= 0:
            raise SystemExit("there is nothing to train: expected a budget above 0")
        self.program, self.args, self.learner = program, args, learner
        self.path = args.out / CHECKPOINT
        self.updates, self.steps, self.seconds = 0, 0, 0.0
        self.rows: list[Row] = []
        self._stopped, self._began, self._cpu_began = False, 0.0, 0.0
        self._signals = StopSignals()
        self._log: Log | None = None
        self._fixed, self._entered = fixed, ExitStack()

    @property
    def fraction(self) -> float:
        """The spent part of the budget; from 1 on the run is over."""
        args = self.args
        return self.seconds / (args.minutes * 60) if args.total_steps is None else self.steps / args.total_steps

    @property
    def finished(self) -> bool:
        """Whether the budget is spent, rather than the run stopped; False but in the first process."""
        return rank() == 0 and not self._stopped and self.fraction >= 1

    def __enter__(self) -> Run:
        """Lock the folder, load the checkpoint of a run that goes on, and open the log."""
        args = self.args
        with ExitStack() as entered:
            lock = claim_folder(args.out, args.resume)
            if lock is not None:
                entered.enter_context(lock)
            if args.resume:
                self._load()
            if rank() == 0:
                try:
                    self._log = entered.enter_context(Log(args.out, self.updates, self.steps, self.fraction))
                except (OSError, DamagedFileError) as error:
                    raise SystemExit(f"the run's log cannot be opened: {error}") from error
                self.rows = self._log.rows
            entered.enter_context(self._signals)
            self._entered = entered.pop_all()
        return self

    def _load(self) -> None:
        """Go on from the checkpoint."""
        checkpoint = load_checkpoint(self.path, self.program, self.args, self._fixed)
        try:
            self.learner.load_state_dict(checkpoint.state)
            checkpoint.restore_random()
        except (AttributeError, IndexError, KeyError, RuntimeError, StarmineError, TypeError, ValueError) as error:
            raise refusal(self.path, f"does not fit this program: {error_line(error)}") from error
        self.steps, self.updates, self.seconds = checkpoint.progress

    def begin_update(self) -> bool:
        """Whether there is another update to make; starts its clock. After the last, signals work as usual again."""
        self._began, self._cpu_began = time.perf_counter(), time.process_time()
        goes_on = self.fraction < 1 and not self._stopped
        if not goes_on:
            self._signals.restore()
        return goes_on

    def is_due(self, every: int) -> bool:
        """Whether the update in progress is one of each `every`, in the first process; False in all others."""
        return rank() == 0 and (self.updates + 1) % every == 0

    def end_update(self, measures: Mapping[str, float], steps: int) -> None:
        """Count, log and save an update.

        Args:
            measures: numbers for the log, averaged over the processes that have them.
            steps: turns that this process played in the update.

        Raises:
            SystemExit: the log or the checkpoint cannot be written.
        """
        steps *= process_count()
        used = {"cpu_seconds": time.process_time() - self._cpu_began}
        reports = all_gather((dict(measures) | used, time.perf_counter() - self._began, self._signals.requested))
        seconds = reports[0][1]
        self._stopped = any(requested for _, _, requested in reports)
        self.updates, self.steps, self.seconds = self.updates + 1, self.steps + steps, self.seconds + seconds
        row: Row = {"update": self.updates, "steps": self.steps, "seconds": self.seconds}
        row |= means([found for found, _, _ in reports]) | {"steps_per_second": steps / seconds}
        try:
            if self._log is not None:
                self._log.add(row, self.fraction)
            self._save()
        except OSError as error:
            what = f"update {self.updates} could not be saved: {error}"
            raise SystemExit(f"{what}; {self.path} is of an update before") from error

    def _save(self) -> None:
        state, progress = self.learner.state_dict(), Progress(self.steps, self.updates, self.seconds)
        save_checkpoint(self.path, self.program, self.args, progress, state)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the log and release the folder; SystemExit in place of FloatingPointError."""
        self._entered.close()
        if isinstance(error, FloatingPointError):
            what = f"stopped in update {self.updates + 1}: {error}"
            raise SystemExit(f"{what}; {self.path} is of the last good update") from error
        if error is None and self._stopped and rank() == 0:
            print(f"stopped after update {self.updates}: --resume goes on from {self.path}")

    def report(
        self,
        scores: Mapping[str, Scores],
        *,
        title: str,
        method: str,
        network: ActorCritic,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the learning curve and the policy file, and print the scores.

        Args:
            scores: by policy; the first is that of a random policy, the last that of the policy that is saved.
            title: of the learning curve.
            method: the algorithm's name, for the policy file.
            network: what is saved as `policy.safetensors`, unless its encoder shows the own hand: no seat may play such
                a policy, so its weights stay in the checkpoint.
            notes: what else the policy file tells of the training, as JSON can represent it.

        Raises:
            SystemExit: a file cannot be written; an earlier one is still there.
        """
        random, learned = next(iter(scores.values())), list(scores.values())[-1]
        folder, policy = self.args.out, "policy.safetensors"
        cheats = shows_own_hand(network.encoder)
        note = ", which sees its own hand: an upper bound, not a player" if cheats else ""
        about = {"steps": self.steps, "seconds": round(self.seconds), **learned.summary(), **(notes or {})}
        try:
            if self.rows:
                title = f"{title}: {learned.score.mean():.2f}{note}"
                draw_learning_curve(folder / "learning_curve.png", self.rows, title, random)
            if not cheats:
                network.save(folder / policy, method=method, arguments=changed_arguments(self.args), **about)
        except OSError as error:
            raise SystemExit(f"the results could not be written: {error}; --resume writes them again") from error
        print(f"\n{self.steps:,} turns in {self.updates} updates, {self.seconds:.0f} s of training")
        for name, found in scores.items():
            print(f"{name}, {len(found.score):,} games: {found}{note if found is learned else ''}")
        written = ["log.jsonl", "learning_curve.png", *([] if cheats else [policy]), "checkpoint.pt"]
        print(f"results in {folder}: {', '.join(written)}, TensorBoard's event files")


def changed_arguments(args: DataclassInstance) -> dict[str, Any]:
    """The arguments that differ from their defaults, as JSON has them, without those of the output folder."""
    changed = {}
    for field in fields(args):
        usual = field.default if field.default_factory is MISSING else field.default_factory()
        value = getattr(args, field.name)
        if value != usual and field.name not in ("out", "resume"):
            changed[field.name] = value
    found: dict[str, Any] = json.loads(json.dumps(changed))
    return found


def means(rows: Sequence[Mapping[str, float]]) -> Row:
    """The mean of each number over the rows that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}
