"""The Gymnasium classes: registration, spaces, autoreset, info, wrappers, the order of calls and rendering."""

import random
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
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


@pytest.mark.parametrize("mode", MODES)
def test_make_vec_takes_gymnasiums_autoreset_mode(mode):
    env = gymnasium.make_vec(ENV_ID, num_envs=2, autoreset_mode=AutoresetMode(mode))
    assert env.autoreset_mode is env.metadata["autoreset_mode"] is AutoresetMode(mode)


def test_metadata_of_one_environment_is_not_the_others():
    first = starmine.HanabiVectorEnv(1, autoreset_mode="Disabled")
    second = starmine.HanabiVectorEnv(1)
    assert first.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    assert second.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


# --- Spaces -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observers", ["current", "all"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_spaces_contain_the_observations(dtype, observers):
    settings = {"dtype": dtype, "observers": observers, "players": 3}
    single = starmine.HanabiEnv(**settings)
    vector = starmine.HanabiVectorEnv(4, **settings)
    assert single.observation_space == vector.single_observation_space
    assert single.action_space == vector.single_action_space
    assert vector.action_space.shape == (4,)
    obs, info = single.reset(seed=0)
    rows, infos = vector.reset(seed=0)
    rng = random.Random(0)
    for _ in range(60):
        assert single.observation_space.contains(obs)
        assert vector.observation_space.contains(rows)
        assert rows.dtype == vector.observation_space.dtype
        actions = legal_actions(infos["action_mask"], rng)
        assert vector.action_space.contains(actions)
        rows, _, _, _, infos = vector.step(actions)
        (action,) = legal_actions([info["action_mask"]], rng)
        obs, _, terminated, _, info = single.step(action)
        if terminated:
            obs, info = single.reset()


def test_layout_describes_the_observations():
    env = starmine.HanabiVectorEnv(2, dtype="uint8")
    obs, _ = env.reset(seed=0)
    assert len(env.layout) == obs.shape[1]
    assert (obs[:, env.layout["information_tokens"].slice] == 1).all()
    assert starmine.HanabiEnv().layout["fireworks"] == env.layout["fireworks"]


def test_the_action_space_samples_with_the_mask():
    env = starmine.HanabiEnv()
    _, info = env.reset(seed=0)
    for _ in range(20):
        assert info["action_mask"][env.action_space.sample(info["action_mask"])]


# --- Gymnasium's checker ----------------------------------------------------------------------------------


@pytest.mark.parametrize("observers", ["current", "all"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_check_env(dtype, observers):
    # Random actions without a mask, so an illegal one must not raise; through `make`, for its spec.
    env = gymnasium.make(ENV_ID, illegal_action="terminate", dtype=dtype, observers=observers)
    check_env(env.unwrapped)


WITHOUT_PICTURES = """
import sys
sys.modules[{library!r}] = None  # as if it were not installed
import gymnasium, starmine
from gymnasium.utils.env_checker import check_env
env = gymnasium.make("starmine:Starmine/Hanabi-v0", illegal_action="terminate")
check_env(env.unwrapped)
assert env.metadata["render_modes"] == ["ansi", "human"]
assert starmine.HanabiVectorEnv(2).metadata["render_modes"] == []
for env in (starmine.HanabiEnv(render_mode="rgb_array"), starmine.HanabiVectorEnv(2, render_mode="rgb_array")):
    env.reset(seed=0)
    try:
        env.render()
    except ImportError as error:
        assert "pip install 'starmine[pictures]'" in str(error)
    else:
        raise AssertionError("it was drawn")
"""


@pytest.mark.parametrize("library", ["resvg_py", "PIL"])
def test_check_env_without_the_libraries_of_pictures(library):
    code = WITHOUT_PICTURES.format(library=library)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_check_env_with_a_render_mode():
    check_env(gymnasium.make(ENV_ID, illegal_action="terminate", render_mode="ansi").unwrapped)


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


def test_a_vector_env_of_one_seed_is_so_many_single_states():
    env = starmine.HanabiVectorEnv(3, dtype="uint8", players=4)
    for seed in (0, 9):
        obs, info = env.reset(seed=seed)
        for index in range(3):
            state = env.variant.new_game(seed=seed, game=index)
            np.testing.assert_array_equal(obs[index], state.encode(0))
            np.testing.assert_array_equal(info["action_mask"][index], state.legal_action_mask())


# --- Autoreset --------------------------------------------------------------------------------------------


def test_same_step_shows_the_new_game_and_keeps_the_last_observation():
    env = starmine.HanabiVectorEnv(2, "small", seed=0, illegal_action="terminate", dtype="uint8")
    env.reset()
    obs, _, terminated, _, info = env.step([-1, env.variant.action("play 0")])
    assert terminated[0]
    np.testing.assert_array_equal(obs[0], env.variant.new_game(seed=0, episode=1).encode(0))
    assert info["final_obs"].dtype == object
    assert info["final_obs"][0].shape == obs[0].shape
    assert not info["final_obs"][0][env.layout["life_tokens"].slice].any()
    assert info["final_info"]["length"][0] == info["final_length"][0] == 1
    assert info["illegal_action"].tolist() == [True, False]


def test_next_step_ignores_the_action_of_a_finished_game():
    env = starmine.HanabiVectorEnv(1, seed=0, autoreset_mode="NextStep", illegal_action="terminate", dtype="uint8")
    env.reset()
    obs, _, terminated, _, info = env.step([-1])
    assert terminated[0]
    assert not info["action_mask"].any()
    assert not obs[0][env.layout["life_tokens"].slice].any()
    obs, reward, terminated, _, info = env.step([123456])
    assert reward[0] == 0
    assert not terminated[0]
    assert not info["illegal_action"][0]
    np.testing.assert_array_equal(obs[0], env.variant.new_game(seed=0, episode=1).encode(0))


def test_the_error_of_an_illegal_action_says_how_to_choose():
    """A first loop often samples without the mask."""
    for env in (starmine.HanabiEnv(), starmine.HanabiVectorEnv(2)):
        env.reset(seed=0)
        with pytest.raises(starmine.IllegalActionError) as caught:
            env.step(np.zeros(getattr(env, "num_envs", 1), dtype=int))  # no discard with all tokens there
        (note,) = caught.value.__notes__
        assert 'env.action_space.sample(info["action_mask"])' in note
        assert 'illegal_action="terminate"' in note


def test_disabled_waits_for_a_reset_of_the_games_that_ended():
    env = starmine.HanabiVectorEnv(3, seed=0, autoreset_mode="Disabled", illegal_action="terminate")
    env.reset()
    before, _, terminated, _, _ = env.step([5, -1, 5])
    with pytest.raises(starmine.IllegalActionError, match=r"game 1 is over: reset it first") as caught:
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


def run_with_returns(env, steps, seed=0):
    """Plays slot 0 or another legal action and returns the finished episodes' (return, length)."""
    inner = env.unwrapped
    _, info = env.reset(seed=seed)
    rng = random.Random(seed)
    finished = []
    for _ in range(steps):
        _, _, terminated, _, info = env.step(legal_actions(info["action_mask"], rng))
        if terminated.any():
            episode = info["episode"]
            assert info["_episode"].tolist() == terminated.tolist()
            np.testing.assert_array_equal(episode["r"][terminated], info["final_score"][terminated])
            np.testing.assert_array_equal(episode["l"][terminated], info["final_length"][terminated])
            finished += episode["l"][terminated].tolist()
            if inner.autoreset_mode is AutoresetMode.DISABLED:
                _, info = env.reset(options={"reset_mask": terminated})
    return finished


@pytest.mark.parametrize("mode", MODES)
def test_record_episode_statistics(mode):
    env = RecordEpisodeStatistics(starmine.HanabiVectorEnv(4, "small", autoreset_mode=mode))
    assert len(run_with_returns(env, 60)) > 8


@pytest.mark.parametrize("mode", MODES)
def test_dict_info_to_list(mode):
    env = DictInfoToList(starmine.HanabiVectorEnv(3, "small", autoreset_mode=mode, illegal_action="terminate"))
    _, infos = env.reset(seed=0)
    assert [info["current_player"] for info in infos] == [0, 0, 0]
    _, _, terminated, _, infos = env.step(np.array([-1, 2, 2]))
    assert terminated[0]
    assert [info["illegal_action"] for info in infos] == [True, False, False]
    assert infos[0]["final_score"] == 0
    assert "final_score" not in infos[1] or terminated[1]
    assert all(info["action_mask"].shape == (env.unwrapped.variant.num_actions,) for info in infos)
    assert ("final_obs" in infos[0]) == (mode == "SameStep")


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
        with pytest.raises(ResetNeeded, match="call reset first"):
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
        with pytest.raises(ClosedEnvironmentError, match="closed"):
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


def test_render_human_prints_each_turn(capsys):
    env = starmine.HanabiEnv(render_mode="human")
    env.reset(seed=4)
    env.step(5)
    assert env.render() is None
    assert capsys.readouterr().out.count("fireworks") == 2


def test_render_after_many_episodes_shows_the_game_that_is_played():
    env = starmine.HanabiEnv("small", render_mode="ansi", seed=2)
    for _ in range(4):
        _, info = env.reset()
        terminated = False
        while not terminated:
            _, _, terminated, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        assert f"over: {starmine.endings()[info['ending'] - 1]}" in env.render()
        assert f"score {info['score']}/" in env.render()


def test_a_single_action_is_an_id_a_move_or_text():
    for form in (5, np.int8(5), np.array([5]), "play 0", np.str_("play slot 0"), starmine.Variant().move(5)):
        env = starmine.HanabiEnv(players=2)
        env.reset(seed=1)
        env.step(form)
        assert [event.action for event in env.state.history] == [5]


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        ("nonsense", starmine.NotationError, "nonsense"),
        ("play 9", starmine.StarmineError, "9"),
        (1.5, starmine.ArrayError, "dtype float64: expected a single integer, a Move or text such as 'play 2'"),
        (None, starmine.ArrayError, "action is a NoneType: expected a single integer, a Move or text such as 'play 2'"),
        (True, starmine.ArrayError, "dtype bool: expected a single integer, a Move or text"),
        (["play 0"], starmine.ArrayError, "expected a single integer"),
        ([5, 6], starmine.ArrayError, r"shape \(2,\) .*expected a single integer"),
        ("discard 0", starmine.IllegalActionError, r"actions\[0\]=0"),
    ],
    ids=repr,
)
def test_what_is_no_single_action_is_named(action, error, message):
    env = starmine.HanabiEnv(players=2)
    env.reset(seed=1)
    with pytest.raises(error, match=message):
        env.step(action)
    assert env.state.length == 0


def test_a_seed_that_is_text_is_named():
    env = starmine.HanabiVectorEnv(num_envs=2, players=2)
    for seed in ("3", "34", b"34"):
        with pytest.raises(TypeError, match=f"seed={seed!r} is not allowed: expected an integer"):
            env.reset(seed=seed)
