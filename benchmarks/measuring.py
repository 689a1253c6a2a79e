"""What the benchmarks share: rounds, medians, the machine class and the files of results."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import starmine

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"  # a folder for each machine class
SHORT_LOOK = ROOT / "runs" / "benchmarks"

# The vector instructions that each set of `STARMINE_SIMD` needs, by their names in /proc/cpuinfo, the best set first.
INSTRUCTION_SETS = {
    "avx512": {"avx2", "bmi1", "bmi2", "abm", "popcnt", "avx512f", "avx512bw", "avx512dq", "avx512vl"},
    "avx2": {"avx2", "bmi1", "bmi2", "abm", "popcnt"},
    "portable": set(),
}

# Measures for about this many seconds and returns steps per second.
Measure = Callable[[float], float]


@dataclass(frozen=True)
class Case:
    """A row of a table before it is measured."""

    what: str
    players: int
    measure: Measure
    games: int | None = None
    dtype: str | None = None
    threads: int = 1
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A measured row: steps per second over the rounds."""

    what: str
    players: int
    games: int | None
    dtype: str | None
    threads: int
    more: dict[str, Any]
    median: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Effort:
    """How long a benchmark may take, and where its results go."""

    rounds: int
    seconds: float
    folder: Path
    quick: bool


@contextmanager
def pinned_to_one_core() -> Iterator[None]:
    """Pins this process to the first core, where the system can; processes that it starts meanwhile stay pinned.

    Measures on one core are compared on the same core, since the cores of a virtual machine differ in speed.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    set_affinity({min(before)})
    try:
        yield
    finally:
        set_affinity(before)


def set_affinity(cores: set[int]) -> None:
    """Lets all threads of this process run on these cores only."""
    threads = Path("/proc/self/task")
    for thread in map(int, os.listdir(threads)) if threads.exists() else [0]:
        with suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(thread, cores)


def run(cases: Sequence[Case], effort: Effort) -> list[Row]:
    """Measures all cases in turn in every round and returns medians; cases with one thread are pinned to a core."""
    figures: list[list[float]] = [[] for _ in cases]
    for number in range(effort.rounds):
        for place, case in enumerate(cases):
            print(
                f"{case.players} players, round {number + 1} of {effort.rounds}, "
                f"{place + 1} of {len(cases)}: {case.what}",
                flush=True,
            )
            with pinned_to_one_core() if case.threads == 1 else nullcontext():
                figures[place].append(case.measure(effort.seconds))
    return [summary(case, values) for case, values in zip(cases, figures, strict=True)]


def summary(case: Case, values: list[float]) -> Row:
    """The median and the spread of one case."""
    about = {name: getattr(case, name) for name in ("what", "players", "games", "dtype", "threads", "more")}
    return Row(**about, median=statistics.median(values), lowest=min(values), highest=max(values))


def instruction_sets() -> list[str]:
    """The sets of `STARMINE_SIMD` that this processor has, the best first."""
    flags = set(_cpuinfo("flags").split())
    return [name for name, needed in INSTRUCTION_SETS.items() if needed <= flags]


def _cpuinfo(key: str) -> str:
    """A value of the first processor in /proc/cpuinfo; empty where there is none."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == key), "")


def machine_class() -> str:
    """The processor's vendor and its best instruction set, such as "amd-avx512"."""
    vendors = {"AuthenticAMD": "amd", "GenuineIntel": "intel"}
    return f"{vendors.get(_cpuinfo('vendor_id'), platform.machine().lower())}-{instruction_sets()[0]}"


def commit() -> str:
    """The commit that is measured, with a + where files differ from it; "unknown" without git."""
    command = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
    try:
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return "unknown"
    return found.stdout.strip() or "unknown"


def facts(effort: Effort) -> dict[str, Any]:
    """The facts of a run that its table states."""
    processor = _cpuinfo("model name") or platform.processor() or platform.machine()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{processor}, {os.cpu_count()} cores",
        "instruction sets": " ".join(reversed(instruction_sets())),
        "python": platform.python_version(),
        "starmine": starmine.__version__,
        "commit": commit(),
        "machine class": machine_class(),
        "rounds": effort.rounds,
        "seconds a measure": effort.seconds,
    }


def markdown(heads: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    rule = ["---"] * len(heads)
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in (heads, rule, *lines))


def spread(row: Row) -> str:
    """The lowest and the highest figure."""
    return f"{row.lowest:,.0f} to {row.highest:,.0f}"


def nanoseconds(row: Row) -> tuple[float, str]:
    """The median time of a step and its spread."""
    return 1e9 / row.median, f"{1e9 / row.highest:,.0f} to {1e9 / row.lowest:,.0f}"


def write(name: str, effort: Effort, about: dict[str, Any], sections: Sequence[str], rows: Sequence[Row]) -> None:
    """Writes the results as Markdown and as JSON, and prints them."""
    heading = ", ".join(f"{key} {value}" for key, value in about.items())
    text = "\n\n".join([heading, *sections]) + "\n"
    effort.folder.mkdir(parents=True, exist_ok=True)
    (effort.folder / f"{name}.md").write_text(text)
    (effort.folder / f"{name}.json").write_text(json.dumps({**about, "rows": list(map(asdict, rows))}, indent=1) + "\n")
    shown = effort.folder.relative_to(ROOT) if effort.folder.is_relative_to(ROOT) else effort.folder
    print(f"\n{text}\nwritten to {shown}: {name}.md and {name}.json", flush=True)


@dataclass
class BenchmarkArgs:
    """The command line of every benchmark; a benchmark's own class has other defaults, and further arguments."""

    rounds: int = 3
    seconds: float = 0.3
    """of each measure"""
    folder: Path | None = None
    """for the results; None for benchmarks/results/MACHINE-CLASS"""
    quick: bool = False
    """one round of short measures, written to runs/benchmarks"""

    @property
    def effort(self) -> Effort:
        """The effort that the arguments ask for."""
        if self.quick:
            return Effort(1, min(self.seconds, 0.1), self.folder or SHORT_LOOK, quick=True)
        return Effort(self.rounds, self.seconds, self.folder or RESULTS / machine_class(), quick=False)
