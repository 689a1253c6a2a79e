"""Writes the tables of docs/scoreboard.md from the rows in results/scoreboard and the published results.

    python tools/update_scoreboard.py

A row is a JSON file with these fields:
    method: what it is, in some words.
    players: 2 to 5, of the standard game.
    seat: who holds every seat, or seats: a list with who holds each; texts as `starmine eval` takes them. A policy file
        is named by its path in this repository, as "policy: results/NAME/policy.safetensors".
    turns: turns of training; 0 for players that do not learn.
    score, standard_error: mean and its standard error over games, a lost game as 0.
    games, seed: of this mean.
    command: what repeats it.
    by: whose result it is.
    reference, link: the paper, repository or page that describes it, in some words; its address, or its path from docs.
    run: instead of turns, score, standard_error, games, seed and command: the name of a row in results/runs.csv.
    cross_play, cross_play_note: optional; the mean with other seeds of the method, and how many.
    with_bots: optional; the mean with the rule-based bots of results/crossplay/bots.csv, in both seat orders.
    replayed_games: optional; how many games the test plays again, 1,000 by default.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from update_baselines import PUBLISHED, ROOT, SEED, STOP, kept_run, markdown_row, markdown_table

import starmine

RESULTS, PAGE = ROOT / "results" / "scoreboard", ROOT / "docs" / "scoreboard.md"
START = "<!-- players {} of update_scoreboard.py -->\n"
RESPONSES = "<!-- responses of update_scoreboard.py -->\n"
# The best returns with a fixed partner that jax-aht lists, from its evaluation/configs/global_heldout_settings.yaml.
QUOTED_RESPONSES = {
    "iggi": 13.33,
    "piers": 10.69,
    "outer": 8.98,
    "van-den-bergh": 8.55,
    "smart": 8.41,
    "obl1-2p": 11.66,
}
NEEDED = (
    *("method", "players", "turns", "score", "standard_error", "games", "seed", "command", "by"),
    *("reference", "link"),
)
OPTIONAL = ("seat", "seats", "run", "cross_play", "cross_play_note", "with_bots", "replayed_games")


def row_of(path: Path) -> dict[str, Any]:
    """The fields of a file, with those of its run.

    Raises:
        ValueError: a field is missing, unknown or of another type.
    """
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "run" in found:
        run = kept_run(found["run"])
        greedy = run["greedy"]
        measured = {"turns": run["steps"], "score": greedy["score"], "standard_error": greedy["score_error"]}
        found |= {**measured, "games": run["games"], "seed": SEED, "command": run["command"]}
    missing = [name for name in NEEDED if name not in found]
    unknown = [name for name in found if name not in NEEDED + OPTIONAL]
    if missing or unknown:
        raise ValueError(f"{path.name}: missing {missing}, unknown {unknown}")
    if ("seat" in found) == ("seats" in found):
        raise ValueError(f"{path.name}: expected seat or seats")
    found["seats"] = found["seats"] if "seats" in found else [found["seat"]] * found["players"]
    if len(found["seats"]) != found["players"] or found["players"] not in (2, 3, 4, 5):
        raise ValueError(f"{path.name}: {found['players']} players and {len(found['seats'])} seats")
    return found


def rows() -> list[dict[str, Any]]:
    """All rows, the best first."""
    return sorted((row_of(path) for path in RESULTS.glob("*.json")), key=lambda row: -row["score"])


def budget(turns: float) -> str:
    """The turns of training in words."""
    return "none" if turns == 0 else f"{turns / 1e6:,.0f} M"


def linked(row: dict[str, Any]) -> str:
    """The reference of a row as a link."""
    return f"[{row['reference']}]({row['link']})"


def table(players: int) -> str:
    """The rows of a number of players, and the published results, marked as quoted."""
    lines = []
    for row in rows():
        if row["players"] == players:
            optional = [f"{row[name]:.2f}" if name in row else "" for name in ("cross_play", "with_bots")]
            score = f"{row['score']:.2f} ± {row['standard_error']:.2f}"
            method = f"{row['method']} (`{row['run']}`)" if "run" in row else row["method"]
            cells = [method, budget(row["turns"]), score, *optional, row["by"], linked(row)]
            lines.append((row["score"], cells))
    for known in json.loads(PUBLISHED.read_text(encoding="utf-8")):
        score, crossed = known["scores"][players - 2], known["cross_play"][players - 2]
        if score:
            with_seeds = f"{crossed:.2f}" if crossed else ""
            cells = [known["method"], known["steps"], f"{score:.2f}", with_seeds, "", "quoted", linked(known)]
            lines.append((score, cells))
    lines.sort(key=lambda line: -line[0])
    heads = ["method", "turns of training", "self-play", "cross-play", "with bots", "by", "reference"]
    found = [cells for _, cells in lines]
    kept = [column for column in range(len(heads)) if any(cells[column] for cells in found)]
    return markdown_table([heads[it] for it in kept], [markdown_row([cells[it] for it in kept]) for cells in found])


def responses() -> str:
    """How the best response to each partner plays with it, in both seats."""
    lines = []
    for partner, quoted in QUOTED_RESPONSES.items():
        run = kept_run(f"best-response-{partner}")
        score, error = run["greedy"]["score"], run["greedy"]["score_error"]
        games = starmine.play_games([partner, partner], 10_000, SEED)
        alone = f"{games.mean:.2f} ± {games.standard_error:.2f}"
        turns = f"{run['steps'] / 1e6:.0f} M"
        lines.append(markdown_row([f"`{partner}`", alone, turns, f"{score:.2f} ± {error:.2f}", f"{quoted:.2f}"]))
    heads = ["partner", "partner with itself", "turns of training", "best response with it", "listed by jax-aht"]
    return markdown_table(heads, lines)


def with_tables(page: Path) -> str:
    """The page with its tables filled."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(RESPONSES)
    text = before + RESPONSES + responses() + STOP + rest.split(STOP, 1)[1]
    for players in (2, 3, 4, 5):
        before, rest = text.split(START.format(players))
        text = before + START.format(players) + table(players) + STOP + rest.split(STOP, 1)[1]
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE), encoding="utf-8")
