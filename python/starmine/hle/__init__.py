"""A drop-in for DeepMind's Hanabi Learning Environment (HLE): its names on Starmine's rules.

Replace `from hanabi_learning_environment import rl_env, pyhanabi` by `from starmine.hle import rl_env, pyhanabi`.
`observation`, `action` and `variant` lead from one library to the other: an agent written for HLE plays in Starmine.
"""

from starmine.hle import pyhanabi, rl_env
from starmine.hle.convert import action, observation, variant
from starmine.hle.moves import IllegalMoveError

__all__ = ["IllegalMoveError", "action", "observation", "pyhanabi", "rl_env", "variant"]
