"""The Gymnasium classes: registration, spaces, autoreset, info, wrappers, the order of calls and rendering."""

import random

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from vector_games import DTYPES, MODES, legal_actions

import starmine

ENV_ID = "starmine:Starmine/Hanabi-v0"

# --- Registration -----------------------------------------------------------------------------------------


def test_make():
    env = gymnasium.make(ENV_ID, players=3, dtype="uint8", illegal_action="terminate")
    obs, info = env.reset(seed=1)
    assert env.unwrapped.variant == starmine.Variant(players=3)
    assert obs.dtype == np.uint8
    rng = random.Random(1)
    terminated = False
    while not terminated:
        (action,) = legal_actions([info["action_mask"]], rng)
        obs, _, terminated, truncated, info = env.step(action)
        assert not truncated
    assert starmine.endings()[info["ending"] - 1] == env.unwrapped.state.ending
    env.close()


def test_make_vec():
    env = gymnasium.make_vec(ENV_ID, num_envs=6, variant="small", players=3, observers="all", dtype="bits")
    assert isinstance(env, starmine.HanabiVectorEnv)
    assert env.num_envs == 6
    assert env.variant == starmine.variant("small", players=3)
    obs, _ = env.reset(seed=0)
    assert obs.shape == env.observation_space.shape
    assert env.spec.id == "Starmine/Hanabi-v0"
    env.close()


# --- Gymnasium's checker ----------------------------------------------------------------------------------


@pytest.mark.parametrize("observers", ["current", "all"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_check_env(dtype, observers):
    # Random actions without a mask, so an illegal one must not raise; through `make`, for its spec.
    env = gymnasium.make(ENV_ID, illegal_action="terminate", dtype=dtype, observers=observers)
    check_env(env.unwrapped)


# --- A vector environment and so many single ones ---------------------------------------------------------


def make_pair(num_envs, mode, **settings):
    """The vector environment and Gymnasium's own over single ones, dealt alike."""
    vector = starmine.HanabiVectorEnv(num_envs, autoreset_mode=mode, **settings)
    make = [lambda: starmine.HanabiEnv(**settings) for _ in range(num_envs)]
    return vector, SyncVectorEnv(make, autoreset_mode=AutoresetMode(mode))


def assert_same_info(info, single):
    for key in ("action_mask", "current_player", "score"):
        np.testing.assert_array_equal(info[key], single[key], err_msg=key)
        assert info["_" + key].all()
    # Where SameStep has dealt anew, Gymnasium's info is the new game's and ours still tells of the step.
    illegal = single["illegal_action"].copy()
    if "final_info" in single:
        ended = single["_final_info"]
        illegal[ended] = single["final_info"]["illegal_action"][ended]
    np.testing.assert_array_equal(info["illegal_action"], illegal)


def assert_same_final(info, single):
    """Checks what SameStep tells of the games that ended."""
    assert ("final_obs" in info) == ("final_obs" in single)
    if "final_obs" not in info:
        return
    np.testing.assert_array_equal(info["_final_obs"], single["_final_obs"])
    for found, expected in zip(info["final_obs"], single["final_obs"], strict=True):
        assert (found is None) == (expected is None)
        if found is not None:
            np.testing.assert_array_equal(found, expected)
    ended = info["_final_info"]
    np.testing.assert_array_equal(ended, single["_final_info"])
    np.testing.assert_array_equal(info["final_info"]["score"][ended], single["final_info"]["score"][ended])
    np.testing.assert_array_equal(info["final_info"]["ending"][ended], single["final_info"]["ending"][ended])


@pytest.mark.parametrize("observers", ["current", "all"])
@pytest.mark.parametrize("mode", MODES)
def test_a_vector_env_is_so_many_single_ones(mode, observers):
    settings = {"variant": "small", "players": 3, "observers": observers, "illegal_action": "terminate"}
    vector, single = make_pair(5, mode, **settings)
    obs, info = vector.reset(seed=[10, 11, 12, 13, 14])
    single_obs, single_info = single.reset(seed=10)
    np.testing.assert_array_equal(obs, single_obs)
    assert_same_info(info, single_info)
    rng = random.Random(0)
    episodes = 0
    for _ in range(80):
        actions = legal_actions(info["action_mask"], rng)
        if rng.random() < 0.1:
            actions[rng.randrange(5)] = rng.randrange(vector.variant.num_actions)
        obs, reward, terminated, truncated, info = vector.step(actions)
        expected = single.step(actions)
        for found, wanted in zip((obs, reward, terminated, truncated), expected, strict=False):
            np.testing.assert_array_equal(found, wanted)
        assert_same_info(info, expected[4])
        assert_same_final(info, expected[4])
        episodes += int(terminated.sum())
        if mode == "Disabled" and terminated.any():
            obs, info = vector.reset(options={"reset_mask": terminated})
            single_obs, single_info = single.reset(options={"reset_mask": terminated})
            np.testing.assert_array_equal(obs, single_obs)
            np.testing.assert_array_equal(info["action_mask"][terminated], single_info["action_mask"][terminated])
            np.testing.assert_array_equal(info["_action_mask"], single_info["_action_mask"])
    assert episodes > 10


# --- Autoreset --------------------------------------------------------------------------------------------


def test_disabled_waits_for_a_reset_of_the_games_that_ended():
    env = starmine.HanabiVectorEnv(3, seed=0, autoreset_mode="Disabled", illegal_action="terminate")
    env.reset()
    before, _, terminated, _, _ = env.step([5, -1, 5])
    with pytest.raises(starmine.IllegalActionError) as caught:
        env.step([5, 5, 5])
    assert caught.value.rows == [1]
    options = {"reset_mask": terminated.copy()}
    obs, info = env.reset(options=options)
    np.testing.assert_array_equal(options["reset_mask"], [False, True, False])
    np.testing.assert_array_equal(info["_action_mask"], [False, True, False])
    np.testing.assert_array_equal(obs[[0, 2]], before[[0, 2]])
    assert env._batch.episodes.tolist() == [0, 1, 0]
    env.step([5, 5, 5])


# --- Wrappers ---------------------------------------------------------------------------------------------


def test_info_is_arrays_with_masks():
    env = starmine.HanabiVectorEnv(3, "small", illegal_action="terminate")
    _, reset_info = env.reset(seed=0)
    *_, info = env.step([-1, 2, 2])
    for given in (reset_info, info):
        for key in [key for key in given if not key.startswith("_")]:
            mask = given["_" + key]
            assert mask.dtype == bool
            assert mask.shape == (3,)
            if key != "final_info":
                assert given[key].shape[0] == 3


# --- Order of calls ---------------------------------------------------------------------------------------


def test_reset_comes_first():
    vector, single = starmine.HanabiVectorEnv(2), starmine.HanabiEnv()
    for env, action in ((vector, [5, 5]), (single, 5)):
        with pytest.raises(ResetNeeded):
            env.step(action)
        env.reset(seed=0)
        env.step(action)


def test_a_closed_vector_env_is_closed():
    env = starmine.HanabiVectorEnv(2)
    env.reset(seed=0)
    env.close()
    env.close()
    assert env.closed
    for call in (env.reset, lambda: env.step([5, 5])):
        with pytest.raises(ClosedEnvironmentError):
            call()


def test_a_reset_without_seed_goes_on_with_the_next_episode():
    env = starmine.HanabiEnv(seed=3, dtype="uint8")
    for episode in range(3):
        obs, _ = env.reset()
        np.testing.assert_array_equal(obs, env.variant.new_game(seed=3, episode=episode).encode(0))
    obs, _ = env.reset(seed=3)
    np.testing.assert_array_equal(obs, env.variant.new_game(seed=3).encode(0))


# --- Rendering --------------------------------------------------------------------------------------------


def test_render_ansi_is_the_board():
    env = starmine.HanabiEnv(render_mode="ansi", illegal_action="terminate")
    env.reset(seed=4)
    state = env.variant.new_game(seed=4)
    for action in ("play 0", "play 1"):
        assert env.render() == str(state)
        env.step(env.variant.action(action))
        state.apply(action)
    assert env.render() == str(state)
    env.step(99)
    assert "illegal action" in env.render()


def test_a_single_action_is_an_id_a_move_or_text():
    for form in (5, np.int8(5), np.array([5]), "play 0", np.str_("play slot 0"), starmine.Variant().move(5)):
        env = starmine.HanabiEnv(players=2)
        env.reset(seed=1)
        env.step(form)
        assert [event.action for event in env.state.history] == [5]
