"""The process in which `ab.py` measures the rows of one benchmark of one commit, when they are asked for.

    python benchmarks/ab_worker.py BENCHMARK [OPTION ...]

For each list of the benchmark's rows it prints their keys as a line of JSON. It then reads the number of a row from a
line, measures it once, and prints the steps per second; an empty line ends the list. What the benchmark itself prints
goes to the standard error stream.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(sys.argv[1]).parent))  # the modules of the benchmark's commit
import measuring

if TYPE_CHECKING:
    from measuring import Case, Effort, Row

ANSWERS = sys.stdout


def answer(value: object) -> None:
    """Print a line of JSON."""
    print(json.dumps(value), file=ANSWERS, flush=True)


def key_of(case: Case) -> list[object]:
    """What tells a row from the others of its table."""
    more = json.dumps(case.more, sort_keys=True, default=str)
    return [case.what, case.players, case.games, case.dtype, case.threads, more]


def measure_as_asked(cases: Sequence[Case], effort: Effort) -> list[Row]:
    """In place of `measuring.run`: measure the rows that are asked for, and at the end the others for a moment."""
    figures: list[list[float]] = [[] for _ in cases]
    answer([key_of(case) for case in cases])
    while line := sys.stdin.readline().strip():
        case = cases[int(line)]
        with measuring.pinned_to_one_core() if case.threads == 1 else nullcontext():
            figures[int(line)].append(case.measure(effort.seconds))
        answer(figures[int(line)][-1])
    measured = [values or [case.measure(0.01)] for case, values in zip(cases, figures, strict=True)]
    return [measuring.summary(case, values) for case, values in zip(cases, measured, strict=True)]


if __name__ == "__main__":
    sys.stdout = sys.stderr
    measuring.run = measure_as_asked  # which the benchmark imports
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
