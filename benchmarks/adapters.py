"""Speed of the games in the forms of other libraries, by the processor time of one thread.

Random legal play of two players. The table is Markdown, as in docs/integrations.md.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import tyro

import starmine

GAMES = 256
rng = np.random.default_rng(0)


def choose(masks: Any) -> Any:
    """A random legal action for each row of masks; 0 where there is none."""
    masks = np.asarray(masks)
    return ((1 - rng.random(masks.shape, dtype=np.float32)) * masks).argmax(axis=-1)


def gymnasium_one() -> Iterator[int]:
    """One game of Gymnasium; yields the turns that were played."""
    env = gymnasium.make("starmine:Starmine/Hanabi-v0")
    while True:
        _, info = env.reset()
        terminated = False
        while not terminated:
            _, _, terminated, _, info = env.step(choose(info["action_mask"]))
            yield 1


def gymnasium_many() -> Iterator[int]:
    """Gymnasium's vector environment."""
    env = starmine.HanabiVectorEnv(GAMES, num_threads=1)
    _, info = env.reset()
    while True:
        *_, info = env.step(choose(info["action_mask"]))
        yield GAMES


def aec(name: str) -> Iterator[int]:
    """An environment of PettingZoo."""
    import pettingzoo

    import starmine.adapters.pettingzoo  # noqa: F401 - registers it

    env = pettingzoo.make("aec", name)
    while True:
        env.reset()
        for _ in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            done = termination or truncation
            env.step(None if done else choose(observation["action_mask"]))
            yield 0 if done else 1


def stable_baselines3() -> Iterator[int]:
    """Stable-Baselines3's vector environment, with the masks as MaskablePPO reads them."""
    from starmine.adapters.sb3 import HanabiVecEnv

    env = HanabiVecEnv(GAMES, num_threads=1)
    env.reset()
    while True:
        env.step(choose(np.stack(env.env_method("action_masks"))))
        yield GAMES


def jax() -> Iterator[int]:
    """JAX: 20 turns in each call of a compiled function, with JAX's choice of actions."""
    from jax import jit, lax, random

    from starmine.adapters.jax import HanabiJaxEnv

    env = HanabiJaxEnv(GAMES, autoreset_mode="SameStep", num_threads=1)

    def step(carry: Any, _: None) -> tuple[Any, Any]:
        turn, key = carry
        key, own = random.split(key)
        # One number for each action is cheaper to draw than with `random.categorical`.
        chosen = (turn.action_mask * random.uniform(own, turn.action_mask.shape, minval=0.1)).argmax(axis=1)
        turn = env.step(chosen)
        return (turn, key), (turn.reward, turn.terminated)

    play = jit(lambda carry: lax.scan(step, carry, length=20))
    carry = env.reset(seed=0), random.key(0)
    while True:
        carry, (rewards, _) = play(carry)
        rewards.block_until_ready()
        yield 20 * GAMES


def jaxmarl() -> Iterator[int]:
    """JaxMARL's interface under `vmap`, as `jax`; each seat observes each turn."""
    from jax import jit, lax, random, vmap

    from starmine.adapters.jaxmarl import HanabiJaxMARLEnv

    env = HanabiJaxMARLEnv(num_threads=1)

    def step(carry: Any, _: None) -> tuple[Any, Any]:
        _, state, key = carry
        key, own = random.split(key)
        legal = vmap(env.get_legal_moves)(state)
        drawn = random.uniform(own, (GAMES, env.num_moves), minval=0.1)
        actions = {agent: (legal[agent] * drawn).argmax(axis=1) for agent in env.agents}
        obs, state, rewards, dones, _infos = vmap(env.step)(random.split(key, GAMES), state, actions)
        return (obs, state, key), (rewards["__all__"], dones["__all__"])

    play = jit(lambda carry: lax.scan(step, carry, length=20))
    carry = *vmap(env.reset)(random.split(random.key(0), GAMES)), random.key(1)
    while True:
        carry, (rewards, _) = play(carry)
        rewards.block_until_ready()
        yield 20 * GAMES


def hle() -> Iterator[int]:
    """HLE's interface: the seat to act reads its legal moves and its vector."""
    from starmine.hle import rl_env

    env = rl_env.make()
    while True:
        observations, done = env.reset(), False
        while not done:
            seen = observations["player_observations"][observations["current_player"]]
            legal, _ = seen["legal_moves_as_int"], seen["vectorized"]
            observations, _, done, _ = env.step(legal[int(rng.random() * len(legal))])
            yield 1


FORMS: dict[str, Callable[[], Iterator[int]]] = {
    "Gymnasium, many games": gymnasium_many,
    "Gymnasium, one game": gymnasium_one,
    "HLE's rl_env": hle,
    "JAX": jax,
    "JaxMARL's interface": jaxmarl,
    "PettingZoo": lambda: aec("starmine/hanabi-v0"),
    "PettingZoo, classic/hanabi-v5": lambda: aec("classic/hanabi-v5"),
    "Stable-Baselines3": stable_baselines3,
}


def turns_per_second(form: Iterator[int], seconds: float, rounds: int) -> float:
    """Turns for each second of processor time, the median of some rounds, after some steps that are not counted."""
    for _ in range(20):
        next(form)
    speeds = []
    for _ in range(rounds):
        turns, started = 0, time.process_time()
        while (spent := time.process_time() - started) < seconds:
            turns += next(form)
        speeds.append(turns / spent)
    return statistics.median(speeds)


@dataclass
class Args:
    """The command line."""

    seconds: float = 1.0
    """processor time of a round"""
    rounds: int = 3
    """rounds of each form, whose median counts"""
    forms: tuple[str, ...] = tuple(FORMS)
    """of the table"""


def main() -> None:
    """Measure every form and print the table."""
    options = tyro.cli(Args, description=__doc__)
    try:
        import torch

        torch.set_num_threads(1)
    except ImportError:
        pass
    print("| form | turns per second |\n|---|---|")
    for name in options.forms:
        try:
            print(f"| {name} | {turns_per_second(FORMS[name](), options.seconds, options.rounds):,.0f} |", flush=True)
        except ImportError as error:
            print(f"| {name} | {error} |", flush=True)


if __name__ == "__main__":
    main()
