"""Environments with Gymnasium's interface: one game, and thousands of games at once."""

from starmine._core import Batch, Layout, Section
from starmine.envs.single import HanabiEnv
from starmine.envs.vector import HanabiVectorEnv

__all__ = ["Batch", "HanabiEnv", "HanabiVectorEnv", "Layout", "Section"]
