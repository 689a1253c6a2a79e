"""CUDA graphs: all kernels of a function, launched at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

R = TypeVar("R")

_WARM_UP = 2  # calls before a graph is captured; libraries such as cuBLAS allocate memory in them


class Graphed(Generic[R]):
    """A function of tensors, which a GPU runs as one CUDA graph. On any other device it is the function itself.

    A graph launches all kernels of a call at once, without Python between them. There is one graph for each combination
    of the arguments' shapes and dtypes. The first two calls with new shapes run the function as it is. The third call
    captures the function, which executes nothing, and replays the graph; later calls replay it. So each call has the
    effects of the function exactly once.

    The function reads and writes tensors of one device. It must not depend on their values in Python, and must not wait
    for the device. Python numbers and the modes of modules stay as they were in the third call. A tensor that it reads
    or writes in several calls must stay in the same memory: change it in place.
    Random numbers of PyTorch's default generator are drawn anew in each call.

    The tensors that a call returns on a GPU are overwritten by the next call with the same shapes.

    Args:
        function: takes tensors and returns a tensor or a tuple of tensors.
        device: of the tensors.

    >>> import torch
    >>> from starmine.torch import Graphed
    >>> double = Graphed(lambda x: x + x, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    >>> double(torch.ones(2, device=double.device)).tolist()
    [2.0, 2.0]
    """

    def __init__(self, function: Callable[..., R], device: torch.device) -> None:
        self.device, self._function = device, function
        self._calls: Counter[tuple[Any, ...]] = Counter()
        self._graphs: dict[tuple[Any, ...], tuple[torch.cuda.CUDAGraph, tuple[Tensor, ...], R]] = {}
        self._stream: Any = torch.cuda.Stream(device) if device.type == "cuda" else None  # type: ignore[no-untyped-call]

    def __call__(self, *arguments: Tensor) -> R:
        """Call the function."""
        if self._stream is None:
            return self._function(*arguments)
        shapes = (torch.is_grad_enabled(), *((argument.shape, argument.dtype) for argument in arguments))
        self._calls[shapes] += 1
        if self._calls[shapes] <= _WARM_UP:
            return self._run(arguments)
        if shapes not in self._graphs:
            self._graphs[shapes] = self._capture(arguments)
        graph, own, results = self._graphs[shapes]
        for to, argument in zip(own, arguments, strict=True):
            to.copy_(argument)
        graph.replay()
        return results

    def _run(self, arguments: tuple[Tensor, ...]) -> R:
        """Run the function as it is, in the stream that captures it later, as autograd needs."""
        current = torch.cuda.current_stream(self.device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            results = self._function(*arguments)
        current.wait_stream(self._stream)
        return results

    def _capture(self, arguments: tuple[Tensor, ...]) -> tuple[torch.cuda.CUDAGraph, tuple[Tensor, ...], R]:
        """The graph, the tensors that it reads its arguments from, and those that it writes its results into."""
        own = tuple(argument.clone() for argument in arguments)
        graph = torch.cuda.CUDAGraph()
        # Other threads may wait for events of the device during the capture.
        with torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"):
            results = self._function(*own)
        return graph, own, results
