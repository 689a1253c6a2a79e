"""Steps per second against the size of the batch, beside the cost of writing the same bytes.

The floor is numpy's `fill` of an array like that of the observations, as bytes, which is faster than as floats: the
plainest way to write so much, with no game behind it. In small batches the floor is the price of a Python call. Games
are of all ages when the measure starts.

    python benchmarks/sweep.py --rounds 3
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import tyro
from measuring import BenchmarkArgs, Case, Measure, Row, facts, markdown, nanoseconds, run, spread, write
from replaying import batch_measure, record
from speed_figure import draw

import starmine

SIZES = (64, 256, 1024, 4096, 16384, 65536)
SHORT_LOOK = (64, 1024, 16384)
DTYPES = ("float32", "bits")
LEAD = 60
# About how many steps a replay makes, within limits on its number of calls.
STEPS, CALLS = 1 << 18, (16, 1000)


def floor_measure(variant: starmine.Variant, games: int, dtype: str) -> Measure:
    """The speed of filling the observation array, as steps per second."""
    array = starmine.Batch(variant, games, dtype=dtype, num_threads=1, seed=0).allocate()["obs"]
    fill = array.view(np.uint8).fill
    calls = max(1, (1 << 16) // games)
    fill(1)

    def measure(seconds: float) -> float:
        done, elapsed = 0, 0.0
        while elapsed < seconds:
            start = time.perf_counter()
            for _ in range(calls):
                fill(1)
            elapsed += time.perf_counter() - start
            done += calls
        return done * games / elapsed

    return measure


def cases(players: int, sizes: Sequence[int]) -> Iterator[Case]:
    """The batch and the floor in every size."""
    variant = starmine.Variant(players=players)
    for games in sizes:
        print(f"{players} players: recording {games} games", flush=True)
        calls = min(max(STEPS // games, CALLS[0]), CALLS[1])
        recording = record(variant, games, calls, LEAD)
        for dtype in DTYPES:
            batch = batch_measure(recording, dtype=dtype, num_threads=1)
            yield Case(f"{games} games, {dtype}", players, batch, games, dtype, more={"kind": "batch"})
            floor = floor_measure(variant, games, dtype)
            yield Case(f"{games} games, {dtype}, floor", players, floor, games, dtype, more={"kind": "floor"})


def table(rows: Sequence[Row]) -> str:
    """A line for each size, with its floor."""
    by_key = {(row.players, row.dtype, row.games, row.more["kind"]): row for row in rows}
    lines = []
    for (players, dtype, games, kind), row in by_key.items():
        if kind == "batch":
            floor = by_key[players, dtype, games, "floor"]
            cost, least = nanoseconds(row)[0], nanoseconds(floor)[0]
            costs = (f"{cost:.1f}", f"{least:.1f}", f"{least / cost:.0%}")
            lines.append((players, dtype, f"{games:,}", f"{row.median:,.0f}", spread(row), *costs))
    lines.sort(key=lambda line: (line[0], DTYPES.index(str(line[1]))))
    heads = ("players", "dtype", "games", "steps/s (median)", "spread", "ns a step", "floor, ns", "floor / step")
    return markdown(heads, lines)


def main() -> None:
    """Measure, write the table and draw the figure."""
    wanted = tyro.cli(BenchmarkArgs, description=__doc__, default=BenchmarkArgs(seconds=0.4)).effort
    sizes = SHORT_LOOK if wanted.quick else SIZES
    rows = [row for players in (2, 5) for row in run(list(cases(players, sizes)), wanted)]
    about = facts(wanted)
    text = (
        "`Batch.step_into` with all outputs into the caller's arrays, one thread. Floor: numpy's `fill` of an array "
        "like that of the observations, as bytes, which writes as much and does nothing else."
    )
    write("sweep", wanted, about, [text, table(rows)], rows)
    draw(wanted.folder)


if __name__ == "__main__":
    main()
