"""Two commits beside each other: the rows of every table, measured in turn in the same run.

    python benchmarks/ab.py main~1 main                     # every table, five rounds
    python benchmarks/ab.py 67b2299 HEAD --tables compare   # one of them
    python benchmarks/ab.py main HEAD --quick               # short measures

Each commit is built into an environment of its own, with its own benchmarks, in runs/ab. A round measures a table of
both commits, and the next round begins with the other one. Tables and rows that only one of them has are left out. The
ratio is the median over the rounds of second to first within a round, so that a slow minute hits both.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measuring import ROOT, markdown

TABLES = ("compare", "sweep", "presets", "bots", "search", "data", "training")
NEEDED = ("matplotlib", "pyarrow", "tqdm")  # by the benchmarks, beside what training needs
Key = tuple[Any, ...]
Figures = dict[Key, float]


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


def key_of(row: dict[str, Any]) -> Key:
    """What tells a row from the others of its table."""
    more = tuple(sorted((name, str(value)) for name, value in row["more"].items()))
    return (row["what"], row["players"], row["games"], row["dtype"], row["threads"], more)


def measured(place: Path, table: str, options: Sequence[str]) -> Figures:
    """Measure one round of a table with the commit's own benchmark: the rate of each row."""
    results = place / "results"
    python = place / "environment" / "bin" / "python"
    run(
        python, f"benchmarks/{script(place, table)}", "--rounds", "1", "--folder", results, *options, cwd=place / "tree"
    )
    rows = json.loads((results / f"{table}.json").read_text(encoding="utf-8"))["rows"]
    return {key_of(row): row["median"] for row in rows}


def beside(rounds: Sequence[tuple[Figures, Figures]]) -> list[tuple[Key, float, float, float, float, float]]:
    """The rows that all rounds of both commits have: medians, and the median, lowest and highest ratio of a round."""
    common = [key for key in rounds[0][0] if all(key in figures for pair in rounds for figures in pair)]
    found = []
    for key in common:
        first, second = ([pair[side][key] for pair in rounds] for side in (0, 1))
        ratios = [after / before for before, after in zip(first, second, strict=True)]
        medians = statistics.median(first), statistics.median(second), statistics.median(ratios)
        found.append((key, *medians, min(ratios), max(ratios)))
    return found


def text_of(table: str, names: Sequence[str], rounds: Sequence[tuple[Figures, Figures]]) -> str:
    """The rows of a table as Markdown."""
    lines = []
    for key, first, second, ratio, lowest, highest in beside(rounds):
        what, players, games, dtype, threads, _ = key
        about = (what, players, games or "", dtype or "", threads)
        lines.append((*about, f"{first:,.0f}", f"{second:,.0f}", f"{ratio:.3f}", f"{lowest:.3f} to {highest:.3f}"))
    heads = ("what", "players", "games", "dtype", "threads", *(f"{name}, per second" for name in names))
    return f"## {table}\n\n{markdown((*heads, 'ratio', 'rounds'), lines)}\n"


def main() -> None:
    """Build both, measure in turn, and write the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("first", help="a commit")
    arguments.add_argument("second", help="another one")
    arguments.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES, help="default: all")
    arguments.add_argument("--rounds", type=int, default=5, help="default 5")
    arguments.add_argument("--seconds", type=float, help="of each measure; default: the benchmark's own")
    arguments.add_argument("--quick", action="store_true", help="short measures")
    arguments.add_argument("--folder", type=Path, default=ROOT / "runs" / "ab", help="default runs/ab")
    given = arguments.parse_args()
    if given.rounds < 1:
        arguments.error(f"--rounds={given.rounds} is not allowed: expected at least 1")
    commits = [commit_of(revision) for revision in (given.first, given.second)]
    places = [built(commit, given.folder.resolve()) for commit in commits]
    options = ["--quick"] * given.quick + (["--seconds", str(given.seconds)] if given.seconds else [])
    names = [f"{name} ({commit[:12]})" for name, commit in zip((given.first, given.second), commits, strict=True)]
    parts = []
    for table in given.tables:
        if without := lacking(table, places):
            print(f"{table} is left out: {' and '.join(without)} has no such table", flush=True)
            continue
        rounds = []
        for number in range(given.rounds):
            order = (0, 1) if number % 2 == 0 else (1, 0)
            figures = {side: measured(places[side], table, options) for side in order}
            rounds.append((figures[0], figures[1]))
        parts.append(text_of(table, names, rounds))
        print(f"\n{parts[-1]}", flush=True)
    path = given.folder / f"{commits[0][:12]}-{commits[1][:12]}.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
