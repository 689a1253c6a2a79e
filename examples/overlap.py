"""What stepping two groups of games in turn gains beside stepping all of them at once, with a network that chooses.

A step takes one game one turn of the learner further. One batch: all games are stepped, then all are evaluated. Two
groups: one is stepped in a thread of its own while the other is evaluated (`starmine.torch.OverlappingGames`). PyTorch
and batches run on one thread each. The two ways take turns in every round; the figures are medians. The table is
Markdown, as in docs/pytorch.md.

    python examples/overlap.py --rounds 7 --device cpu
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import torch

import starmine
from starmine.torch import OverlappingGames, PolicyNetwork

OUTPUTS = ("obs", "action_mask", "reward", "terminated")
PARTNERS: tuple[str | None, ...] = (None, "smart", "fireflower")


class Loop:
    """Games whose actions a network samples, in one group or several."""

    def __init__(self, games: int, groups: int, partner: str | None, device: str) -> None:
        self.games, self.groups = games, groups
        partners = None if partner is None else {1: partner}
        batches = [
            starmine.Batch("standard", games // groups, dtype="bits", partners=partners, num_threads=1, seed=seed)
            for seed in range(1, groups + 1)
        ]
        torch.manual_seed(0)
        network = PolicyNetwork(batches[0].variant, hidden=(512, 512))
        self.overlapping = OverlappingGames(batches, OUTPUTS, device)
        self.network = network.to(device)

    @torch.no_grad()
    def measure(self, seconds: float) -> float:
        """Steps per second."""
        steps, start = 0, time.perf_counter()
        while time.perf_counter() < start + seconds:
            _, outputs = self.overlapping.recv()
            log_probs, _, _ = self.network(self.network.read(outputs["obs"]), outputs["action_mask"])
            self.overlapping.send(torch.multinomial(log_probs.exp(), 1)[:, 0])
            steps += self.games // self.groups
        return steps / (time.perf_counter() - start)


def measure(games: int, partner: str | None, given: Any) -> str:
    """A line of the table."""
    loops = [Loop(games, groups, partner, given.device) for groups in (1, 2)]
    figures: list[list[float]] = [[], []]
    for number in range(given.rounds + 1):
        for loop, found in zip(loops, figures, strict=True):
            speed = loop.measure(given.seconds)
            if number > 0:  # the first round warms up
                found.append(speed)
    for loop in loops:
        loop.overlapping.close()
    one, two = map(statistics.median, figures)
    ratios = [second / first for first, second in zip(*figures, strict=True)]
    between = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    return f"| {games:,} | {partner or 'none'} | {one:,.0f} | {two:,.0f} | {between} |"


def main() -> None:
    """Measure and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=7, help="default 7")
    arguments.add_argument("--seconds", type=float, default=1.0, help="of each measure; default 1")
    arguments.add_argument("--games", type=int, default=1024, help="default 1024")
    arguments.add_argument("--device", default="cpu", help="of the network; default cpu")
    given = arguments.parse_args()
    torch.set_num_threads(1)
    print("| games | partner | one batch, steps/s | two groups, steps/s | ratio |\n|---|---|---|---|---|")
    for partner in PARTNERS:
        print(measure(given.games, partner, given), flush=True)


if __name__ == "__main__":
    try:
        main()
    except starmine.StarmineError as error:
        raise SystemExit(f"overlap.py: {error}") from error
