"""Bots as objects: they answer as in `play_games`, whenever they are asked."""

from typing import ClassVar

import numpy as np
import pytest

import starmine
from starmine import Variant, make_bot, play_games

BOTS = [name for name in starmine.bots() if starmine.games.bot(name).is_player]
TEXTS = [
    *BOTS,
    "ippo-2p-small",
    "policy: ippo-2p-small; sampled",
    "noisy: 0.3; smart",
    "rules: play-safe; discard-oldest",
]


def played(players, game, seed, variant="standard"):
    """The actions of a game of `play_games`."""
    games = play_games(players, games=1, seed=seed, first_game=game, variant=variant)
    return games.actions.tolist()


def play(bots, state):
    while not state.is_terminal:
        seat = state.current_player
        state.apply(bots[seat].act(state.view(seat)))
    return [event.action for event in state.history]


@pytest.mark.parametrize("text", TEXTS)
def test_a_bot_plays_as_in_play_games_game_after_game(text):
    variant = Variant()
    bots = [make_bot(text, variant, seat, seed=5) for seat in range(2)]
    for game in range(3):
        assert play(bots, variant.new_game(seed=5, game=game)) == played([text, text], game, 5)


@pytest.mark.parametrize("text", TEXTS)
def test_a_bot_answers_by_the_game_alone_not_by_how_it_was_asked(text):
    variant = Variant()
    state = variant.new_game(seed=2)
    actions = played([text, text], 0, 2)
    asked_often, last = make_bot(text, variant, 0, seed=2), len(actions) // 2 * 2 - 2
    answers = {}
    for turn, action in enumerate(actions):
        if turn % 2 == 0:
            answers[turn] = asked_often.act(state.view(0))
            assert asked_often.act(state.view(0)) == answers[turn] == action
        if turn == last:
            # A bot that sees the game for the first time, and one that saw a later or another turn.
            assert make_bot(text, variant, 0, seed=2).act(state.view(0)) == action
            assert state.suggest(text, seed=2) == action
            early = variant.new_game(seed=2)
            assert asked_often.act(early.view(0)) == actions[0]
            assert asked_often.act(state.view(0)) == action
            assert asked_often.act(state.copy().view(0)) == action
        state.apply(action)


@pytest.mark.parametrize("players", [2, 3, 5])
@pytest.mark.parametrize("name", ["standard", "timed-display", "very-small", "empty-hints"])
def test_bots_suggest_legal_moves_in_games_that_others_played(name, players):
    variant = starmine.variant(name, players=players)
    rng = np.random.default_rng(0)
    for seed in range(3):
        state = variant.new_game(seed=seed)
        while not state.is_terminal:
            if state.length % 4 == 0:
                for text in [*BOTS, "cheater"]:
                    try:
                        suggested = state.suggest(text)
                    except starmine.VariantError:
                        continue
                    assert suggested in state.legal_actions(), text
            state.apply(int(rng.choice(state.legal_actions())))


def test_a_seated_bot_stands_for_its_text_in_play_games():
    bot = make_bot("smart", "standard", 1)
    assert (bot.name, bot.seat, bot.variant) == ("smart", 1, Variant())
    assert repr(bot) == "<SeatedBot smart in seat 1>"
    games = play_games([bot, bot], games=20, seed=1)
    np.testing.assert_array_equal(games.scores, play_games(["smart", "smart"], games=20, seed=1).scores)
    policy = starmine.load_policy("ippo-2p-small")
    assert make_bot(policy).name == "ippo-2p-small"
    assert make_bot("random").seat == 0


def test_the_seed_decides_random_choices():
    variant = Variant()
    state = variant.new_game(seed=0)
    assert len({make_bot("random", variant, 0, seed).act(state.view(0)) for seed in range(30)}) > 3
    assert state.suggest("random", seed=9) == make_bot("random", variant, 0, 9).act(state.view(0))


def test_a_game_that_is_over_has_no_moves():
    state = Variant().new_game(seed=0)
    bots = [make_bot("random", "standard", seat) for seat in range(2)]
    play(bots, state)
    seat = state.current_player
    with pytest.raises(starmine.StarmineError):
        bots[seat].act(state.view(seat))
    with pytest.raises(starmine.StarmineError):
        state.suggest("smart")
    next_game = Variant().new_game(seed=1)
    assert bots[0].act(next_game.view(0)) in next_game.legal_actions()


def test_a_refused_view_leaves_the_bot_as_it_was():
    variant = Variant()
    actions = played(["noisy: 0.5; smart", "smart"], 0, 4)
    bot, state = make_bot("noisy: 0.5; smart", variant, 0, seed=4), variant.new_game(seed=4)
    for turn, action in enumerate(actions):
        if turn % 2 == 0:
            assert bot.act(state.view(0)) == action
        else:
            with pytest.raises(starmine.StarmineError):
                bot.act(state.view(0))
        state.apply(action)


# --- Bots that learn how a game ended ----------------------------------------------------------------------


class Student:
    """Plays its oldest card and keeps how its games ended."""

    ended: ClassVar[list] = []

    def act(self, view):
        return "play 0"

    def end(self, state):
        Student.ended.append((id(self), state.ending, sum(state.fireworks), state.length))


@pytest.fixture(autouse=True)
def nothing_ended():
    Student.ended = []


def test_a_python_bot_learns_how_each_game_ended():
    games = play_games([Student, "simple", Student], games=5, seed=1)
    assert [length for _, _, _, length in Student.ended].count(games.lengths[0]) >= 2
    assert len(Student.ended) == 10  # each of two seats has a bot of its own for each game
    assert sorted(points for _, _, points, _ in Student.ended) == sorted([*games.fireworks, *games.fireworks])
    assert {ending for _, ending, _, _ in Student.ended} <= set(starmine.endings())


def test_an_object_in_several_seats_is_told_once_for_each_game():
    student = Student()
    games = play_games([student, student], games=6)
    assert len(Student.ended) == 6
    assert sorted(length for _, _, _, length in Student.ended) == sorted(games.lengths.tolist())
    assert {teller for teller, _, _, _ in Student.ended} == {id(student)}


def test_a_bot_that_fails_at_the_end_fails_in_that_game_only():
    class Sore(Student):
        def end(self, state):
            if state.length % 2:
                raise RuntimeError("unfair")

    plain = play_games([Student, Student], games=30)
    odd = np.flatnonzero(plain.lengths % 2)
    assert 0 < len(odd) < 30
    with pytest.raises(starmine.BotError) as error:
        play_games([Sore, Student], games=30)
    assert [failure.game for failure in error.value.failures] == odd.tolist()
    games = error.value.games
    np.testing.assert_array_equal(games.scores, plain.scores)
    assert np.flatnonzero(games.failures != "").tolist() == odd.tolist()


def test_games_that_were_given_up_have_no_end():
    class Lost:
        def act(self, view):
            raise RuntimeError("lost")

    with pytest.raises(starmine.BotError):
        play_games([Student, Lost], games=3)
    assert Student.ended == []


def test_changing_the_state_at_the_end_changes_nothing_for_others():
    """Each bot gets a copy."""

    class Vandal(Student):
        def end(self, state):
            assert state.is_terminal
            assert state.length == len(state.history)

    games = play_games([Vandal, Vandal()], games=3)
    assert (games.lengths > 0).all()


def test_evaluations_tell_bots_how_games_ended(monkeypatch):
    monkeypatch.setattr("starmine.evaluation.run.CHUNK", 2)
    starmine.evaluate({"student": Student, "simple": "simple"}, games=4)
    assert len(Student.ended) == 4 * (2 + 1 + 1)
