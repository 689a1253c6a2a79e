"""Batches whose outputs are tensors, stepped while a network evaluates the games of another."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple, Self, cast

import torch
from torch import Tensor

from starmine._core import ArrayError, Batch, StarmineError
from starmine._util.arrays import Array
from starmine._util.keywords import check_names
from starmine.torch.devices import check_cuda

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def output_tensors(
    batch: Batch, outputs: Sequence[str] | None = None, pin_memory: bool = False
) -> tuple[dict[str, Tensor], dict[str, Array]]:
    """Tensors for the outputs of a batch, and arrays that share their memory.

    Give the arrays to `Batch.reset_into` and `Batch.step_into`, which write the outputs into them. The tensors show the
    same outputs.

    Args:
        batch: whose outputs they are.
        outputs: names of outputs; None for all that its `step` returns.
        pin_memory: whether to use page-locked memory, so that copies to a GPU can be asynchronous; needs CUDA.

    Returns:
        The tensors by name, in the shapes and dtypes of the outputs, and the arrays.

    Raises:
        UnknownNameError: the batch has no such output.
        StarmineError: memory is to be page-locked where there is no CUDA device.

    >>> import starmine, starmine.torch
    >>> batch = starmine.Batch("standard", 4, dtype="bits", seed=0)
    >>> tensors, arrays = starmine.torch.output_tensors(batch, ["obs", "action_mask"])
    >>> batch.reset_into(**arrays)
    >>> tensors["obs"].shape
    torch.Size([4, 88])
    """
    if pin_memory:
        check_cuda("pin_memory=True", "False")
    found = batch.allocate()
    names = list(found) if outputs is None else list(outputs)
    check_names("output", names, found)
    # `torch.from_numpy` cannot pin: the tensors own the memory, and the arrays share it.
    tensors = {
        name: torch.zeros(found[name].shape, dtype=torch.from_numpy(found[name][:0]).dtype, pin_memory=pin_memory)
        for name in names
    }
    return tensors, {name: tensor.numpy() for name, tensor in tensors.items()}


class OverlappingGames:
    """Groups of games that are stepped in threads while a network evaluates another group.

    `recv` gives the outputs of the group whose turn it is, `send` takes the actions for it, and its step runs while the
    caller goes on to the next group. Other Python threads run meanwhile. With two groups, stepping one group and
    evaluating the other take place at the same time, if there is a free core or the network is on a GPU.

    The results are the same as without threads: the order of groups is fixed, and no group sees another.

    The constructor calls `Batch.reset` of each batch. A batch that has been played goes on with the next episodes; a
    new batch keeps the games that it has dealt.

    An error or Ctrl-C loses nothing: an interrupted call has either taken place or changed nothing. Afterwards look at
    `received`: if it is None, call `recv` next; otherwise it is the group that waits for `send`.

    Args:
        batches: one for each group, at least one, of any settings.
        outputs: names of the outputs that are wanted; None for all.
        device: of the tensors. On a GPU the outputs pass through page-locked memory, and neither they nor the actions
            make the caller wait.

    Attributes:
        batches: as given.

    Raises:
        UnknownNameError: a batch has no such output.
        StarmineError: no batches, a batch that occurs twice, or a device that is neither the CPU nor a GPU of this
            machine.

    >>> import starmine, starmine.torch
    >>> batches = [starmine.Batch("standard", 8, dtype="bits", seed=seed) for seed in range(2)]
    >>> with starmine.torch.OverlappingGames(batches, ["obs", "action_mask", "reward"]) as games:
    ...     for _ in range(6):
    ...         group, outputs = games.recv()
    ...         games.send(outputs["action_mask"].int().argmax(dim=1))
    """

    def __init__(
        self, batches: Sequence[Batch], outputs: Sequence[str] | None = None, device: str | torch.device = "cpu"
    ) -> None:
        self.batches = list(batches)
        if not self.batches or len({id(batch) for batch in self.batches}) < len(self.batches):
            raise StarmineError(f"batches are {len(self.batches)}: expected at least one, each once")
        try:
            device = torch.device(device)
        except (RuntimeError, TypeError):  # torch knows no such device
            raise StarmineError(f"device={device!r} is not allowed: expected the CPU or a CUDA device") from None
        if device.type not in ("cpu", "cuda"):
            raise StarmineError(f"device={str(device)!r} is not allowed: expected the CPU or a CUDA device")
        if device.type == "cuda":
            check_cuda(f"device={str(device)!r}", "'cpu'")
        group = _DeviceGroup if device.type == "cuda" else _Group
        self._groups = [group(batch, outputs, device) for batch in self.batches]
        self._workers: list[_Worker] = []
        weakref.finalize(self, _end, self._workers)
        for _ in self.batches:
            self._workers.append(_Worker())
        self._is_closed = False
        self._begin([partial(group.reset, {}) for group in self._groups])

    def _begin(self, resets: Sequence[Callable[[], None]]) -> None:
        """Start a call for each group; the first group's turn is next."""
        self._turn = _Turn(tuple(map(_Call, resets)), 0, False)
        for worker, call in zip(self._workers, self._turn.calls, strict=True):
            worker.queue.put(call)

    def _wait(self, number: int) -> None:
        """Wait until a group's call has ended."""
        call = self._turn.calls[number]
        if not call.begun:
            self._workers[number].queue.put(call)  # an interrupt may have come before it was put there
        call.wait()

    def reset(self, seeds: Sequence[Any] | None = None) -> None:
        """Deal the games of all groups anew; the next `recv` is the first group's.

        Args:
            seeds: for each group what `Batch.reset` takes as its seed; None for the next episodes.

        Raises:
            StarmineError: another number of seeds, or the games are closed. A group's own errors are raised by `recv`.
        """
        self._check_open()
        seeds = [None] * len(self._groups) if seeds is None else list(seeds)
        if len(seeds) != len(self._groups):
            raise StarmineError(f"seeds are {len(seeds)}: expected {len(self._groups)}, one for each group")
        for number, group in enumerate(self._groups):
            self._wait(number)
            group.release()
        self._begin([partial(group.reset, {"seed": seed}) for group, seed in zip(self._groups, seeds, strict=True)])

    @property
    def received(self) -> tuple[int, dict[str, Tensor]] | None:
        """The group that waits for actions and its outputs, as `recv` returned them; None if no group waits.

        After an interrupt, `games.received or games.recv()` goes on.
        """
        number = self._turn.number
        return (number, self._groups[number].outputs()) if self._turn.is_received else None

    def recv(self) -> tuple[int, dict[str, Tensor]]:
        """Wait for the step of the next group. After Ctrl-C, call it again.

        Returns:
            The group's number, and its outputs, which are valid until its next `send`: the same tensors each time.

        Raises:
            StarmineError: the actions of the last group have not been sent, or the games are closed.
            Exception: what the group's step raised, such as `IllegalActionError`. None of its games has moved then, and
                `send` takes other actions for it.
        """
        self._check_open()
        calls, number, is_received = turn = self._turn
        if is_received:
            raise StarmineError(f"group {number} was received and waits for actions: expected send")
        self._wait(number)
        found, error = self._groups[number].outputs(), calls[number].error
        self._turn = turn._replace(is_received=True)
        if error is not None:
            raise error
        return number, found

    def send(self, actions: Any) -> None:
        """Start the step of the group that was received last. After an error the group waits for actions as before.

        Args:
            actions: N integers, a tensor on any device or what `Batch.step` takes. Those on the CPU are not copied, and
                must not change before the group is received again.

        Raises:
            StarmineError: no group waits for actions, or the games are closed.
        """
        self._check_open()
        calls, number, is_received = self._turn
        if not is_received:
            raise StarmineError("no group waits for actions: expected recv first")
        group = self._groups[number]
        group.take(actions)
        call = _Call(group.step)
        self._turn = _Turn((*calls[:number], call, *calls[number + 1 :]), (number + 1) % len(calls), False)
        self._workers[number].queue.put(call)

    def _check_open(self) -> None:
        if self._is_closed:
            raise StarmineError("the games are closed: expected open ones")

    def close(self) -> None:
        """Wait for the steps that run, and end the threads. The batches can be used again."""
        self._is_closed = True
        _end(self._workers)

    def __enter__(self) -> Self:
        """Itself; it is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


class _Call:
    """A step or a reset, which a worker makes once, however often it gets it.

    Of the locks each is acquired once. Nothing needs to be undone when an interrupt comes, as in `threading.Condition`.

    Attributes:
        error: what it raised.
    """

    def __init__(self, function: Callable[[], None]) -> None:
        self._function, self.error = function, cast("BaseException | None", None)
        self._begun, self._running, self._has_ended = threading.Lock(), threading.Lock(), False
        self._running.acquire()

    @property
    def begun(self) -> bool:
        return self._begun.locked()

    def make(self) -> None:
        if self._begun.acquire(blocking=False):
            try:
                self._function()
            except BaseException as error:
                self.error = error
            self._has_ended = True
            self._running.release()

    def wait(self) -> None:
        while not self._has_ended:
            self._running.acquire()


class _Worker:
    """A thread that makes the calls of a group."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[_Call | None] = SimpleQueue()  # its `put` is done as a whole or not at all
        self.thread = threading.Thread(target=_work, args=[self.queue], name="starmine-step", daemon=True)
        self.thread.start()


def _work(queue: SimpleQueue[_Call | None]) -> None:
    while (call := queue.get()) is not None:
        call.make()
        del call  # with the memory of its batch


def _end(workers: list[_Worker]) -> None:
    """Let threads end after the calls that they have, also at the exit of the interpreter, and wait for them."""
    for worker in workers:
        worker.queue.put(None)
    for worker in workers:
        if worker.thread is not threading.current_thread():
            worker.thread.join()


class _Turn(NamedTuple):
    """What `OverlappingGames` replaces by one assignment, so that an interrupt comes before a call's effect or after.

    Attributes:
        calls: of each group, the last.
        number: of the group whose turn it is.
        is_received: whether it waits for actions; else its call is awaited.
    """

    calls: tuple[_Call, ...]
    number: int
    is_received: bool


class _Group:
    """The games of a batch, with tensors on the CPU."""

    def __init__(self, batch: Batch, outputs: Sequence[str] | None, device: torch.device) -> None:
        self.batch = batch
        self.tensors, self.arrays = output_tensors(batch, outputs, pin_memory=device.type == "cuda")
        self.actions: Any = None

    def reset(self, arguments: Mapping[str, Any]) -> None:
        self.batch.reset_into(**arguments, **self.arrays)

    def take(self, actions: Any) -> None:
        """Keep the actions for the next step."""
        self.actions = actions.cpu() if isinstance(actions, Tensor) else actions

    def release(self) -> None:
        """Let the next call write the outputs: whatever reads them now comes first."""

    def step(self) -> None:
        self.batch.step_into(self.actions, **self.arrays)

    def outputs(self) -> dict[str, Tensor]:
        return dict(self.tensors)


class _DeviceGroup(_Group):
    """The same with tensors on a GPU, filled by copies in a stream of their own."""

    def __init__(self, batch: Batch, outputs: Sequence[str] | None, device: torch.device) -> None:
        super().__init__(batch, outputs, device)
        self.device, self.stream = device, torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self.copies = {name: tensor.to(device) for name, tensor in self.tensors.items()}
        self.pinned = torch.zeros(batch.num_envs, dtype=torch.int64, pin_memory=True)
        self.copied, self.chosen = torch.cuda.Event(), torch.cuda.Event()  # type: ignore[no-untyped-call]

    def _copy(self) -> None:
        """Copy the outputs to the GPU."""
        with torch.cuda.stream(self.stream):
            for name, tensor in self.tensors.items():
                self.copies[name].copy_(tensor, non_blocking=True)
            self.copied.record(self.stream)

    def release(self) -> None:
        self.chosen.record(torch.cuda.current_stream(self.device))

    def reset(self, arguments: Mapping[str, Any]) -> None:
        self.copied.synchronize()
        self.chosen.synchronize()
        super().reset(arguments)
        self._copy()

    def take(self, actions: Any) -> None:
        """Start the copy of the actions, after which nothing before it uses the outputs."""
        if isinstance(actions, Tensor) and actions.is_cuda:
            if actions.shape != self.pinned.shape:
                raise ArrayError(f"actions has shape {tuple(actions.shape)}: expected {tuple(self.pinned.shape)}")
            if actions.dtype not in INTEGERS:
                raise ArrayError(f"actions has dtype {actions.dtype}: expected integers")
            self.pinned.copy_(actions, non_blocking=True)
            actions = self.pinned
        self.actions = actions
        self.release()

    def step(self) -> None:
        self.chosen.synchronize()
        super().step()
        self._copy()

    def outputs(self) -> dict[str, Tensor]:
        torch.cuda.current_stream(self.device).wait_event(self.copied)
        return dict(self.copies)
