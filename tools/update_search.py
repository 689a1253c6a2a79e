"""Keeps the outcomes of searches in results/search/, and writes the table of all that are there.

    python tools/update_search.py --seconds 4.1 smart-10000=runs/search-smart   # a folder of `starmine generate`
    python tools/update_search.py                                             # the table alone

The blueprint plays the same decks. Of a folder that is not whole, the games that are there count. `--seconds` is
the processor time of a game: what `time` shows for the whole command, divided by the games.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tyro
from numpy.typing import NDArray
from tyro.conf import Positional
from update_baselines import ROOT, STOP, machine, markdown_table, named_folder

import starmine
from starmine.data import Dataset

RESULTS, PAGE = ROOT / "results" / "search", ROOT / "docs" / "search.md"
START = "<!-- searches of update_search.py -->\n"
SEARCH = re.compile(r"search: (?P<blueprint>.+?)(?P<options>(?:; \w+=\S+)*)$")
DEFAULTS = {"rollouts": "10000", "hands": "4096"}  # which the text of a player leaves out


def mean_and_error(values: NDArray[Any]) -> list[float]:
    """The mean and its standard error."""
    return [float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5)]


def keep(name: str, folder: Path, seconds: float) -> None:
    """Compare the games of a folder with the blueprint's and put the figures into results/search/."""
    dataset = Dataset(folder)
    configuration = dataset.metadata[0].extra["configuration"]
    players = [configuration["players"][row]["name"] for row in configuration["seats"]]
    found = next(match for player in players if (match := SEARCH.match(player)))
    options = DEFAULTS | dict(option.split("=") for option in found["options"].split("; ")[1:])
    blueprint, is_mirror = found["blueprint"], options.get("method") == "mirror"
    lengths, scores = dataset.lengths, dataset.scores
    alone = starmine.play_games([blueprint] * len(players), len(scores), configuration["seed"], dataset.variant).scores
    best = dataset.variant.max_score
    facts = {
        "name": name,
        "blueprint": blueprint,
        "players": len(players),
        "method": "mirror" if is_mirror else "single",
        "hash": next((player["hash"] for player in configuration["players"] if player["hash"]), None),
        "rollouts": int(options["rollouts"]),
        "hands": int(options["hands"]),
        "depth": int(options["depth"]) if "depth" in options else None,
        "command": f"starmine generate {' '.join(map(shlex.quote, players))} --games {len(scores)} "
        f"--seed {configuration['seed']} --evaluation-decks --shard-size 16 --output runs/search",
        "games": len(scores),
        "alone": mean_and_error(alone),
        "score": mean_and_error(scores),
        "difference": mean_and_error(scores.astype(float) - alone),
        "perfect": float((scores == best).mean()),
        "perfect_alone": float((alone == best).mean()),
        "seconds_a_game": seconds,
        "turns_a_game": float(lengths.mean()),
        "machine": machine(),
        "date": datetime.now(UTC).date().isoformat(),
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def kept() -> list[dict[str, Any]]:
    """All searches that are kept, by blueprint, players and roll-outs."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*.json")]
    return sorted(found, key=lambda facts: (facts["blueprint"], facts["players"], facts["method"], facts["rollouts"]))


def with_error(value: list[float]) -> str:
    """A mean with its standard error."""
    return f"{value[0]:.2f} ± {value[1]:.2f}"


def line(facts: dict[str, Any]) -> str:
    """The line of a search."""
    cells = [
        facts["blueprint"],
        str(facts["players"]),
        "all, by mirror descent" if facts["method"] == "mirror" else "one",
        f"{facts['rollouts']:,}" + (f" of {facts['depth']} moves" if facts.get("depth") else ""),
        f"{facts['games']:,}",
        with_error(facts["alone"]),
        with_error(facts["score"]),
        with_error(facts["difference"]),
        f"{facts['seconds_a_game']:.2g}",
    ]
    return f"| {' | '.join(cells)} |"


def table() -> str:
    """A line for each search."""
    heads = ["blueprint", "players", "searching seats", "roll-outs", "games", "blueprint alone", "with a search"]
    heads += ["difference", "seconds a game"]
    return markdown_table(heads, [line(facts) for facts in kept()])


def with_table(page: Path) -> str:
    """The page with its table filled."""
    before, rest = page.read_text(encoding="utf-8").split(START)
    return before + START + table() + STOP + rest.split(STOP, 1)[1]


@dataclass
class Args:
    """The command line."""

    searches: Positional[tuple[str, ...]] = ()
    """NAME=FOLDER: searches to keep"""
    seconds: float | None = None
    """processor time of a game"""


def main() -> None:
    """Keep what was given, and write."""
    given = tyro.cli(Args, description=__doc__)
    for name, folder in map(named_folder, given.searches):
        if given.seconds is None:
            raise SystemExit("expected --seconds, those of the searches")
        keep(name, folder, given.seconds)
    PAGE.write_text(with_table(PAGE), encoding="utf-8")


if __name__ == "__main__":
    main()
