"""`copy.copy` of an environment is a copy: neither moves the other."""

import copy

import numpy as np
import pytest

import starmine
from starmine.hle import rl_env


def vector(**options):
    env = starmine.HanabiVectorEnv(8, variant="mini", seed=3, **options)
    env.reset(seed=3)
    return env, lambda one: one.step(one._batch.observe()["action_mask"].argmax(1))[0].tolist()


def single():
    env = starmine.HanabiEnv("mini")
    env.reset(seed=3)
    return env, lambda one: one.step(one.action_masks().argmax())[0].tolist()


def of_hle():
    env = rl_env.HanabiEnv({"players": 2, "seed": 3})
    env.reset()

    def step(one):
        action = one.game.get_move_uid(one.state.legal_moves()[-1])
        return [seat["vectorized"] for seat in one.step(action)[0]["player_observations"]]

    return env, step


def of_pettingzoo():
    zoo = pytest.importorskip("starmine.adapters.pettingzoo")
    env = zoo.HanabiAECEnv(colors=2)
    env.reset(seed=3)

    def step(one):
        one.step(int(one.observe(one.agent_selection)["action_mask"].argmax()))
        return [one.observe(agent)["observation"].tolist() for agent in one.agents]

    return env, step


def of_sb3():
    pytest.importorskip("stable_baselines3")
    from starmine.adapters.sb3 import HanabiVecEnv

    env = HanabiVecEnv(8, "mini", seed=3)
    env.reset()
    return env, lambda one: one.step(one.action_masks().argmax(1))[0].tolist()


ENVIRONMENTS = {
    "vector": vector,
    "partners": lambda: vector(partners={1: "iggi"}),
    "python partners": lambda: vector(partners={1: First()}),
    "single": single,
    "hle": of_hle,
    "pettingzoo": of_pettingzoo,
    "sb3": of_sb3,
}


class First:
    """A partner in Python."""

    def act_batch(self, turns):
        return turns.action_mask.argmax(1)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_copy_of_an_environment_goes_its_own_way(name, copied):
    env, step = ENVIRONMENTS[name]()
    twin, _ = ENVIRONMENTS[name]()
    other = copied(env)
    for _ in range(3):
        step(other)
    seen = [step(env) for _ in range(3)]
    assert [step(twin) for _ in range(3)] == seen
    assert [step(copied(one)) for one in (env, twin)] == [step(env)] * 2
    assert np.all([type(one) is type(env) for one in (other, twin)])
