"""Every bot plays as strongly as published, and just as it did when docs/bots.md was written."""

import json
import sys
from functools import cache
from pathlib import Path

import pytest

import starmine

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from update_bots import PLAYERS, error, plays, published, variant  # noqa: E402

KNOWN = json.loads((ROOT / "docs" / "published_bots.json").read_text(encoding="utf-8"))
RECORDED = json.loads((ROOT / "tests" / "data" / "bots.json").read_text(encoding="utf-8"))
CASES = [(name, players) for name in starmine.bots() for players in PLAYERS if plays(name, players)]


@cache
def played(name, players):
    """The recorded games, played again."""
    seats = [name] * players
    return starmine.play_games(seats, games=RECORDED["games"], seed=RECORDED["seed"], variant=variant(players))


def deviates(claimed, name, players):
    """Whether a bot's mean lies outside the bound of another one's published figure."""
    known = published(KNOWN[claimed], players)
    if not known or not plays(name, players):
        return False
    games = played(name, players)
    ours = games.fireworks if KNOWN[claimed]["scoring"] == "fireworks" else games.scores
    return abs(ours.mean() - known[0]) > 4 * (error(ours) ** 2 + known[1] ** 2) ** 0.5


@pytest.mark.parametrize(("name", "players"), CASES)
def test_a_bot_has_its_published_strength(name, players):
    assert name not in KNOWN or not deviates(name, name, players)


@pytest.mark.parametrize(("name", "players"), CASES)
def test_a_bot_plays_as_when_its_table_was_written(name, players):
    games = played(name, players)
    found = {"fireworks": int(games.fireworks.sum()), "turns": int(games.lengths.sum())}
    assert found == RECORDED["bots"][name][str(players)], "run docs/update_bots.py if the bot is meant to have changed"


@pytest.mark.parametrize("claimed", sorted(KNOWN))
def test_no_other_bot_would_pass(claimed):
    for name in set(starmine.bots()) - {claimed}:
        assert any(deviates(claimed, name, players) for players in PLAYERS), name


def test_every_bot_but_the_random_one_has_a_published_figure():
    assert set(starmine.bots()) - set(KNOWN) == {"random"}
