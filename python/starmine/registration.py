"""The environment's id in Gymnasium's registry."""

import gymnasium

ENV_ID = "Starmine/Hanabi-v0"


def register() -> None:
    """Make the environment known to `gymnasium.make` and `gymnasium.make_vec`, once."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="starmine.env:HanabiEnv",
            vector_entry_point="starmine.vector:HanabiVectorEnv",
        )
