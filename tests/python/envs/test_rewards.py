"""What the environments reward: scores or fireworks, and a penalty for lost games."""

import itertools

import numpy as np
import pytest

import starmine
from starmine import HanabiEnv, HanabiVectorEnv, Variant
from starmine.envs import Rewards

MODES = ["SameStep", "NextStep", "Disabled"]


def play(env, steps=150, seed=1):
    """Random legal play; yields reward, terminated and info of each step. Ended games are dealt anew."""
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    for _ in range(steps):
        mask = info["action_mask"]
        _, reward, terminated, _, info = env.step((rng.random(mask.shape) * mask).argmax(axis=1))
        yield reward, terminated, info
        if env.autoreset_mode.value == "Disabled" and terminated.any():
            _, info = env.reset(options={"reset_mask": terminated})


def make(mode="SameStep", **settings):
    return HanabiVectorEnv(16, "standard", autoreset_mode=mode, **settings)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("partners", [None, {1: "random"}], ids=["alone", "partner"])
def test_fireworks_change_the_rewards_and_nothing_else(mode, partners):
    plain = play(make(mode, partners=partners))
    changed = play(make(mode, partners=partners, reward="fireworks", lost_game_penalty=0.5))
    kept = play(make(mode, partners=partners, lost_game_score="fireworks"))
    lost_games = 0
    for (_, terminated, info), (reward, also, shown), (points, _, _) in zip(plain, changed, kept, strict=True):
        lost = np.isin(info["final_ending"], starmine.defeats())
        lost_games += lost.sum()
        np.testing.assert_array_equal(reward, points - 0.5 * lost)
        np.testing.assert_array_equal(terminated, also)
        for name in ("action_mask", "current_player", "score", "final_score", "final_length", "final_ending"):
            np.testing.assert_array_equal(info[name], shown[name], err_msg=name)
    assert lost_games > 30


@pytest.mark.parametrize("mode", MODES)
def test_the_penalty_is_taken_from_the_last_reward_of_lost_games_only(mode):
    ended = 0
    both = zip(play(make(mode)), play(make(mode, lost_game_penalty=2)), strict=True)
    for (reward, terminated, info), (less, _, _) in both:
        lost = np.isin(info["final_ending"], starmine.defeats())
        assert (lost <= terminated).all()
        np.testing.assert_array_equal(reward - less, 2.0 * lost)
        ended += lost.sum()
    assert ended > 30


def test_a_game_that_is_not_lost_has_no_penalty():
    """Games of `simple` are not lost, so the returns are the scores under any reward."""
    for reward, penalty in itertools.product(["score", "fireworks"], [0.0, 3.0]):
        env = HanabiEnv(players=2, reward=reward, lost_game_penalty=penalty)
        state = env.variant.new_game(seed=0)
        games = starmine.play_games(["simple", "simple"], games=1, seed=0)
        env.reset(seed=0)
        total = 0.0
        for action in games.actions.tolist():
            state.apply(action)
            _, gained, terminated, _, info = env.step(action)
            total += gained
        assert terminated
        assert total == games.scores[0] == info["score"] > 0
        assert env.state == state


def lose(env):
    """Play the oldest card until the game is lost: the rewards and the last info."""
    env.reset(seed=3)
    rewards, terminated = [], False
    while not terminated:
        _, reward, terminated, _, info = env.step(5)
        rewards.append(reward)
    assert starmine.endings()[info["ending"] - 1] == "lost"
    return rewards, info


def test_a_lost_game_by_each_reward():
    state = Variant().new_game(seed=3)
    while not state.is_terminal:
        state.apply("play 0")
    points = sum(state.fireworks)
    assert points > 0
    for reward, penalty, expected in [("score", 0, 0), ("score", 1, -1), ("fireworks", 0, points)]:
        rewards, info = lose(HanabiEnv(reward=reward, lost_game_penalty=penalty))
        assert sum(rewards) == expected
        assert info["score"] == 0
    rewards, _ = lose(HanabiEnv(reward="fireworks", lost_game_penalty=1.5))
    assert sum(rewards) == points - 1.5
    assert rewards[-1] == -1.5


def test_an_illegal_action_that_ends_a_game_has_the_penalty():
    env = make(illegal_action="terminate", reward="fireworks", lost_game_penalty=1.0)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(np.zeros(16, np.int64))  # no discards while all tokens are there
    assert terminated.all()
    assert info["illegal_action"].all()
    np.testing.assert_array_equal(reward, -np.ones(16, np.float32))


def test_a_lost_game_keeps_its_score_until_it_is_dealt_anew():
    """With "Disabled" the lost games are still there when others are reset."""
    env = make("Disabled", reward="fireworks")
    env.reset(seed=0)
    while True:
        _, _, lost, _, _ = env.step(np.full(16, 5))
        if env._batch.observe()["score"][lost].any():  # which keeps the points
            break
        if lost.any():
            env.reset(options={"reset_mask": lost})
    _, info = env.reset(options={"reset_mask": ~lost})
    assert (env.variant.lost_game_score, env.rewards.rules.lost_game_score) == ("zero", "fireworks")
    assert env._batch.observe()["score"][lost].any()
    np.testing.assert_array_equal(info["score"], 0)
    _, info = env.reset()
    np.testing.assert_array_equal(info["score"], 0)


def test_a_variant_that_keeps_points_has_the_same_rewards_either_way():
    score = play(make(lost_game_score="fireworks"))
    fireworks = play(make(lost_game_score="fireworks", reward="fireworks"))
    for (one, _, info), (other, _, shown) in zip(score, fireworks, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(info["final_score"], shown["final_score"])


@pytest.mark.parametrize("variant_scores", ["zero", "fireworks"])
def test_a_lost_game_loses_a_share_of_its_points_and_a_penalty(variant_scores):
    endings = ["lost", "perfect", "deck_exhausted"]
    codes = [0] + [starmine.endings().index(ending) + 1 for ending in endings]
    for penalty, share, lost in [(0.5, 0.0, 0.5), (0.5, 0.25, 2.5), (0.0, 1.0, 8)]:
        rewards = Rewards(Variant(lost_game_score=variant_scores), "fireworks", penalty)
        rewards.lost_points_share = share
        outputs = {"final_ending": np.array(codes, np.int8), "final_score": np.array([9, 8, 25, 20], np.int32)}
        rewards.step(outputs | {"reward": (reward := np.ones(4, np.float32))})
        assert reward.tolist() == [1, 1 - lost, 1, 1]
        assert outputs["final_score"].tolist() == [9, 0 if variant_scores == "zero" else 8, 25, 20]


@pytest.mark.parametrize("mode", MODES)
def test_the_share_of_lost_points_may_change_between_steps(mode):
    """With a share of 1 the returns are those of the score; every lost game counts by the share of its last step."""
    env, kept, score = (make(mode, reward=reward) for reward in ("fireworks", "fireworks", "score"))
    assert env.rewards.lost_points_share == 0
    lost_games, shares = 0, itertools.cycle([0.0, 0.25, 1.0])
    changed, most, least = play(env), play(kept), play(score)
    for share in itertools.islice(shares, 150):
        env.rewards.lost_points_share = share
        (reward, _, info), (points, _, _), (zero, _, _) = next(changed), next(most), next(least)
        np.testing.assert_allclose(reward, (1 - share) * points + share * zero, atol=1e-6)
        lost_games += np.isin(info["final_ending"], starmine.defeats()).sum()
        np.testing.assert_array_equal(info["final_score"][np.isin(info["final_ending"], starmine.defeats())], 0)
    assert lost_games > 30
