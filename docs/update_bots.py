"""Measures bots in self-play: the strength table of bots.md, and the totals that the tests play again.

python docs/update_bots.py                  # all bots
python docs/update_bots.py --only mine      # one bot, also a new one: the other rows stay as they are
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

import starmine

HERE = Path(__file__).parent
PAGE, PUBLISHED = HERE / "bots.md", HERE / "published_bots.json"
REPLAYED = HERE.parent / "tests" / "data" / "bots.json"
START, STOP = "<!-- measured by update_bots.py -->\n", "<!-- end -->\n"
HEADS = ("bot", "players", "fireworks kept", "lost = 0", "perfect %", "lost %", "turns", "published", "deviation")
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


def row(name: str, players: int, games: starmine.Games, facts: dict[str, Any] | None) -> str:
    """One row of the table. The last two cells stay empty without a published figure."""
    cells = [f"`{name}`", str(players)]
    for values in (games.fireworks, games.scores):
        cells.append(f"{values.mean():.3f} ± {error(values):.3f}")
    cells += [f"{100 * games.share(ending):.2f}" for ending in ("perfect", "lost")]
    cells.append(f"{games.lengths.mean():.1f}")
    known = facts and published(facts, players)
    if not facts or not known:
        return "| " + " | ".join([*cells, "", ""]) + " |"
    ours = games.fireworks if facts["scoring"] == "fireworks" else games.scores
    deviation = (ours.mean() - known[0]) / (error(ours) ** 2 + known[1] ** 2) ** 0.5
    what = "kept" if facts["scoring"] == "fireworks" else "lost = 0"
    return "| " + " | ".join([*cells, f"{known[0]:.2f} ({what})", f"{deviation:+.1f}"]) + " |"


def measure(name: str, count: int, facts: dict[str, Any] | None) -> tuple[list[str], Totals]:
    """A bot's rows of the table, and the totals of its first games, by number of players."""
    rows, totals = [], {}
    for players in filter(lambda players: plays(name, players), PLAYERS):
        games = starmine.play_games([name] * players, games=count, seed=SEED, variant=variant(players))
        rows.append(row(name, players, games, facts))
        print(rows[-1], flush=True)
        fireworks, turns = (int(values[:REPLAYS].sum()) for values in (games.fireworks, games.lengths))
        totals[str(players)] = {"fireworks": fireworks, "turns": turns}
    return rows, totals


def recorded_rows() -> dict[str, list[str]]:
    """The rows that the page has now, by bot."""
    table = PAGE.read_text(encoding="utf-8").split(START)[1].split(STOP)[0]
    rows: dict[str, list[str]] = {}
    for found in re.finditer(r"^\| `(.+?)` \|.*$", table, re.MULTILINE):
        rows.setdefault(found[1], []).append(found[0])
    return rows


def write(rows: dict[str, list[str]], totals: dict[str, Totals]) -> None:
    """Writes the page and the tests' data, both in the order of the registry."""
    names = [name for name in starmine.bots() if name in rows]
    lines = [
        f"{GAMES:,} games for each row, seed {SEED}.",
        "",
        "| " + " | ".join(HEADS) + " |",
        "|---" * len(HEADS) + "|",
    ]
    lines += [line for name in names for line in rows[name]]
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    after = rest.split(STOP, 1)[1]
    PAGE.write_text(before + START + "\n".join(lines) + "\n" + STOP + after, encoding="utf-8")
    replayed = {"seed": SEED, "games": REPLAYS, "bots": {name: totals[name] for name in names}}
    REPLAYED.write_text(json.dumps(replayed, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Play, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=starmine.bots(), help="measure only these bots")
    only: list[str] | None = parser.parse_args().only
    known = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    rows: dict[str, list[str]] = {}
    totals: dict[str, Totals] = {}
    if only:
        rows, totals = recorded_rows(), json.loads(REPLAYED.read_text(encoding="utf-8"))["bots"]
    for name in only or starmine.bots():
        rows[name], totals[name] = measure(name, GAMES, known.get(name))
    write(rows, totals)


if __name__ == "__main__":
    main()
