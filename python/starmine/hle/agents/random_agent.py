"""HLE's agent that plays at random."""

from __future__ import annotations

import random
from typing import Any

from starmine.hle.rl_env import Agent


class RandomAgent(Agent):
    """Plays a legal move drawn by Python's `random`."""

    def __init__(self, config: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        """An agent for the games of a configuration."""
        self.config = config

    def act(self, observation: dict[str, Any]) -> Any:
        """A legal move; None when another seat is to act."""
        return random.choice(observation["legal_moves"]) if observation["current_player_offset"] == 0 else None
