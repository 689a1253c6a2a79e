"""Registration of the environment with Gymnasium."""

import gymnasium

ENV_ID = "Starmine/Hanabi-v0"


def register() -> None:
    """Register the environment for `gymnasium.make` and `gymnasium.make_vec`, unless it is registered."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="starmine.env:HanabiEnv",
            vector_entry_point="starmine.vector:HanabiVectorEnv",
        )
