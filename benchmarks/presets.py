"""Steps per second of every preset beside the standard game, in turn in the same run.

The batch steps into the caller's buffers in one thread and replays recorded random actions. An observation of another
size costs in proportion to its length, so the table names the number of features too.

    python benchmarks/presets.py --rounds 5
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tyro
from measuring import BenchmarkArgs, Case, Row, facts, markdown, nanoseconds, run, write
from replaying import batch_measure, record

import starmine

GAMES = 1024
STEPS = 100
DTYPES = ("bits", "float32")
# The presets with other rules or cards than the standard game; the others change only numbers.
SHORT_LOOK = ("standard", "avalanche", "crowning-piece", "timed-display", "traditional")


def cases(players: int, names: Sequence[str]) -> Iterator[Case]:
    """Every preset in both dtypes."""
    for name in names:
        variant = starmine.variant(name, players=players)
        recording = record(variant, GAMES, STEPS)
        for dtype in DTYPES:
            measure = batch_measure(recording, dtype=dtype, num_threads=1)
            more = {"preset": name, "features": len(variant.layout())}
            yield Case(f"{name}, {dtype}", players, measure, GAMES, dtype, more=more)


def table(rows: Sequence[Row]) -> str:
    """A line for each preset."""
    by_key = {(row.players, row.more["preset"], row.dtype): row for row in rows}
    lines = []
    for players, name in dict.fromkeys((row.players, row.more["preset"]) for row in rows):
        line = [players, name, by_key[players, name, "bits"].more["features"]]
        for dtype in DTYPES:
            cost, between = nanoseconds(by_key[players, name, dtype])
            standard, _ = nanoseconds(by_key[players, "standard", dtype])
            line += [f"{cost:.0f} ({between})", f"{cost / standard:.2f}"]
        lines.append(line)
    heads = ["players", "preset", "features"]
    for dtype in DTYPES:
        heads += [f"{dtype}, ns a step (spread)", "beside standard"]
    return markdown(heads, lines)


def main() -> None:
    """Measure, print the table and write it."""
    wanted = tyro.cli(BenchmarkArgs, description=__doc__).effort
    names = SHORT_LOOK if wanted.quick else starmine.variants()
    rows = [row for players in (2, 5) for row in run(list(cases(players, names)), wanted)]
    text = f"`Batch.step_into`, {GAMES:,} games, one thread."
    write("presets", wanted, facts(wanted), [text, table(rows)], rows)


if __name__ == "__main__":
    main()
