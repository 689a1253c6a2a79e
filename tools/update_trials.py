"""Keeps training runs of benchmarks/sample_efficiency.py and their controls, and writes the table that compares them.

    python tools/update_trials.py slots-1=runs/slots-1 control-2p-1=runs/control-2p-1
    python tools/update_trials.py --times     # measures how long an update takes, in turn with the controls
    python tools/update_trials.py             # the table alone

A run's name is TRIAL-SEED, or control-PLAYERSp-SEED for examples/ppo.py without a change. results/trials/NAME.csv has a
row for each evaluation, NAME.json how the run was made. A run may have been stopped before its end.
results/trials/times.csv has the processor time of an update of each trial relative to its control's: runs whose
machine did other work cannot be compared by their own times.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from update_baselines import ROOT, START, STOP, machine, markdown_row, markdown_table, mean_of_seeds, named_folder

sys.path += [str(ROOT / "benchmarks"), str(ROOT / "examples")]

RESULTS, PAGE = ROOT / "results" / "trials", ROOT / "docs" / "baselines.md"
MARK = START.replace("update_baselines", "update_trials").format("trials")
TRIALS = {
    "quantiles": ("2p", "a value of 16 quantiles"),
    "slots": ("2p", "weights shared over slots"),
    "narrow-slots": ("2p", "the same, narrower"),
    "restarts": ("2p", "restarts from stored states"),
    "seats": ("5p", "weights shared over other seats"),
    "wide": ("5p", "towers of 160, trunk of 384"),
}
TURNS = 4e6  # after which trials are compared
COLUMNS = ("steps", "cpu_seconds", "greedy")
TIMES = RESULTS / "times.csv"
UPDATES = 7  # of each trial and its control, whose times are measured


def keep(name: str, folder: Path) -> None:
    """Put the evaluations of a run into results/trials/, with the processor time that training took up to each.

    Evaluation time is left out: an update with an evaluation counts as the mean of the others.
    """
    with (folder / "log.jsonl").open(encoding="utf-8") as file:
        log = [json.loads(line) for line in file]
    usual = float(np.mean([row["cpu_seconds"] for row in log if "greedy" not in row]))
    times = np.cumsum([usual if "greedy" in row else row["cpu_seconds"] for row in log])
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row, time in zip(log, times, strict=True):
            if "greedy" in row:
                writer.writerow([row["steps"], round(float(time), 1), row["greedy"]])
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["arguments"]["out"] = f"runs/{name}"  # not the path of one machine
    del config["command"]
    text = json.dumps(config | {"machine": machine()}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def measure() -> None:
    """Measure the median processor time of an update, relative to the control's, on one thread."""
    from ppo import PPO, Args
    from sample_efficiency import Trial, TrialArgs

    times = {}
    for trial, (players, _) in TRIALS.items():
        rules: dict[str, Any] = {"players": int(players[0]), "num_threads": 1}
        control = changed = PPO(Args(**rules))
        if trial == "wide":
            changed = PPO(Args(**rules, hidden=(160, 384)))
        else:
            changed = Trial(TrialArgs(**rules | {"trial": trial}))
        ratios = []
        for _ in range(UPDATES):
            spent = []
            for run in (control, changed):
                begun = time.process_time()
                run.update(0.5)
                spent.append(time.process_time() - begun)
            ratios.append(spent[1] / spent[0])
        times[trial] = round(float(np.median(ratios)), 3)
        print(trial, times[trial])
    with TIMES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("trial", "time"), *times.items()])


def curve(name: str) -> np.ndarray:
    """Turns, processor time and greedy score of each evaluation of a run (n, 3)."""
    with (RESULTS / f"{name}.csv").open(encoding="utf-8") as file:
        return np.array([[float(row[column]) for column in COLUMNS] for row in csv.DictReader(file)])


def score(curve: Any, turns: float) -> float:
    """The greedy score after this number of turns, between evaluations interpolated."""
    return float(np.interp(turns, curve[:, 0], curve[:, 2]))


def table() -> str:
    """A row for each trial: its scores after `TURNS`, and those of the control after as many turns and as much time."""
    heads = ["change", "players", "time of a turn", "score", "control, same turns", "control, same time"]
    with TIMES.open(encoding="utf-8", newline="") as file:
        times = {row["trial"]: float(row["time"]) for row in csv.DictReader(file)}
    rows = []
    for trial, (players, what) in TRIALS.items():
        seeds = [path.stem.rpartition("-")[2] for path in sorted(RESULTS.glob(f"{trial}-*.csv"))]
        seeds = [seed for seed in seeds if (RESULTS / f"control-{players}-{seed}.csv").exists()]
        if not seeds:
            continue
        pairs = [(curve(f"{trial}-{seed}"), curve(f"control-{players}-{seed}")) for seed in seeds]
        found: list[list[float]] = [[], [], []]
        for own, control in pairs:
            found[0].append(score(own, TURNS))
            found[1].append(score(control, TURNS))
            if TURNS * times[trial] <= control[-1, 0] + 2e4:  # else the control was stopped before
                found[2].append(score(control, TURNS * times[trial]))
        cells = [what, players[0], f"{times[trial]:.2f}"]
        rows.append(markdown_row(cells + [mean_of_seeds(values) for values in found]))
    return markdown_table(heads, rows)


def with_table(text: str) -> str:
    """The page with the table as the kept runs give it."""
    before, rest = text.split(MARK)
    return before + MARK + table() + STOP + rest.split(STOP, 1)[1]


def main() -> None:
    """Keep what was given, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=named_folder, metavar="NAME=FOLDER", help="runs to keep")
    parser.add_argument("--times", action="store_true", help="measure the time of an update of each trial")
    given = parser.parse_args()
    for name, folder in given.runs:
        keep(name, folder)
    if given.times:
        measure()
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
