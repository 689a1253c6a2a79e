"""Measures bots in self-play: results/bots.csv, the table of bots.md, and the totals that the tests play again.

python tools/update_bots.py                  # all bots
python tools/update_bots.py --only mine      # one bot, also a new one: the other rows stay as they are
"""

from __future__ import annotations

import csv
import json
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import tyro

import starmine

ROOT = Path(__file__).parents[1]
PAGE, PUBLISHED = ROOT / "docs" / "bots.md", ROOT / "tools" / "published_bots.json"
REPLAYED, RESULTS = ROOT / "tests" / "data" / "bots.json", ROOT / "results" / "bots.csv"
START, STOP = "<!-- measured by update_bots.py -->\n", "<!-- end -->\n"
COLUMNS = (
    *("bot", "players", "kept", "kept_error", "score", "score_error", "perfect", "lost", "turns"),
    *("published", "published_counts", "deviation"),
)
PLAYERS = (2, 3, 4, 5)
SEED = 0
# Games for each row of the table.
GAMES = 20_000
# The first of them, whose totals are recorded for the tests.
REPLAYS = 500
# An upper bound of most bots' standard deviation of the score, for sources that give no standard error.
STANDARD_DEVIATION = 3.0

Totals = dict[str, dict[str, int]]


def variant(players: int) -> starmine.Variant:
    """The base game."""
    return starmine.variant("standard", players=players)


def plays(name: str, players: int) -> bool:
    """Whether the bot supports this number of players."""
    try:
        starmine.play_games([name] * players, games=1, variant=variant(players))
    except starmine.VariantError:
        return False
    return True


def error(values: Any) -> float:
    """The standard error of the mean."""
    return float(np.std(values, ddof=1) / len(values) ** 0.5)


def published(facts: dict[str, Any], players: int) -> tuple[float, float] | None:
    """The published mean and its standard error, which is estimated from the number of games where none is given."""
    mean = facts["means"][players - PLAYERS[0]]
    if mean is None:
        return None
    if "errors" in facts:
        return mean, facts["errors"][players - PLAYERS[0]]
    return mean, STANDARD_DEVIATION / facts["games"] ** 0.5


def row(name: str, players: int, games: starmine.Games, facts: dict[str, Any] | None) -> dict[str, str]:
    """One row of bots.csv. The last three cells stay empty without a published figure."""
    found = {"bot": name, "players": str(players)}
    for column, values in (("kept", games.fireworks), ("score", games.scores)):
        # All digits of a mean over 20,000 games, so that the table rounds it once.
        found |= {column: f"{values.mean():.5f}", f"{column}_error": f"{error(values):.3f}"}
    found |= {ending: f"{100 * games.share(ending):.2f}" for ending in ("perfect", "lost")}
    found["turns"] = f"{games.lengths.mean():.1f}"
    known = facts and published(facts, players)
    if not facts or not known:
        return {**dict.fromkeys(COLUMNS, ""), **found}
    keeps = facts["scoring"] == "fireworks"
    ours = games.fireworks if keeps else games.scores
    deviation = (ours.mean() - known[0]) / (error(ours) ** 2 + known[1] ** 2) ** 0.5
    counts = "points kept" if keeps else "lost = 0"
    return found | {
        "published": f"{known[0]:.2f}",
        "published_counts": counts,
        "deviation": f"{deviation:+.1f}",
    }


def measure(name: str, count: int, facts: dict[str, Any] | None) -> tuple[list[dict[str, str]], Totals]:
    """A bot's rows of bots.csv, and the totals of its first games, by number of players."""
    rows, totals = [], {}
    for players in filter(lambda players: plays(name, players), PLAYERS):
        games = starmine.play_games([name] * players, games=count, seed=SEED, variant=variant(players))
        rows.append(row(name, players, games, facts))
        print(*rows[-1].values(), flush=True)
        fireworks, turns = (int(values[:REPLAYS].sum()) for values in (games.fireworks, games.lengths))
        totals[str(players)] = {"fireworks": fireworks, "turns": turns}
    return rows, totals


def recorded_rows() -> dict[str, list[dict[str, str]]]:
    """The rows of bots.csv, by bot."""
    rows: dict[str, list[dict[str, str]]] = {}
    with RESULTS.open(encoding="utf-8", newline="") as file:
        for found in csv.DictReader(file):
            rows.setdefault(found["bot"], []).append(found)
    return rows


def score(name: str, players: int) -> str:
    """The mean score of a bot in self-play, a lost game as zero; empty where it does not play."""
    found = [row["score"] for row in recorded_rows()[name] if row["players"] == str(players)]
    return str(Decimal(found[0]).quantize(Decimal("0.01"), ROUND_HALF_UP)) if found else ""


def with_table(page: Path) -> str:
    """The page with its table filled: a line for each bot."""
    lines = [
        "| bot | 2 players | 3 | 4 | 5 | largest difference from published scores, in standard errors |",
        "|---|---|---|---|---|---|",
    ]
    for name, rows in recorded_rows().items():
        deviations = [float(row["deviation"]) for row in rows if row["deviation"]]
        largest = f"{max(deviations, key=abs):+.1f}" if deviations else ""
        lines.append(f"| `{name}` | {' | '.join(score(name, players) for players in PLAYERS)} | {largest} |")
    before, rest = page.read_text(encoding="utf-8").split(START)
    return before + START + "\n".join(lines) + "\n" + STOP + rest.split(STOP, 1)[1]


def write(rows: dict[str, list[dict[str, str]]], totals: dict[str, Totals]) -> None:
    """Writes bots.csv, the page and the tests' data, all in the order of the registry."""
    names = [name for name in starmine.bots() if name in rows]
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(found for name in names for found in rows[name])
    PAGE.write_text(with_table(PAGE), encoding="utf-8")
    replayed = {"seed": SEED, "games": REPLAYS, "bots": {name: totals[name] for name in names}}
    REPLAYED.write_text(json.dumps(replayed, indent=1) + "\n", encoding="utf-8")


def main(only: tuple[str, ...] = ()) -> None:
    """Play, print and write.

    Args:
        only: measure only these bots; none for all.
    """
    if unknown := set(only) - set(starmine.bots()):
        raise SystemExit(f"--only {' '.join(unknown)}: expected some of {', '.join(starmine.bots())}")
    known = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    rows: dict[str, list[dict[str, str]]] = {}
    totals: dict[str, Totals] = {}
    if only:
        rows, totals = recorded_rows(), json.loads(REPLAYED.read_text(encoding="utf-8"))["bots"]
    for name in only or starmine.bots():
        rows[name], totals[name] = measure(name, GAMES, known.get(name))
    write(rows, totals)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
