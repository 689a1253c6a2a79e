"""Records updates of JaxMARL's IPPO and PQN-VDN: tests/data/jaxmarl_training.npz.

Run with the Python of JaxMARL's environment (`make bench` makes it) and a checkout of its repository:

    PYTHONPATH=benchmarks:tests/python/helpers .venv-jaxmarl/bin/python tests/data/make_jaxmarl_training.py ~/JaxMARL

The training scripts are run unchanged, with few games, one minibatch and weights that `first_weights` makes. Of each
turn all that the learner sees is recorded, and of each optimiser step every 1,999th weight after it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from jaxmarl_recipes import SCRIPTS, config_of
from jaxmarl_training_worker import script_of, stand_ins
from jaxmarl_weights import EVERY, first_weights

FEWER = {
    "ippo": {"NUM_ENVS": 4, "NUM_STEPS": 48, "NUM_MINIBATCHES": 1, "TOTAL_TIMESTEPS": 2 * 4 * 48},
    "pqn": {"NUM_ENVS": 16, "NUM_MINIBATCHES": 1, "TOTAL_TIMESTEPS": 12 * 16},
}
TURN = {
    "ippo": ("done", "action", "value", "reward", "log_prob", "obs", "avail_actions"),
    "pqn": ("done", "action", "reward", "obs", "avail_actions"),
}


def record(checkout: Path, algorithm: str) -> dict[str, Any]:
    """Train for a few updates; returns the turns and the weights."""
    import jax
    from flax.traverse_util import flatten_dict, unflatten_dict
    from jaxmarl import make
    from jaxmarl.wrappers.baselines import LogWrapper

    script = script_of(checkout / "baselines" / SCRIPTS[algorithm].script)
    config = config_of(checkout, algorithm) | FEWER[algorithm]
    turns, weights = [], []
    transition, state = script.Transition, getattr(script, SCRIPTS[algorithm].state)

    def recorded(*values: Any, **named: Any) -> Any:
        made = transition(*values, **named)
        seen = [getattr(made, name) for name in TURN[algorithm]]
        jax.experimental.io_callback(lambda *turn: turns.append(list(map(np.asarray, turn))), None, *seen, ordered=True)
        return made

    class Recorded(state):  # type: ignore[misc]
        @classmethod
        def create(cls, *, params: Any, **rest: Any) -> Any:
            shapes = {name: weight.shape for name, weight in flatten_dict(params, sep=",").items()}
            return super().create(params=unflatten_dict(first_weights(shapes), sep=","), **rest)

        def apply_gradients(self, **gradients: Any) -> Any:
            after = super().apply_gradients(**gradients)
            some = {name: weight.ravel()[::EVERY] for name, weight in flatten_dict(after.params, sep=",").items()}
            jax.experimental.io_callback(
                lambda given: weights.append(jax.tree.map(np.asarray, given)), None, some, ordered=True
            )
            return after

    script.Transition = recorded
    setattr(script, SCRIPTS[algorithm].state, Recorded)
    environment = () if algorithm == "ippo" else (LogWrapper(make("hanabi", num_agents=2)),)
    jax.block_until_ready(jax.jit(script.make_train(config, *environment))(jax.random.PRNGKey(1)))
    found = {name: np.stack(values) for name, values in zip(TURN[algorithm], zip(*turns, strict=True), strict=True)}
    return found | {f"{step}/{name}": weight for step, some in enumerate(weights) for name, weight in some.items()}


def main() -> None:
    """Record both."""
    stand_ins()
    found = {}
    for algorithm in SCRIPTS:
        for name, values in record(Path(sys.argv[1]), algorithm).items():
            found[f"{algorithm}/{name}"] = values
            print(algorithm, name, values.shape, flush=True)
    np.savez_compressed(Path(__file__).with_name("jaxmarl_training.npz"), **found)


if __name__ == "__main__":
    main()
