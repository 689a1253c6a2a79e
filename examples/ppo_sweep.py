"""A sweep over learning rates and seeds of PPO: each trial is a run, and a poor one ends early.

    python examples/ppo_sweep.py --rates 0.0004 0.0007 0.001 --seeds 1 2 --trial.total-steps 1000000

Scripts in `examples/` can be imported: `main(args, on_update)` trains with the same arguments as the command line.
`on_update` gets each row of the log; an exception that it raises ends the run, whose checkpoint stays.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import ppo

from starmine.training import TrainingError, command_line


@dataclass
class Args:
    """Train with each learning rate and seed."""

    trial: ppo.Args = field(default_factory=ppo.Args)
    """all other arguments; the output folder gets a folder for each trial and `sweep.json`"""
    rates: tuple[float, ...] = (4e-4, 7e-4, 1e-3)
    """learning rates"""
    seeds: tuple[int, ...] = (1,)
    margin: float = 3.0
    """points behind the best trial at the same update that end a trial"""


class BehindError(Exception):
    """A trial is too far behind the best one."""


def main(args: Args) -> dict[str, float]:
    """Run all trials; their last greedy scores, by name."""
    folder = args.trial.out
    best: dict[float, float] = {}  # the best score at each update
    found: dict[str, float] = {}
    for rate in args.rates:
        for seed in args.seeds:
            name = f"lr{rate:g}-{seed}"

            def on_update(row: dict[str, float], name: str = name) -> None:
                if "greedy" in row:
                    found[name], update = row["greedy"], row["update"]
                    best[update] = max(best.get(update, 0.0), row["greedy"])
                    if row["greedy"] < best[update] - args.margin:
                        raise BehindError

            try:
                ppo.main(replace(args.trial, out=folder / name, lr=rate, seed=seed), on_update)
            except BehindError:
                print(f"{name} ended early")
            except TrainingError as error:  # such as a run that diverged
                print(f"{name}: {error}")
    (folder / "sweep.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


if __name__ == "__main__":
    command_line(main, Args)
