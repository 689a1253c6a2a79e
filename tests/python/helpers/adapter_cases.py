"""The ways to reset and to step games, one row for each class that does, so that one test tries all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import vector as wrappers

import starmine
from starmine import UnknownNameError
from starmine.hle import rl_env

GAMES = 8


def adapter(name):
    """An adapter's module; the test is skipped where its library is missing."""
    return pytest.importorskip(f"starmine.adapters.{name}", exc_type=ImportError)


def unwrapped(env):
    return env


@dataclass
class AdapterCase:
    """A class that resets games.

    Attributes:
        make: an environment of GAMES games, or of one.
        reset: `reset(env, seed, options)`, which returns all that the class hands out.
        observed: the observations that a reset returned, an array with a row for each game.
        wrong: an option that does not exist, and the nearest.
        refusal: the exception for such an option.
        games: what holds the games, a `Batch`, a `State`, or an environment that has one.
        mask: the action masks of what a reset or a step returned, (N, A); None where stepping is not tried.
        step: `step(env, actions, returned)`, which returns all that the class hands out, and whether a game has ended.
    """

    make: Callable[[], Any]
    reset: Callable[..., Any]
    observed: Callable[[Any], Any]
    wrong: tuple[str, str]
    refusal: type = UnknownNameError
    games: Callable[[Any], Any] = unwrapped
    mask: Callable[[Any], Any] | None = None
    step: Callable[..., Any] | None = None

    def snapshot(self, env):
        """Everything about the games and the random numbers of the class; None for HLE's, which has no seeds."""
        games = self.games(env)
        if isinstance(games, starmine.State):
            return games.to_json()
        batch = games if isinstance(games, starmine.Batch) else getattr(games, "_batch", None)
        generator = getattr(games, "_np_random", None)
        return batch and (batch.to_bytes(), generator and generator.bit_generator.state)


def by_arguments(env, seed, options):
    return env.reset(seed=seed, options=options)


def by_keywords(env, seed, options):
    return env.reset(seed=seed, **(options or {}))


def vector(make, reset=by_arguments, wrong=("deck", "decks"), **settings):
    return AdapterCase(
        make,
        reset,
        lambda returned: returned[0],
        wrong,
        mask=lambda returned: returned[-1]["action_mask"],
        step=lambda env, actions, _: (env.step(actions), False),
        **settings,
    )


def single(make, wrong, **settings):
    def step(env, actions, _):
        returned = env.step(actions[0])
        return returned, returned[2]

    return AdapterCase(
        make,
        by_arguments,
        lambda returned: returned[0][None],
        wrong,
        mask=lambda returned: returned[-1]["action_mask"][None],
        step=step,
        **settings,
    )


def pettingzoo():
    def told(env):
        observations = {agent: env.observe(agent) for agent in env.agents}
        return observations, env.rewards, env.infos, env.last()[:-1], env.state()  # `last` ends with one of the infos

    def reset(env, seed, options):
        env.reset(seed, options)
        return told(env)

    def step(env, actions, _):
        env.step(actions[0])
        return told(env), any(env.terminations.values())

    return AdapterCase(
        adapter("pettingzoo").HanabiAECEnv,
        reset,
        lambda returned: returned[3][0]["observation"][None],
        ("decks", "deck"),
        games=lambda env: env._game,
        mask=lambda returned: returned[3][0]["action_mask"][None],
        step=step,
    )


def sb3():
    def reset(env, seed, options):
        if options is not None:
            env.set_options(options)
        if seed is not None:
            env.seed(seed)
        return env.reset(), env.action_masks()

    def step(env, actions, _):
        return (*env.step(actions), env.action_masks()), False

    return AdapterCase(
        lambda: adapter("sb3").HanabiVecEnv(GAMES),
        reset,
        lambda returned: returned[0],
        ("decks", "deck"),
        games=lambda env: env.env,
        mask=lambda returned: returned[-1],
        step=step,
    )


def jax():
    return AdapterCase(
        lambda: adapter("jax").HanabiJaxEnv(GAMES, autoreset_mode="SameStep"),
        by_keywords,
        lambda returned: np.asarray(returned.obs),
        ("deck", "decks"),
        TypeError,
        games=lambda env: env._env._batch,
    )


def hle():
    return AdapterCase(
        lambda: rl_env.HanabiEnv({"players": 2}),
        lambda env, seed, options: env.reset(**(options or {})),
        lambda returned: None,
        ("decks", "deck"),
        TypeError,
    )


CASES = {
    "vector": lambda: vector(partial(starmine.HanabiVectorEnv, GAMES)),
    "vector, next step": lambda: vector(partial(starmine.HanabiVectorEnv, GAMES, autoreset_mode="NextStep")),
    "gymnasium's vector": lambda: vector(
        lambda: gymnasium.make_vec("starmine:Starmine/Hanabi-v0", num_envs=GAMES), wrong=("resetmask", "reset_mask")
    ),
    "wrapped vector": lambda: vector(
        lambda: wrappers.TransformReward(starmine.HanabiVectorEnv(GAMES), np.abs), games=lambda env: env.unwrapped
    ),
    "single": lambda: single(starmine.HanabiEnv, ("decks", "deck")),
    "gymnasium's single": lambda: single(
        lambda: gymnasium.make("starmine:Starmine/Hanabi-v0"),
        ("start_players", "start_player"),
        games=lambda env: env.unwrapped,
    ),
    "pettingzoo": pettingzoo,
    "sb3": sb3,
    "jax": jax,
    "hle": hle,
}
