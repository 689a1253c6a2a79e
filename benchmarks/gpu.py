"""Training on one GPU: speed, a profile of an update, the score of three minutes, and cross-play of seeds.

    python benchmarks/gpu.py --out runs/gpu                   # all parts: about 20 minutes at 1.6 M turns a second
    python benchmarks/gpu.py --out runs/gpu --parts speed score

Each part writes its figures to the output folder as it ends, so that a stopped call keeps what it has. The parts are:

- speed: turns trained a second with the narrow and the wide network, and a table of the kernels of one update;
- score: one run of three minutes from random weights, and its greedy score over 10,000 decks of seed 0;
- crossplay: four seeds of each setting of `SETTINGS`, and the mean score of pairs of different seeds.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import tyro
from measuring import ROOT

import starmine

sys.path.insert(0, str(ROOT / "examples"))
import ppo

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "narrow": {"hidden": (96, 256)},
    "entropy": {"entropy_weight": 0.1},
    "minibatch": {"minibatch": 4096, "lr": 3.5e-4},
}
SEEDS = (1, 2, 3, 4)


@dataclass
class Args:
    """What to measure."""

    out: Path
    parts: list[str] = field(default_factory=lambda: ["speed", "score", "crossplay"])
    seconds: float = 20.0
    """of each measure of speed"""
    minutes: float = 3.0
    """of the run whose score is measured"""
    turns: int = 100_000_000
    """of each run for cross-play"""
    games: int = 10_000
    """of each score"""
    device: str = "cuda"
    num_envs: int | None = None
    """games at once; None for the default of ppo.py"""


def note(out: Path, **found: Any) -> None:
    """Print a figure and append it to the log."""
    line = json.dumps(found)
    print(line, flush=True)
    with (out / "gpu.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def arguments(args: Args, out: Path, **given: Any) -> Any:
    """The arguments of a training run."""
    shared = {"device": args.device, "num_envs": args.num_envs, "eval_games": 1000, "final_games": 1000}
    return ppo.Args(**{**shared, **given, "out": out})


def speed(args: Args) -> None:
    """Turns a second of both networks, and the kernels of one update."""
    for widths in ((96, 256), (192, 512)):
        learner = ppo.PPO(arguments(args, args.out / "speed", hidden=widths))
        for _ in range(3):  # captures the graphs
            learner.update(0.0)
        turns, start = 0, time.perf_counter()
        while time.perf_counter() - start < args.seconds:
            learner.update(0.0)
            turns += learner.action.numel()
        note(args.out, part="speed", hidden=widths, turns_per_second=turns / (time.perf_counter() - start))
        with torch.profiler.profile() as profile:
            learner.update(0.0)
        table = profile.key_averages().table(sort_by="self_cuda_time_total", row_limit=30)
        (args.out / f"profile-{widths[0]}.txt").write_text(table, encoding="utf-8")


def score(args: Args) -> None:
    """The score of a run of some minutes."""
    folder = args.out / "score"
    ppo.main(arguments(args, folder, minutes=args.minutes))
    games = starmine.play_games([f"policy: {folder / 'policy.safetensors'}"] * 2, games=args.games, seed=0)
    note(args.out, part="score", minutes=args.minutes, score=games.mean, error=games.standard_error)


def crossplay(args: Args) -> None:
    """The scores of seeds with themselves and with each other."""
    for name, given in SETTINGS.items():
        files = []
        for seed in SEEDS:
            folder = args.out / f"{name}-{seed}"
            ppo.main(arguments(args, folder, total_steps=args.turns, seed=seed, **given))
            files.append(f"policy: {folder / 'policy.safetensors'}")
        pairs = [
            (first == second, starmine.play_games([first, second], games=args.games, seed=0).mean)
            for first in files
            for second in files
        ]
        alone, together = ([mean for same, mean in pairs if same is kind] for kind in (True, False))
        means = {"self_play": sum(alone) / len(alone), "cross_play": sum(together) / len(together)}
        note(args.out, part="crossplay", setting=name, **means, pairs=[mean for _, mean in pairs])


def main() -> None:
    """Measure the parts that are asked for."""
    args = tyro.cli(Args)
    args.out.mkdir(parents=True, exist_ok=True)
    for part in args.parts:
        {"speed": speed, "score": score, "crossplay": crossplay}[part](args)


if __name__ == "__main__":
    main()
