"""How games of people ended, the site's score, seed and notes: read, stored, filtered, written back."""

import dataclasses
import itertools
import json
import pathlib

import numpy as np
import pytest
from format_games import assert_equal_games, games_of, imported
from hypothesis import given
from hypothesis import strategies as st
from stored_games import played_table, store

import starmine
from starmine.cli import main
from starmine.data import ENDED_BY, Dataset, read_games, verify, write_games
from starmine.data.formats.hanab_live_rules import SUITS, variant_of

pytest.importorskip("pyarrow")

FIXTURES = pathlib.Path(__file__).parents[2] / "data" / "hanab_live"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text())


def test_each_fixture_has_its_result():
    games = {path.name for path in FIXTURES.iterdir() if path.suffix != ".txt"}  # messages of a server are texts
    assert games == {*EXPECTED, "expected.json"}


def found_in(games):
    """What was read, in the form of the expected results."""
    results = []
    for game in range(len(games)):
        code, seat = int(games.ended_by[game]), int(games.ended_by_seats[game])
        state = games.trajectories.state(game)
        results.append(
            {
                "turns": state.length,
                "score": int(games.scores[game]),
                "ending": state.ending,
                "ended_by": ENDED_BY[code - 1] if code else None,
                "seat": None if seat < 0 else seat,
                "site_score": int(games.site_scores[game]),
            }
        )
    return results


@pytest.mark.parametrize("name", EXPECTED)
def test_a_fixture_is_read_and_stored(name, tmp_path):
    expected = [game for game in EXPECTED[name] if "skipped" not in game]
    games = read_games(FIXTURES / name, on_error="skip")
    assert len(games.skipped) == len(EXPECTED[name]) - len(expected)
    for skipped in games.skipped:
        assert EXPECTED[name][skipped.index]["skipped"] in str(skipped)
    results = [{key: game[key] for key in game if key not in ("names", "start")} for game in expected]
    assert found_in(games) == results
    assert games.trajectories.start_players.tolist() == [game.get("start", 0) for game in expected]
    if "names" in expected[0]:
        assert list(games.names) == [game["names"][0] for game in expected]
    path = tmp_path / "games.parquet"
    write_games(games, path)
    again = read_games(path)
    assert found_in(again) == results
    assert (again.names, again.players) == (games.names, games.players)
    assert again.site_records == games.site_records
    assert verify(path).holds
    for game, result in zip(Dataset(path), results, strict=True):
        site = None if result["site_score"] < 0 else result["site_score"]
        assert (game.ended_by, game.ended_by_seat, game.site_score) == (result["ended_by"], result["seat"], site)


# --- Back to JSON ---------------------------------------------------------------------------------------------

CANONICAL = [
    *("export.json", "lost_and_timed.json", "terminated.json", "timeout.json", "idle.json", "vote.json"),
    *("unfinished.json", "nothing_playable.json", "speedrun.json", "emptyClues.json", "allOrNothing.json"),
    *("oneExtraCard.json", "oneLessCard.json", "black_6_suits.json", "scarce_ones_5_suits.json"),
    *("scarce_ones_black_6_suits.json", "critical_fours_black_6_suits.json", "starting_player.json", "list.json"),
]


def without_seed(entry):
    return {key: value for key, value in entry.items() if key != "seed"}


def written_back(entries, folder):
    """Entries after they went from JSON to Parquet to JSON, by way of the reader and by way of a data set."""
    first, stored, last = folder / "first.json", folder / "stored.parquet", folder / "last.json"
    first.write_text(json.dumps(entries))
    write_games(read_games(first), stored)
    for held in (read_games(stored), Dataset(stored), list(Dataset(stored))):
        write_games(held, last)
        found = json.loads(last.read_text())
        yield found if isinstance(found, list) else [found]


@pytest.mark.parametrize("name", CANONICAL)
def test_an_export_comes_back_from_parquet(name, tmp_path):
    entries = json.loads((FIXTURES / name).read_text())
    entries = entries if isinstance(entries, list) else [entries]
    for found in written_back(entries, tmp_path):
        assert found == [without_seed(entry) for entry in entries]


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
        length = draw(st.integers(0 if end else 1, 90))
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
        if not actions:
            actions.append({"type": 4, "target": 0, "value": 4})
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
    for found in written_back(entries, folder):
        assert found == [without_seed(entry) for entry in entries]
    games = read_games(folder / "first.json")
    assert [json.loads(record)["seed"] for record in games.site_records] == [entry["seed"] for entry in entries]
    assert [game.site_record["seed"] for game in Dataset(folder / "stored.parquet")] == [e["seed"] for e in entries]


def test_every_set_of_options_comes_back(tmp_path):
    """Games of ours with each set of the options that change rules."""
    for suits, clues, nothing, hand in itertools.product(
        (SUITS[0], SUITS[-1]), (False, True), (False, True), (None, "oneExtraCard", "oneLessCard")
    ):
        options = {"emptyClues": clues, "allOrNothing": nothing} | ({hand: True} if hand else {})
        games = games_of(variant_of(suits, 3, options), count=1)
        write_games(games, tmp_path / "games.json")
        write_games(read_games(tmp_path / "games.json"), tmp_path / "games.parquet")
        again = tmp_path / "again.json"
        write_games(Dataset(tmp_path / "games.parquet"), again)
        one, other = (json.loads(path.read_text()) for path in (tmp_path / "games.json", again))
        assert one.pop("options").items() >= other.pop("options", {}).items()
        assert one == other
        assert_equal_games(read_games(again).trajectories, games)


def test_what_is_listed_as_left_out_is_left_out(tmp_path):
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
        assert found == [without_seed(entry)]


# --- Contradictions -------------------------------------------------------------------------------------------


def with_end(name, **action):
    entry = json.loads((FIXTURES / name).read_text())
    actions = [one for one in entry["actions"] if one["type"] < 4]
    return entry | {"actions": [*actions, {"type": 4, "target": 0} | action]}


@pytest.mark.parametrize(
    ("name", "action", "message"),
    [
        ("unfinished.json", {"value": 1}, "its source says that it ended by 'rules': by the rules it goes on"),
        ("unfinished.json", {"value": 0}, "an end of type 4 with the value 0 is not known"),
        ("unfinished.json", {"value": 7}, "an end of type 4 with the value 7 is not known"),
        ("unfinished.json", {"value": None}, "with the value None is not known"),
        ("unfinished.json", {"value": True}, "with the value True is not known"),
        ("unfinished.json", {"value": 10}, "an end of type 4 with the value 10 is not known"),
        ("unfinished.json", {"type": 5, "value": 4}, "an end of type 5 with the value 4 is not known"),
        ("unfinished.json", {"value": 4, "target": 3}, "player 3 ends the game: expected -1 to 2"),
        ("unfinished.json", {"value": 4, "target": None}, "player None ends the game"),
    ],
    ids=str,
)
def test_an_end_that_cannot_be_is_named(name, action, message, tmp_path):
    (tmp_path / "games.json").write_text(json.dumps(with_end(name, **action)))
    with pytest.raises(starmine.StarmineError, match=message):
        read_games(tmp_path / "games.json")


@pytest.mark.parametrize(("name", "by"), [("export.json", "rules"), ("nothing_playable.json", "nothing_playable")])
def test_an_end_by_the_rules_may_be_told(name, by, tmp_path):
    (tmp_path / "games.json").write_text(json.dumps(with_end(name, value=1)))
    assert found_in(read_games(tmp_path / "games.json"))[0]["ended_by"] == by


@pytest.mark.parametrize(("score", "holds"), [(11, True), (0, True), (10, False), (26, False)])
def test_a_told_score_is_ours_or_the_site_s(score, holds, tmp_path):
    entry = json.loads((FIXTURES / "terminated.json").read_text())
    (tmp_path / "games.json").write_text(json.dumps(entry | {"score": score}))
    found = read_games(tmp_path / "games.json", on_error="skip")
    assert len(found) == holds
    if holds:
        assert (found.scores.tolist(), found.site_scores.tolist()) == ([11], [0])


def test_a_link_refuses_an_end_without_a_player(tmp_path):
    for name, player in (("terminated", True), ("timeout", True), ("idle", False), ("vote", False)):
        games = read_games(FIXTURES / f"{name}.json")
        path = tmp_path / f"{name}.links"
        if player:
            write_games(games, path)
            assert found_in(read_games(path)) == found_in(games)
            continue
        with pytest.raises(starmine.StarmineError, match=rf"no player ended it \({name}\)"):
            write_games(games, path)
        assert len(write_games(games, path, on_error="skip")) == 1


def test_the_seat_that_ended_a_game_turns_with_the_seats(tmp_path):
    entry = json.loads((FIXTURES / "starting_player.json").read_text())
    entry["actions"].append({"type": 4, "target": 0, "value": 4})
    (tmp_path / "games.json").write_text(json.dumps(entry))
    games = read_games(tmp_path / "games.json")
    assert games.ended_by_seats.tolist() == [0]
    write_games(dataclasses.replace(games, site_records=("",)), tmp_path / "turned.json")
    turned = read_games(tmp_path / "turned.json")
    assert (turned.trajectories.start_players.tolist(), turned.ended_by_seats.tolist()) == ([0], [2])
    assert turned.players[0][2] == games.players[0][0]


# --- Data sets ------------------------------------------------------------------------------------------------

ENDED = ["terminated", "timeout", "idle", "vote", "unfinished", "lost_and_timed"]


@pytest.fixture
def people(tmp_path):
    """Six games of three players, one for each kind of end."""
    path = tmp_path / "people.parquet"
    write_games(read_games([FIXTURES / f"{name}.json" for name in ENDED]), path)
    return Dataset(path)


def test_games_are_filtered_by_how_they_ended(people):
    names = ["terminated", "timeout", "idle", "vote", None, "rules"]
    assert [game.ended_by for game in people] == names
    assert [game.ended_by for game in people.filter(ended_by="terminated")] == ["terminated"]
    assert len(people.filter(ended_by=["terminated", "vote", "rules"])) == 3
    assert len(people.filter(ended_by="rules", ending="lost")) == 1
    assert len(people.filter(ended_by="nothing_playable")) == 0
    with pytest.raises(starmine.UnknownNameError, match="terminated"):
        people.filter(ended_by="terminate")
    table = people.table(["ended_by", "ended_by_seat", "site_score"])
    assert table.column("ended_by").to_pylist() == [ENDED_BY.index(name) + 1 if name else 0 for name in names]
    assert table.column("ended_by_seat").to_pylist() == [2, 1, -1, -1, -1, -1]
    assert table.column("site_score").to_pylist() == [0, 0, 0, 0, -1, 0]


def test_files_without_the_columns_are_read(people, tmp_path):
    table = played_table(5, starmine.Variant(players=3))
    older = store(tmp_path / "older.parquet", table)
    data = Dataset(older)
    assert [game.ended_by for game in data] == ["rules"] * 5
    assert [(game.name, game.ended_by_seat, game.site_score, game.site_record) for game in data][2] == (
        "2",
        None,
        None,
        {},
    )
    assert len(data.filter(ended_by="rules")) == 5
    assert len(data.filter(ended_by="terminated")) == 0
    both = Dataset([older, people.files[0].path])
    assert len(both.filter(ended_by="rules")) == 6
    assert len(both.filter(ended_by="idle")) == 1
    held = both[:]
    assert held.ended_by.tolist()[:5] == [0] * 5
    assert held.names.tolist()[5:] == people[:].names.tolist()
    assert [game.ended_by for game in both][5:] == [game.ended_by for game in people]


def test_the_checksum_sees_what_a_source_tells(people):
    table = people[:]
    checksum = starmine.data.content_hash(table)
    assert starmine.data.content_hash([table[:2], table[2:]]) == checksum
    for name in ("names", "ended_by", "ended_by_seats", "site_scores", "site_records"):
        changed = getattr(table, name).copy()
        changed[0] = "other" if changed.dtype == np.object_ else changed[0] + 1
        assert starmine.data.content_hash(dataclasses.replace(table, **{name: changed})) != checksum


def test_a_column_of_another_type_is_refused(people):
    with pytest.raises(starmine.ArrayError, match="ended_by has dtype int64: expected uint8"):
        dataclasses.replace(people[:], ended_by=np.zeros(6, np.int64))
    with pytest.raises(starmine.ArrayError, match="names has shape"):
        dataclasses.replace(people[:], names=np.array(["a"], np.object_))


def test_names_that_are_no_text_of_utf_8_are_stored(tmp_path):
    entry = json.loads((FIXTURES / "export.json").read_text()) | {"id": "\ud800x"}
    (tmp_path / "games.json").write_text(json.dumps(entry))
    write_games(read_games(tmp_path / "games.json"), tmp_path / "games.parquet")
    assert read_games(tmp_path / "games.parquet").names == ("?x",)


def test_games_of_bots_end_by_the_rules(tmp_path):
    write_games(games_of(starmine.Variant(), count=3), tmp_path / "games.parquet")
    found = imported(games_of(starmine.Variant(), count=3))
    for games in (read_games(tmp_path / "games.parquet"), found):
        assert games.ended_by.tolist() == [1, 1, 1]
        assert games.site_scores.tolist() == games.scores.tolist()
        assert games.site_records == ("", "", "")


def test_the_command_says_how_games_ended(tmp_path, capsys):
    sources = [str(FIXTURES / f"{name}.json") for name in ENDED]
    assert main(["data", "convert", *sources, str(tmp_path / "games.parquet")]) == 0
    assert "5 stopped before their end (1 timeout, 1 terminated, 1 idle, 1 vote)" in capsys.readouterr().out
    assert main(["data", "info", str(tmp_path / "games.parquet")]) == 0
    assert "\nended by: 1 unknown, 1 rules, 1 timeout, 1 terminated, 1 idle, 1 vote\n" in capsys.readouterr().out
