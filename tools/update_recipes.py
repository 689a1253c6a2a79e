"""Evaluates runs of JaxMARL's recipes, theirs and ours, on the same decks, and draws them in one figure.

    python tools/update_recipes.py ippo-jaxmarl-1=runs/jaxmarl-ippo-1 ippo-starmine-1=runs/ippo-1
    python tools/update_recipes.py            # the table and the figure alone

A run is a folder of `benchmarks/jaxmarl_recipes.py`, `examples/jaxmarl_ippo.py` or `benchmarks/jaxmarl_pqn.py`; its
name is RECIPE-SIDE-SEED. results/recipes/NAME.csv has a row of scores for each of its policies, NAME.json how it was
made. Action values are not sampled.
"""

from __future__ import annotations

import argparse
import csv
import json
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from update_baselines import ROOT, START, STOP, machine, markdown_row, markdown_table, named_folder, today

import starmine
from starmine.policies.foreign import load_foreign
from starmine.training import PROGRESS_SEED

RESULTS, PAGE = ROOT / "results" / "recipes", ROOT / "docs" / "baselines.md"
FIGURE = ROOT / "docs" / "recipes.png"
MARK = START.replace("update_baselines", "update_recipes").format("recipes")
SIDES = {"jaxmarl": "tab:orange", "starmine": "tab:blue"}
HOW = ("greedy", "sampled")
TITLES = {"ippo": "IPPO", "pqn": "PQN-VDN"}

Runs: TypeAlias = dict[tuple[str, str], list[list[dict[str, float]]]]
"""The rows of each recipe and side, a list for each seed."""


def scores(path: Path, games: int) -> dict[str, float]:
    """How a policy plays with itself: greedily, and sampled if it has probabilities."""
    greedy, found = load_foreign(path), {}
    players = {"greedy": greedy}
    if greedy.format == "jaxmarl-actor":
        players["sampled"] = load_foreign(path, sampled=True)
    for how, player in players.items():
        played = starmine.play_games([player, player], games, PROGRESS_SEED, player.variant)
        kept, lost = played.fireworks, 1 - played.share("perfect") - played.share("deck_exhausted")
        for name, values in (("score", played.scores), ("kept", kept)):
            found[f"{how}_{name}"] = round(float(values.mean()), 4)
            found[f"{how}_{name}_error"] = round(float(values.std(ddof=1) / games**0.5), 4)
        found[f"{how}_lost"] = round(float(lost), 4)
    return found


def keep(name: str, folder: Path, games: int) -> None:
    """Evaluate the policies of a run and put their scores into results/recipes/."""
    with (folder / "times.csv").open(encoding="utf-8") as file:
        seconds = {int(row["steps"]): float(row["seconds"]) for row in csv.DictReader(file)}
    paths = sorted(folder.glob("*.safetensors"), key=lambda path: int(path.stem))
    rows = [
        {"steps": int(path.stem), "seconds": seconds[int(path.stem)], "games": games} | scores(path, games)
        for path in paths
    ]
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if "out" in config:
        config["out"] = f"runs/{name}"  # not the path of one machine
    text = json.dumps(config | {"machine": machine(), "date": today()}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    print(f"{name}: {rows[-1]}")


def kept_runs() -> Runs:
    """The rows of all runs."""
    paths = sorted(RESULTS.glob("*.csv"))
    found: Runs = {}
    for (recipe, side), seeds in groupby(paths, lambda path: tuple(path.stem.split("-")[:2])):
        for path in seeds:
            with path.open(encoding="utf-8") as file:
                rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
            found.setdefault((recipe, side), []).append(rows)
    return found


def cell(runs: Runs, recipe: str, side: str, how: str) -> str:
    """The mean score of the last policies, with the standard error over games and, of several seeds, over seeds."""
    lasts = [rows[-1] for rows in runs.get((recipe, side), [])]
    lasts = [last for last in lasts if last["steps"] == max(last["steps"] for last in lasts)]
    if not lasts or f"{how}_score" not in lasts[0]:
        return ""
    values = [last[f"{how}_score"] for last in lasts]
    errors = [np.mean([last[f"{how}_score_error"] for last in lasts]) / len(lasts) ** 0.5]
    errors += [np.std(values, ddof=1) / len(values) ** 0.5] if len(values) > 1 else []
    return " ± ".join([f"{np.mean(values):.2f}", *(f"{error:.2f}" for error in errors)])


def table(runs: Runs) -> str:
    """A row for each recipe: the last policies of both sides."""
    heads = ["recipe", "turns", *(f"{name}, {how}" for how in HOW for name in ("JaxMARL", "ours"))]
    rows = []
    for recipe in TITLES:
        turns = {rows[-1]["steps"] for side in SIDES for rows in runs.get((recipe, side), [])}
        cells = [TITLES[recipe], " or ".join(f"{count:,.0f}" for count in sorted(turns))]
        rows.append(markdown_row(cells + [cell(runs, recipe, side, how) for how in HOW for side in SIDES]))
    return markdown_table(heads, rows)


def draw(runs: Runs) -> None:
    """Draw the points kept over the turns, a panel for each recipe and a line for each seed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    panels: Any = figure.subplots(1, len(TITLES), squeeze=False)[0]
    for axes, (recipe, title) in zip(panels, TITLES.items(), strict=True):
        column = "sampled_kept" if recipe == "ippo" else "greedy_kept"
        for (of_recipe, side), seeds in runs.items():
            for place, rows in enumerate(seeds if of_recipe == recipe else []):
                x, y = [row["steps"] / 1000 for row in rows], [row[column] for row in rows]
                axes.errorbar(
                    x,
                    y,
                    [2 * row[f"{column}_error"] for row in rows],
                    marker=".",
                    color=SIDES[side],
                    label=None if place else side,
                )
        axes.set(
            title=title,
            xlabel="thousand turns",
            ylabel=f"points kept, {column.partition('_')[0]} moves",
            ylim=(0, None),
        )
        axes.grid(alpha=0.3)
        if axes.has_data():
            axes.legend()
    figure.savefig(FIGURE, dpi=80)


def main() -> None:
    """Evaluate what was given, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=named_folder, metavar="NAME=FOLDER", help="runs to evaluate and keep")
    parser.add_argument("--games", type=int, default=1000, help="games of an evaluation")
    given = parser.parse_args()
    for name, folder in given.runs:
        keep(name, folder, given.games)
    runs = kept_runs()
    before, rest = PAGE.read_text(encoding="utf-8").split(MARK)
    PAGE.write_text(before + MARK + table(runs) + STOP + rest.split(STOP, 1)[1], encoding="utf-8")
    draw(runs)


if __name__ == "__main__":
    main()
