"""Evaluations that are interrupted, and their stored numbers."""

import json

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
    left, play_table = iter(range(calls)), run.play_table

    def play(*arguments, **options):
        if next(left, None) is None:
            if after_game:
                play_table(*arguments, **options)
            raise error
        return play_table(*arguments, **options)

    monkeypatch.setattr(run, "play_table", play)
