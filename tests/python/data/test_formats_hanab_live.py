"""hanab.live's JSON: its own files, the rules that it shares with us, and those that it does not."""

import json

import pytest
from format_games import assert_equal_games, games_of, read_and_skipped

import starmine
from starmine.data import read_games, write_games
from starmine.data.formats import hanab_live
from starmine.data.formats.hanab_live_rules import SUITS, game_rules, suits_called, variant_of

# What hanab.live calls our variants, and its ids, from its list of variants.
KNOWN = [
    (starmine.Variant(), "No Variant", 0, {}),
    (starmine.Variant(colors=6), "6 Suits", 1, {}),
    (starmine.variant("avalanche", players=4), "Black (6 Suits)", 2, {}),
    (starmine.Variant(colors=4), "4 Suits", 15, {}),
    (starmine.Variant(colors=3, players=3), "3 Suits", 18, {}),
    (starmine.Variant(copies=[[3, 2, 2, 2, 1]] * 4 + [[1] * 5]), "Black (5 Suits)", 21, {}),
    (starmine.Variant(colors=6, copies=[[3, 2, 2, 1, 1]] * 6), "Critical Fours (6 Suits)", 1821, {}),
    (starmine.Variant(copies=[[3, 2, 2, 1, 1]] * 5), "Critical Fours (5 Suits)", 1822, {}),
    (starmine.variant("crowning-piece"), "No Variant", 0, {"allOrNothing": True}),
    (starmine.variant("empty-hints"), "No Variant", 0, {"emptyClues": True}),
    (starmine.Variant(hand_size=6), "No Variant", 0, {"oneExtraCard": True}),
    (
        starmine.variant("avalanche", players=5, hand_size=3, empty_hints=True),
        "Black (6 Suits)",
        2,
        {"emptyClues": True, "oneLessCard": True},
    ),
]


@pytest.mark.parametrize(("variant", "name", "number", "options"), KNOWN, ids=str)
def test_a_variant_is_called_by_its_name(variant, name, number, options):
    suits, found = game_rules(variant)
    assert (suits.name, suits.number, found) == (name, number, options)


BASIC = ("red", "yellow", "green", "blue", "purple", "teal")


@pytest.mark.parametrize(("variant", "name", "number", "options"), KNOWN, ids=str)
def test_games_have_the_names_of_the_site_s_suits(variant, name, number, options, tmp_path):
    """As the site's list of variants has them: with three suits the yellow one is missing, and black is the last."""
    write_games(games_of(variant, count=2), tmp_path / "games.json")
    if name == "3 Suits":
        expected = ("red", "green", "blue")
    elif name.startswith("Black"):
        expected = (*BASIC[: variant.colors - 1], "black")
    else:
        expected = BASIC[: variant.colors]
    games = read_games(tmp_path / "games.json")
    assert games.suits == expected
    write_games(games, tmp_path / "games.parquet")
    assert read_games(tmp_path / "games.parquet").suits == expected
    write_games(starmine.data.Dataset(tmp_path / "games.parquet"), tmp_path / "again.parquet")
    assert read_games(tmp_path / "again.parquet").suits == expected
    write_games(games_of(variant, count=2), tmp_path / "ours.parquet")
    assert read_games(tmp_path / "ours.parquet").suits == ()


@pytest.mark.parametrize("suits", SUITS, ids=lambda suits: suits.name)
@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "options",
    [{}, {"emptyClues": True, "oneExtraCard": True}, {"allOrNothing": True}, {"oneLessCard": True}],
    ids=str,
)
def test_games_of_every_variant_come_back(suits, players, options, tmp_path):
    variant = variant_of(suits, players, options)
    games = games_of(variant, count=3)
    write_games(games, tmp_path / "games.json")
    write_games(read_games(tmp_path / "games.json"), tmp_path / "games.parquet")
    write_games(starmine.data.Dataset(tmp_path / "games.parquet"), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "games.json").read_bytes()
    assert_equal_games(read_games(tmp_path / "again.json"), games)


@pytest.mark.parametrize(
    "variant",
    [
        starmine.variant("traditional"),
        starmine.variant("mini"),
        starmine.variant("small"),
        starmine.variant("hard"),
        starmine.variant("easy"),
        starmine.variant("timed-display"),
        starmine.Variant(lost_game_score="fireworks"),
        starmine.Variant(hand_size=3),
    ],
    ids=str,
)
def test_a_variant_without_counterpart_is_refused(variant, tmp_path):
    with pytest.raises(starmine.StarmineError):
        write_games(games_of(variant, count=1), tmp_path / "games.json")
    assert not list(tmp_path.iterdir())


def cards(text):
    return [{"suitIndex": "RYGBP".index(card[0]), "rank": int(card[1])} for card in text.split()]


# Two players. Places 0 to 4 are Alice's hand, 5 to 9 Bob's, and 10 is dealt next.
DECK = cards(
    "R1 R1 Y1 G5 B4  R2 Y2 B1 P1 G1  R3 R1 Y1 Y1 G1 G1 B1 B1 P1 P1 R2 Y2 G2 G2 B2 B2 P2 P2 R3 Y3 Y3 G3 G3 B3 B3 P3 P3 "
    "R4 R4 Y4 Y4 G4 G4 B4 P4 P4 R5 Y5 B5 P5"
)
ACTIONS = [
    {"type": 0, "target": 0},  # Alice plays R1 and draws place 10
    {"type": 2, "target": 0, "value": 4},  # Bob hints purple: no card of Alice's is
]
HINTS = [
    {"type": 3, "target": 0, "value": 3},  # Bob hints 3: place 10
    {"type": 1, "target": 10, "value": 0},  # Alice discards it from her last slot and draws place 11
    {"type": 0, "target": 9},  # Bob plays G1 from his last slot
]


def entry(**changes):
    found = {"players": ["Ann", "Ben"], "deck": DECK, "actions": [ACTIONS[0], *HINTS]}
    return found | changes


def test_the_json_of_a_game_is_read():
    found = hanab_live.record_of(entry(id=12345, notes=[["chop"], []], characters=[], seed="p2v0s1"))
    assert found.variant == starmine.Variant()
    assert found.players == ("Ann", "Ben")
    assert found.deck[:5] == [0, 0, 5, 14, 18]
    # play slot 0; hint +1 rank 3; discard slot 4; play slot 4
    assert found.actions == [5, 17, 4, 9]


def test_older_files_call_the_suit_otherwise():
    older = [{"suit": card["suitIndex"], "rank": card["rank"]} for card in DECK]
    assert hanab_live.record_of(entry(deck=older)) == hanab_live.record_of(entry())


@pytest.mark.parametrize("end", [{"type": 4, "target": 0, "value": 4}, {"type": 5, "target": -1, "value": 10}], ids=str)
def test_an_end_that_players_chose_is_no_turn(end):
    found = hanab_live.record_of(entry(actions=[ACTIONS[0], end]))
    assert found.actions == [5]
    with pytest.raises(starmine.StarmineError):
        hanab_live.record_of(entry(actions=[ACTIONS[0], end, HINTS[0]]))


def test_an_empty_hint_needs_its_option(tmp_path):
    path = tmp_path / "games.json"
    path.write_text(json.dumps(entry(actions=ACTIONS)))
    with pytest.raises(starmine.StarmineError):
        read_games(path)
    path.write_text(json.dumps(entry(actions=ACTIONS, options={"emptyClues": True})))
    assert read_games(path).variant == starmine.variant("empty-hints")


REFUSALS = [
    entry(options={"variant": "Rainbow (6 Suits)"}),
    entry(options={"variant": "Dark Rainbow (6 Suits)"}),
    entry(options={"variant": None}),
    entry(options={"cardCycle": True}),
    entry(options={"detrimentalCharacters": True}),
    entry(options={"emptyClues": 1}),
    entry(options={"startingPlayer": 2}),
    entry(options=[1]),
    entry(characters=[{"name": "Fuming", "metadata": 2}]),
    entry(players=list("abcdef")),
    entry(players=[1, 2]),
    entry(players=None),
    entry(deck=DECK[:-1]),
    entry(deck=[{"suitIndex": 5, "rank": 1}]),
    entry(deck=[{"suitIndex": 0, "rank": 0}]),
    entry(deck=[{"suitIndex": 0.0, "rank": 1}]),
    entry(deck=["R1"]),
    entry(actions=[{"type": 0, "target": 5}]),
    entry(actions=[{"type": 0, "target": 49}]),
    entry(actions=[{"type": 2, "target": 0, "value": 0}]),
    entry(actions=[{"type": 2, "target": 1, "value": 5}]),
    entry(actions=[{"type": 3, "target": 1, "value": 0}]),
    entry(actions=[{"type": 3, "target": 1}]),
    entry(actions=[{"type": 3, "target": 3, "value": 1}]),
    entry(actions=[{"type": 6, "target": 0}]),
    entry(actions=[{"type": True, "target": 0}]),
    entry(actions=[7]),
    entry(actions=[{"type": 0, "target": 1, "clue": {"type": 0, "value": 1}}]),
    entry(characters=5),
    [1],
]


@pytest.mark.parametrize("value", REFUSALS)
def test_a_game_that_cannot_be_ours_is_named(value, tmp_path):
    with pytest.raises(starmine.StarmineError):
        hanab_live.record_of(value)
    path = tmp_path / "games.json"
    path.write_text(json.dumps([entry(), value]))
    found, skipped = read_and_skipped(path)
    assert ([game.game for game in skipped], found.number.tolist()) == ([1], [0])


def test_games_of_other_rules_than_the_first_are_named(tmp_path):
    path = tmp_path / "games.json"
    path.write_text("\n".join(json.dumps(entry(options=options)) for options in ({}, {"allOrNothing": True}, {})))
    with pytest.raises(starmine.StarmineError):
        read_games(path)
    assert read_games(path, variant=starmine.variant("crowning-piece")).number.tolist() == [1]


def test_an_older_game_may_start_with_another_player(tmp_path):
    path = tmp_path / "games.json"
    actions = [{"type": 0, "target": 9}, {"type": 2, "target": 1, "value": 0}]  # Ben plays G1, Ann hints his R2
    path.write_text(json.dumps(entry(actions=actions, options={"startingPlayer": 1})))
    found = read_games(path)
    assert found.start_players.tolist() == [1]
    assert found.scores.tolist() == [1]
    write_games(found, path)
    again = json.loads(path.read_text())
    assert again["players"] == ["Ben", "Ann"]
    assert again["deck"] == [*DECK[5:10], *DECK[:5], *DECK[10:]]
    assert [action["target"] for action in again["actions"]] == [4, 0]


def test_every_name_leads_to_its_suits():
    assert [suits_called(suits.name) for suits in SUITS] == list(SUITS)
