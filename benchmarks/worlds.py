"""Worlds per second of `Batch.worlds`, one world of each of 1,024 games in one thread.

The games are some turns old, as in training. Worlds are written into a batch that is there.
All instruction sets take the same time, since drawing worlds uses no vector instructions.

    python benchmarks/worlds.py --rounds 5
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import tyro
from measuring import BenchmarkArgs, Case, Measure, Row, facts, markdown, nanoseconds, run, write
from replaying import record

import starmine

GAMES = 1024
TURNS = 30  # of each game before its worlds are drawn; games that end are dealt anew


def worlds_measure(players: int) -> Measure:
    """`Batch.worlds` into a batch, again and again."""
    recording = record(starmine.Variant(players=players), GAMES, 0, lead=TURNS)
    batch = starmine.Batch(recording.variant, GAMES, dtype="bits", seed=0, num_threads=1)
    batch.reset(seed=0)
    for actions in recording.lead:
        batch.step(actions)
    worlds = batch.worlds(seed=0)

    def measure(seconds: float) -> float:
        calls, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            batch.worlds(seed=calls, into=worlds)
            calls += 1
        return calls * GAMES / (time.perf_counter() - start)

    return measure


def table(rows: Sequence[Row]) -> str:
    """A line for each number of players."""
    lines = []
    for row in rows:
        cost, between = nanoseconds(row)
        lines.append((row.players, f"{row.median:,.0f}", f"{cost:,.0f} ({between})"))
    return markdown(("players", "worlds/s (median)", "ns a world (spread)"), lines)


def main() -> None:
    """Measure, print the table and write it."""
    wanted = tyro.cli(BenchmarkArgs, description=__doc__).effort
    cases = [Case("Batch.worlds", players, worlds_measure(players), GAMES, "bits") for players in (2, 3, 4, 5)]
    rows = run(cases, wanted)
    text = f"`Batch.worlds`, {GAMES:,} games after {TURNS} random turns, one thread."
    write("worlds", wanted, facts(wanted), [text, table(rows)], rows)


if __name__ == "__main__":
    main()
