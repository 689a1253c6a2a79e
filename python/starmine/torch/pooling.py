"""What lies between the matrix products of the towers of a `ColorNetwork`, in PyTorch and in the core."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import relu

from starmine._core import _pool, _pool_gradient


def pool(rows: Tensor, shared: Tensor) -> tuple[Tensor, Tensor]:
    """The ReLU of each colour's row and what all colours share, and its mean and maximum over the colours.

    Args:
        rows: (n, colours, width).
        shared: (n, width), added to each row.

    Returns:
        The tower (n, colours, width), and its mean and maximum (n, 2 * width).
    """
    tower = relu(rows + shared[:, None])
    return tower, torch.cat([tower.mean(1), tower.amax(1)], 1)


def fused_pool(rows: Tensor, shared: Tensor) -> tuple[Tensor, Tensor]:
    """The same in one pass over memory, where the core can: on a CPU, in float32 or bfloat16."""
    if rows.is_cpu and rows.dtype == shared.dtype and rows.dtype in (torch.float32, torch.bfloat16):
        pooled: tuple[Tensor, Tensor] = CorePool.apply(rows, shared)
        return pooled
    return pool(rows, shared)


class CorePool(torch.autograd.Function):
    """`pool` in the core, with its gradient. All sums are in float32, each result is rounded once."""

    @staticmethod
    def forward(context: Any, rows: Tensor, shared: Tensor) -> Any:
        """See `pool`."""
        games, colors, width = rows.shape
        tower, pooled = rows.new_empty(games, colors, width), rows.new_empty(games, 2 * width)
        _pool(as_array(rows), as_array(shared), as_array(tower), as_array(pooled), torch.get_num_threads())
        context.save_for_backward(tower, pooled)
        return tower, pooled

    @staticmethod
    @once_differentiable
    def backward(context: Any, d_tower: Tensor, d_pooled: Tensor) -> Any:
        """The gradients of `rows` and `shared`; colours that share a maximum share its gradient alike."""
        tower, pooled = context.saved_tensors
        d_rows, d_shared = torch.empty_like(tower), tower.new_empty(len(tower), tower.shape[2])
        _pool_gradient(
            as_array(tower),
            as_array(pooled),
            as_array(d_tower),
            as_array(d_pooled),
            as_array(d_rows),
            as_array(d_shared),
            torch.get_num_threads(),
        )
        return d_rows, d_shared


def as_array(tensor: Tensor) -> NDArray[np.float32] | NDArray[np.uint16]:
    """A tensor's numbers as the core takes them: contiguous, bfloat16 by its bits."""
    flat = tensor.detach().contiguous()
    array: NDArray[Any] = (flat.view(torch.uint16) if flat.dtype == torch.bfloat16 else flat).numpy()
    return array
