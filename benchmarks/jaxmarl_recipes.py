"""JaxMARL's own IPPO or PQN-VDN for Hanabi, by its own recipe, with the weights saved along the way.

Run with the Python of JaxMARL's environment (`make bench` makes it). The training script and its configuration come
from a checkout, unchanged except for the number of environment steps and, if given, of games; the greedy games that
PQN-VDN plays between updates are left out.

    .venv-jaxmarl/bin/python benchmarks/jaxmarl_recipes.py ~/JaxMARL ippo 5000000 --seed 1 --out runs/jaxmarl-ippo-1

The output folder gets `STEPS.safetensors` after each fifth of the steps, which `starmine.load_policy` reads, and
`times.csv`.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from jaxmarl_training_worker import script_of, stand_ins


class Source(NamedTuple):
    """Where a checkout has a recipe.

    Attributes:
        script, config: below `baselines`.
        state: the class of the script that holds weights and optimiser.
    """

    script: str
    config: str
    state: str


SCRIPTS = {
    "ippo": Source("IPPO/ippo_ff_hanabi.py", "IPPO/config/ippo_ff_hanabi.yaml", "TrainState"),
    "pqn": Source("QLearning/pqn_vdn_ff.py", "QLearning/config/alg/pqn_vdn_ff_hanabi.yaml", "CustomTrainState"),
}
SAVES = 5


def config_of(checkout: Path, algorithm: str) -> dict[str, Any]:
    """The recipe's configuration, without evaluations and reports."""
    import yaml  # type: ignore[import-untyped, unused-ignore]

    text = (checkout / "baselines" / SCRIPTS[algorithm].config).read_text(encoding="utf-8")
    config: dict[str, Any] = yaml.safe_load(text)
    # YAML takes 5e-4 for text.
    return config | {"LR": float(config["LR"]), "TEST_DURING_TRAINING": False, "WANDB_MODE": "disabled"}


def main() -> None:
    """Train, and save the weights after each fifth of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("algorithm", choices=SCRIPTS)
    parser.add_argument("steps", type=int, help="environment steps, rounded down to whole updates")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--num-envs", type=int, help="games played at once; the recipe's 1,024 unless given")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()

    stand_ins()
    import jax
    from jaxmarl import make
    from jaxmarl.wrappers.baselines import LogWrapper, save_params

    source = SCRIPTS[given.algorithm]
    script = script_of(given.checkout / "baselines" / source.script)
    config = config_of(given.checkout, given.algorithm) | {"TOTAL_TIMESTEPS": given.steps}
    config["NUM_ENVS"] = given.num_envs or config["NUM_ENVS"]
    update_steps = config["NUM_ENVS"] * config["NUM_STEPS"]
    optimiser_steps = config["NUM_MINIBATCHES"] * config.get("UPDATE_EPOCHS", config.get("NUM_EPOCHS"))
    updates = given.steps // update_steps
    saved_after = {round(updates * part / SAVES) for part in range(1, SAVES + 1)}
    given.out.mkdir(parents=True)
    config_json = json.dumps(
        config | {"script": source.script, "SEED": given.seed, "version": metadata.version("jaxmarl")}
    )
    (given.out / "config.json").write_text(config_json, encoding="utf-8")
    times = (given.out / "times.csv").open("w", encoding="utf-8")
    print("steps,seconds", file=times, flush=True)

    def save(count: Any, params: Any) -> None:
        steps = int(count) // optimiser_steps * update_steps
        print(f"{steps},{time.perf_counter() - start:.1f}", file=times, flush=True)
        save_params(params, given.out / f"{steps}.safetensors")

    class Saving(getattr(script, source.state)):  # type: ignore[misc]
        """The weights go to the host after the last optimiser step of an update to be saved."""

        def apply_gradients(self, **gradients: Any) -> Any:
            after = super().apply_gradients(**gradients)
            due = sum(after.step == update * optimiser_steps for update in saved_after) > 0
            jax.lax.cond(due, lambda: jax.experimental.io_callback(save, None, after.step, after.params), lambda: None)
            return after

    setattr(script, source.state, Saving)
    environment = () if given.algorithm == "ippo" else (LogWrapper(make(config["ENV_NAME"], **config["ENV_KWARGS"])),)
    train = script.make_train(config, *environment)
    start = time.perf_counter()
    jax.block_until_ready(jax.jit(train)(jax.random.PRNGKey(given.seed)))
    times.close()


if __name__ == "__main__":
    main()
