"""Games of the Hanabi Learning Environment: its texts and dictionaries, and its own games where it is installed."""

import json
import re

import numpy as np
import pytest
from format_games import games_of
from hle_traces import hle_or_skip, random_configuration

import starmine
from starmine.data import read_games, write_games
from starmine.data.formats import hle
from starmine.hle import pyhanabi as ours

# The start of a game as HLE's history, in three forms. Alice plays R1, Bob hints 3, Alice discards, Bob hints red.
DEALS = ["R1", "R1", "Y1", "G5", "B4", "R2", "Y2", "B1", "W1", "G1"]
TEXTS = [
    *(f"(Deal {card})" for card in DEALS),
    "(Play 0)",
    "(Deal R3)",
    "(Reveal player +1 rank 3)",
    "(Discard 4)",
    "(Deal Y1)",
    "(Reveal player +1 color R)",
]
ITEMS = [
    *(f"<(Deal {card})>" for card in DEALS),
    "<(Play 0) by player 0 scored R1>",
    "<(Deal R3)>",
    "<(Reveal player +1 rank 3) by player 1 reveal 4>",
    "<(Discard 4) by player 0 info_token R3>",
    "<(Deal Y1)>",
    "<(Reveal player +1 color R) by player 1 reveal 0>",
]
DICTIONARIES = [
    *({"action_type": "DEAL", "color": card[0], "rank": int(card[1]) - 1} for card in DEALS),
    {"action_type": "PLAY", "card_index": 0},
    {"action_type": "DEAL", "color": "R", "rank": 2},
    {"action_type": "REVEAL_RANK", "target_offset": 1, "rank": 2},
    {"action_type": "DISCARD", "card_index": 4},
    {"action_type": "DEAL", "color": "Y", "rank": 0},
    {"action_type": "REVEAL_COLOR", "target_offset": 1, "color": "R"},
]


@pytest.mark.parametrize("moves", [TEXTS, ITEMS, DICTIONARIES], ids=["texts", "items", "dictionaries"])
def test_moves_are_read_in_every_form(moves):
    found = hle.game_of({"moves": moves})
    assert found.variant == starmine.Variant()
    assert found.actions == [5, 17, 4, 10]
    assert found.deck[:12] == [0, 0, 5, 14, 23, 1, 6, 20, 15, 10, 2, 5]
    assert found.deck[12:] == sorted(found.deck[12:])
    assert found.start_player == 0


def test_history_items_tell_who_starts():
    swapped = {"player 0": "player 1", "player 1": "player 0"}
    # The items of moves tell the seats and nothing else: what the moves do differs if Bob starts.
    moves = [re.sub("player ([01]).*>", lambda found: swapped[found[0][:8]] + ">", item) for item in ITEMS]
    assert hle.game_of({"moves": moves}).start_player == 1
    with pytest.raises(starmine.StarmineError, match="turn 0: seat 1 acts: expected 0"):
        hle.game_of({"moves": moves, "start_player": 0})


@pytest.mark.parametrize(
    ("place", "told", "expected"),
    [
        (10, "<(Play 0) by player 0 R1>", "<(Play 0) by player 0 scored R1>"),
        (10, "<(Play 0) by player 0 scored R2>", "<(Play 0) by player 0 scored R1>"),
        (12, "<(Reveal player +1 rank 3) by player 1 reveal 3,4>", "reveal 4>"),
        (13, "<(Discard 4) by player 0 R3>", "<(Discard 4) by player 0 info_token R3>"),
    ],
)
def test_an_item_that_tells_another_outcome_is_refused(place, told, expected):
    moves = [*ITEMS[:place], told, *ITEMS[place + 1 :]]
    with pytest.raises(starmine.StarmineError, match=re.escape(f"moves[{place}]: {told}: expected ")) as caught:
        hle.game_of({"moves": moves})
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ([], "it is no JSON object with a list 'moves'"),
        ({"moves": 3}, "list 'moves'"),
        ({"moves": ["(Deal R1)", "(Pass)"]}, r"moves\[1\]='\(Pass\)' is no move of HLE"),
        ({"moves": [None]}, "None is no move of HLE"),
        ({"moves": ["(Play 5)"]}, r"moves\[0\]: \(Play 5\) does not exist in"),
        ({"moves": ["(Reveal player +2 rank 1)"]}, "does not exist in"),
        ({"moves": ["(Reveal player +1 rank 6)"]}, "is no move of HLE: expected a text such as"),
        ({"moves": ["(Reveal player +1 rank R)"]}, "is no move of HLE: expected a text such as"),
        ({"moves": ["(Reveal player +1 color X)"]}, "is no move of HLE: expected a text such as"),
        ({"moves": ["(Deal X1)"]}, "is no move of HLE: expected a text such as"),
        ({"moves": ["(Deal R1)"] * 4}, "R1 is dealt 4 times: there are 3"),
        ({"moves": [{"action_type": "DEAL"}]}, "is no move of HLE: 'color'"),
        ({"moves": [{"action_type": "PLAY", "card_index": "0"}]}, "card_index='0': expected an integer"),
        ({"moves": [{"action_type": "PLAY"}]}, "is no move of HLE: 'card_index'"),
        ({"moves": [{"action_type": "NOTHING"}]}, "is no move of HLE"),
        ({"moves": ["<(Play 0) by player 1 R1>", "<(Play 0) by player 1 R1>"]}, "turn 1: seat 1 acts: expected 0"),
        ({"moves": [], "score": 1.5}, "expected integers"),
        ({"moves": [], "score": 10**30}, "its recorded score is 10+: expected 0 to 25"),
        ({"moves": [], "start_player": None}, "expected integers"),
        ({"moves": [], "start_player": 2}, "seat 2 starts: expected 0 to 1"),
        ({"moves": [], "game": 3}, "'game' is no JSON object"),
        ({"moves": [], "game": {"suits": 5}}, 'parameter="suits" is not known'),
        ({"moves": [], "game": {"players": 9}}, "players=9"),
        ({"moves": [], "game": {"players": "two"}}, "players='two' is not allowed: expected an integer"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(entry, message, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(entry) + "\n")
    with pytest.raises(starmine.StarmineError, match=message):
        read_games(path)
    assert len(read_games(path, on_error="skip").skipped) == 1


def test_variants_beyond_hle_are_not_written(tmp_path):
    for name in ("avalanche", "timed-display", "crowning-piece", "empty-hints", "traditional"):
        with pytest.raises(starmine.StarmineError, match="HLE has none of its rules beyond"):
            write_games(games_of(starmine.variant(name), count=1), tmp_path / "games.jsonl")


def test_a_start_player_is_kept(tmp_path):
    games = games_of(starmine.Variant(players=3, random_start_player=True), count=8)
    write_games(games, tmp_path / "games.jsonl")
    found = read_games(tmp_path / "games.jsonl").trajectories
    assert found.start_players.tolist() == games.start_players.tolist()
    assert len(set(found.start_players.tolist())) > 1
    assert (found.actions == games.actions).all()


@pytest.mark.parametrize("other", [{"players": 3}, {"max_life_tokens": 2}], ids=str)
def test_a_state_is_recorded_with_its_own_game(other):
    games = [ours.HanabiGame(config) for config in ({"seed": 1}, {"seed": 1, **other})]
    states = [game.new_initial_state() for game in games]
    for state in states:
        state.deal_random_cards()
    assert hle.record(games[0], states[0])["game"]["players"] == 2
    with pytest.raises(starmine.StarmineError, match="the state is of another game"):
        hle.record(games[0], states[1])


@pytest.fixture(scope="module")
def pyhanabi():
    """HLE's Python module."""
    return hle_or_skip()


def play(pyhanabi, parameters, generator):
    """A random game of HLE and its state, at the end or before it."""
    game = pyhanabi.HanabiGame(parameters)
    state = game.new_initial_state()
    turns = int(generator.integers(1, 100))
    while not state.is_terminal() and turns > 0:
        if state.cur_player() == -1:
            state.deal_random_card()
            continue
        moves = state.legal_moves()
        state.apply_move(moves[generator.integers(len(moves))])
        turns -= 1
    return game, state


def test_games_that_hle_plays_are_read(pyhanabi, tmp_path):
    generator = np.random.default_rng(3)
    for number in range(30):
        parameters = random_configuration(generator).hle_parameters(number)
        game, state = play(pyhanabi, parameters, generator)
        path = tmp_path / "games.jsonl"
        path.write_text(json.dumps(hle.record(game, state)) + "\n")
        ours = read_games(path).trajectories.state(0)
        assert (ours.score, ours.information_tokens, ours.life_tokens) == (
            state.score(),
            state.information_tokens(),
            state.life_tokens(),
        )
        assert ours.is_terminal == state.is_terminal()
        assert ours.fireworks == state.fireworks()
        assert [str(card) for card in ours.discard_pile] == [str(card) for card in state.discard_pile()]


def test_games_are_written_as_hle_tells_them(pyhanabi, tmp_path):
    generator = np.random.default_rng(4)
    for number in range(20):
        parameters = random_configuration(generator).hle_parameters(number)
        entry = hle.record(*play(pyhanabi, parameters, generator))
        path = tmp_path / "games.jsonl"
        path.write_text(json.dumps(entry) + "\n")
        write_games(read_games(path), path)
        written = json.loads(path.read_text())
        assert {name: written[name] for name in ("game", "start_player", "score")} == {
            name: entry[name] for name in ("game", "start_player", "score")
        }
        # HLE leaves the card that a game's last move asks for in the deck.
        told = len(entry["moves"])
        assert written["moves"][:told] == entry["moves"]
        assert all(text.startswith("(Deal") for text in written["moves"][told:])
        assert len(written["moves"]) <= told + 1
