"""For PyTorch: packed observations unpacked on any device and kept in rollouts, and modules as players.

>>> import starmine, starmine.torch
>>> env = starmine.HanabiVectorEnv(num_envs=4, dtype="bits")
>>> bits, info = env.reset(seed=0)
>>> starmine.torch.unpack_bits(bits, len(env.layout)).shape
torch.Size([4, 658])
"""

try:
    import torch as _torch  # noqa: F401 - the message
except ImportError as _missing:
    raise ImportError("starmine.torch needs PyTorch: pip install 'starmine[torch]'") from _missing

from starmine.torch.network import CardFeatures, PolicyNetwork, Recall, SeatMemory
from starmine.torch.policy import ModulePolicy
from starmine.torch.rollout import Minibatch, RolloutBuffer
from starmine.torch.unpacking import unpack_bits

__all__ = [
    "CardFeatures",
    "Minibatch",
    "ModulePolicy",
    "PolicyNetwork",
    "Recall",
    "RolloutBuffer",
    "SeatMemory",
    "unpack_bits",
]
