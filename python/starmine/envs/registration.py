"""Registration of the environment with Gymnasium and PettingZoo."""

import sys

import gymnasium

ENV_ID = "Starmine/Hanabi-v0"
AEC_ID = "starmine/hanabi-v0"


def register() -> None:
    """Register the environment for `gymnasium.make` and `gymnasium.make_vec`, unless it is registered."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="starmine.envs.single:HanabiEnv",
            vector_entry_point="starmine.envs.vector:HanabiVectorEnv",
        )


def register_with_pettingzoo() -> None:
    """Register the environment for `pettingzoo.make("aec", ...)` where PettingZoo is imported and has a registry.

    `import starmine.adapters.pettingzoo` always does it. `import starmine` does it only if PettingZoo was imported
    before: it loads no extra, and PettingZoo has no entry points that would find the environment later.
    """
    pettingzoo = sys.modules.get("pettingzoo")
    if AEC_ID not in getattr(pettingzoo, "aec_registry", {AEC_ID: None}):
        pettingzoo.register("aec", AEC_ID, entry_point="starmine.adapters.pettingzoo:env")  # type: ignore[union-attr]
