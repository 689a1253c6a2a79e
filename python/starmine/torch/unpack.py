"""Unpacking of observations: a tensor with one element for each feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.graph import increment_version

from starmine._core import ArrayError, unpack_bits_into

# numpy's dtype for each of torch's; numpy has no bfloat16, whose bits are written as uint16.
_ARRAY_DTYPES: dict[torch.dtype, np.dtype[Any]] = {
    torch.float32: np.dtype(np.float32),
    torch.bfloat16: np.dtype(np.uint16),
    torch.float16: np.dtype(np.float16),
    torch.uint8: np.dtype(np.uint8),
}
DTYPES = tuple(_ARRAY_DTYPES)
_MAX_THREADS = 1024
_OVERLAP = "out overlaps bits: expected separate memory"


def unpack_bits(
    bits: Tensor | NDArray[np.uint8],
    num_features: int,
    dtype: torch.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Unpack observations into a tensor with one element for each feature.

    Equal to `np.unpackbits(bits, axis=-1, count=num_features, bitorder="little")`. On the CPU the Rust core unpacks,
    with up to `torch.get_num_threads()` threads for many rows; on other devices, and under torch.compile and tracing,
    torch operations do.

    Args:
        bits: uint8 (..., 8 * ceil(D / 64)), a tensor on any device or a numpy array: observations of
            dtype "bits".
        num_features: D, at least 1: the layout's length.
        dtype: `torch.float32`, `bfloat16`, `float16` or `uint8`; None for that of `out`, else float32.
        out: a contiguous tensor (..., D) of that dtype on the same device, which is written.

    Returns:
        `out`, or a new tensor (..., D) on the device of `bits`.

    Raises:
        ArrayError: `bits`, `dtype` or `out` has another shape or dtype, or `bits` and `out` share memory.

    Example:
        >>> import numpy as np, torch, starmine.torch
        >>> bits = np.array([[0b10011, 0, 0, 0, 0, 0, 0, 0]], np.uint8)
        >>> starmine.torch.unpack_bits(bits, 5, torch.bfloat16)
        tensor([[1., 1., 0., 0., 1.]], dtype=torch.bfloat16)
    """
    row_bytes = 8 * -(-num_features // 64)
    if bits.shape[-1:] != (row_bytes,):
        found = tuple(bits.shape)
        raise ArrayError(f"bits has shape {found}: expected rows of {row_bytes} bytes for {num_features} features")
    if dtype is None:
        dtype = torch.float32 if out is None else out.dtype
    if dtype not in DTYPES:
        raise ArrayError(f"dtype={dtype} is not allowed: expected one of {', '.join(map(str, DTYPES))}")
    shape = (*bits.shape[:-1], num_features)
    if out is not None and (out.shape != shape or out.dtype != dtype):
        raise ArrayError(f"out is {out.dtype} {tuple(out.shape)}: expected {dtype} {tuple(shape)}")
    compiling = torch.compiler.is_compiling() or torch.jit.is_tracing()  # type: ignore[attr-defined,no-untyped-call]
    if not compiling and (isinstance(bits, np.ndarray) or (type(bits) is Tensor and bits.is_cpu)):
        packed = bits if isinstance(bits, np.ndarray) else bits.numpy()
        return _new_with_core(packed, shape, dtype) if out is None else _with_core(packed, out)
    tensor = torch.from_numpy(bits) if isinstance(bits, np.ndarray) else bits
    if tensor.dtype != torch.uint8:
        raise ArrayError(f"bits has dtype {tensor.dtype}: expected uint8")
    if out is not None and not compiling and _overlap(tensor, out):
        raise ArrayError(_OVERLAP)
    features = _with_torch(tensor, num_features, dtype)
    return features if out is None else out.copy_(features)


def _overlap(bits: Tensor, out: Tensor) -> bool:
    if bits.numel() == 0 or bits.device.type == "meta":
        return False
    start, stop = bits.data_ptr(), bits.data_ptr() + 1
    stop += sum((size - 1) * stride for size, stride in zip(bits.shape, bits.stride(), strict=True))
    return start < out.data_ptr() + out.nbytes and out.data_ptr() < stop


def _with_core(bits: NDArray[np.uint8], out: Tensor) -> Tensor:
    packed = np.ascontiguousarray(bits)
    array = (out.view(torch.uint16) if out.dtype is torch.bfloat16 else out).numpy()
    # The core checks for overlap itself, but not when it reads a copy.
    if packed is not bits and np.may_share_memory(bits, array):
        raise ArrayError(_OVERLAP)
    unpack_bits_into(packed, array, _num_threads())
    if not out.is_inference():
        # Autograd must notice the write, so that a backward pass does not use overwritten values.
        increment_version(out)
    return out


def _new_with_core(bits: NDArray[np.uint8], shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    # A numpy array viewed as a tensor: cheaper than a tensor viewed as an array.
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
