"""Plays the games of the bots' strength table and writes it into bots.md, and what the tests replay into its data.

python docs/update_bots.py --games 20000
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import starmine

HERE = Path(__file__).parent
PAGE, PUBLISHED = HERE / "bots.md", HERE / "published_bots.json"
REPLAYED = HERE.parent / "tests" / "data" / "bots.json"
START, STOP = "<!-- measured by update_bots.py -->\n", "<!-- end -->\n"
PLAYERS = (2, 3, 4, 5)
SEED = 0
# Games that the tests play again.
REPLAYS = 500
# The spread of a game's score where a source gives no standard error; most bots have less.
SPREAD = 3.0


def variant(players: int) -> starmine.Variant:
    """The base game."""
    return starmine.variant("standard", players=players)


def plays(name: str, players: int) -> bool:
    """Whether a bot plays with so many."""
    try:
        starmine.play_games([name] * players, games=1, variant=variant(players))
    except starmine.VariantError:
        return False
    return True


def error(values: Any) -> float:
    """The standard error of a mean."""
    return float(np.std(values, ddof=1) / len(values) ** 0.5)


def published(facts: dict[str, Any], players: int) -> tuple[float, float] | None:
    """A published mean and its standard error, or an estimate of it from the number of games."""
    mean = facts["means"][players - PLAYERS[0]]
    if mean is None:
        return None
    if "errors" in facts:
        return mean, facts["errors"][players - PLAYERS[0]]
    return mean, SPREAD / facts["games"] ** 0.5


def line(name: str, players: int, games: starmine.Games, facts: dict[str, Any] | None) -> str:
    """A line of the table."""
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


def main() -> None:
    """Play, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=20_000, help="games of each bot and number of players")
    count = parser.parse_args().games
    known = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    heads = ["bot", "players", "fireworks kept", "lost = 0", "perfect %", "lost %", "turns", "published", "deviation"]
    lines = [
        f"{count:,} games for each line, seed {SEED}.",
        "",
        "| " + " | ".join(heads) + " |",
        "|---" * len(heads) + "|",
    ]
    replays: dict[str, Any] = {}
    for name in starmine.bots():
        for players in filter(lambda players: plays(name, players), PLAYERS):
            games = starmine.play_games([name] * players, games=count, seed=SEED, variant=variant(players))
            lines.append(line(name, players, games, known.get(name)))
            print(lines[-1], flush=True)
            first = [int(values[:REPLAYS].sum()) for values in (games.fireworks, games.lengths)]
            replays.setdefault(name, {})[str(players)] = dict(zip(("fireworks", "turns"), first, strict=True))
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    after = rest.split(STOP)[1]
    PAGE.write_text(before + START + "\n".join(lines) + "\n" + STOP + after, encoding="utf-8")
    text = json.dumps({"seed": SEED, "games": REPLAYS, "bots": replays}, indent=1)
    REPLAYED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
