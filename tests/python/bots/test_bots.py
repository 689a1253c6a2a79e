"""Every bot plays as strongly as published, and just as it did when docs/bots.md was written."""

import json
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


@pytest.mark.parametrize(("name", "players"), [(name, players) for name, players in CASES if name in PUBLISHED])
def test_a_bot_has_its_published_strength(name, players):
    assert not deviates(name, name, players)


@pytest.mark.parametrize("claimed", sorted(PUBLISHED))
def test_no_other_published_bot_would_pass(claimed):
    for name in {*PUBLISHED, "random"} - {claimed}:
        assert any(deviates(claimed, name, players) for players in PLAYERS), name
