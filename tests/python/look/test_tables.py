"""A person and partners at a table: whole games, partners of every kind, and refusals."""

import inspect
import random

import numpy as np
import pytest

import starmine
from starmine.look import LiveGame


class Counting:
    """A Python bot with a memory: it counts the cards that were hinted to it, and plays slot 0 after each hint."""

    made = []  # noqa: RUF012 - all objects of the class

    def __init__(self):
        self.seen = []
        self.ended = 0
        self.made.append(self)

    def act(self, view):
        self.seen.append(len(view.history))
        legal = view.legal_actions()
        return "play 0" if view.information_tokens < 4 else legal[-1]

    def end(self, state):
        self.ended += 1


class Policy:
    """A policy with a memory of its turns."""

    def __init__(self):
        self.turns = 0

    def session(self):
        return self

    def reset(self, games, seats):
        assert set(games.tolist()) == {0}
        self.turns = 0

    def act_batch(self, turns):
        self.turns += 1
        return np.array([np.flatnonzero(row)[self.turns % row.sum()] for row in turns.action_mask])


class Unplanned:
    """A bot whose plan is missing."""

    def act(self, view):
        return {}["plan"]


def test_the_exception_of_a_partner_is_told_with_its_place():
    table = LiveGame(starmine.Variant(), [None, Unplanned()], seed=1)
    table.act(table.advice("information"))
    line = inspect.getsourcelines(Unplanned.act)[1] + 1
    with pytest.raises(starmine.StarmineError) as found:
        table.play_partner()
    assert str(found.value).endswith(f"KeyError: 'plan' at {__file__}:{line}")
    assert isinstance(found.value.__cause__, KeyError)


def finish(table, rng):
    """Play a game to its end, the person's moves by chance."""
    while not table.is_over:
        if table.waits:
            table.act(rng.choice(table.view.legal_actions()))
        else:
            table.play_partner()


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize(
    "partners", [["smart", "cheater"], ["search: smart; rollouts=5; hands=8", "information"], ["piers", "random"]]
)
def test_a_game_is_the_one_that_play_games_plays(seat, partners):
    """The person plays as `smart` would: the game is that of `smart` in this seat."""
    players = [*partners[:seat], None, *partners[seat:]]
    table = LiveGame(starmine.variant("standard", players=3), players, seed=5, game=2)
    while not table.is_over:
        if table.waits:
            table.act(table.advice("smart"))
        else:
            table.play_partner()
    names = [name or "smart" for name in players]
    same = starmine.play_games(names, games=1, seed=5, first_game=2)
    assert table.state == same.state(0)
    assert table.games().state(0) == table.state
    assert table.names[seat] == "you"


def test_partners_with_a_memory_see_every_turn():
    policy = Policy()
    table = LiveGame(starmine.variant("standard", players=3), [policy, None, Counting], seed=1)
    for _ in range(2):
        table.play_partner()
        table.act(table.view.legal_actions()[-1])
        table.play_partner()
    bot = Counting.made[-1]
    assert (policy.turns, bot.seen) == (2, [2, 5])
    finish(table, random.Random(3))
    assert bot.ended == 1
    assert table.names == ["Policy", "you", "Counting"]


def test_what_the_person_may_not_see_is_not_in_the_history():
    table = LiveGame("standard", [None, "smart"], seed=1)
    table.act(table.variant.action("play 0"))
    assert table.history[0].drawn is None
    assert table.state.history[0].drawn is not None
    finish(table, random.Random(0))
    assert table.history[0].drawn is not None


class Failing:
    def act(self, view):
        raise ValueError("no idea")


class Illegal:
    def act(self, view):
        return "discard 0"


class Fraction:
    def act(self, view):
        return 5.9  # a hint, if it is cut to an integer


@pytest.mark.parametrize("bot", [Failing, Illegal, Fraction])
def test_a_partner_that_fails_is_named_and_changes_nothing(bot):
    table = LiveGame(starmine.Variant(), [bot, None], seed=1)
    with pytest.raises(starmine.StarmineError):
        table.play_partner()
    assert table.state.length == 0


@pytest.mark.parametrize("player", ["noisy: 0.5; smart", "random", "ippo-2p-small"])
def test_bots_draw_as_in_the_game_of_this_number(player):
    variant = starmine.Variant()
    games = starmine.play_games([player] * 2, 4, 7, variant)
    for game in range(4):
        table = LiveGame(variant, [player] * 2, seed=7, game=game)
        while not table.is_over:
            table.play_partner()
        actions = games.actions[games.offsets[game] : games.offsets[game + 1]]
        assert [event.action for event in table.state.history] == actions.tolist()
