"""Packed observations for PyTorch: unpacked on any device, and kept in rollouts.

>>> import starmine, starmine.torch
>>> env = starmine.HanabiVectorEnv(num_envs=4, dtype="bits")
>>> bits, info = env.reset(seed=0)
>>> starmine.torch.unpack_bits(bits, len(env.layout)).shape
torch.Size([4, 658])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import ArrayError, StarmineError, unpack_bits_into

try:
    import torch
except ImportError as _missing:
    raise ImportError("starmine.torch needs PyTorch: pip install 'starmine[torch]'") from _missing

from torch import Tensor
from torch.autograd.graph import increment_version

__all__ = ["Minibatch", "RolloutBuffer", "unpack_bits"]

# What the core writes for each dtype; numpy lacks bfloat16.
_ARRAY_DTYPES: dict[torch.dtype, np.dtype[Any]] = {
    torch.float32: np.dtype(np.float32),
    torch.bfloat16: np.dtype(np.uint16),
    torch.float16: np.dtype(np.float16),
    torch.uint8: np.dtype(np.uint8),
}
_DTYPES = tuple(_ARRAY_DTYPES)
_MAX_THREADS = 1024
_CPU = torch.device("cpu")
_OVERLAP = "out overlaps bits: expected separate memory"


def unpack_bits(
    bits: Tensor | NDArray[np.uint8],
    num_features: int,
    dtype: torch.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Give each bit of packed observations an element of its own.

    The same as `np.unpackbits(bits, axis=-1, count=num_features, bitorder="little")`, as a tensor.
    On the CPU the Rust core does it, with up to `torch.get_num_threads()` threads for many rows; on
    other devices, and where torch compiles or traces, plain torch operations do.

    Args:
        bits: uint8 (..., 8 * ceil(D / 64)), a tensor on any device or a numpy array: observations of
            dtype "bits".
        num_features: D, at least 1: the layout's length.
        dtype: `torch.float32`, `bfloat16`, `float16` or `uint8`; None for that of `out`, else float32.
        out: a contiguous tensor (..., D) of that dtype on the same device, to write to.

    Returns:
        `out`, or a new tensor (..., D) on the device of `bits`.

    Raises:
        ArrayError: `bits`, `dtype` or `out` of another type, shape, dtype, device or layout, or
            memory that they share.
        StarmineError: a number of features below 1.

    Example:
        >>> import numpy as np, torch, starmine.torch
        >>> bits = np.array([[0b10011, 0, 0, 0, 0, 0, 0, 0]], np.uint8)
        >>> starmine.torch.unpack_bits(bits, 5, torch.bfloat16)
        tensor([[1., 1., 0., 0., 1.]], dtype=torch.bfloat16)
    """
    _check_bits(bits, num_features)
    if not (out is None or isinstance(out, Tensor)):
        raise ArrayError(f"out is a {type(out)}: expected a tensor")
    if dtype is None:
        dtype = torch.float32 if out is None else out.dtype
    if dtype not in _DTYPES:
        raise ArrayError(f"dtype={dtype} is not allowed: expected one of {', '.join(map(str, _DTYPES))}")
    shape = (*bits.shape[:-1], num_features)
    if out is not None:
        _check_out(out, shape, dtype, _CPU if isinstance(bits, np.ndarray) else bits.device)
    compiling = torch.compiler.is_compiling() or torch.jit.is_tracing()  # type: ignore[attr-defined,no-untyped-call]
    if not compiling and (isinstance(bits, np.ndarray) or (type(bits) is Tensor and bits.is_cpu)):
        packed = bits if isinstance(bits, np.ndarray) else bits.numpy()
        return _new_with_core(packed, shape, dtype) if out is None else _with_core(packed, out)
    tensor = torch.from_numpy(bits) if isinstance(bits, np.ndarray) else bits
    if out is not None and not compiling and _overlap(tensor, out):
        raise ArrayError(_OVERLAP)
    features = _with_torch(tensor, num_features, dtype)
    return features if out is None else out.copy_(features)


def _check_bits(bits: Tensor | NDArray[np.uint8], num_features: int) -> None:
    if isinstance(bits, np.ndarray):
        is_uint8 = bits.dtype == np.uint8
    elif isinstance(bits, Tensor):
        is_uint8 = bits.dtype == torch.uint8
        if bits.layout is not torch.strided:
            raise ArrayError(f"bits has layout {bits.layout}: expected torch.strided")
    else:
        raise ArrayError(f"bits is a {type(bits)}: expected a tensor or a numpy array")
    if not is_uint8:
        raise ArrayError(f"bits has dtype {bits.dtype}: expected uint8")
    if num_features < 1:
        raise StarmineError(f"num_features={num_features} is not allowed: expected at least 1")
    row_bytes, shape = _packed_length(num_features), bits.shape
    if not shape or shape[-1] != row_bytes:
        raise ArrayError(
            f"bits has shape {tuple(shape)}: expected rows of {row_bytes} bytes for {num_features} features"
        )


def _check_out(out: Tensor, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> None:
    if out.dtype != dtype:
        raise ArrayError(f"out has dtype {out.dtype}: expected {dtype}")
    if out.device != device:
        raise ArrayError(f"out is on {out.device}: expected {device}, where bits is")
    if out.shape != shape:
        raise ArrayError(f"out has shape {tuple(out.shape)}: expected {tuple(shape)}")
    if out.layout is not torch.strided or not out.is_contiguous():
        raise ArrayError("out is not contiguous: expected a contiguous tensor")
    if out.requires_grad:
        raise ArrayError("out requires gradients: expected a tensor that does not")


def _overlap(bits: Tensor, out: Tensor) -> bool:
    if bits.numel() == 0 or bits.device.type == "meta":
        return False
    start, stop = bits.data_ptr(), bits.data_ptr() + 1
    stop += sum((size - 1) * stride for size, stride in zip(bits.shape, bits.stride(), strict=True))
    return start < out.data_ptr() + out.nbytes and out.data_ptr() < stop


def _packed_length(num_features: int) -> int:
    """Bytes of a packed row."""
    return 8 * -(-num_features // 64)


def _with_core(bits: NDArray[np.uint8], out: Tensor) -> Tensor:
    packed = np.ascontiguousarray(bits)
    array = (out.view(torch.uint16) if out.dtype is torch.bfloat16 else out).numpy()
    # The core sees to this by itself, but not where it reads a copy.
    if packed is not bits and np.may_share_memory(bits, array):
        raise ArrayError(_OVERLAP)
    unpack_bits_into(packed, array, _num_threads())
    if not out.is_inference():
        # Else a backward pass that needs what was there before would take this for it.
        increment_version(out)
    return out


def _new_with_core(bits: NDArray[np.uint8], shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    # numpy's memory, since a new tensor takes longer, and longer still to be made an array.
    array = np.empty(shape, _ARRAY_DTYPES[dtype])
    unpack_bits_into(np.ascontiguousarray(bits), array, _num_threads())
    features = torch.from_numpy(array)
    return features.view(dtype) if dtype is torch.bfloat16 else features


def _num_threads() -> int:
    return min(torch.get_num_threads(), _MAX_THREADS)


def _with_torch(bits: Tensor, num_features: int, dtype: torch.dtype) -> Tensor:
    shifts = torch.arange(8, dtype=torch.uint8, device=bits.device)
    features = (bits.unsqueeze(-1) >> shifts & 1).flatten(-2)[..., :num_features]
    return features.to(dtype, memory_format=torch.contiguous_format).contiguous()


@dataclass(frozen=True)
class Minibatch:
    """Some of the samples of a `RolloutBuffer`, n of them.

    Attributes:
        rows: int64 (n,), which they are: `step * num_envs + game`. With it, take what belongs to
            them from tensors of your own, such as flattened advantages.
        obs: the features (n, D), or (n, players, D), in the dtype asked for.
        action_mask: bool (n, A).
        action: int64 (n,).
        log_prob: float32 (n,), of the action when it was chosen.
        value: float32 (n,), the estimate then.
    """

    rows: Tensor
    obs: Tensor
    action_mask: Tensor
    action: Tensor
    log_prob: Tensor
    value: Tensor


class RolloutBuffer:
    """The samples of a rollout, for PPO and its like; observations stay packed, a bit a feature.

    A sample of 658 features and 20 actions takes 129 bytes: 88 of observation, where float32 would
    take 2,632, 20 of mask, and 21 of the rest.

    Args:
        steps: steps of a rollout, T.
        num_envs: games, N.
        num_features: D: the layout's length.
        num_actions: A.
        players: with observations of every seat (`observers="all"`), how many seats; else None.
        device: where the tensors are.

    Attributes:
        obs: uint8 (T, N, 8 * ceil(D / 64)), or (T, N, players, 8 * ceil(D / 64)).
        action_mask: bool (T, N, A).
        action: int64 (T, N).
        log_prob, value, reward: float32 (T, N).
        terminated: bool (T, N), whether the game ended in this step.
        filled: the steps that have been added since the last `clear`.

    Raises:
        StarmineError: a size below 1.

    Example:
        >>> import starmine, starmine.torch, torch
        >>> batch = starmine.Batch("standard", 4, dtype="bits", seed=0)
        >>> rollout = starmine.torch.RolloutBuffer(8, 4, len(batch.layout), batch.variant.num_actions)
        >>> now = batch.observe()
        >>> for _ in range(8):
        ...     action = now["action_mask"].argmax(1)
        ...     log_prob, value = torch.zeros(4), torch.zeros(4)  # of your policy
        ...     after = batch.step(action)
        ...     rollout.add(
        ...         obs=now["obs"], action_mask=now["action_mask"], action=action, log_prob=log_prob,
        ...         value=value, reward=after["reward"], terminated=after["terminated"],
        ...     )
        ...     now = after
        >>> advantage = rollout.advantages(last_value=torch.zeros(4), gamma=0.99, gae_lambda=0.95)
        >>> [tuple(minibatch.obs.shape) for minibatch in rollout.minibatches(20)]
        [(20, 658), (12, 658)]
    """

    def __init__(
        self,
        steps: int,
        num_envs: int,
        num_features: int,
        num_actions: int,
        *,
        players: int | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        sizes = {"steps": steps, "num_envs": num_envs, "num_features": num_features, "num_actions": num_actions}
        for name, size in (sizes | ({} if players is None else {"players": players})).items():
            if size < 1:
                raise StarmineError(f"{name}={size} is not allowed: expected at least 1")
        self.num_features = num_features
        self.filled = 0
        seats = () if players is None else (players,)
        times = (steps, num_envs)

        def empty(dtype: torch.dtype, *shape: int) -> Tensor:
            return torch.empty((*times, *shape), dtype=dtype, device=device)

        self.obs = empty(torch.uint8, *seats, _packed_length(num_features))
        self.action_mask = empty(torch.bool, num_actions)
        self.action = empty(torch.int64)
        self.log_prob, self.value, self.reward = (empty(torch.float32) for _ in range(3))
        self.terminated = empty(torch.bool)

    def __len__(self) -> int:
        """Number of samples: the steps added, times N."""
        return self.filled * self.obs.shape[1]

    def clear(self) -> None:
        """Begin the next rollout."""
        self.filled = 0

    def add(
        self, *, obs: Any, action_mask: Any, action: Any, log_prob: Any, value: Any, reward: Any, terminated: Any
    ) -> None:
        """Add a step of all games; tensors on any device, or numpy arrays, which are copied.

        Args:
            obs: uint8 (N, 8 * ceil(D / 64)), or (N, players, 8 * ceil(D / 64)): what was seen.
            action_mask: bool (N, A): what was legal.
            action: integers (N,): what was done.
            log_prob: floats (N,): the log probability of that.
            value: floats (N,): the estimate of what was to come.
            reward: numbers (N,): what that brought.
            terminated: bool (N,): whether that ended the game.

        Raises:
            ArrayError: an array of another shape or dtype; nothing has been added then.
            StarmineError: T steps are there already.
        """
        steps = len(self.obs)
        if self.filled == steps:
            raise StarmineError(f"the buffer has all of its {steps} steps: expected clear() before another")
        given = {
            "obs": obs,
            "action_mask": action_mask,
            "action": action,
            "log_prob": log_prob,
            "value": value,
            "reward": reward,
            "terminated": terminated,
        }
        rows = {name: getattr(self, name)[self.filled] for name in given}
        tensors = {name: _fitting(name, given[name], rows[name]) for name in given}
        for name, row in rows.items():
            row.copy_(tensors[name])
        self.filled += 1

    def advantages(self, last_value: Any, gamma: float, gae_lambda: float) -> Tensor:
        """Generalised advantage estimates of the steps added.

        Args:
            last_value: floats (N,): the estimate after the last step; it does not count where the
                game ended in that step.
            gamma: the discount of a step.
            gae_lambda: the weight of longer returns.

        Returns:
            float32 (steps added, N). With `value` of these steps added, the returns to learn.

        Raises:
            ArrayError: a last value of another shape or dtype.
        """
        following, filled = _fitting("last_value", last_value, self.value[0]), self.filled
        # Differences of like numbers, so with more digits.
        reward, discount = self.reward[:filled].double(), gamma * (1 - self.terminated[:filled].float())
        advantage = torch.zeros(filled + 1, *following.shape, device=self.value.device)
        for step in reversed(range(filled)):
            error = reward[step] + discount[step] * following - self.value[step]
            advantage[step] = error + gae_lambda * discount[step] * advantage[step + 1]
            following = self.value[step]
        return advantage[:-1]

    def minibatches(
        self, size: int, *, generator: torch.Generator | None = None, dtype: torch.dtype = torch.float32
    ) -> Iterator[Minibatch]:
        """All samples once, in random order.

        Args:
            size: samples of a minibatch; the last one may have fewer.
            generator: of the order; None for torch's own on the CPU.
            dtype: of the features: `torch.float32`, `bfloat16`, `float16` or `uint8`.

        Raises:
            StarmineError: a size below 1, or no samples.
            ArrayError: another dtype.
        """
        if size < 1:
            raise StarmineError(f"size={size} is not allowed: expected at least 1")
        if not self.filled:
            raise StarmineError("the buffer is empty: expected add() before minibatches()")
        if dtype not in _DTYPES:
            raise ArrayError(f"dtype={dtype} is not allowed: expected one of {', '.join(map(str, _DTYPES))}")
        where = "cpu" if generator is None else generator.device
        order = torch.randperm(len(self), generator=generator, device=where).to(self.obs.device)
        return (self._minibatch(rows, dtype) for rows in torch.split(order, size))

    def _minibatch(self, rows: Tensor, dtype: torch.dtype) -> Minibatch:
        return Minibatch(
            rows,
            obs=unpack_bits(self.obs.flatten(0, 1)[rows], self.num_features, dtype),
            action_mask=self.action_mask.flatten(0, 1)[rows],
            action=self.action.flatten()[rows],
            log_prob=self.log_prob.flatten()[rows],
            value=self.value.flatten()[rows],
        )

    def __repr__(self) -> str:
        """The sizes and how full it is."""
        steps, num_envs = self.obs.shape[:2]
        return f"RolloutBuffer(steps={steps}, num_envs={num_envs}, filled={self.filled}, device={self.obs.device})"


def _fitting(name: str, given: Any, row: Tensor) -> Tensor:
    """What was given as a tensor that can be stored in such a row."""
    if isinstance(given, np.ndarray) and not given.flags.writeable:
        given = given.copy()
    try:
        tensor = torch.as_tensor(given).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArrayError(f"{name} cannot be read as a tensor: {error}") from error
    exact = row.dtype in (torch.uint8, torch.bool)
    fits = not exact and tensor.dtype != torch.bool and torch.can_cast(tensor.dtype, row.dtype)
    if tensor.dtype != row.dtype and not fits:
        expected = row.dtype if exact else ("integers" if row.dtype == torch.int64 else "numbers")
        raise ArrayError(f"{name} has dtype {tensor.dtype}: expected {expected}")
    if tensor.shape != row.shape:
        raise ArrayError(f"{name} has shape {tuple(tensor.shape)}: expected {tuple(row.shape)}")
    return tensor.to(row.device)
