"""Evaluates runs of behaviour cloning, keeps them in results/cloning/, and writes the table of all that are there.

    python tools/update_clones.py smart-1e5-1=runs/clone   # a run by the name that it is to have: SETTING-SEED
    python tools/update_clones.py                          # the table alone

Of a run, results/cloning/NAME gets `run.json` (the command, its cost, and the scores over common decks) and
`log.csv`. The table has a line for all seeds of a setting.
"""

from __future__ import annotations

import argparse
import csv
import json
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from update_baselines import ROOT, STOP, command, machine, markdown_table, named_folder, number, scores_of_tables

import starmine
from starmine.policies.load import load_own

RESULTS, PAGE = ROOT / "results" / "cloning", ROOT / "docs" / "behaviour_cloning.md"
START = "<!-- clones of update_clones.py -->\n"
COLUMNS = ("update", "steps", "seconds", "loss", "accuracy", "held_out_loss", "held_out_accuracy", "greedy", "lr")
ORDER = ("smart", "fireflower")
# Parts of the runs' names between the number of games and the seed; the turns of training have a column.
LABELS = {"twice": "", "forgetful": "without memory", "plain": "plain network", "permuted": "colours permuted"}


@cache
def teacher_scores(bot: str, players: int, games: int) -> dict[str, float]:
    """How the bot plays with itself."""
    return scores_of_tables([[bot] * players], starmine.variant("standard", players=players), games)


def keep(name: str, run: Path, games: int) -> None:
    """Evaluate a run of a bot's clone and put it into results/cloning/."""
    policy = load_own(run / "policy.safetensors")
    drawn = load_own(run / "policy.safetensors", sampled=True)
    about, variant = policy.about, policy.variant
    players, bot = variant.players, about["teacher"]
    folder = RESULTS / name
    folder.mkdir(parents=True, exist_ok=True)
    facts = {
        "name": name,
        "teacher": bot,
        "players": players,
        "command": command("examples/behaviour_cloning.py", about["arguments"]),
        **{key: about[key] for key in ("learned_from", "epochs", "steps", "seconds")},
        **{key: about[key] for key in ("held_out_loss", "held_out_accuracy")},
        "machine": machine(),
        "date": datetime.now(UTC).date().isoformat(),
        "greedy": scores_of_tables([[policy] * players], variant, games),
        "sampled": scores_of_tables([[drawn] * players], variant, games),
        "first_seat": scores_of_tables([[policy] + [bot] * (players - 1)], variant, games),
        "last_seat": scores_of_tables([[bot] * (players - 1) + [policy]], variant, games),
        "teacher_alone": teacher_scores(bot, players, games),
    }
    (folder / "run.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    rows = [json.loads(line) for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    with (folder / "log.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([number(column, [row]) for column in COLUMNS] for row in rows)
    print(f"{name}: {facts['greedy']}")


def mean(runs: list[dict[str, Any]], *keys: str) -> float:
    """The mean of a number over runs."""
    return float(np.mean([run[keys[0]] if len(keys) == 1 else run[keys[0]][keys[1]] for run in runs]))


def with_error(runs: list[dict[str, Any]], key: str) -> str:
    """The mean score over runs with its standard error: over games for one run, else over runs."""
    found = [run[key]["score"] for run in runs]
    error = np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else runs[0][key]["score_error"]
    return f"{np.mean(found):.2f} ± {error:.2f}"


def cells(runs: list[dict[str, Any]]) -> list[str]:
    """The line of all seeds of a setting."""
    first = runs[0]
    labels = [LABELS[part] for part in first["name"].split("-")[2:-1] if LABELS[part]]
    return [
        first["teacher"],
        ", ".join([f"{first['learned_from']:,}", *labels]),
        f"{mean(runs, 'seconds') / 60:.0f}",
        f"{mean(runs, 'held_out_accuracy'):.1%}",
        with_error(runs, "greedy"),
        f"{mean(runs, 'greedy', 'lost'):.1%}",
        f"{mean(runs, 'first_seat', 'score'):.2f}, {mean(runs, 'last_seat', 'score'):.2f}",
    ]


def table() -> str:
    """A line for each setting, below that of its teacher."""
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*/run.json")]
    runs.sort(key=lambda run: (ORDER.index(run["teacher"]), run["learned_from"], run["name"]))
    heads = [
        "teacher",
        "games",
        "minutes",
        "held-out accuracy",
        "self-play",
        "lost",
        "with the teacher, two seatings",
    ]
    lines = []
    for teacher, of_teacher in groupby(runs, lambda run: run["teacher"]):
        known = list(of_teacher)
        alone = known[0]["teacher_alone"]
        score = f"{alone['score']:.2f} ± {alone['score_error']:.2f}"
        lines.append([f"{teacher} itself", "", "", "", score, f"{alone['lost']:.1%}", ""])
        lines += [cells(list(same)) for _, same in groupby(known, lambda run: run["name"].rpartition("-")[0])]
    return markdown_table(heads, [f"| {' | '.join(line)} |" for line in lines])


def with_table(page: Path) -> str:
    """The page with its table filled."""
    before, rest = page.read_text(encoding="utf-8").split(START)
    return before + START + table() + STOP + rest.split(STOP, 1)[1]


def main() -> None:
    """Evaluate what was given, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=named_folder, metavar="NAME=FOLDER", help="runs to evaluate and keep")
    parser.add_argument("--games", type=int, default=2_000, help="games of an evaluation")
    given = parser.parse_args()
    for name, folder in given.runs:
        keep(name, folder, given.games)
    PAGE.write_text(with_table(PAGE), encoding="utf-8")


if __name__ == "__main__":
    main()
