"""Several processes that train one network, started by `torchrun`. In a single process all of this does nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import nn

T = TypeVar("T")


@contextmanager
def process_group(device: str = "cpu") -> Iterator[None]:
    """Join torchrun's processes for the block; does nothing without torchrun, or inside another group.

    Args:
        device: "cpu" or "cuda", where the gradients are.
    """
    if "RANK" not in os.environ or dist.is_initialized():
        yield
        return
    dist.init_process_group("gloo" if device == "cpu" else "cpu:gloo,cuda:nccl")
    try:
        yield
    finally:
        dist.destroy_process_group()


def rank() -> int:
    """The index of this process; 0 in a single process."""
    return dist.get_rank() if dist.is_initialized() else 0


def process_count() -> int:
    """The number of processes."""
    return dist.get_world_size() if dist.is_initialized() else 1


def local_device(device: str) -> torch.device:
    """The device of this process: the CPU, or a GPU of its own, which becomes the current one."""
    if device == "cpu":
        return torch.device("cpu")
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    return torch.device("cuda", torch.cuda.current_device())


def all_gather(value: T) -> list[T]:
    """The values of all processes, by rank; they are pickled."""
    if not dist.is_initialized():
        return [value]
    values = [value] * process_count()
    dist.all_gather_object(values, value)
    return values


def average_gradients(weights: nn.Parameter) -> None:
    """Replace the gradient of a tensor, see `flat_weights`, by its mean over all processes."""
    if dist.is_initialized() and weights.grad is not None:
        dist.all_reduce(weights.grad)
        weights.grad /= process_count()
