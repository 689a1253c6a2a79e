"""Games of it that are played again agree with its score."""

import pytest
import update_scoreboard
from paths import ROOT

import starmine

PATHS = sorted(update_scoreboard.RESULTS.glob("*.json"))


def test_the_page_is_up_to_date():
    page = update_scoreboard.PAGE
    assert update_scoreboard.with_tables(page) == page.read_text(encoding="utf-8"), "run tools/update_scoreboard.py"


def rows():
    """The paths of all rows; those of which few games are played again take long."""
    for path in PATHS:
        takes_long = "replayed_games" in path.read_text(encoding="utf-8")
        yield pytest.param(path, id=path.stem, marks=pytest.mark.nightly if takes_long else ())


@pytest.mark.parametrize("path", list(rows()))
def test_a_row_is_what_its_games_say(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    row = update_scoreboard.row_of(path)
    count = row.get("replayed_games", 1000)
    variant = starmine.variant("standard", players=row["players"])
    games = starmine.play_games(row["seats"], count, row["seed"], variant)
    error = (games.standard_error**2 + row["standard_error"] ** 2) ** 0.5
    assert abs(games.mean - row["score"]) < 4 * error + 1e-9
