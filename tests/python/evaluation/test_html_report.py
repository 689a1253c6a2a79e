"""`starmine eval --html`: the page and the replay of the worst games."""

import html
import re
import sys

import numpy as np

import starmine
from starmine.cli import main
from starmine.evaluation.worst import worst_games
from starmine.look import verdict
from starmine.look.words import told_apart


def test_the_page_has_the_matrix_the_histograms_and_the_worst_games(tmp_path, capsys):
    folder = tmp_path / "out"
    name = "<b>bold</b>"
    arguments = ["eval", f"{name}=smart", "simple", "--games", "30", "--output", str(folder), "--html", "--no-figure"]
    assert main([*arguments, "--quiet"]) == 0
    page = (folder / "eval.html").read_text()
    found = starmine.evaluate({name: "smart", "simple": "simple"}, 30, progress=False)
    assert name not in page
    for pairing in found.pairings:
        assert f">{pairing.score:.2f} ±{pairing.standard_error:.2f}</td>" in page
    bars = [(int(score), int(count)) for score, count in re.findall(r"<title>(\d+): (\d+) games", page)]
    expected = []
    for index in range(2):
        expected += list(enumerate(np.bincount(found.outcomes[index, index, 0], minlength=26).tolist()))
    assert bars == expected
    assert '<main id="replay">' in (folder / "worst.html").read_text()
    worst = worst_games(found, 20)
    links = re.findall(r'<td>(\d+)</td><td class="text"><a href="worst.html#game=(\d+)">', page)
    assert links == [(str(one.state.score), str(index)) for index, one in enumerate(worst)]
    ends = [html.escape(verdict(one.state, told_apart(one.players))) for one in worst]
    assert re.findall(r"</a></td><td class=\"text\">(.*?)</td></tr>", page) == ends


def test_the_page_needs_a_folder(capsys):
    assert main(["eval", "simple", "--html"]) == 2
    assert "--html without --output" in capsys.readouterr().err


SOURCE = """
import random


class Mine:
    def act(self, view):
        return "play 0"


class Chance:
    def act(self, view):
        return random.choice(view.legal_moves())
"""


def test_the_worst_games_of_python_bots_are_shown_or_said_to_be_missing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    file, folder, page = tmp_path / "worstbot.py", tmp_path / "out", tmp_path / "replay.html"
    file.write_text(SOURCE)
    mine, chance = f"{file}:Mine", f"{file}:Chance"
    arguments = ["eval", mine, chance, "smart", "--games", "20", "--output", str(folder), "--html", "--no-figure"]
    assert main([*arguments, "--quiet"]) == 0
    told = "no replays of the pairings with Chance: games of Python bots are not kept"
    assert told in capsys.readouterr().out
    report = (folder / "eval.html").read_text()
    assert told in report
    assert "of Mine with" in report or "of Mine<" in report
    assert "Chance with" not in report
    assert "with Chance<" not in report
    assert main(["replay", str(folder), "--html", str(page)]) == 0
    assert "no replays of the pairings with Mine and Chance" in capsys.readouterr().out
    assert main(["replay", str(folder), "--html", str(page), "--player", mine, "--worst", "1"]) == 0
    out = capsys.readouterr().out
    assert told in out
    assert "of Mine" in out
    assert main(["replay", str(folder), "--html", str(page), "--player", f"Mime={mine}"]) == 2
    assert "Mine" in capsys.readouterr().err
    sys.modules.pop("worstbot", None)
