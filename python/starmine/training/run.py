"""A training run: budget, log, checkpoints, resume and signals in one object."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import torch

from starmine._core import StarmineError, shows_own_hand
from starmine.games.results import Games, with_error
from starmine.training import configuration
from starmine.training.checkpoint import (
    FREE,
    DataclassInstance,
    Progress,
    error_line,
    load_checkpoint,
    refusal,
    save_checkpoint,
)
from starmine.training.configuration import CONFIG, plain
from starmine.training.distributed import all_gather, check_joined, in_first_process, process_count, rank
from starmine.training.folder import CHECKPOINT, claim_folder
from starmine.training.log import Log, Row, draw_learning_curve
from starmine.training.script import DivergedError, TrainingError, check_choices
from starmine.training.threads import FreeCores


class StopSignals:
    """While entered, SIGINT and SIGTERM set `requested`; a second one ends the process at once.

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


class RunArgs(DataclassInstance, Protocol):
    """The arguments of a script that `Run` reads: a dataclass with these fields and any others.

    Attributes:
        out: the output folder.
        resume: whether to go on with the run in that folder.
        minutes: the budget, as training time; that before a resume counts.
        total_steps: the budget in turns, instead of minutes.
        checkpoint_seconds: training time between two checkpoints; 0 for one after each update.
    """

    out: Path
    resume: bool
    minutes: float
    total_steps: int | None
    checkpoint_seconds: float


class Learner(Protocol):
    """What a run trains."""

    def state_dict(self) -> dict[str, Any]:
        """All that training needs to go on, of types that `torch.load(weights_only=True)` reads.

        An entry "process" belongs to this process alone, such as its batch; every other entry must be the same in all
        processes. Torch's random number generators are saved, too.
        """

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned; tensors are on the CPU."""


class SavedNetwork(Protocol):
    """A network that `Run.report` saves; those of `starmine.torch` are such networks.

    Attributes:
        encoder: of its observations.
    """

    encoder: str

    def save(self, path: Path, **about: Any) -> None:
        """Write a policy file with notes."""


OnUpdate: TypeAlias = Callable[[dict[str, float]], None]
"""Called with the row of the log of each update."""

_entered = 0  # runs of this process
_entering = threading.Lock()


class Run:
    """A training run and its output folder.

    While entered, the run holds the lock of the folder, so that no other run writes to it. A folder with the checkpoint
    of another run is refused. The folder gets the log, see `Log`, and a checkpoint, `checkpoint.pt`: after the first
    update, then every `args.checkpoint_seconds` of training time, and when the run ends. It also gets `config.json`,
    which says what the run is made of: the command, all arguments as they are resolved, the SHA-256 checksum of the
    first weights, the versions, the commit of the clone that holds the learner's source, and
    the processor. A resumed run appends what has changed. The loop of a script is::

        with Run("ppo", args, learner) as run:
            while run.begin_update():
                run.end_update(learner.update(run.fraction), steps=len(learner.rollout))
            if run.finished:
                run.report(...)

    In the main thread, SIGINT and SIGTERM end the run after the update in progress. In any other thread a run leaves
    the signals alone, and `on_update` can end it. Runs in several threads at once share PyTorch's random number
    generators, so that none of them can be repeated to the same bits; a warning says so.

    Args:
        program: the script's name; a run resumes only with the script that began it.
        args: the script's arguments.
        learner: what is trained, just constructed. With `args.resume` it gets the state of the checkpoint when the run
            is entered.
        fixed: names of the arguments that a resumed run cannot change, such as the sizes of the network.
        resolved: for `config.json`, what the script chose for arguments that leave it the choice, such as
            {"dtype": "bfloat16"} for "auto". An argument `num_threads` is PyTorch's number,
            which without the argument is the largest that the run uses.
        on_update: called after each update in the first process; for a sweep or a monitor. It gets a copy of the log's
            row: "update", "steps", "seconds" and the measures. To end the run it raises any exception; the update is
            saved, and `args.resume` goes on from it.

    Attributes:
        steps: turns played, in all processes.
        updates: completed updates.
        seconds: training time.
        rows: the rows of the log, filled only in rank 0.

    Raises:
        UnknownNameError: an argument is none of the choices that its type, a `Literal`, gives, or `resolved` names no
            argument.
        TrainingError: with a line that says why: no budget, or processes of torchrun that have not joined; when
            entered, a folder that another run has, or a checkpoint or `config.json` that is damaged or does not fit;
            and while entered, files that cannot be written.
        OSError: when entered, a file that cannot be written.
        DivergedError: numbers are not finite. The block raises it in place of a FloatingPointError.
    """

    def __init__(
        self,
        program: str,
        args: RunArgs,
        learner: Learner,
        fixed: Sequence[str] = (),
        *,
        resolved: Mapping[str, Any] | None = None,
        on_update: OnUpdate | None = None,
    ) -> None:
        check_choices(args)
        check_joined()
        self._described = configuration.describe(program, args, learner, resolved or {})
        if not args.checkpoint_seconds >= 0:  # also nan
            raise TrainingError(f"checkpoint_seconds={args.checkpoint_seconds!r} is not allowed: expected at least 0")
        if not (args.minutes if args.total_steps is None else args.total_steps) > 0:  # also nan
            raise TrainingError("there is nothing to train: expected a budget above 0")
        self.program, self.args, self.learner = program, args, learner
        self.path, self._config = args.out / CHECKPOINT, args.out / CONFIG
        self.updates, self.steps, self.seconds = 0, 0, 0.0
        self.rows: list[Row] = []
        self._stopped, self._began, self._cpu_began = False, 0.0, 0.0
        self._on_update, self._of_caller = on_update, cast("BaseException | None", None)
        self._saved: Progress | None = None  # of the checkpoint
        self._signals = StopSignals()
        self._log: Log | None = None
        self._fixed, self._entered = fixed, ExitStack()
        self._cores = FreeCores() if getattr(args, "num_threads", None) is None else None

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
            contents = in_first_process(self._configuration)
            if rank() == 0:
                print(self._plan(), flush=True)
            self._log = in_first_process(lambda: Log(args.out, self.updates, self.steps, self.fraction))
            if self._log is not None:
                self.rows = entered.enter_context(self._log).rows
            in_first_process(lambda: configuration.write(self._config, contents or {}))
            entered.enter_context(self._signals)
            entered.enter_context(warn_of_parallel_runs())
            self._entered = entered.pop_all()
        return self

    def _plan(self) -> str:
        """Where it trains, from where on and for how long, in one line."""
        args = self.args
        device = f" on {args.device}" if hasattr(args, "device") else ""
        budget = f"{args.minutes:g} minutes" if args.total_steps is None else f"{args.total_steps:,} turns"
        spent = ", which is spent: nothing is trained" if self.fraction >= 1 else ""
        return f"{self.program}{device}: {self.steps:,} turns so far, the budget is {budget}{spent}"

    def _configuration(self) -> dict[str, Any]:
        if not self.args.resume:
            return configuration.begun(self._described, configuration.start_weights(self.learner.state_dict()))
        return configuration.resumed(self._config, self._described, self.updates)

    def _load(self) -> None:
        checkpoint = load_checkpoint(self.path, self.program, self.args, self._fixed)
        try:
            self.learner.load_state_dict(checkpoint.state)
            checkpoint.restore_random()
        except (AttributeError, IndexError, KeyError, RuntimeError, StarmineError, TypeError, ValueError) as error:
            raise refusal(self.path, f"does not fit this program: {error_line(error)}") from error
        self.steps, self.updates, self.seconds = self._saved = checkpoint.progress

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
            TrainingError: the log or the checkpoint cannot be written, or `on_update` has ended the run in the first
                process and this is another one.
            BaseException: what `on_update` raises.
        """
        steps *= process_count()
        used = {"cpu_seconds": time.process_time() - self._cpu_began}
        reports = all_gather((dict(measures) | used, time.perf_counter() - self._began, self._signals.requested))
        seconds = reports[0][1]
        self._stopped = any(requested for _, _, requested in reports)
        self.updates, self.steps, self.seconds = self.updates + 1, self.steps + steps, self.seconds + seconds
        row: Row = {"update": self.updates, "steps": self.steps, "seconds": self.seconds}
        row |= means([measured for measured, _, _ in reports]) | {"steps_per_second": steps / seconds}
        log, is_last = self._log, self._stopped or self.fraction >= 1
        try:
            in_first_process(lambda: None if log is None else log.add(row, self.fraction))
        except OSError as error:
            raise self._failed(f"update {self.updates} could not be saved: {error}") from error
        if self._saved is None or is_last or self.seconds >= self._saved.seconds + self.args.checkpoint_seconds:
            self._save()
        self._call(row)

    def _save(self) -> None:
        """Replace the checkpoint, unless it is of this update."""
        progress = Progress(self.steps, self.updates, self.seconds)
        if progress == self._saved:
            return
        try:
            save_checkpoint(self.path, self.program, self.args, progress, self.learner.state_dict())
        except OSError as error:
            raise self._failed(f"update {self.updates} could not be saved: {error}") from error
        self._saved = progress

    def _failed(self, what: str, kind: type[TrainingError] = TrainingError) -> TrainingError:
        """The error of a run that ends, with the update that the checkpoint is of, where there is a checkpoint."""
        saved = "no update has been saved" if self._saved is None else f"{self.path} is of update {self._saved.updates}"
        return kind(f"{what}; {saved}")

    def _call(self, row: Row) -> None:
        """Call the caller's function in the first process."""
        try:
            if self._on_update is not None and rank() == 0:
                self._on_update(dict(row))
        except BaseException as error:
            self._of_caller = error
        if all_gather(self._of_caller is not None)[0]:
            self._save()
            if self._of_caller is not None:
                raise self._of_caller
            raise TrainingError(f"on_update has ended the run after update {self.updates}, in the first process")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        """Close the log and release the folder; DivergedError in place of FloatingPointError."""
        self._entered.close()
        if self._cores is not None:
            torch.set_num_threads(self._cores.most)
        if isinstance(error, FloatingPointError) and error is not self._of_caller:
            what = f"stopped in update {self.updates + 1}: {error}"
            raise self._failed(what, DivergedError) from error
        if error is None and self._stopped and rank() == 0:
            print(f"stopped after update {self.updates}: --resume goes on from {self.path}")
        if isinstance(error, KeyboardInterrupt) and self.finished:
            print("stopped after the training: --resume evaluates the policy and saves it")

    def report(
        self,
        games: Mapping[str, Games],
        *,
        title: str,
        method: str,
        network: SavedNetwork,
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
            TrainingError: a file cannot be written; an earlier one is still there.
        """
        random, learned = next(iter(games.values())), list(games.values())[-1]
        folder, policy = self.args.out, "policy.safetensors"
        cheats = shows_own_hand(network.encoder)
        note = ", which sees its own hand: an upper bound, not a player" if cheats else ""
        about = {"steps": self.steps, "seconds": round(self.seconds), **learned.summary(), **(notes or {})}
        try:
            if self.rows:
                title = f"{title}: {learned.mean:.2f}{note}"
                draw_learning_curve(folder / "learning_curve.png", self.rows, title, random)
            if not cheats:
                network.save(folder / policy, method=method, arguments=changed_arguments(self.args), **about)
        except OSError as error:
            raise TrainingError(f"the results could not be written: {error}; --resume writes them again") from error
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


@contextmanager
def warn_of_parallel_runs() -> Iterator[None]:
    """Count the runs of this process that are entered; a warning where there are several."""
    global _entered
    with _entering:
        _entered += 1
        count = _entered
    try:
        if count > 1:
            what = f"{count} training runs in this process share PyTorch's random numbers"
            warnings.warn(f"{what}: none of them can be repeated to the same bits", stacklevel=4)
        yield
    finally:
        with _entering:
            _entered -= 1


def changed_arguments(args: DataclassInstance) -> dict[str, Any]:
    """The arguments that differ from their defaults, as JSON. Arguments that change no result are left out."""
    changed = {}
    for field in fields(args):
        usual = field.default if field.default_factory is MISSING else field.default_factory()
        value = getattr(args, field.name)
        if value != usual and field.name not in FREE:
            changed[field.name] = plain(value)
    return changed


def means(rows: Sequence[Mapping[str, float]]) -> Row:
    """The mean of each number over the rows that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}
