"""Counts the instructions of a step under callgrind and compares them with the recorded table.

Time on a shared machine is noise; a count of instructions is the same in every run. It is that of one compiler, so with
another one the comparison is skipped. A workload that grew beyond the tolerance fails; one that shrank is reported.

    python benchmarks/instructions.py            # compare
    python benchmarks/instructions.py --record   # write benchmarks/instructions.json anew
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro
from measuring import ROOT, instruction_sets

TABLE = ROOT / "benchmarks" / "instructions.json"
# One replay of `benches/instructions.rs`.
STAGES = ("rules", "mask", "bits", "float32")
PLAYERS = (2, 5)
STEPS = 64 * 100
# Valgrind does not support AVX-512.
COUNTED_SETS = ("avx2", "portable")
TOLERANCE = 0.03
MEASURED_FUNCTION = "*measured_replay*"

# Instructions of each workload.
Counts = dict[str, int]


@dataclass
class Verdict:
    """The result of a comparison."""

    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def workloads(sets: tuple[str, ...] | list[str]) -> list[str]:
    """The names of all workloads: instruction set, stage, players."""
    return [f"{simd} {stage} {players}" for simd in sets for players in PLAYERS for stage in STAGES]


def compare(recorded: Mapping[str, int], counted: Mapping[str, int]) -> Verdict:
    """Compares every counted workload with the recorded one."""
    verdict = Verdict()
    for name, count in counted.items():
        if name not in recorded:
            verdict.failures.append(f"{name}: {count:,} instructions, but the table has no such workload")
            continue
        change = count / recorded[name] - 1
        line = f"{name}: {recorded[name]:,} -> {count:,} instructions ({change:+.2%})"
        if change > TOLERANCE:
            verdict.failures.append(line)
        elif change < -TOLERANCE:
            verdict.notes.append(line)
    return verdict


def toolchain() -> dict[str, str]:
    """The compiler, on which the counts depend."""
    text = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    host = re.search(r"^host: (.+)$", text, re.MULTILINE)
    assert host
    return {"rustc": text.splitlines()[0], "host": host[1]}


def reason_to_skip(table: Mapping[str, Any], compiler: Mapping[str, str]) -> str | None:
    """The reason why the table does not apply to this compiler, or None."""
    for key, ours in compiler.items():
        if table[key] != ours:
            return f"the table is of {table[key]}, this is {ours}"
    return None


def build() -> Path:
    """Builds the program that replays the workloads, without flags that would change its code."""
    command = ["cargo", "build", "--release", "--features", "instructions", "--bin", "instructions"]
    environment = {name: value for name, value in os.environ.items() if not name.endswith("RUSTFLAGS")}
    built = subprocess.run(
        [*command, "--message-format=json-render-diagnostics"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
    )
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    return Path(next(message["executable"] for message in messages if message.get("executable")))


def total(text: str) -> int:
    """The total of callgrind's output file."""
    found = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
    if not found or found[1] == "0":
        raise SystemExit("callgrind has counted nothing: is the measured function still there?")
    return int(found[1])


def count(program: Path, workload: str) -> int:
    """The instructions of one workload."""
    simd, stage, players = workload.split()
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "callgrind.out"
        command = ["valgrind", "--quiet", "--tool=callgrind", f"--toggle-collect={MEASURED_FUNCTION}"]
        command += [f"--callgrind-out-file={output}", f"./{program.name}", stage, players]
        # Environment and path are the same everywhere, since their lengths shift the stack and change the count.
        environment = {"STARMINE_SIMD": simd, "PATH": os.defpath}
        run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=program.parent)
        if run.returncode or not output.exists():
            raise SystemExit(f"{workload}: the program failed under valgrind\n{run.stdout}{run.stderr}")
        return total(output.read_text())


def count_all(sets: list[str]) -> Counts:
    """The instructions of all workloads."""
    program = build()
    names = workloads(sets)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(lambda name: count(program, name), names), strict=True))


def show(counted: Counts) -> None:
    """Prints the instructions per step."""
    for name, instructions in counted.items():
        print(f"{name:20} {instructions / STEPS:8.1f} instructions a step")


def judge(recorded: Counts, counted: Counts) -> int:
    """Prints the changes and returns the exit status."""
    verdict = compare(recorded, counted)
    tell = "`make instructions` records the table anew."
    if verdict.notes:
        print(f"Fewer instructions than recorded, by more than {TOLERANCE:.0%}: {tell}", *verdict.notes, sep="\n  ")
    if verdict.failures:
        heading = f"More instructions than recorded, by more than {TOLERANCE:.0%}. If that is meant, {tell}"
        print(heading, *verdict.failures, sep="\n  ", file=sys.stderr)
        return 1
    print(f"{len(counted)} workloads are within {TOLERANCE:.0%} of the recorded instruction counts, or below.")
    return 0


def skip(reason: str) -> None:
    """Reports a skipped count, also in the file that the variable SKIPPED names."""
    line = f"Skipped: the instruction counts: {reason}"
    print(line, file=sys.stderr)
    if path := os.environ.get("SKIPPED"):
        with Path(path).open("a", encoding="utf-8") as file:
            print(line, file=file)


def main(record: bool = False) -> int:
    """Compare, or record.

    Args:
        record: write the table anew.
    """
    if not shutil.which("valgrind"):
        skip("valgrind is not installed")
        return int(record)
    table = {"counts": {}} if record else json.loads(TABLE.read_text())
    compiler = toolchain()
    if not record and (reason := reason_to_skip(table, compiler)):
        skip(reason)
        return 0
    sets = [simd for simd in COUNTED_SETS if simd in instruction_sets()]
    counted = count_all(sets)
    show(counted)
    if not record:
        return judge(table["counts"], counted)
    if set(sets) != set(COUNTED_SETS):
        print(f"Not recorded: this processor has no {' or '.join(set(COUNTED_SETS) - set(sets))}.", file=sys.stderr)
        return 1
    TABLE.write_text(json.dumps({**compiler, "steps": STEPS, "counts": counted}, indent=1) + "\n")
    print(f"written to {TABLE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(tyro.cli(main, description=__doc__))
