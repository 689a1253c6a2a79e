"""A layer of the towers of a `ColorNetwork`, and its gradient, as two kernels that `torch.compile` fuses."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import relu


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


def pool_gradient(tower: Tensor, pooled: Tensor, d_tower: Tensor, d_pooled: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of `rows` and `shared`, given the results of `pool` and their gradients.

    Colours that share the maximum share its gradient alike.
    """
    width = tower.shape[2]
    largest = torch.where(tower == pooled[:, None, width:], 1.0, 0.0)
    d_largest = d_pooled[:, width:] / largest.sum(1)
    d_rows = d_tower + (d_pooled[:, :width] / tower.shape[1])[:, None] + largest * d_largest[:, None]
    d_rows = torch.where(tower > 0, d_rows, 0.0)
    return d_rows, d_rows.sum(1)


@cache
def compiled() -> list[Any]:
    """Both functions, compiled at their first call for each shape."""
    return [torch.compile(function, dynamic=False, fullgraph=True) for function in (pool, pool_gradient)]


class CompiledPool(torch.autograd.Function):
    """`pool`, compiled.

    A compiler that sees the network as a whole stores the masks of its ReLUs as bytes, which the C++ back end does one
    by one; that takes longer than all matrix products. The gradient here needs no masks.
    """

    @staticmethod
    def forward(context: Any, rows: Tensor, shared: Tensor) -> Any:
        """See `pool`."""
        found = compiled()[0](rows.detach(), shared.detach())
        context.save_for_backward(*found)
        return found

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> Any:
        """See `pool_gradient`."""
        return compiled()[1](*(tensor.detach() for tensor in (*context.saved_tensors, *gradients)))
