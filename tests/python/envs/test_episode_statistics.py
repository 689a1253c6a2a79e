"""Gymnasium's RecordEpisodeStatistics: right with "SameStep" from Gymnasium 1.4, and a warning with older versions.

`make test` runs this file with the newest Gymnasium and with the one that RLlib installs.
"""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics, TransformReward

import starmine

MODES = ["SameStep", "NextStep", "Disabled"]
IS_RIGHT = tuple(map(int, gymnasium.__version__.split(".")[:2])) >= (1, 4)
WARNING = r"RecordEpisodeStatistics of Gymnasium \d+\.\d+\.\d+ counts wrong"


def make(mode, games=4):
    return starmine.HanabiVectorEnv(games, "small", lost_game_score="fireworks", autoreset_mode=mode)


def play(env, mode, steps=120):
    """How many episodes ended, and how many of them the wrapper counted wrong."""
    rng, ended, wrong = np.random.default_rng(0), 0, 0
    _, info = env.reset(seed=0)
    for _ in range(steps):
        mask = info["action_mask"]
        *_, terminated, _, info = env.step(((1 - rng.random(mask.shape)) * mask).argmax(axis=1))
        for game in np.flatnonzero(terminated):
            counted = (info["episode"]["r"][game], info["episode"]["l"][game])
            ended, wrong = ended + 1, wrong + (counted != (info["final_score"][game], info["final_length"][game]))
        if mode == "Disabled" and terminated.any():
            _, info = env.reset(options={"reset_mask": terminated.copy()})
    return ended, wrong


@pytest.mark.filterwarnings(f"ignore:{WARNING}")
@pytest.mark.parametrize("mode", MODES)
def test_where_the_statistics_are_right(mode):
    ended, wrong = play(RecordEpisodeStatistics(make(mode)), mode)
    assert ended > 50
    assert (wrong == 0) == (IS_RIGHT or mode != "SameStep")


WRAPPED = {
    "alone": RecordEpisodeStatistics,
    "inside": lambda env: TransformReward(RecordEpisodeStatistics(env), np.abs),
    "outside": lambda env: RecordEpisodeStatistics(TransformReward(env, np.abs)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", WRAPPED)
def test_a_warning_comes_once_and_only_where_they_are_wrong(name, mode):
    env = WRAPPED[name](make(mode))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        play(env, mode, steps=3)
        play(env, mode, steps=3)
    told = [str(warning.message) for warning in caught]
    if IS_RIGHT or mode != "SameStep":
        assert told == []
    else:
        (text,) = told
        assert "gymnasium>=1.4" in text
        assert "NextStep" in text


def test_without_the_wrapper_there_is_no_warning():
    """Nor where the wrapper counts other games, or where it is the caller that has one."""

    class Caller(RecordEpisodeStatistics):
        def step(self, actions):
            other = make("SameStep")
            other.reset(seed=0)
            other.step([other.variant.action("play 0")] * 4)
            return super().step(actions)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = DictInfoToList(make("SameStep"))
        env.reset(seed=0)
        env.step([env.unwrapped.variant.action("play 0")] * 4)
        outer = Caller(make("NextStep"))
        outer.reset(seed=0)
        outer.step([outer.unwrapped.variant.action("play 0")] * 4)
