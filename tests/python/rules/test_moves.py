"""Moves as objects, the messages about actions, and the board of a seat."""

import copy
import pickle

import pytest

import starmine
from starmine import Move, Variant

PRESETS = ["standard", "timed-display", "traditional", "very-small"]


@pytest.mark.parametrize("name", PRESETS)
def test_every_action_is_a_move_and_back(name):
    variant = starmine.variant(name, players=3)
    moves = [variant.move(action) for action in range(variant.num_actions)]
    assert len(set(moves)) == variant.num_actions
    for action, move in enumerate(moves):
        assert variant.action(move) == action
        assert str(move) == variant.action_meaning(action)
        assert Move(str(move)) == move == eval(repr(move))
        assert pickle.loads(pickle.dumps(move)) == move == copy.copy(move)
        assert hash(Move(str(move))) == hash(move)


def test_the_parts_of_each_kind_of_move():
    def parts(move):
        return move.kind, move.slot, move.offset, move.color, move.rank, move.announced

    assert parts(Move("discard 0")) == ("discard", 0, None, None, None, None)
    assert parts(Move("play slot 3")) == ("play", 3, None, None, None, None)
    assert parts(Move("hint +2 green")) == ("color_hint", None, 2, 2, None, None)
    assert parts(Move("hint +1 rank 5")) == ("rank_hint", None, 1, None, 4, None)
    assert parts(Move("play 1 blue")) == ("play", 1, None, None, None, 4)
    assert Move("play 1 blue") != Move("play 1")
    assert Move("play 1") != "play 1"


def test_moves_are_taken_wherever_actions_are():
    variant = Variant()
    by_move, by_id = variant.new_game(seed=3), variant.new_game(seed=3)
    while not by_move.is_terminal:
        moves = by_move.legal_moves()
        assert [variant.action(move) for move in moves] == by_move.legal_actions()
        view = by_move.view(by_move.current_player)
        assert view.legal_moves() == moves
        assert by_move.view(1 - by_move.current_player).legal_moves() == []
        by_id.apply(variant.action(moves[-1]))
        by_move.apply(moves[-1])
        assert by_move == by_id
    assert by_move.legal_moves() == []

    class LastMove:
        def act(self, view):
            return view.legal_moves()[-1]

    games = starmine.play_games([LastMove, LastMove], games=1, seed=3)
    assert games.lengths[0] == by_id.length


def test_a_view_shows_the_board_of_its_seat():
    variant = Variant(players=3)
    state = variant.new_game(seed=7)
    state.apply("hint +1 red") if "hint +1 red" in map(str, state.legal_moves()) else state.apply("play 0")
    state.apply("play 1")
    for seat in range(3):
        board, lines = str(state.view(seat)), str(state).splitlines()
        shown = board.splitlines()
        assert len(shown) == len(lines)
        assert shown[:2] == lines[:2]
        assert shown[-2:] == lines[-2:]
        for other in range(3):
            whose = "you" if other == seat else f"+{(other - seat) % 3} "
            prefix = f"seat {other} {'->' if state.current_player == other else '  '}"
            hidden = lines[2 + other].removeprefix(prefix)
            assert shown[2 + other].startswith(f"seat {other} {whose} ")
            if other == seat:
                for card in map(str, state.hands[seat]):
                    hidden = hidden.replace(f"{card}[", "??[")
            assert shown[2 + other].endswith(hidden)


def test_the_board_of_a_seat_does_not_depend_on_its_own_cards():
    variant = starmine.variant("very-small")
    state = variant.new_game(seed=1)
    size = variant.hand_size
    deck = state.deck
    swapped = [*deck[:size][::-1], *deck[size:]]
    other = variant.new_game(deck=swapped)
    assert other != state
    assert str(other.view(0)) == str(state.view(0))
    assert str(other.view(1)) != str(state.view(1))
