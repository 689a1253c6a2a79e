"""A training run: budget, log, checkpoints, resume and signals in one object."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias

import numpy as np
import torch

from starmine._core import shows_own_hand
from starmine.games.games import Games
from starmine.games.scores import with_error
from starmine.torch import ActorCritic
from starmine.training.checkpoint import Learner, Progress, load_checkpoint, save_checkpoint
from starmine.training.distributed import all_gather, check_joined, in_first_process, process_count, rank
from starmine.training.folder import CHECKPOINT, lock_folder, write_config
from starmine.training.log import Log, Row, draw_learning_curve
from starmine.training.script import ScriptArgs, TrainingError, plain
from starmine.training.threads import FreeCores


class StopSignals:
    """While entered, SIGINT and SIGTERM set `requested`; a second one of the same kind ends the process at once.

    Python lets only the main thread handle signals: in another one they are left alone.

    Attributes:
        requested: whether a signal has come.
    """

    def __init__(self) -> None:
        self.requested = False
        self._handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopSignals:
        """Take over the signals."""
        if threading.current_thread() is not threading.main_thread():
            return self
        self._handlers = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        """Give them back."""
        self.restore()

    def restore(self) -> None:
        """Give the signals back before the end of the block; does nothing where that is done."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers = {}

    def _stop(self, number: int, _: Any) -> None:
        self.requested = True
        signal.signal(number, signal.SIG_DFL)


OnUpdate: TypeAlias = Callable[[dict[str, float]], None]
"""Called with the row of the log of each update."""


class Run:
    """A training run and its output folder.

    While entered, the run holds the lock of the folder, so that no other run writes to it. The folder gets the log, see
    `Log`, and a checkpoint, `checkpoint.pt`: after the first update, then every `args.checkpoint_seconds` of training
    time, and when the run ends. It also gets `config.json`, which says what the run is made of: the command, the
    arguments and the versions. The loop of a script is::

        with Run("ppo", args, learner) as run:
            while run.begin_update():
                run.end_update(learner.update(run.fraction), steps=len(learner.rollout))
            if run.finished:
                run.report(...)

    A new run is refused in a folder that holds a run. With `args.resume` the run in the folder goes on. Its arguments
    must be those that it began with, except for the budget and others that do not change how it learns: "out",
    "checkpoint_seconds", "num_threads", "eval_games" and "final_games".

    In the main thread, SIGINT and SIGTERM end the run after the update in progress. In any other thread a run leaves
    the signals alone, and `on_update` can end it. Runs in several threads at once share PyTorch's random number
    generators, so that none of them can be repeated to the same bits.

    Args:
        program: the script's name; a run resumes only with the script that began it.
        args: the script's arguments, as they are resolved: with `by_device` rather than "auto" and None.
        learner: what is trained, just constructed. With `args.resume` it gets the state of the checkpoint when the run
            is entered.
        on_update: called after each update in the first process; for a sweep or a monitor. It gets a copy of the log's
            row: "update", "steps", "seconds" and the measures. To end the run it raises any exception; the update is
            saved, and `args.resume` goes on from it.

    Attributes:
        steps: turns played, in all processes.
        updates: completed updates.
        seconds: training time.
        rows: the rows of the log, filled only in rank 0.

    Raises:
        TrainingError: with a line that says why: no budget, or processes of torchrun that have not joined; when
            entered, a folder that holds another run or none, or a checkpoint that is damaged or has other arguments.
        OSError: while entered, another process writes to the folder, or a file cannot be read or written.
    """

    def __init__(self, program: str, args: ScriptArgs, learner: Learner, *, on_update: OnUpdate | None = None) -> None:
        check_joined()
        if (args.minutes if args.total_steps is None else args.total_steps) <= 0:
            raise TrainingError("there is nothing to train: expected a budget above 0")
        self.program, self.args, self.learner = program, args, learner
        self.path = args.out / CHECKPOINT
        self.updates, self.steps, self.seconds = 0, 0, 0.0
        self.rows: list[Row] = []
        self._stopped, self._began, self._cpu_began = False, 0.0, 0.0
        self._on_update = on_update
        self._saved: Progress | None = None  # of the checkpoint
        self._signals = StopSignals()
        self._log: Log | None = None
        self._entered = ExitStack()
        self._cores = FreeCores() if args.num_threads is None else None

    @property
    def fraction(self) -> float:
        """The spent part of the budget; from 1 on the run is over."""
        args = self.args
        return self.seconds / (args.minutes * 60) if args.total_steps is None else self.steps / args.total_steps

    @property
    def finished(self) -> bool:
        """In the first process, whether the budget is spent; False after a stop, and in all other processes."""
        return rank() == 0 and not self._stopped and self.fraction >= 1

    def __enter__(self) -> Run:
        """Lock the folder, load the checkpoint of a run that goes on, and open the log."""
        args = self.args
        with ExitStack() as entered:
            lock = in_first_process(lambda: lock_folder(args.out, args.resume))
            if lock is not None:
                entered.enter_context(lock)
            if args.resume:
                self._saved = load_checkpoint(self.path, self.program, args, self.learner)
                self.steps, self.updates, self.seconds = self._saved
            self._log = in_first_process(lambda: Log(args.out, self.updates, self.steps, self.fraction))
            if self._log is not None:
                self.rows = entered.enter_context(self._log).rows
            in_first_process(lambda: write_config(args.out, self.program, args, self.updates))
            if rank() == 0:
                print(self._plan(), flush=True)
            entered.enter_context(self._signals)
            self._entered = entered.pop_all()
        return self

    def _plan(self) -> str:
        """Where it trains, from where on and for how long, in one line."""
        args = self.args
        device = f" on {args.device}" if hasattr(args, "device") else ""
        minutes = f"{args.minutes:g} minute{'' if args.minutes == 1 else 's'}"
        budget = minutes if args.total_steps is None else f"{args.total_steps:,} turns"
        spent = ", which is spent: nothing is trained" if self.fraction >= 1 else ""
        compiles = "; the first update compiles the network, in some 15 seconds" * bool(getattr(args, "compile", False))
        return f"{self.program}{device}: {self.steps:,} turns so far, the budget is {budget}{spent or compiles}"

    def begin_update(self) -> bool:
        """Whether there is another update to make; starts its clock. After the last, signals work as usual again.

        With an argument `num_threads` of None, PyTorch gets a thread for each core that other processes leave free.
        """
        if self._cores is not None:
            torch.set_num_threads(self._cores.threads())
        self._began, self._cpu_began = time.perf_counter(), time.process_time()
        goes_on = self.fraction < 1 and not self._stopped
        if not goes_on:
            self._signals.restore()
        return goes_on

    def is_due(self, every: int) -> bool:
        """Whether the update in progress is one of each `every`, in the first process; False in all others."""
        return rank() == 0 and (self.updates + 1) % every == 0

    def end_update(self, measures: Mapping[str, float], steps: int) -> None:
        """Count and log an update. Save it if `checkpoint_seconds` have passed since the last checkpoint.

        Args:
            measures: numbers for the log, averaged over the processes that have them.
            steps: turns that this process played in the update.

        Raises:
            OSError: the log or the checkpoint cannot be written.
            BaseException: what `on_update` raises; a TrainingError in all processes but the first.
        """
        steps *= process_count()
        used = {"cpu_seconds": time.process_time() - self._cpu_began}
        reports = all_gather((dict(measures) | used, time.perf_counter() - self._began, self._signals.requested))
        seconds = reports[0][1]
        self._stopped = any(requested for _, _, requested in reports)
        self.updates, self.steps, self.seconds = self.updates + 1, self.steps + steps, self.seconds + seconds
        row: Row = {"update": self.updates, "steps": self.steps, "seconds": self.seconds}
        row |= means([measured for measured, _, _ in reports]) | {"steps_per_second": steps / seconds}
        log, on_update, is_last = self._log, self._on_update, self._stopped or self.fraction >= 1
        in_first_process(lambda: None if log is None else log.add(row, self.fraction))
        if self._saved is None or is_last or self.seconds >= self._saved.seconds + self.args.checkpoint_seconds:
            self._save()
        try:
            in_first_process(lambda: None if on_update is None else on_update(dict(row)))
        except BaseException:
            self._save()
            raise

    def _save(self) -> None:
        """Replace the checkpoint, unless it is of this update."""
        progress = Progress(self.steps, self.updates, self.seconds)
        if progress != self._saved:
            save_checkpoint(self.path, self.program, self.args, progress, self.learner.state_dict())
            self._saved = progress

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the log and release the folder."""
        self._entered.close()
        if self._cores is not None:
            torch.set_num_threads(self._cores.most)
        if kind is None and self._stopped and rank() == 0:
            print(f"stopped after update {self.updates}: --resume goes on from {self.path}")

    def report(
        self,
        games: Mapping[str, Games],
        *,
        title: str,
        method: str,
        network: ActorCritic,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the learning curve and the policy file, and print the scores.

        Args:
            games: by policy, where a lost game scores 0, see `progress_games`. The first are those of a random policy,
                the last those of the policy that is saved.
            title: of the learning curve.
            method: the algorithm's name, for the policy file.
            network: what is saved as `policy.safetensors`, unless its encoder shows the own hand: no seat may play such
                a policy, so its weights stay in the checkpoint.
            notes: what else the policy file tells of the training, as JSON can represent it.

        Raises:
            OSError: a file cannot be written; an earlier one is still there, and --resume writes it again.
        """
        random, learned = next(iter(games.values())), list(games.values())[-1]
        folder, policy = self.args.out, "policy.safetensors"
        cheats = shows_own_hand(network.encoder)
        note = ", which sees its own hand: an upper bound, not a player" if cheats else ""
        about = {"steps": self.steps, "seconds": round(self.seconds), **learned.summary(), **(notes or {})}
        if self.rows:
            title = f"{title}: {learned.mean:.2f}{note}"
            draw_learning_curve(folder / "learning_curve.png", self.rows, title, random)
        if not cheats:
            network.save(folder / policy, method=method, arguments=changed_arguments(self.args), **about)
        print(f"\n{self.steps:,} turns in {self.updates} updates, {self.seconds:.0f} s of training")
        for name, played in games.items():
            print(f"{name}, {len(played):,} games: {in_a_line(played)}{note if played is learned else ''}")
        written = ["config.json", "log.jsonl", *["learning_curve.png"] * bool(self.rows)]
        written += [*([] if cheats else [policy]), "checkpoint.pt"]
        print(f"results in {folder}: {', '.join(written)}, TensorBoard's event files")


def in_a_line(games: Games) -> str:
    """The means of games in which a lost one scores 0."""
    score, summary = with_error(games.mean, games.standard_error, digits=2), games.summary()
    kept = f"{games.fireworks.mean():.2f} if lost games kept their points"
    return f"score {score}, perfect {summary['perfect']:.1%}, lost {summary['lost']:.1%} ({kept})"


def changed_arguments(args: ScriptArgs) -> dict[str, Any]:
    """The arguments that differ from their defaults, as JSON has them, except for those of a folder and its files."""
    usual = vars(type(args)()) | {name: getattr(args, name) for name in ("out", "resume", "checkpoint_seconds")}
    return plain({name: value for name, value in vars(args).items() if value != usual[name]})


def means(rows: Sequence[Mapping[str, float]]) -> Row:
    """The mean of each number over the rows that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}
