"""Several processes that train one network, started by `torchrun`. In a single process all of this does nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch
import torch.distributed as dist

from starmine._core import StarmineError
from starmine.torch.devices import check_cuda, finds_cuda
from starmine.training.script import TrainingError

T = TypeVar("T")


@contextmanager
def process_group(device: str = "cpu") -> Iterator[None]:
    """Join torchrun's processes for the block; does nothing without torchrun, or inside another group.

    Args:
        device: of the gradients, as `local_device` takes it.

    Raises:
        StarmineError: as `local_device`; or the processes cannot be joined.
    """
    if "RANK" not in os.environ or dist.is_initialized():
        yield
        return
    on_gpu = local_device(device).type == "cuda"
    try:
        dist.init_process_group("cpu:gloo,cuda:nccl" if on_gpu else "gloo")
    except (RuntimeError, ValueError) as error:
        raise TrainingError(f"the processes cannot be joined: {' '.join(str(error).split())}") from error
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
    """The device of this process: the CPU, or its own GPU, which becomes the current one.

    Args:
        device: "cpu", "cuda", or "auto", which is "cuda" where PyTorch finds such a GPU, else "cpu".

    Raises:
        StarmineError: another device, or there is no GPU for this process.
    """
    if device == "auto":
        device = "cuda" if finds_cuda() else "cpu"
    if device == "cpu":
        return torch.device("cpu")
    if device != "cuda":
        raise StarmineError(f"device={device!r} is not allowed: expected 'auto', 'cpu' or 'cuda'")
    check_cuda(f"device={device!r}", "'cpu'")
    place, count = int(os.environ.get("LOCAL_RANK", 0)), torch.cuda.device_count()
    if place >= count:
        raise StarmineError(f"LOCAL_RANK={place} is too many processes: this machine has {count} GPUs, one for each")
    torch.cuda.set_device(place)
    return torch.device("cuda", torch.cuda.current_device())


def check_joined() -> None:
    """Check that processes which torchrun has started together are one group.

    Raises:
        TrainingError: they are not: each would train by itself, into the same folder.
    """
    started = os.environ.get("WORLD_SIZE", "1") if "RANK" in os.environ else "1"
    if started != "1" and not dist.is_initialized():
        what = f"torchrun has started {started} processes, but this script trains in one"
        raise TrainingError(f"{what}: expected it without torchrun, or its learner and its run in `process_group`")


def all_gather(value: T) -> list[T]:
    """The values of all processes, by rank; they are pickled."""
    if not dist.is_initialized():
        return [value]
    values = [value] * process_count()
    dist.all_gather_object(values, value)
    return values


def in_first_process(work: Callable[[], T]) -> T | None:
    """Do what only the first process does, such as writing a file. Every process calls this.

    Returns:
        What `work` returns; None in all other processes.

    Raises:
        BaseException: what `work` raises, in the first process.
        TrainingError: `work` has raised an exception, in all other processes, so that none waits for the first.
    """
    result: T | None = None
    failed: BaseException | None = None
    if rank() == 0:
        try:
            result = work()
        except BaseException as error:
            failed = error
    what = all_gather(None if failed is None else f"{type(failed).__name__}: {failed}")[0]
    if failed is not None:
        raise failed
    if what is not None:
        raise TrainingError(f"the first process has ended the run: {what}")
    return result
