"""Environments with Gymnasium's interface, for one game and for thousands of games at once.

`starmine` has `HanabiEnv`, `HanabiVectorEnv` and `Batch` by the same names.
"""

from starmine._core import Batch
from starmine.envs.layout import Layout, Section
from starmine.envs.rewards import Rewards
from starmine.envs.single import HanabiEnv
from starmine.envs.vector import HanabiVectorEnv

__all__ = ["Batch", "HanabiEnv", "HanabiVectorEnv", "Layout", "Rewards", "Section"]
