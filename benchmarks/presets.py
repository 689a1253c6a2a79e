"""Steps per second of every preset beside the standard game, in turn in the same run.

The batch steps into the caller's buffers in one thread and replays recorded random actions. An observation of another
size costs in proportion to its length, so the cost of a feature is compared as well.

    python benchmarks/presets.py --rounds 5
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from typing import Any

from compare import FOLDER, Measure, facts, recorded_actions, replay

import starmine


def measure(variant: starmine.Variant, dtype: str, games: int) -> Measure:
    """The measure of one variant's batch."""
    actions = recorded_actions(variant, games, 100)

    def stepper() -> Callable[[Any], Any]:
        batch = starmine.Batch(variant, games, dtype=dtype, num_threads=1, seed=0)
        buffers = batch.reset(seed=0)
        return lambda row: batch.step_into(row, **buffers)

    return replay(stepper, actions)


def table(players: int, rounds: int, games: int) -> list[str]:
    """The rows of one number of players as Markdown."""
    variants = {name: starmine.variant(name, players=players) for name in starmine.variants()}
    kinds = [(name, dtype) for name in variants for dtype in ("bits", "float32")]
    measures = {kind: measure(variants[kind[0]], kind[1], games) for kind in kinds}
    figures: dict[tuple[str, str], list[float]] = {kind: [] for kind in kinds}
    for number in range(rounds):
        print(f"{players} players, round {number + 1} of {rounds}", flush=True)
        for kind in kinds:
            figures[kind].append(1e9 / measures[kind]())
    costs = {kind: statistics.median(values) for kind, values in figures.items()}
    lines = []
    for name, variant in variants.items():
        features = len(variant.layout())
        cells = [f"{players} | {name} | {features}"]
        for dtype in ("bits", "float32"):
            cost = costs[name, dtype]
            cells.append(f"{cost:.0f} | {cost / costs['standard', dtype]:.2f}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measure, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, default=1024)
    arguments = parser.parse_args()
    heading = ", ".join(f"{key} {value}" for key, value in facts(arguments.games, arguments.rounds).items())
    lines = [
        heading,
        "",
        "| players | preset | features | bits, ns a step | beside standard | float32, ns a step | beside standard |",
        "|---|---|---|---|---|---|---|",
    ]
    for players in (2, 5):
        lines += table(players, arguments.rounds, arguments.games)
    text = "\n".join(lines) + "\n"
    print("\n" + text)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "presets.md").write_text(text)


if __name__ == "__main__":
    main()
