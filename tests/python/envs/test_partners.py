"""An environment in which bots hold some of the seats."""

import copy
import pickle

import numpy as np
import pytest

import starmine
from starmine import Batch, HanabiVectorEnv, StarmineError, UnknownNameError, Variant

GAMES = 6


def first_legal(info):
    return info["action_mask"].argmax(axis=1)


def random_legal(info, rng):
    """Any legal action of each game, and 0 where a game is over."""
    return np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in info["action_mask"]])


@pytest.mark.parametrize(
    ("players", "partners"),
    [
        (2, {1: "smart"}),
        (2, {0: "holmes"}),
        (3, {0: "information", 2: "piers"}),
        (5, {1: "iggi", 2: "iggi", 3: "flawed"}),
    ],
    ids=str,
)
def test_only_the_learners_seats_act_and_rewards_add_up(players, partners):
    env = HanabiVectorEnv(GAMES, players=players, partners=partners)
    obs, info = env.reset(seed=1)
    rng = np.random.default_rng(0)
    returns, seats = np.zeros(GAMES), set(range(players)) - set(partners)
    ended = 0
    for _ in range(150):
        assert set(info["current_player"].tolist()) <= seats
        obs, reward, terminated, _, info = env.step(random_legal(info, rng))
        assert obs.shape == env.observation_space.shape
        returns += reward
        np.testing.assert_array_equal(returns[terminated], info["final_score"][terminated])
        returns[terminated] = 0
        ended += terminated.sum()
    assert ended > GAMES


def test_the_observation_equals_that_of_single_states():
    env = HanabiVectorEnv(GAMES, partners={1: "simple"}, dtype="uint8")
    obs, _ = env.reset(seed=4)
    for game in range(GAMES):
        state = Variant().new_game(seed=4, game=game)
        np.testing.assert_array_equal(obs[game], state.encode(0))


def test_an_episode_equals_the_game_of_play_games():
    class Learner:
        def act(self, view):
            return view.legal_actions()[0]

    games = starmine.play_games([Learner, "smart"], games=GAMES, seed=9)
    env = HanabiVectorEnv(GAMES, partners={1: "smart"})
    _, info = env.reset(seed=9)
    seen = np.zeros(GAMES, dtype=bool)
    while not seen.all():
        _, _, terminated, _, info = env.step(first_legal(info))
        first = terminated & ~seen
        seen |= terminated
        np.testing.assert_array_equal(info["final_score"][first], games.scores[first])
        np.testing.assert_array_equal(info["final_length"][first], games.lengths[first])
        np.testing.assert_array_equal(info["final_ending"][first], games.endings[first])


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize(
    "partner", ["smart", "van-den-bergh", ["random", "holmes"], "rules: play-safe; discard-oldest"]
)
def test_copies_and_pickles_continue_the_same(mode, partner):
    env = HanabiVectorEnv(GAMES, players=3, partners={0: partner, 2: "simple"}, autoreset_mode=mode)
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=2)
    for _ in range(40):
        _, _, _, _, info = env.step(random_legal(info, rng))
    others = [copy.deepcopy(env._batch), pickle.loads(pickle.dumps(env._batch)), env._batch.copy()]
    for _ in range(60):
        actions = random_legal(info, rng)
        results = [batch.step(actions) for batch in others]
        obs, reward, terminated, _, info = env.step(actions)
        for result in results:
            np.testing.assert_array_equal(result["obs"], obs)
            np.testing.assert_array_equal(result["reward"], reward)
            np.testing.assert_array_equal(result["terminated"], terminated)
    assert others[1].partners == env._batch.partners == {0: partner, 2: "simple"}


def test_games_do_not_depend_on_threads_and_batch_size():
    few = HanabiVectorEnv(3, partners={1: "piers"}, num_threads=1)
    many = HanabiVectorEnv(33, partners={1: "piers"}, num_threads=3)
    _, one = few.reset(seed=5)
    _, other = many.reset(seed=5)
    for _ in range(80):
        obs, reward, *_, one = few.step(first_legal(one))
        theirs, their_reward, *_, other = many.step(first_legal(other))
        np.testing.assert_array_equal(obs, theirs[:3])
        np.testing.assert_array_equal(reward, their_reward[:3])


def test_a_partner_from_a_list_is_drawn_for_each_episode():
    drawn = HanabiVectorEnv(64, partners={1: ["smart", "flawed"]})
    smart = HanabiVectorEnv(64, partners={1: "smart"})
    flawed = HanabiVectorEnv(64, partners={1: "flawed"})
    infos = [env.reset(seed=0)[1] for env in (drawn, smart, flawed)]
    hint = np.full(64, 10)
    actions = np.where(infos[0]["action_mask"][:, 10], hint, first_legal(infos[0]))
    seen = [env.step(actions)[0] for env in (drawn, smart, flawed)]
    like_smart = (seen[0] == seen[1]).all(axis=1)
    like_flawed = (seen[0] == seen[2]).all(axis=1)
    assert (like_smart | like_flawed).all()
    assert (like_smart & ~like_flawed).sum() > 8
    assert (like_flawed & ~like_smart).sum() > 8


@pytest.mark.parametrize(
    ("partners", "error", "fragments"),
    [
        ({1: "smrat"}, UnknownNameError, ['"smrat"', 'did you mean "smart"']),
        ({1: "rules: play-safe; hint"}, UnknownNameError, ["did you mean"]),
        ({2: "smart"}, StarmineError, ["seat=2", "0 to 1"]),
        ({-1: "smart"}, StarmineError, ["seat=-1", "0 to 1"]),
        ({10**30: "smart"}, StarmineError, [f"seat={10**30}", "0 to 1"]),
        ({0: "smart", 1: "smart"}, StarmineError, ["all 2 seats", "at least one"]),
        ({1: []}, StarmineError, ["0 bots", "1 to 64"]),
        ({1: ["smart"] * 65}, StarmineError, ["65 bots", "1 to 64"]),
        ({1: 3}, TypeError, ["partners[1]=3"]),
        ({1: ["smart", 3]}, TypeError, ["partners[1]="]),
        ({"first": "smart"}, TypeError, ["seat='first'"]),
        (["smart"], TypeError, ["partners=['smart']", "a dict"]),
        ("smart", TypeError, ["partners='smart'", "a dict"]),
    ],
    ids=str,
)
def test_invalid_partners_are_refused_by_name(partners, error, fragments):
    for make in (HanabiVectorEnv, lambda num_envs, partners: Batch("standard", num_envs, partners=partners)):
        with pytest.raises(error) as caught:
            make(2, partners=partners)
        assert caught.type is error
        for fragment in fragments:
            assert fragment in str(caught.value)


# --- Who begins -------------------------------------------------------------------------------------------


def test_with_a_random_start_player_the_learner_begins_in_half_of_the_games():
    env = HanabiVectorEnv(2048, partners={1: "smart"}, random_start_player=True)
    obs, info = env.reset(seed=1)
    nobody_moved = obs[:, env.layout["last_player"].slice].sum(axis=1) == 0
    assert 0.45 < nobody_moved.mean() < 0.55
    assert (info["current_player"] == 0).all()


@pytest.mark.parametrize("names", [("smart", "holmes"), ("information", "smart"), ("ippo-2p-small", "smart")], ids=str)
def test_a_game_that_seat_1_begins_is_the_rotated_game_that_seat_0_begins(names):
    """So it makes no difference which seat the learner has, only who begins. These players draw nothing by chance."""
    rotates, begins_at_0 = Variant(random_start_player=True), Variant()
    for game in range(3):
        deck = list(begins_at_0.new_game(seed=3, game=game).deck)
        one = rotates.new_game(deck=deck, start_player=1)
        other = begins_at_0.new_game(deck=deck[5:10] + deck[:5] + deck[10:])
        while not one.is_terminal:
            move = one.suggest(names[one.current_player])
            assert move == other.suggest(names[1 - other.current_player])
            one.apply(move)
            other.apply(move)
        assert other.is_terminal
