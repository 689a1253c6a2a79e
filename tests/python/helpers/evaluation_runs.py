"""Evaluations that are interrupted, and their stored numbers."""

import json

from starmine import play_games
from starmine.evaluation import run

MEASURED = ("seconds", "games_per_second")


def stored(folder):
    """The numbers in a folder, without the measured times."""
    found = json.loads((folder / "eval.json").read_text(encoding="utf-8"))
    for pairing in found["pairings"]:
        for name in MEASURED:
            assert pairing.pop(name) is None or name == "seconds" or pairing["games"]
    return found


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
