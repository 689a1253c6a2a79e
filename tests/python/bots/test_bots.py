"""Every bot plays as strongly as published, and just as it did when docs/bots.md was written."""

import json
from decimal import Decimal
from fractions import Fraction
from functools import cache

import pytest
import update_bots
from paths import DATA, ROOT
from update_bots import PLAYERS, error, plays, published, variant

import starmine

PUBLISHED = json.loads((ROOT / "tools" / "published_bots.json").read_text(encoding="utf-8"))
RECORDED = json.loads((DATA / "bots.json").read_text(encoding="utf-8"))
CASES = [(name, int(players)) for name, totals in RECORDED["bots"].items() for players in totals]


@cache
def played(name, players):
    """The recorded games, played again."""
    seats = [name] * players
    return starmine.play_games(seats, games=RECORDED["games"], seed=RECORDED["seed"], variant=variant(players))


def deviates(claimed, name, players):
    """Whether a bot's mean lies outside the bound of another one's published figure."""
    known = published(PUBLISHED[claimed], players)
    if not known or not plays(name, players):
        return False
    games = played(name, players)
    ours = games.fireworks if PUBLISHED[claimed]["scoring"] == "fireworks" else games.scores
    return abs(ours.mean() - known[0]) > 4 * (error(ours) ** 2 + known[1] ** 2) ** 0.5


@pytest.mark.parametrize("name", starmine.bots())
def test_a_bot_has_its_rows_in_the_table(name):
    expected = [players for players in PLAYERS if plays(name, players)]
    hint = f"run tools/update_bots.py --only {name}"
    assert len(update_bots.recorded_rows().get(name, [])) == len(expected), hint
    assert [int(players) for players in RECORDED["bots"].get(name, {})] == expected, hint


@pytest.mark.parametrize(("name", "players"), CASES)
def test_a_bot_plays_as_when_its_table_was_written(name, players):
    games = played(name, players)
    found = {"fireworks": int(games.fireworks.sum()), "turns": int(games.lengths.sum())}
    hint = f"run tools/update_bots.py --only {name} if the bot is meant to have changed"
    assert found == RECORDED["bots"][name][str(players)], hint


def test_figures_are_published_of_the_bots_that_name_a_source():
    assert {name for name in starmine.bots() if starmine.games.bot(name).source} == set(PUBLISHED)


@pytest.mark.parametrize(("name", "players"), [(name, players) for name, players in CASES if name in PUBLISHED])
def test_a_bot_has_its_published_strength(name, players):
    assert not deviates(name, name, players)


@pytest.mark.parametrize("claimed", sorted(PUBLISHED))
def test_no_other_published_bot_would_pass(claimed):
    for name in {*PUBLISHED, "random"} - {claimed}:
        assert any(deviates(claimed, name, players) for players in PLAYERS), name


def test_the_table_rounds_a_mean_once():
    """A mean over 20,000 games has five digits; rounded to three and then to two, 16.91515 would be 16.91 or 16.92."""
    for name, rows in update_bots.recorded_rows().items():
        for row in rows:
            total = Decimal(row["score"]) * update_bots.GAMES
            assert total == int(total), (name, row)
            exact = Fraction(int(total), update_bots.GAMES)
            shown = Fraction(update_bots.score(name, int(row["players"])))
            assert abs(shown - exact) <= Fraction(1, 200)
    assert update_bots.score("simple", 2) == "16.92"


def test_one_bot_is_measured_alone(tmp_path, monkeypatch):
    page, replayed, results = tmp_path / "bots.md", tmp_path / "bots.json", tmp_path / "bots.csv"
    for name, path in {"PAGE": page, "REPLAYED": replayed, "RESULTS": results}.items():
        monkeypatch.setattr(update_bots, name, path)
    originals = {page: ROOT / "docs" / "bots.md", replayed: DATA / "bots.json", results: ROOT / "results" / "bots.csv"}
    texts = {path: original.read_text(encoding="utf-8") for path, original in originals.items()}
    page.write_text(texts[page].replace("| `random` | 0", "| `random` | 9"), encoding="utf-8")
    results.write_text(texts[results].replace("random,2,1", "random,2,9"), encoding="utf-8")
    replayed.write_text(texts[replayed].replace('"random"', '"retired"'), encoding="utf-8")
    update_bots.main(("random",))
    assert {path: path.read_text(encoding="utf-8") for path in originals} == texts
