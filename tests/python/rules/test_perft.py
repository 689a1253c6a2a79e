"""Counted sequences of legal actions (tests/data/perft.json): all of them by Starmine, the short ones by the oracle."""

import json

import pytest
from counted_paths import count_paths
from oracle import ENDINGS, Game
from oracle_rules import Rules, card_from
from paths import DATA

import starmine

ENTRIES = json.loads((DATA / "perft.json").read_text())
ORACLE_LIMIT = 1000  # sequences of one length

every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])


def check(rows, entry):
    for depth, (found, expected) in enumerate(zip(rows, entry["depths"], strict=False), 1):
        assert +found == {name: count for name, count in expected.items() if count}, f"{entry['name']}, depth {depth}"


def test_the_entries_cover_all_switches_and_endings():
    assert len({json.dumps(entry["variant"]) for entry in ENTRIES}) >= 12
    for switch in [*starmine.Variant().switches, "lost_game_score"]:
        assert any(entry["variant"].get(switch) for entry in ENTRIES)
    for ending in ENDINGS:
        assert any(ending in row for entry in ENTRIES for row in entry["depths"])


@every_entry
def test_starmine_counts_the_recorded_paths(entry):
    variant = starmine.Variant(**entry["variant"])
    state = variant.new_game(deck=entry["deck"].split(), start_player=entry["start_player"])
    check(count_paths(state, len(entry["depths"])), entry)


@every_entry
def test_the_oracle_counts_the_recorded_paths(entry):
    deck = [card_from(text) for text in entry["deck"].split()]
    game = Game(Rules(**entry["variant"]), deck, entry["start_player"])
    check(count_paths(game, sum(row["paths"] <= ORACLE_LIMIT for row in entry["depths"])), entry)
