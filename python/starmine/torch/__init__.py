"""PyTorch: unpacking of observations on any device, stored games, and networks and modules that play.

>>> import starmine, starmine.torch
>>> env = starmine.HanabiVectorEnv(num_envs=4, dtype="bits")
>>> bits, info = env.reset(seed=0)
>>> starmine.torch.unpack_bits(bits, len(env.layout)).shape
torch.Size([4, 658])
"""

try:
    import torch as _torch  # noqa: F401 - only for the error message
except ImportError as _missing:
    raise ImportError("starmine.torch needs PyTorch: install starmine with the extra torch") from _missing

from starmine.torch.color_features import ColorFeatures
from starmine.torch.color_network import ColorNetwork
from starmine.torch.games import GamesDataset
from starmine.torch.graph import Graphed
from starmine.torch.network import ActorCritic, HiddenState, HintFeatures, PolicyNetwork, SeatGRU
from starmine.torch.policy import ModulePolicy
from starmine.torch.unpack import unpack_bits

__all__ = [
    "ActorCritic",
    "ColorFeatures",
    "ColorNetwork",
    "GamesDataset",
    "Graphed",
    "HiddenState",
    "HintFeatures",
    "ModulePolicy",
    "PolicyNetwork",
    "SeatGRU",
    "unpack_bits",
]
