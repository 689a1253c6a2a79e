"""JaxMARL's own IPPO for Hanabi, from a checkout of its repository, as a separate process.

Run by `training_speed.py` with the file `ippo_ff_hanabi.py`, a number of games, turns, epochs and minibatches, and the
widths of the network, which stands in for its own. It writes its version, and for each line of standard input, a number
of seconds, the environment steps per second that it made: updates of a compiled training run, for about so long.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")


def stand_ins() -> None:
    """Replaces modules that the measurement does not need: configuration, logging, a distribution."""
    import jax

    class Categorical:
        def __init__(self, logits: Any) -> None:
            self.logits = jax.nn.log_softmax(logits)

        def sample(self, seed: Any) -> Any:
            return jax.random.categorical(seed, self.logits)

        def log_prob(self, value: Any) -> Any:
            return jax.numpy.take_along_axis(self.logits, value[..., None], -1)[..., 0]

        def entropy(self) -> Any:
            return -(jax.numpy.exp(self.logits) * self.logits).sum(-1)

    given: dict[str, dict[str, Any]] = {
        "hydra": {"main": lambda **_: lambda function: function},
        "omegaconf": {"OmegaConf": SimpleNamespace()},
        "wandb": {"log": lambda _: None},
        "distrax": {"Categorical": Categorical},
    }
    for name, attributes in given.items():
        if name == "wandb" or not find_spec(name):
            module = ModuleType(name)
            vars(module).update(attributes)
            sys.modules[name] = module


def script_of(path: Path) -> Any:
    """A training script as a module."""
    spec = spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def network(script: Any, hidden: list[int]) -> Any:
    """ReLU layers, shared by the logits and the value."""
    import distrax
    from flax import linen

    class ActorCritic(linen.Module):  # type: ignore[misc]
        action_dim: int
        config: dict[str, Any]

        @linen.compact  # type: ignore[untyped-decorator]
        def __call__(self, given: Any) -> Any:
            x, _, legal = given
            for width in hidden:
                x = linen.relu(linen.Dense(width, kernel_init=linen.initializers.orthogonal(2**0.5))(x))
            heads = linen.Dense(self.action_dim + 1, kernel_init=linen.initializers.orthogonal(0.01))(x)
            return distrax.Categorical(logits=heads[..., :-1] - (1 - legal) * 1e10), heads[..., -1]

    script.ActorCritic = ActorCritic


def trainer(path: Path, games: int, turns: int, epochs: int, minibatches: int, hidden: list[int]) -> Callable[[], None]:
    """A compiled function that makes a few updates."""
    import jax

    stand_ins()
    script = script_of(path)
    network(script, hidden)
    rest = {"GAMMA": 0.99, "GAE_LAMBDA": 0.95, "CLIP_EPS": 0.2, "ENT_COEF": 0.01, "VF_COEF": 0.5, "MAX_GRAD_NORM": 0.5}
    config = {
        **{"LR": 5e-4, "NUM_ENVS": games, "NUM_STEPS": turns, "TOTAL_TIMESTEPS": UPDATES * games * turns},
        **{"UPDATE_EPOCHS": epochs, "NUM_MINIBATCHES": minibatches, **rest},
        **{"ENV_NAME": "hanabi", "ENV_KWARGS": {}, "ANNEAL_LR": False},
    }
    train = jax.jit(script.make_train(config))
    seeds = iter(range(10**9))

    def run() -> None:
        jax.block_until_ready(train(jax.random.key(next(seeds))))

    return run


UPDATES = 4


def main() -> None:
    """Answer requests until the input ends."""
    path = Path(sys.argv[1])
    games, turns, epochs, minibatches, *hidden = map(int, sys.argv[2:])
    # JaxMARL prints when it is imported, so only answers go to the standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    run = trainer(path, games, turns, epochs, minibatches, hidden)
    run()
    print(metadata.version("jaxmarl"), file=answers, flush=True)
    for line in sys.stdin:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < float(line):
            run()
            steps += UPDATES * games * turns
        print(steps / (time.perf_counter() - start), file=answers, flush=True)


if __name__ == "__main__":
    main()
