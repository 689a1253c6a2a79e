"""Gymnasium's and Stable-Baselines3's checks, masks, and every vector wrapper in every autoreset mode."""

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, MultiDiscrete
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

import starmine

ENV_ID = "starmine:Starmine/Hanabi-v0"
MODES = ["SameStep", "NextStep", "Disabled"]
SETTINGS = {"variant": "small", "illegal_action": "terminate"}
GAMES = 4


def double(values):
    return values * 2


# How each wrapper is made. FilterObservation wants observations of several parts, GrayscaleObservation and
# ResizeObservation images, ClipAction and RescaleAction continuous actions, RecordVideo and HumanRendering
# pictures: they refuse Gymnasium's own environment of these games too, and are here to see just that.
WRAPPERS = {
    "TransformObservation": lambda env: wrappers.TransformObservation(
        env, double, single_observation_space=Box(0, 2, env.single_observation_space.shape, np.float32)
    ),
    "VectorizeTransformObservation": lambda env: wrappers.VectorizeTransformObservation(
        env,
        gymnasium.wrappers.TransformObservation,
        func=double,
        observation_space=Box(0, 2, env.single_observation_space.shape, np.float32),
    ),
    "FilterObservation": lambda env: wrappers.FilterObservation(env, ["obs"]),
    "FlattenObservation": wrappers.FlattenObservation,
    "GrayscaleObservation": wrappers.GrayscaleObservation,
    "ResizeObservation": lambda env: wrappers.ResizeObservation(env, (2, 2)),
    "ReshapeObservation": lambda env: wrappers.ReshapeObservation(env, (1, *env.single_observation_space.shape)),
    "RescaleObservation": lambda env: wrappers.RescaleObservation(env, -1, 1),
    "DtypeObservation": lambda env: wrappers.DtypeObservation(env, np.float64),
    "NormalizeObservation": wrappers.NormalizeObservation,
    "TransformAction": lambda env: wrappers.TransformAction(env, lambda actions: actions),
    "VectorizeTransformAction": lambda env: wrappers.VectorizeTransformAction(
        env, gymnasium.wrappers.TransformAction, func=lambda action: action, action_space=env.single_action_space
    ),
    "ClipAction": wrappers.ClipAction,
    "RescaleAction": lambda env: wrappers.RescaleAction(env, -1, 1),
    "TransformReward": lambda env: wrappers.TransformReward(env, double),
    "VectorizeTransformReward": lambda env: wrappers.VectorizeTransformReward(
        env, gymnasium.wrappers.TransformReward, func=double
    ),
    "ClipReward": lambda env: wrappers.ClipReward(env, 0, 0.5),
    "NormalizeReward": wrappers.NormalizeReward,
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "DictInfoToList": wrappers.DictInfoToList,
    "RecordVideo": lambda env: wrappers.RecordVideo(env, "videos"),
    "HumanRendering": wrappers.HumanRendering,
}


class SeedOfEachGame(gymnasium.vector.VectorWrapper):
    """Seeds games one by one, as SyncVectorEnv does, where an integer would seed the batch."""

    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=None if seed is None else [seed + game for game in range(GAMES)], options=options)


def environments(mode):
    """Gymnasium's vector environment of single games, and ours."""
    single = SyncVectorEnv([lambda: starmine.HanabiEnv(**SETTINGS)] * GAMES, autoreset_mode=AutoresetMode(mode))
    return single, SeedOfEachGame(starmine.HanabiVectorEnv(GAMES, autoreset_mode=mode, **SETTINGS))


class Masks:
    """The last mask of each game, from info as a dict of arrays or as a list, which may tell of some games only."""

    def __init__(self):
        self.rows = [None] * GAMES

    def update(self, info):
        for game in range(GAMES):
            if isinstance(info, list):
                self.rows[game] = info[game].get("action_mask", self.rows[game])
            elif info["_action_mask"][game]:
                self.rows[game] = info["action_mask"][game]

    def choose(self, rng):
        return np.array([(rng.random(len(row)) * row).argmax() for row in self.rows])


def play(env, mode, steps=40):
    """What the wrapped environment returned: (observation, reward, terminated, truncated) of each step."""
    rng, masks, returned = np.random.default_rng(0), Masks(), []
    obs, info = env.reset(seed=0)
    masks.update(info)
    for _ in range(steps):
        obs, *rest, info = env.step(masks.choose(rng))
        masks.update(info)
        returned.append((obs, *rest))
        if mode == "Disabled" and rest[1].any():
            obs, info = env.reset(options={"reset_mask": rest[1].copy()})
            masks.update(info)
            returned.append((obs,))
    return returned


def refusal(make, env):
    """Why a wrapper takes no such environment, without the environment's name; None if it does."""
    try:
        make(env)
    except (ValueError, TypeError) as error:
        return type(error)
    return None


# DtypeObservation casts the bounds of a space that it takes for unbounded.
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapper_takes_our_vector_env_as_gymnasiums_own(name, mode):
    single, ours = environments(mode)
    expected_refusal = refusal(WRAPPERS[name], single)
    assert refusal(WRAPPERS[name], ours) == expected_refusal
    if expected_refusal:
        return
    # NormalizeObservation refuses the reset of some games, in both.
    single, ours = (WRAPPERS[name](env) for env in environments(mode))
    assert ours.single_observation_space == single.single_observation_space
    assert ours.single_action_space == single.single_action_space
    episodes = 0
    for found, expected in zip(play(ours, mode), play(single, mode), strict=True):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        episodes += int(expected[2].sum()) if len(expected) > 1 else 0
    assert episodes > 4


def test_no_wrapper_of_gymnasium_is_forgotten():
    conversions = {"ArrayConversion", "JaxToNumpy", "JaxToTorch", "NumpyToTorch"}
    assert set(WRAPPERS) == set(wrappers.__all__) - conversions


# --- Checks and masks of one game -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "bits"])
def test_check_env_of_stable_baselines3(dtype):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    env = starmine.HanabiEnv(dtype=dtype, illegal_action="terminate")
    checker.check_env(env)
    check_env(gymnasium.make(ENV_ID, dtype=dtype, illegal_action="terminate").unwrapped)


def test_action_masks_are_those_of_info():
    env = gymnasium.make(ENV_ID)
    with pytest.raises(ResetNeeded):
        env.unwrapped.action_masks()
    _, info = env.reset(seed=3)
    env.action_space.seed(3)  # with which the game goes on for five turns
    for _ in range(5):
        masks = env.get_wrapper_attr("action_masks")()
        np.testing.assert_array_equal(masks, info["action_mask"])
        masks[:] = 0
        np.testing.assert_array_equal(env.unwrapped.action_masks(), info["action_mask"])
        *_, info = env.step(env.action_space.sample(env.unwrapped.action_masks()))


def test_state_is_a_copy_of_the_game():
    env = starmine.HanabiEnv(**SETTINGS)
    with pytest.raises(ResetNeeded):
        env.state  # noqa: B018 - reading it is the test
    rng = np.random.default_rng(0)
    for episode in range(3):
        _, info = env.reset(seed=9 if episode == 0 else None)
        expected = env.variant.new_game(seed=9, episode=episode)
        while not expected.is_terminal:
            if rng.random() < 0.5:  # nobody looks at most games
                assert env.state == expected
            env.state.apply(expected.legal_actions()[0])
            action = env.action_space.sample(info["action_mask"])
            expected.apply(int(action))
            *_, info = env.step(np.array([action]))
        assert env.state == expected


def test_state_is_that_before_the_illegal_action():
    env = starmine.HanabiEnv(**SETTINGS)
    env.reset(seed=0)
    before = env.state
    *_, terminated, _, info = env.step(-1)
    assert terminated
    assert info["illegal_action"]
    assert env.state == before


# --- Masks of many games ----------------------------------------------------------------------------------


def test_the_vector_action_space_samples_with_the_masks():
    env = starmine.HanabiVectorEnv(GAMES, autoreset_mode="NextStep")
    assert isinstance(env.action_space, MultiDiscrete)
    env.action_space.seed(0)
    _, info = env.reset(seed=0)
    seen = set()
    for _ in range(200):
        mask = info["action_mask"]
        actions = env.action_space.sample(mask)
        assert env.action_space.contains(actions)
        ended = ~mask.any(axis=1)
        assert (mask[np.arange(GAMES), actions] | ended).all()
        assert (actions[ended] == 0).all()
        seen |= set(actions.tolist())
        assert env.action_space.contains(env.action_space.sample(tuple(mask.astype(np.int8))))
        *_, info = env.step(actions)
    assert seen == set(range(env.variant.num_actions))


# --- Infos of one game ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "extra_outputs", [(), ("card_features", "public_marginals", "own_hand")], ids=["plain", "extra"]
)
@pytest.mark.parametrize("illegal", [False, True])
def test_infos_of_one_game_have_the_same_keys_and_types_in_every_step(illegal, extra_outputs):
    env = starmine.HanabiEnv(extra_outputs=extra_outputs, **SETTINGS)
    _, info = env.reset(seed=0)
    form = {name: (type(value), value.dtype, value.shape) for name, value in info.items()}
    assert {kind for kind, *_ in form.values()} == {np.ndarray, np.int32, np.bool_, np.int8}
    assert info["ending"] == 0
    for step in range(200):
        hint = int(np.flatnonzero(info["action_mask"])[-1])  # while there are tokens; it ends no game
        _, _, terminated, _, info = env.step(-1 if illegal and step == 2 else hint)
        assert {name: (type(value), value.dtype, value.shape) for name, value in info.items()} == form
        assert (info["ending"] > 0) == terminated
        if terminated:
            break
    assert terminated
    assert info["illegal_action"] == illegal
    assert starmine.endings()[info["ending"] - 1] == ("lost" if illegal else env.state.ending)
    assert list(form) == ["action_mask", "current_player", "score", "illegal_action", "ending", *extra_outputs]
