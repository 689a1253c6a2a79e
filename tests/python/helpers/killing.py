"""Kills a writer before its file operations and at random moments; what it left must lead to the undisturbed results.

    python killing.py evaluation|generation|training FOLDER KILLS SEED

The process imports once and forks each run, so that hundreds of runs are killed in a minute. It does not play or train
itself, since threads do not survive a fork. Its exit status is 0 if every run that was killed could go on.
"""

import importlib
import itertools
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

WRITING = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}


def run(work: Callable[[], object], kill_at: int | float | None = None) -> bool:
    """Run in a fork; whether it was killed.

    Args:
        work: what to run.
        kill_at: the file operation before which it is killed, from 0, or the seconds after which it is, or None.
    """
    child = begin(work, kill_at if isinstance(kill_at, int) else None)
    if isinstance(kill_at, float):
        time.sleep(kill_at)
        os.kill(child, signal.SIGKILL)
    return was_killed(child)


def begin(work: Callable[[], object], operation: int | None = None) -> int:
    """Start a fork, which shows nothing but the traceback of an error; its process id."""
    child = os.fork()
    if child:
        return child
    try:
        silence, errors = os.open(os.devnull, os.O_WRONLY), os.dup(2)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        if operation is not None:
            die_before(operation)
        work()
    except BaseException:
        os.write(errors, traceback.format_exc().encode())
        os._exit(1)
    os._exit(0)


def was_killed(child: int) -> bool:
    """Wait for a fork, which must not fail; whether it was killed."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def die_before(operation: int) -> None:
    """Kill this process before one of its file operations: an opening for writing, a rename, a flush, ..."""
    left, lock, fsync = operation, threading.Lock(), os.fsync

    def count() -> None:
        nonlocal left
        with lock:
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

    def hook(event: str, arguments: tuple) -> None:
        if event in WRITING or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
            count()

    def counted_fsync(descriptor: int) -> None:
        count()
        fsync(descriptor)

    os.fsync = counted_fsync
    sys.addaudithook(hook)


def kill_at_random(
    folder: Path, work: Callable[[Path], object], same: Callable[[Path, Path], None], kills: int, rng: random.Random
) -> None:
    """Kill runs at random moments and let the next go on; once a run has ended, begin another one.

    Args:
        folder: for the runs.
        work: begins the run of a folder, or goes on with it.
        same: compares a run that was killed with one that was not.
        kills: number of runs to kill.
        rng: of the moments.
    """
    longest = duration(lambda: work(folder / "undisturbed")) / 4
    killed = runs = 0
    while killed < kills:
        out, runs = folder / f"often.{runs}", runs + 1
        while killed < kills and run(lambda: work(out), rng.uniform(0, longest)):  # noqa: B023 - runs at once
            killed += 1
        assert not run(lambda: work(out))  # noqa: B023 - runs at once
        same(out, folder / "undisturbed")
        shutil.rmtree(out)
    print(f"{killed} runs killed at random moments")


def stride(kills: int) -> int:
    """The distance of the file operations before which runs are killed: each third, unless many runs are killed."""
    return 1 if kills >= 100 else 3


def duration(work: Callable[[], object]) -> float:
    """The seconds that an undisturbed run takes."""
    began = time.monotonic()
    assert not run(work)
    return time.monotonic() - began


# --- Evaluation -------------------------------------------------------------------------------------------


def evaluate(folder: Path, fresh: bool = False, games: int = 50) -> None:
    """Play an evaluation that saves after every few games."""
    from starmine.evaluation import evaluate, run

    run.GAMES_A_THREAD, run.SECONDS_BETWEEN_SAVES, run.time = 64, 0.0, FastClock()
    evaluate(["iggi", "piers"], games, variant="mini", num_threads=1, output=folder, fresh=fresh, figure=False)


class FastClock:
    """A clock that each call advances by a second, so that every chunk of games is saved."""

    perf_counter = staticmethod(time.perf_counter)

    def __init__(self) -> None:
        self.monotonic = itertools.count(0.0).__next__


def evaluation_kills(folder: Path, kills: int, rng: random.Random) -> None:
    """Kill new and fresh evaluations before file operations, and one evaluation at random moments."""
    run(lambda: evaluate(folder / "whole"))
    for fresh in (False, True):
        operation, killed = 0, True
        while killed:
            output = folder / "killed"
            shutil.rmtree(output, ignore_errors=True)
            if fresh:
                shutil.copytree(folder / "whole", output)
            killed = run(lambda: evaluate(output, fresh), operation)  # noqa: B023 - runs at once
            run(lambda: evaluate(output))  # noqa: B023 - runs at once
            assert_same_games(output, folder / "whole")
            operation += stride(kills)
        assert operation > 10, operation
    kill_at_random(folder, lambda out: evaluate(out, games=4000), assert_same_games, kills, rng)


def assert_same_games(found: Path, expected: Path) -> None:
    """Compare the games and the statistics, without times, of two folders, whose numbers of files may differ."""
    from evaluation_runs import read_evaluation

    games = [read_evaluation(folder).outcomes for folder in (found, expected)]
    assert np.array_equal(*games)
    tables = [json.loads((folder / "eval.json").read_text())["pairings"] for folder in (found, expected)]
    for pairing in itertools.chain(*tables):
        del pairing["seconds"], pairing["games_per_second"]
    assert tables[0] == tables[1]
    names = [{path.name for path in folder.iterdir() if path.suffix != ".parquet"} for folder in (found, expected)]
    assert names[0] == names[1]


# --- Games on disk ----------------------------------------------------------------------------------------


def generate(folder: Path, games: int = 200) -> None:
    """Make three shards, of several row groups and chunks."""
    from starmine.data import generate
    from starmine.data.generation import shard
    from starmine.games import whole_games

    shard.ROW_GROUP, whole_games.FIRST_GAMES_A_THREAD = games // 6, games // 25
    players = [["iggi", "random"], ["piers", "iggi"]]  # drawn for each game
    generate(players, games, folder, "mini", shard_size=games // 3 + 1, num_threads=1, progress=False)


def generation_kills(folder: Path, kills: int, rng: random.Random) -> None:
    """Kill new data sets, and ones of which a shard is damaged, before file operations, and one at random moments."""
    run(lambda: generate(folder / "whole"))
    for is_damaged in (False, True):
        operation, killed = 0, True
        while killed:
            output = folder / "killed"
            shutil.rmtree(output, ignore_errors=True)
            if is_damaged:
                shutil.copytree(folder / "whole", output)
                damage(output / "shard-000001.parquet")
            killed = run(lambda: generate(output), operation)  # noqa: B023 - runs at once
            assert_whole_shards(output, folder / "whole")
            assert not run(lambda: generate(output))  # noqa: B023 - runs at once
            assert_same_shards(output, folder / "whole")
            operation += stride(kills)
        assert operation > 10, operation
    kill_at_random(folder, lambda out: generate(out, 6000), assert_same_shards, kills, rng)


def damage(path: Path) -> None:
    """Change a bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def assert_whole_shards(found: Path, expected: Path) -> None:
    """Every shard that a killed run left, other than the damaged one, is whole."""
    for path in found.glob("*.parquet"):
        is_damaged = path.name == "shard-000001.parquet"
        assert is_damaged or path.read_bytes() == (expected / path.name).read_bytes(), path


def assert_same_shards(found: Path, expected: Path) -> None:
    """Compare the files of two data sets."""
    names = [
        {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}
        for folder in (found, expected)
    ]
    assert names[0] == names[1]
    assert not list(found.glob(".shard*"))


# --- Training ---------------------------------------------------------------------------------------------


def train(folder: Path, resume: bool, updates: int = 3) -> None:
    """A run of tiny updates."""
    import tiny_runs

    tiny_runs.train(folder, tiny_runs.Walk(), resume=resume, total_steps=updates)


def go_on(folder: Path, updates: int = 3) -> None:
    """Resume, or start where there is nothing to resume."""
    from training_runs import TrainingError

    try:
        train(folder, True, updates)
    except TrainingError as refused:
        if "does not exist" not in str(refused):
            raise
        train(folder, False, updates)


def training_kills(folder: Path, kills: int, rng: random.Random) -> None:
    """Kill new runs and resumed ones before file operations, and one run at random moments."""
    run(lambda: train(folder / "whole", False))
    run(lambda: train(folder / "earlier", False, 2))
    for resume in (False, True):
        operation, killed = 0, True
        while killed:
            out = folder / "run"
            shutil.rmtree(out, ignore_errors=True)
            if resume:
                shutil.copytree(folder / "earlier", out)
            killed = run(lambda: train(out, resume), operation)  # noqa: B023 - runs at once
            assert not resume or (out / "checkpoint.pt").exists()
            run(lambda: go_on(out))  # noqa: B023 - runs at once
            assert_same_run(out, folder / "whole")
            assert not list(out.glob("*.part"))
            operation += stride(kills)
        assert operation > 10, operation
    kill_at_random(folder, lambda out: go_on(out, 150), assert_same_run, kills, rng)


def assert_same_run(found: Path, expected: Path) -> None:
    """Compare the checkpoints and the logs of two runs."""
    from training_runs import assert_same_checkpoints, log_without_clock

    assert_same_checkpoints(found, expected)
    assert log_without_clock(found) == log_without_clock(expected)


# What to run, and the modules that it needs.
LOOPS = {
    "evaluation": (evaluation_kills, ("starmine.evaluation.results_folder", "pyarrow.parquet", "pyarrow.dataset")),
    "generation": (generation_kills, ("starmine.data", "pyarrow.parquet", "pyarrow.dataset")),
    "training": (training_kills, ("starmine.training", "tiny_runs", "training_runs")),
}


def main() -> None:
    """Run the loops that the command names."""
    kind, folder, kills, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    loops, modules = LOOPS[kind]
    for module in ("filelock", *modules):  # before the forks
        importlib.import_module(module)
    loops(folder, kills, random.Random(seed))


if __name__ == "__main__":
    main()
