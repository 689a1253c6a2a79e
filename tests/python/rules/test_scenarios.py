"""Scenarios: a short game for every sentence of the rules (tests/data/scenarios.json), by Starmine and the oracle.

A scenario has these fields; "expect" tells of the position after the actions.

name, rule      what it is about, and the sentence of the rules in brief
variant         a preset's name, or parameters, with "preset" for another one than the standard game
top             the top of the deck, the first card first; below it lie all other cards, sorted by colour, then rank
start_player    the seat that moves first, 0 unless given
actions         "play 0", "discard 1", "hint +1 red", "hint +2 3" (a rank), "play 0 red" (announcing red)
"""

import json

import pytest
from paths import DATA
from scenario_tables import OracleTable, StarmineTable

SCENARIOS = json.loads((DATA / "scenarios.json").read_text())

# The source of each expected field: the game, the rules, or the rewards of the actions.
GAME_FIELDS = ["score", "fireworks", "information_tokens", "life_tokens", "deck_size", "ending", "current_player"]
RULES_FIELDS = ["num_actions", "max_score", "hand_size", "copies"]
REWARD_FIELDS = {"reward": lambda rewards: rewards[-1], "rewards": list, "return": sum}


def found_value(table, rewards, field, expected):
    """The value of an expected field at a table."""
    game, legal = table.game, set(table.game.legal_actions())
    if field in GAME_FIELDS:
        return getattr(game, field)
    if field in RULES_FIELDS:
        return getattr(table.rules, field)
    if field in REWARD_FIELDS:
        return REWARD_FIELDS[field](rewards)
    readers = {
        "deck_total": lambda: table.deck_total,
        "hands": lambda: [table.text(hand) for hand in game.hands],
        "discard_pile": lambda: table.text(game.discard_pile),
        "touched": table.touched,
        "last_target": table.target,
        "plausible": lambda: {seat: table.plausible(int(seat)) for seat in expected},
        "seen": lambda: {seat: table.seen(int(seat)) for seat in expected},
        "rating": lambda: table.rules.rating(game.score),
        "ratings": lambda: {score: table.rules.rating(int(score)) for score in expected},
        "ids": lambda: {text: table.action(text) for text in expected},
        "legal": lambda: [text for text in expected if table.action(text) in legal],
        "illegal": lambda: [text for text in expected if table.action(text) not in {*legal, None}],
        "no_action": lambda: [text for text in expected if table.action(text) is None],
        "all_legal": lambda: expected if sorted(map(table.action, expected)) == sorted(legal) else sorted(legal),
    }
    return readers[field]()


def check_refusal(table_class, scenario):
    """A refused variant's message names the parameter, the value and what is allowed."""
    refused = scenario["expect"]["refused"]
    with pytest.raises(table_class.refusal) as refusal:
        table_class(scenario["variant"], "", 0)
    if table_class is StarmineTable:
        for part in [refused["parameter"], *refused["message"]]:
            assert part in str(refusal.value)
    else:
        assert str(refusal.value).startswith(refused["parameter"])


@pytest.mark.parametrize("table_class", [StarmineTable, OracleTable])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_a_scenario_has_the_expected_outcome(scenario, table_class):
    if "refused" in scenario["expect"]:
        check_refusal(table_class, scenario)
        return
    table = table_class(scenario["variant"], scenario.get("top", ""), scenario.get("start_player", 0))
    rewards = [table.game.apply(table.action(text)) for text in scenario.get("actions", [])]
    for field, expected in scenario["expect"].items():
        found = found_value(table, rewards, field, expected)
        assert found == expected, f"{scenario['name']} ({scenario['rule']}): {field}"
