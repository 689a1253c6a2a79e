"""Exports of hanab.live: read, stored, chosen, written back."""

import dataclasses
import json
import pathlib

import numpy as np
import pytest
from format_games import assert_equal_games, read_and_skipped
from hypothesis import given
from hypothesis import strategies as st
from stored_games import played_table, store

import starmine
from starmine.cli import main
from starmine.data import Dataset, read_games, verify, write_games
from starmine.data.formats.hanab_live_rules import SUITS, variant_of
from starmine.data.formats.records import starting_at_seat_0
from starmine.games.roster import names_by_seat

pytest.importorskip("pyarrow")

FIXTURES = pathlib.Path(__file__).parents[2] / "data" / "hanab_live"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text())


def found_in(games):
    """What was read, in the form of the expected results."""
    states = [games.state(game) for game in range(len(games))]
    assert games.scores.tolist() == [state.score for state in states]
    return [{"turns": state.length, "score": state.score, "ending": state.ending} for state in states]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_fixture_is_read_and_stored(name, tmp_path):
    expected = [game for game in EXPECTED[name] if "skipped" not in game]
    games, skipped = read_and_skipped(FIXTURES / name)
    assert [game.game for game in skipped] == [place for place, game in enumerate(EXPECTED[name]) if "skipped" in game]
    results = [{key: game[key] for key in game if key not in ("names", "start")} for game in expected]
    assert found_in(games) == results
    assert games.start_players.tolist() == [game.get("start", 0) for game in expected]
    if "names" in expected[0]:
        assert games.names.tolist() == [game["names"][0] for game in expected]
    path = tmp_path / "games.parquet"
    write_games(games, path)
    again = read_games(path)
    assert found_in(again) == results
    assert_equal_games(again, games)
    assert (again.names.tolist(), again.roster) == (games.names.tolist(), games.roster)
    assert again.players.tolist() == games.players.tolist()
    assert verify(path).holds
    assert [game.state(0).ending for game in Dataset(path)] == [result["ending"] for result in results]


# --- Back to JSON ---------------------------------------------------------------------------------------------


def kept(entry):
    """What is written of an export in which seat 0 starts."""
    options = entry.get("options", {})
    told = {"variant": options.get("variant", "No Variant")}
    told |= {name: True for name in ("emptyClues", "allOrNothing", "oneExtraCard", "oneLessCard") if options.get(name)}
    actions = [action for action in entry["actions"] if action["type"] < 4]
    return {"id": entry["id"], "players": entry["players"], "deck": entry["deck"], "actions": actions, "options": told}


def written_back(entries, folder):
    """Entries after they went from JSON to Parquet to JSON, by way of the reader and by way of a data set."""
    first, stored, last = folder / "first.json", folder / "stored.parquet", folder / "last.json"
    first.write_text(json.dumps(entries))
    write_games(read_games(first), stored)
    for held in (read_games(stored), Dataset(stored)):
        write_games(held, last)
        found = json.loads(last.read_text())
        yield found if isinstance(found, list) else [found]


NAMES = ["Ann", "Ben", "Cleo", "Dov", "Eva"]
ENDS = [None, (4, 3), (4, 4), (4, 6), (5, 10)]  # type and condition


def deck_of(variant):
    """All cards of a variant as texts."""
    return [
        f"{'RYGWBM'[suit]}{rank + 1}"
        for suit, copies in enumerate(variant.copies)
        for rank, count in enumerate(copies)
        for _ in range(count)
    ]


@st.composite
def exports(draw):
    """Exports of the site: whole and broken-off games of all its variants that we read, with all sets of options."""
    suits, players = draw(st.sampled_from(SUITS)), draw(st.integers(2, 5))
    rules = dict.fromkeys(draw(st.sets(st.sampled_from(["emptyClues", "allOrNothing"]))), True)
    rules |= dict.fromkeys(draw(st.sets(st.sampled_from(["oneExtraCard", "oneLessCard"]), max_size=1)), True)
    variant = variant_of(suits, players, rules)
    options = rules | dict.fromkeys(draw(st.sets(st.sampled_from(["deckPlays", "speedrun"]))), True)
    if suits.name != "No Variant":
        options["variant"] = suits.name
    if draw(st.booleans()):
        options |= {"timed": True, "timeBase": draw(st.integers(0, 999)), "timePerTurn": draw(st.integers(0, 99))}
    start = draw(st.integers(0, players - 1))
    entries = []
    for number in range(draw(st.integers(1, 2))):
        end = draw(st.sampled_from(ENDS))
        actions, turns = [], 0
        choices = np.random.default_rng(draw(st.integers(0, 2**32)))
        deck = [starmine.Card(text) for text in choices.permutation(deck_of(variant)).tolist()]
        state = variant.new_game(deck=deck, start_player=start)
        hands = [list(range(seat * variant.hand_size, (seat + 1) * variant.hand_size)) for seat in range(players)]
        dealt = players * variant.hand_size
        length = draw(st.integers(1, 90))
        while not state.is_terminal and turns < length:
            legal = state.legal_actions()
            seat, turns = state.current_player, turns + 1
            state.apply(int(choices.choice(legal)))
            event = state.history[-1]
            if event.kind in ("play", "discard"):
                target = hands[seat].pop(event.slot)
                actions.append({"type": 0 if event.kind == "play" else 1, "target": target, "value": 0})
                if dealt < variant.deck_size:
                    hands[seat].append(dealt)
                    dealt += 1
            else:
                kind, value = (2, event.color) if event.color is not None else (3, event.rank + 1)
                actions.append({"type": kind, "target": event.target, "value": value})
        if end and not state.is_terminal:
            target = -1 if end[1] in (6, 10) else draw(st.integers(0, players - 1))
            actions.append({"type": end[0], "target": target, "value": end[1]})
        entry = {
            "id": draw(st.integers(1, 10**7)),
            "players": [f"{name}{draw(st.integers(0, 9))}" for name in NAMES[:players]],
            "deck": [{"suitIndex": card.suit, "rank": card.rank + 1} for card in deck],
            "actions": actions,
            "seed": f"p{players}v{suits.number}s{number}",
        }
        if told := options | ({"startingPlayer": start} if start else {}):
            entry["options"] = told
        if draw(st.booleans()):
            entry["notes"] = draw(st.lists(st.lists(st.text(max_size=5), max_size=3), min_size=1, max_size=players))
        entries.append(entry)
    return entries


@given(exports())
def test_exports_with_all_options_come_back_from_parquet(tmp_path_factory, entries):
    folder = tmp_path_factory.mktemp("exports")
    starts_at_0 = "startingPlayer" not in entries[0].get("options", {})
    for found in written_back(entries, folder):
        if starts_at_0:
            assert found == [kept(entry) for entry in entries]
        turned = starting_at_seat_0(read_games(folder / "first.json"))
        assert_equal_games(read_games(folder / "last.json"), turned)


def test_what_an_export_tells_beyond_the_game_is_left_out(tmp_path):
    entry = json.loads((FIXTURES / "export.json").read_text())
    odd = entry | {
        "variant": "No Variant",
        "characters": [],
        "datetime": "2026-11-25",
        "options": {"variant": "No Variant", "emptyClues": False},
        "deck": [{"suit": card["suitIndex"], "rank": card["rank"]} for card in entry["deck"]],
        "actions": [
            {key: action[key] for key in action if action["type"] > 1 or key != "value"} for action in entry["actions"]
        ],
    }
    for found in written_back([odd], tmp_path):
        assert found == [kept(entry)]


def test_the_seats_of_an_export_are_numbered_from_the_one_that_started(tmp_path):
    games = read_games(FIXTURES / "starting_player.json")
    assert games.start_players.tolist() == [1]
    write_games(games, tmp_path / "turned.json")
    turned = read_games(tmp_path / "turned.json")
    assert turned.start_players.tolist() == [0]
    (one,), (other,) = (names_by_seat(found.roster, found.players) for found in (games, turned))
    assert len(set(one)) == 3
    assert other == [*one[1:], one[0]]
    assert turned.scores.tolist() == games.scores.tolist()


# --- Scores and ends ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "score", "holds"),
    [
        *(("terminated", score, score in (11, 0)) for score in (11, 0, 10, 26)),
        *(("export", score, score == 22) for score in (22, 0, 21)),
    ],
)
def test_a_told_score_is_ours_or_0_for_a_game_that_stopped(name, score, holds, tmp_path):
    entry = json.loads((FIXTURES / f"{name}.json").read_text())
    (tmp_path / "games.json").write_text(json.dumps(entry | {"score": score}))
    if holds:
        assert read_games(tmp_path / "games.json").scores.tolist() == [11 if name == "terminated" else 22]
    else:
        with pytest.raises(starmine.StarmineError):
            read_games(tmp_path / "games.json")


def test_an_end_comes_last(tmp_path):
    entry = json.loads((FIXTURES / "terminated.json").read_text())
    entry["actions"].append(entry["actions"][0])
    (tmp_path / "games.json").write_text(json.dumps(entry))
    with pytest.raises(starmine.StarmineError):
        read_games(tmp_path / "games.json")


# --- Data sets ------------------------------------------------------------------------------------------------

ENDED = ["terminated", "timeout", "idle", "vote", "unfinished", "lost_and_timed"]


@pytest.fixture
def people(tmp_path):
    """Six games of three players, of which five stopped before their end."""
    path = tmp_path / "people.parquet"
    write_games(read_games([FIXTURES / f"{name}.json" for name in ENDED]), path)
    return Dataset(path)


def test_files_without_names_are_read(people, tmp_path):
    older = store(tmp_path / "older.parquet", played_table(5, starmine.Variant(players=3)))
    assert Dataset(older)[:].names is None
    both = Dataset([older, people.files[0].path])
    assert both[:].names.tolist() == [""] * 5 + people[:].names.tolist()


def test_the_checksum_sees_names(people):
    table = people[:]
    checksum = starmine.data.checksum_of(table)
    assert starmine.data.checksum_of([table[:2], table[2:]]) == checksum
    changed = table.names.copy()
    changed[0] = "other"
    assert starmine.data.checksum_of(dataclasses.replace(table, names=changed)) != checksum


def test_the_command_says_how_many_games_stopped(tmp_path, capsys):
    sources = [str(FIXTURES / f"{name}.json") for name in ENDED]
    assert main(["data", "convert", *sources, str(tmp_path / "games.parquet")]) == 0
    assert capsys.readouterr().out.endswith("; 5 stopped before their end\n")
