"""Evaluations that are interrupted, and their stored numbers."""

import json
from pathlib import Path

from starmine import Variant, play_games
from starmine.data.manifest import read_manifest
from starmine.evaluation import run
from starmine.evaluation.pairings import Settings
from starmine.evaluation.results_folder import evaluation_of
from starmine.games.identity import Identity

MEASURED = ("seconds", "games_per_second")


def stored(folder):
    """The numbers in a folder, without the measured times."""
    found = json.loads((folder / "eval.json").read_text(encoding="utf-8"))
    for pairing in found["pairings"]:
        for name in MEASURED:
            assert pairing.pop(name) is None or name == "seconds" or pairing["games"]
    return found


def read_evaluation(folder):
    """The evaluation of the games in a folder."""
    manifest = read_manifest(Path(folder))
    told = {
        name: tuple(value) if isinstance(value, list) else value for name, value in manifest["configuration"].items()
    }
    told["variant"] = Variant(**told["variant"])
    told["identities"] = {name: Identity(text, None) for name, text in told["identities"].items()}
    told["methods"] = {name: tuple(seeds) for name, seeds in told["methods"].items()}
    return evaluation_of(Path(folder), manifest["shards"], Settings(**told))


def interrupt_after(monkeypatch, calls, error=KeyboardInterrupt, after_game=False):
    """Raises in place of a later chunk, or after it has been played and before it is saved."""
    left = iter(range(calls))

    def play(seats, *rest):
        if next(left, None) is None:
            if after_game:
                play_games(seats, *rest)
            raise error
        return play_games(seats, *rest)

    monkeypatch.setattr(run, "play_games", play)
