"""Many turns of one bot: generated, verified and read back, each pass in processes of its own.

`data_speed.py --billion` runs it. Each process tells its peak of resident memory, which must not grow with the games.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from measuring import Effort, Row, facts, markdown, write
from tyro.conf import Positional

from starmine.data.arrow import pyarrow_parquet

BOT = "smart"
OUTPUTS = ("obs", "action_mask", "action")
MINIBATCH = 4096
SIDE_BY_SIDE = 1024  # games that `Dataset.replay` plays together: their rows fit into a cache
TOLD = 10.0  # seconds between lines of progress
SAMPLE = 4096  # games that tell the mean length
PASSES = {
    "generate": "`generate`",
    "verify": "`verify`",
    "replay": "`Dataset.replay`, bits",
    "shuffled": "`GamesDataset`, bits, shuffled",
}
TOGETHER = ("generate", "verify")  # passes of one process with all threads; others have a process for each core


def measure(turns: int, wanted: Effort) -> None:
    """Make all passes with a tenth of the turns and with all of them, and write what they took."""
    rows = []
    for part in (turns // 10, turns):
        with tempfile.TemporaryDirectory() as folder:
            rows += passes(Path(folder) / "games", part)
    text = (
        f"Two players, `{BOT}` at both seats, as many threads as cores. Reading: {', '.join(OUTPUTS)}, each turn once, "
        f"in a process for each core; `Dataset.replay` plays {SIDE_BY_SIDE:,} games side by side. The times leave out "
        "the start of Python and its imports; resident memory is that of the largest process, after the imports and at "
        "its peak."
    )
    write("data_billion", wanted, facts(wanted), [text, table(rows)], rows)


def passes(folder: Path, turns: int) -> list[Row]:
    """Make all passes over a data set of about so many turns."""
    games = games_for(turns)
    cores = os.cpu_count() or 1
    rows = []
    for name, what in PASSES.items():
        print(f"{what}: {games:,} games", flush=True)
        told = together(name, folder, games, 1 if name in TOGETHER else cores)
        seconds = max(each["seconds"] for each in told)
        done = sum(each["turns"] for each in told)
        size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
        more = {
            "pass": name,
            "seconds": seconds,
            "turns": done,
            "bytes": size,
            "start": max(each["start"] for each in told),
            "peak": max(each["peak"] for each in told),
            "processes": len(told),
        }
        rows.append(Row(what, 2, games, "bits", cores, more, *[done / seconds] * 3))
        if done != rows[0].more["turns"]:
            raise AssertionError(f"{what} gave {done} turns: expected {rows[0].more['turns']}")
    return rows


def games_for(turns: int) -> int:
    """The number of games that have about so many turns."""
    import starmine

    lengths = starmine.play_games([BOT, BOT], SAMPLE, seed=1).lengths
    return max(1, round(turns / float(lengths.mean())))


def together(name: str, folder: Path, games: int, count: int) -> list[dict[str, Any]]:
    """What some processes tell, which make a pass together."""
    command = [sys.executable, __file__, name, str(folder), str(games), str(count)]
    started = [subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, text=True) for number in range(count)]
    outputs = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        raise SystemExit(f"{name} failed")
    return [json.loads(output.splitlines()[-1]) for output in outputs]


def table(rows: Sequence[Row]) -> str:
    """A line for each pass."""
    lines = [
        (
            row.what,
            f"{row.games:,}",
            f"{row.more['turns']:,}",
            f"{row.more['bytes'] / 1e6:,.0f}",
            f"{row.more['seconds']:.1f}",
            f"{row.median / 1e6:.1f}",
            row.more["processes"],
            f"{row.more['start'] / 2**20:,.0f}",
            f"{row.more['peak'] / 2**20:,.0f}",
        )
        for row in rows
    ]
    heads = (
        "pass",
        "games",
        "turns",
        "MB on disk",
        "seconds",
        "million turns/s",
        "processes",
        "MiB at first",
        "peak, MiB",
    )
    return markdown(heads, lines)


# --- A process --------------------------------------------------------------------------------------------


def generate(folder: Path, games: int) -> int:
    """Generate the games; the number of turns."""
    import starmine.data

    return starmine.data.generate([BOT, BOT], games, folder).turns


def verify(folder: Path) -> int:
    """Verify the games; the number of turns."""
    import starmine.data

    found = starmine.data.verify(folder, progress=True)
    if not found.holds:
        raise SystemExit(str(found))
    return found.turns


def replay(folder: Path, count: int, number: int) -> int:
    """Replay this process's share of the games in their order; the number of turns."""
    from starmine.data import Dataset

    data = Dataset(folder)
    share = data.select(slice(len(data) * number // count, len(data) * (number + 1) // count))
    return counted(share.replay(SIDE_BY_SIDE, dtype="bits", outputs=OUTPUTS, num_threads=1))


def shuffled(folder: Path, count: int, number: int) -> int:
    """Read this process's share of the games in shuffled minibatches; the number of turns."""
    import torch

    from starmine.torch import GamesDataset

    torch.set_num_threads(1)
    share = GamesDataset(folder, MINIBATCH, dtype="bits", outputs=OUTPUTS, rank=number, world_size=count)
    return counted(iter(share))


def counted(pieces: Iterator[dict[str, Any]]) -> int:
    """The number of rows of all pieces; a line now and then tells how far it is."""
    turns, start = 0, time.perf_counter()
    told = start
    for piece in pieces:
        turns += len(piece["action"])
        now = time.perf_counter()
        if now - told >= TOLD:
            told = now
            print(f"{turns:,} turns, {turns / (now - start):,.0f} turns/s", file=sys.stderr, flush=True)
    return turns


def peak() -> int:
    """The highest resident memory of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # the kernel's other count includes the process that started this one
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@dataclass
class Args:
    """The command line."""

    name: Positional[str]
    folder: Positional[Path]
    games: Positional[int]
    count: Positional[int]
    number: Positional[int]


def main() -> None:
    """Make a pass, or a share of it, and print what it gave."""
    given = tyro.cli(Args, description=__doc__)
    share = (given.folder, given.count, given.number)
    makers = {
        "generate": lambda: generate(given.folder, given.games),
        "verify": lambda: verify(given.folder),
        "replay": lambda: replay(*share),
        "shuffled": lambda: shuffled(*share),
    }
    importlib.import_module("starmine.torch" if given.name == "shuffled" else "starmine.data")
    pyarrow_parquet()
    first, start = peak(), time.perf_counter()
    turns = makers[given.name]()
    print(json.dumps({"turns": turns, "seconds": time.perf_counter() - start, "start": first, "peak": peak()}))


if __name__ == "__main__":
    main()
