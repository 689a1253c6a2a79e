"""JaxMARL's Hanabi as a separate process, because it may need another Python environment.

Run by `peers.py`. It writes its version, and for each line of standard input, a number of seconds, the steps per second
that it made. All games are stepped by one jitted call, with automatic reset, as in JaxMARL's own baselines.
"""

from __future__ import annotations

import os
import sys
import time
from importlib import metadata
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")


def stepper(players: int, games: int) -> tuple[Any, Any]:
    """The compiled step with uniformly random legal actions, and the first (key, state)."""
    import jax
    import jax.numpy as jnp
    import jaxmarl

    env = jaxmarl.make("hanabi", num_agents=players)

    def step(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        key, state = carry
        key, key_actions, key_step = jax.random.split(key, 3)
        legal = jax.vmap(env.get_legal_moves)(state)
        actions = {
            agent: jax.random.categorical(agent_key, jnp.where(legal[agent] > 0, 0.0, -jnp.inf))
            for agent, agent_key in zip(env.agents, jax.random.split(key_actions, players), strict=True)
        }
        keys = jax.random.split(key_step, games)
        observations, state, rewards, dones, _ = jax.vmap(env.step)(keys, state, actions)
        return (key, state), (observations, rewards, dones)

    key = jax.random.key(0)
    _, state = jax.jit(jax.vmap(env.reset))(jax.random.split(key, games))
    # `reset` returns weaker types than `step`; equal types avoid a second compilation of the step.
    state = jax.tree.map(lambda leaf: leaf.astype(leaf.dtype), state)
    return jax.jit(step), (key, state)


def main() -> None:
    """Answer requests until the input ends."""
    players, games = map(int, sys.argv[1:])
    # JaxMARL prints when it is imported, so only answers go to the standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import jax

    step, carry = stepper(players, games)
    for _ in range(2):
        carry, _ = jax.block_until_ready(step(carry))
    assert step._cache_size() == 1, "the step was compiled again: its compilation would be measured"
    print(metadata.version("jaxmarl"), file=answers, flush=True)
    for line in sys.stdin:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < float(line):
            carry, _ = jax.block_until_ready(step(carry))
            steps += games
        print(steps / (time.perf_counter() - start), file=answers, flush=True)


if __name__ == "__main__":
    main()
