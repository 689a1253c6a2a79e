"""Two commits beside each other: each row of every table, measured in turn in the same run.

    python benchmarks/ab.py main~1 main                     # every table
    python benchmarks/ab.py 67b2299 HEAD --tables compare   # one of them
    python benchmarks/ab.py main HEAD --rounds 21           # more rounds for a smaller error

Each commit is built into an environment of its own, with its own benchmarks, in runs/ab. For each table both
benchmarks run at the same time, and one of them waits while the other measures. A round measures a row of both
commits, the first one first in every second round. So a slow minute of the machine hits both. Tables and rows that
only one of them has are left out. The ratio is the median over the rounds of second to first within a round.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TextIO

import tyro
from measuring import ROOT, markdown
from tyro.conf import Positional

TABLES = ("compare", "sweep", "presets", "worlds", "bots", "data", "training")
WORKER = Path(__file__).with_name("ab_worker.py")
NEEDED = ("matplotlib", "pyarrow", "tqdm")  # by the benchmarks, beside what training needs
Key = tuple[Any, ...]
Rounds = dict[Key, list[tuple[float, float]]]


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a program.

    Raises:
        SystemExit: it fails.
    """
    if status := subprocess.run([str(part) for part in command], cwd=cwd).returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with status {status}")


def script(place: Path, table: str) -> str | None:
    """The benchmark that writes a table, at the commit that is checked out in a folder; None if there is none.

    Some were called as their tables up to version 0.2.
    """
    names = (f"{table}_speed.py", f"{table}.py")
    return next((name for name in names if (place / "tree" / "benchmarks" / name).exists()), None)


def commit_of(revision: str) -> str:
    """The hash of a commit.

    Raises:
        SystemExit: there is no such commit.
    """
    command = ["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        raise SystemExit(f"{revision!r} is no commit of this repository")
    return found.stdout.strip()


def built(commit: str, folder: Path) -> Path:
    """Check out a commit and install it into an environment of its own, unless that has been done; its folder."""
    place = folder / commit[:12]
    if (place / "ready").exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    run("git", "worktree", "prune")
    run("git", "worktree", "add", "--quiet", "--detach", place / "tree", commit)
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    run(uv, "venv", "--quiet", "--python", sys.executable, place / "environment")
    install = (uv, "pip", "install", "--quiet", "--python", place / "environment", "--constraint")
    run(*install, place / "tree" / "constraints.txt", f"{place / 'tree'}[train]", *NEEDED)
    (place / "ready").touch()
    return place


def lacking(table: str, places: Sequence[Path]) -> list[str]:
    """The folders of the commits that do not have a table."""
    return [place.name for place in places if script(place, table) is None]


class Worker:
    """A process that measures the rows of a table of one commit."""

    def __init__(self, place: Path, table: str, seconds: float, folder: str) -> None:
        benchmark = place / "tree" / "benchmarks" / str(script(place, table))
        command = [place / "environment" / "bin" / "python", "-I", WORKER, benchmark]
        command += ["--quick", "--seconds", seconds, "--folder", folder]
        self.log = Path(folder) / f"{place.name}.log"
        with self.log.open("w", encoding="utf-8") as log:
            pipe = subprocess.PIPE
            process = subprocess.Popen(
                [str(part) for part in command], stdin=pipe, stdout=pipe, stderr=log, text=True, cwd=place / "tree"
            )
        assert process.stdin
        assert process.stdout
        self.process, self.requests, self.answers = process, process.stdin, process.stdout

    def rows(self) -> dict[Key, int] | None:
        """The keys of the next list of rows, each with its number; None after the last list.

        Raises:
            SystemExit: the benchmark has failed.
        """
        line = self.answers.readline()
        if not line and self.process.wait():
            self.fail()
        return {tuple(key): number for number, key in enumerate(json.loads(line))} if line else None

    def measure(self, number: int) -> float:
        """Measure a row once: steps per second.

        Raises:
            SystemExit: the benchmark has failed.
        """
        print(number, file=self.requests, flush=True)
        line = self.answers.readline()
        if not line:
            self.fail()
        return float(json.loads(line))

    def fail(self) -> NoReturn:
        """Show what the benchmark wrote last.

        Raises:
            SystemExit: always.
        """
        raise SystemExit(f"a benchmark ended early:\n{self.log.read_text(encoding='utf-8')[-2000:]}")

    def end_list(self) -> None:
        """Go on to the next list of rows."""
        print(file=self.requests, flush=True)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.answers.close()
        with suppress(BrokenPipeError):
            self.requests.close()


# --- The comparison -----------------------------------------------------------------------------------------


def measured(places: Sequence[Path], table: str, rounds: int, seconds: float, progress: TextIO) -> Rounds:
    """Measure the rows that both commits have: the rates of both in each round."""
    found: Rounds = {}
    with tempfile.TemporaryDirectory() as folder:
        workers = [Worker(place, table, seconds, folder) for place in places]
        try:
            while all(lists := next_lists(workers, found, progress)):
                first, second = (rows or {} for rows in lists)
                for key in [key for key in first if key in second]:
                    numbers = (first[key], second[key])
                    found[key] = [one_round(workers, numbers, number % 2 == 0) for number in range(rounds)]
                    print(f"{table}: {key[0]}, {key[1]} players", file=progress, flush=True)
                for worker in workers:
                    worker.end_list()
        finally:
            for worker in workers:
                worker.close()
    return found


def next_lists(workers: Sequence[Worker], found: Rounds, progress: TextIO) -> list[dict[Key, int] | None]:
    """The next list of rows of each commit. A benchmark that fails once rows are measured ends the table."""
    try:
        return [worker.rows() for worker in workers]
    except SystemExit as failure:
        if not found:
            raise
        print(failure, file=progress, flush=True)
        return [None]


def one_round(workers: Sequence[Worker], numbers: tuple[int, int], in_order: bool) -> tuple[float, float]:
    """Measure a row of both commits."""
    if in_order:
        first = workers[0].measure(numbers[0])
        return first, workers[1].measure(numbers[1])
    second = workers[1].measure(numbers[1])
    return workers[0].measure(numbers[0]), second


def beside(rounds: Rounds) -> list[tuple[Key, float, float, float, float, float]]:
    """For each row: the medians of both commits, and the ratio's median and quartiles over the rounds."""
    found = []
    for key, pairs in rounds.items():
        ratios = sorted(second / first for first, second in pairs)
        quarter = len(ratios) // 4
        first, second = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
        found.append((key, first, second, statistics.median(ratios), ratios[quarter], ratios[-1 - quarter]))
    return found


def text_of(table: str, names: Sequence[str], rounds: Rounds) -> str:
    """The rows of a table as Markdown."""
    lines = []
    for key, first, second, ratio, lowest, highest in beside(rounds):
        what, players, games, dtype, threads, _ = key
        about = (what, players, games or "", dtype or "", threads)
        lines.append((*about, f"{first:,.0f}", f"{second:,.0f}", f"{ratio:.3f}", f"{lowest:.3f} to {highest:.3f}"))
    heads = ("what", "players", "games", "dtype", "threads", *(f"{name}, per second" for name in names))
    return f"## {table}\n\n{markdown((*heads, 'ratio', 'half of the rounds'), lines)}\n"


@dataclass
class Args:
    """The command line."""

    first: Positional[str]
    """a commit"""
    second: Positional[str]
    """another one"""
    tables: tuple[str, ...] = TABLES
    rounds: int = 11
    """of each row"""
    seconds: float = 0.1
    """of each measure; the default is the most"""
    folder: Path = ROOT / "runs" / "ab"


def main() -> None:
    """Build both, measure in turn, and write the tables."""
    given = tyro.cli(Args, description=__doc__)
    for table in given.tables:
        if table not in TABLES:
            raise SystemExit(f"--tables {table} is not known: expected some of {', '.join(TABLES)}")
    if given.rounds < 1:
        raise SystemExit(f"--rounds={given.rounds} is not allowed: expected at least 1")
    commits = [commit_of(revision) for revision in (given.first, given.second)]
    places = [built(commit, given.folder.resolve()) for commit in commits]
    names = [f"{name} ({commit[:12]})" for name, commit in zip((given.first, given.second), commits, strict=True)]
    parts = []
    for table in given.tables:
        if without := lacking(table, places):
            print(f"{table} is left out: {' and '.join(without)} has no such table", flush=True)
            continue
        rounds = measured(places, table, given.rounds, given.seconds, sys.stderr)
        parts.append(text_of(table, names, rounds))
        print(f"\n{parts[-1]}", flush=True)
    path = given.folder / f"{commits[0][:12]}-{commits[1][:12]}.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
