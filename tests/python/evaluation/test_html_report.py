"""`starmine eval --html`: the page and the replay of the worst games."""

import html
import re
import sys

import numpy as np

import starmine
from starmine.cli import main
from starmine.evaluation.html_report import names_of
from starmine.evaluation.results_folder import worst_games
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
        assert f">{pairing.score:.2f} ± {pairing.standard_error:.2f}</td>" in page
    bars = [(int(score), int(count)) for score, count in re.findall(r"<title>(\d+): (\d+) games", page)]
    expected = []
    for index in range(2):
        expected += list(enumerate(np.bincount(found.outcomes[index, index, 0], minlength=26).tolist()))
    assert bars == expected
    assert '<main id="replay">' in (folder / "worst.html").read_text()
    worst = worst_games(folder, 20)
    links = re.findall(r'<td>(\d+)</td><td class="text"><a href="worst.html#game=(\d+)">', page)
    assert links == [(str(one.score), str(index)) for index, one in enumerate(worst)]
    ends = [html.escape(verdict(one.state(), told_apart(names_of(one)))) for one in worst]
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


def test_the_worst_games_of_python_bots_are_those_that_they_played(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    file, folder, page = tmp_path / "worstbot.py", tmp_path / "out", tmp_path / "replay.html"
    file.write_text(SOURCE)
    mine, chance = f"{file}:Mine", f"{file}:Chance"
    arguments = ["eval", mine, chance, "smart", "--games", "4", "--output", str(folder), "--html", "--no-figure"]
    assert main([*arguments, "--quiet"]) == 0
    report = (folder / "eval.html").read_text()
    names = {tuple(dict.fromkeys(names_of(game))) for game in worst_games(folder, 20)}
    assert all(f"of {' with '.join(seats)}</a>" in report for seats in names)
    assert any("Chance" in seats for seats in names)
    capsys.readouterr()
    assert main(["replay", str(folder), "--html", str(page), "--game", "5"]) == 0
    assert "Game 5: " in capsys.readouterr().out
    assert names_of(starmine.data.Dataset(folder)[5]) == ["Mine", "Chance"]
    sys.modules.pop("worstbot", None)
