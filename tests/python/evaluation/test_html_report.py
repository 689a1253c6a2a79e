"""`starmine eval --html`: the page and the replay of the worst games."""

import re

import numpy as np

import starmine
from starmine.cli import main


def test_the_page_has_the_matrix_the_histograms_and_the_worst_games(tmp_path, capsys):
    folder = tmp_path / "out"
    name = "<b>bold</b>"
    arguments = ["eval", f"{name}=smart", "simple", "--games", "30", "--output", str(folder), "--html", "--no-figure"]
    assert main([*arguments, "--quiet"]) == 0
    page = (folder / "eval.html").read_text()
    found = starmine.evaluate({name: "smart", "simple": "simple"}, 30, progress=False)
    assert name not in page
    for pairing in found.pairings:
        assert f"<td>{pairing.score:.2f} ±{pairing.score_error:.2f}</td>" in page
    bars = [(int(score), int(count)) for score, count in re.findall(r"<title>(\d+): (\d+) games", page)]
    expected = []
    for index in range(2):
        expected += list(enumerate(np.bincount(found.outcomes[index, index, 0], minlength=26).tolist()))
    assert bars == expected
    assert 'href="worst.html"' in page
    assert '<main id="replay">' in (folder / "worst.html").read_text()


def test_the_page_needs_a_folder(capsys):
    assert main(["eval", "simple", "--html"]) == 2
    assert "--html without --output" in capsys.readouterr().err
