"""Whole games of bots, Python bots and policies in any mixture."""

import linecache
import random
import traceback

import numpy as np
import pytest
import torch
from torch import nn

import starmine
from starmine import BotError, Variant, play_games
from starmine.torch import ModulePolicy

PLAY = 5  # plays slot 0 of a hand of five


def columns(games):
    return games.scores, games.fireworks, games.lengths, games.endings


def assert_same(one, other):
    for ours, theirs in zip(columns(one), columns(other), strict=True):
        np.testing.assert_array_equal(ours, theirs)


class Oldest:
    """A bot that always plays its oldest card."""

    def act(self, view):
        return "play 0"


class OldestOfMany:
    """A policy that always plays its oldest card."""

    def act_batch(self, turns):
        assert turns.obs.shape == (len(turns.game), 658)
        assert turns.action_mask.shape == (len(turns.game), 20)
        assert turns.action_mask.any(axis=1).all()
        return np.full(len(turns.game), PLAY)


class OldestModule(nn.Module):
    """A torch module whose logits always play the oldest card."""

    def forward(self, observations, action_mask):
        assert observations.dtype == torch.float32
        assert action_mask.dtype == torch.bool
        logits = torch.zeros(action_mask.shape)
        logits[:, PLAY] = 1
        return logits, None


def by_hand(game):
    """The final state of a game in which every seat always plays its oldest card."""
    state = Variant().new_game(seed=0, game=game)
    while not state.is_terminal:
        state.apply(PLAY)
    return state


@pytest.mark.parametrize(
    "players",
    [
        [Oldest, Oldest],
        [Oldest(), Oldest],
        [OldestOfMany(), Oldest()],
        [OldestModule(), OldestOfMany()],
        [Oldest, ModulePolicy(OldestModule())],
    ],
    ids=["classes", "instance", "batched", "module", "policy"],
)
def test_a_game_is_the_same_by_bot_policy_and_module(players):
    games = play_games(players, games=40, seed=0)
    states = [by_hand(game) for game in range(40)]
    np.testing.assert_array_equal(games.fireworks, [sum(state.fireworks) for state in states])
    np.testing.assert_array_equal(games.scores, [state.score for state in states])
    np.testing.assert_array_equal(games.lengths, [state.length for state in states])
    assert [starmine.endings()[code - 1] for code in games.endings] == [state.ending for state in states]


def test_games_do_not_depend_on_threads_and_first_game():
    whole = play_games(["smart", "piers", "van-den-bergh"], games=200, seed=3, num_threads=1)
    assert_same(whole, play_games(["smart", "piers", "van-den-bergh"], games=200, seed=3, num_threads=4))
    part = play_games(["smart", "piers", "van-den-bergh"], games=50, seed=3, first_game=150)
    np.testing.assert_array_equal(part.scores, whole.scores[150:])


def test_python_bots_sit_beside_rust_ones():
    class Recorder:
        """A bot that checks the history of its views."""

        def act(self, view):
            others = [event for event in view.history if event.seat != view.observer]
            assert [event.seat for event in others[:2]] == [0, 2][: len(others)]
            return view.legal_actions()[0]

    games = play_games(["smart", Recorder, "information"], games=20)
    assert (games.lengths > 0).all()


def test_a_class_is_instantiated_for_each_game_and_an_object_plays_all():
    class Counting:
        made = 0

        def __init__(self):
            Counting.made += 1

        def act(self, view):
            return PLAY

    play_games([Counting, Counting], games=7)
    assert Counting.made == 14
    play_games([Counting(), Counting()], games=7)
    assert Counting.made == 16


def test_a_policy_is_given_game_numbers_and_can_choose_its_encoder():
    class Watching:
        encoder = "canonical-minimal"

        def __init__(self):
            self.seen, self.resets = {}, []

        def session(self):
            return self

        def reset(self, games, seats):
            self.resets.append(list(zip(games.tolist(), seats.tolist(), strict=True)))

        def act_batch(self, turns):
            assert turns.obs.shape[1] == len(Variant().layout("canonical-minimal"))
            for game in turns.game.tolist():
                self.seen[game] = self.seen.get(game, 0) + 1
            return np.full(len(turns.game), PLAY)

    policy = Watching()
    games = play_games([policy, policy], games=9)
    assert [policy.seen[game] for game in range(9)] == games.lengths.tolist()
    assert policy.resets == [[(game, seat) for game in range(9) for seat in range(2)]]


def test_a_module_can_sample_or_return_actions():
    class Actions(nn.Module):
        def forward(self, observations, action_mask):
            return action_mask.int().argmax(-1)

    class Uniform(nn.Module):
        def forward(self, observations, action_mask):
            return torch.zeros(action_mask.shape)

    first = play_games([Actions(), Actions()], games=5)
    assert first.failures is None
    one = play_games([ModulePolicy(Uniform(), sampled=True, seed=1)] * 2, games=30)
    assert_same(one, play_games([ModulePolicy(Uniform(), sampled=True, seed=1)] * 2, games=30))
    assert len(set(one.lengths.tolist())) > 5
    greedy = play_games([Uniform(), Uniform()], games=30)
    assert (greedy.lengths != one.lengths).any()


@pytest.mark.parametrize("variant", ["mini", starmine.variant("avalanche", players=2)], ids=str)
def test_games_of_other_variants(variant):
    games = play_games(["piers", "simple"], games=20, variant=variant)
    assert games.variant.players == 2
    assert games.fireworks.mean() > 4


def test_the_score_and_the_fireworks_of_lost_games():
    games = play_games(["flawed"] * 2, games=50)
    lost = games.endings == starmine.endings().index("lost") + 1
    assert lost.any()
    assert (games.scores[lost] == 0).all()
    assert (games.fireworks[lost] > 0).any()
    kept = play_games(["flawed"] * 2, games=50, variant=Variant(lost_game_score="fireworks"))
    np.testing.assert_array_equal(kept.scores, games.fireworks)


class Failing:
    """A bot that raises an error in some games, after some turns."""

    def __init__(self, move):
        self.move = move

    def act(self, view):
        if len(view.history) >= 4 and view.hands[1][0].rank == 0:
            if isinstance(self.move, Exception):
                raise self.move
            return self.move
        return view.legal_actions()[0]


@pytest.mark.parametrize(
    ("move", "shown"),
    [
        (99, "chose 99"),
        ("play 9", "chose 'play 9'"),
        ("nonsense", "chose 'nonsense'"),
        (None, "expected an integer"),
        (1.5, "chose 1.5"),
        (ZeroDivisionError("no good"), "ZeroDivisionError: no good"),
    ],
    ids=str,
)
def test_a_failing_bot_is_named_and_the_other_games_are_kept(move, shown):
    with pytest.raises(BotError) as caught:
        play_games([Failing(move), "random"], games=30, first_game=100)
    error = caught.value
    assert shown in str(error)
    failed = [failure.game - 100 for failure in error.failures]
    assert 0 < len(failed) < 30
    assert all(failure.seat == 0 for failure in error.failures)
    assert [error.games.failures[game] for game in failed] == list(map(str, error.failures))
    assert np.flatnonzero(error.games.failures != "").tolist() == failed
    assert (error.games.endings[failed] == 0).all()
    rest = np.setdiff1d(np.arange(30), failed)
    assert (error.games.endings[rest] > 0).all()


class Confused:
    """A bot that raises an exception in a function of the standard library, in its second turn or at once."""

    def __init__(self, at_once=False):
        self.at_once = at_once

    def act(self, view):
        if self.at_once or len(view.history) > 1:
            return random.choice([])
        return view.legal_actions()[0]


def test_the_error_of_a_bot_tells_where_it_was_raised_and_keeps_the_exception():
    with pytest.raises(BotError) as caught:
        play_games([Confused(), "iggi"], games=2)
    cause = caught.value.__cause__
    assert isinstance(cause, IndexError)
    line = next(entry.lineno for entry in traceback.extract_tb(cause.__traceback__) if entry.name == "act")
    assert "random.choice" in linecache.getline(__file__, line)
    for failure in caught.value.failures:
        assert failure.message.endswith(f" at {__file__}:{line}")


class FailsAtTheEnd:
    """A bot that raises an exception when it is shown the games that have ended."""

    def act(self, view):
        return view.legal_actions()[0]

    def end(self, state):
        raise RuntimeError("no end")


class FailsInAllTurns:
    """A policy that sees every turn, and fails before the fourth turn of a game."""

    all_turns = True

    def __init__(self):
        self.turns = 0

    def act_batch(self, turns):
        self.turns += 1
        return turns.action_mask.argmax(axis=1) if self.turns < 4 else [None]


@pytest.mark.parametrize("player", [Failing(99), Failing(KeyError()), Confused(), FailsInAllTurns(), FailsAtTheEnd])
def test_a_failure_tells_the_turn(player):
    with pytest.raises(BotError) as caught:
        play_games([player, "iggi"], games=20)
    failures, games = caught.value.failures, caught.value.games
    ended = player is FailsAtTheEnd  # in its last turn; the others before they have played a turn
    turns_played = games.lengths[[failure.game for failure in failures]]
    assert [failure.turn for failure in failures] == (turns_played - ended).tolist()
    assert all(f"seat {failure.seat}, turn {failure.turn}:" in str(failure) for failure in failures)
    assert str(failures[0]) in str(caught.value)


def test_abandoned_games_do_not_count_in_the_mean():
    with pytest.raises(BotError) as caught:
        play_games([Failing(99), "random"], games=30)
    games = caught.value.games
    kept = games.scores[games.endings > 0]
    assert 0 < len(kept) < 30
    assert games.mean == kept.mean()
    with pytest.raises(BotError) as caught:
        play_games([Confused(at_once=True), "random"], games=2)
    assert np.isnan(caught.value.games.mean)
    assert caught.value.games.standard_error is None


def test_results_have_the_mean_and_the_standard_error_that_they_print():
    games = play_games(["iggi", "iggi"], games=40)
    assert games.mean == games.scores.mean()
    assert games.standard_error == pytest.approx(games.scores.std(ddof=1) / 40**0.5)
    assert str(games) == f"<40 games: mean score {games.mean:.3f} ± {games.standard_error:.3f}>"
    assert play_games(["iggi", "iggi"], games=1).standard_error is None


@pytest.mark.parametrize(
    "actions",
    [
        lambda mask: np.where(np.arange(len(mask)) == 3, 0, PLAY),  # a discard with all tokens
        lambda mask: np.where(np.arange(len(mask)) == 3, -1, PLAY),
        lambda mask: np.full(len(mask), 10**6),
        lambda mask: np.full(len(mask), 0.5),
        lambda mask: np.zeros(len(mask) + 1, dtype=int),
        lambda mask: None,
    ],
)
def test_a_failing_policy_is_named(actions):
    class Policy:
        def act_batch(self, turns):
            return actions(turns.action_mask)

    with pytest.raises(BotError) as caught:
        play_games([Policy(), "simple"], games=8)
    assert all(failure.seat == 0 for failure in caught.value.failures)


def test_bots_and_rules_have_descriptions():
    for name in starmine.bots():
        kind = starmine.games.bot(name)
        assert kind.name == name
        assert kind.summary
        assert kind.plays in ("every", "base game")
        assert name in repr(kind)
    assert not starmine.games.bot("cheater").is_player
    assert starmine.games.bot("smart").is_player
    for name in starmine.games.rules():
        kind = starmine.games.rule(name)
        assert kind.summary.endswith(".")
        assert name in repr(kind)
    assert starmine.games.rule("play-probably-safe").takes_probability


def test_a_player_has_one_name_everywhere():
    class Named(Oldest):
        name = "Ann"

    policy = starmine.load_policy("ippo-2p-small", sampled=True)
    names = {"Oldest": Oldest(), "Ann": Named(), "OldestModule": OldestModule(), policy.bot: policy, "smart": "smart"}
    for name, player in names.items():
        played = play_games([player, "iggi"], games=2)
        evaluated = starmine.evaluate([player], 2, partners=["iggi"])
        table = starmine.look.LiveGame(Variant(), [None, player])
        assert [played.roster[0].name, evaluated.names[0], table.names[1]] == [name] * 3
    assert [player.name for player in play_games([Oldest, Named], games=2).roster] == ["Oldest", "Ann"]
    assert [player.name for player in play_games([Oldest(), Oldest()], games=2).roster] == ["Oldest", "Oldest (2)"]


def test_a_first_game_out_of_its_range_is_refused():
    for number in (-1, 2**32, 2**64):
        with pytest.raises(starmine.StarmineError):
            play_games(["random", "random"], games=2, first_game=number)


def test_a_seed_out_of_its_range_is_refused():
    for seed in (-1, 2**64):
        with pytest.raises(starmine.StarmineError):
            play_games(["smart", "smart"], games=1, seed=seed)
