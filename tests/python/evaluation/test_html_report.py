"""`starmine eval --html`: the page and the replay of the worst games."""

import html
import re

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
        assert f">{pairing.score:.2f} ±{pairing.score_error:.2f}</td>" in page
    bars = [(int(score), int(count)) for score, count in re.findall(r"<title>(\d+): (\d+) games", page)]
    expected = []
    for index in range(2):
        expected += list(enumerate(np.bincount(found.outcomes[index, index, 0], minlength=26).tolist()))
    assert bars == expected
    assert '<main id="replay">' in (folder / "worst.html").read_text()
    worst = worst_games(found, 20)
    links = re.findall(r'<td>(\d+)</td><td class="text"><a href="worst.html#game=(\d+)&amp;turn=(\d+)">', page)
    assert links == [(str(one.state.score), str(index), str(one.state.length)) for index, one in enumerate(worst)]
    ends = [html.escape(verdict(one.state, told_apart(one.players))) for one in worst]
    assert re.findall(r"</a></td><td class=\"text\">(.*?)</td></tr>", page) == ends


def test_the_page_needs_a_folder(capsys):
    assert main(["eval", "simple", "--html"]) == 2
    assert "--html without --output" in capsys.readouterr().err
