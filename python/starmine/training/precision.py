"""The precision of a network's matrix products."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import torch

from starmine._core import _unknown_name

Precision: TypeAlias = Literal["auto", "float32", "bfloat16"]


def matmul_dtype(precision: Precision, device: torch.device) -> torch.dtype:
    """The dtype of matrix products.

    Args:
        precision: "auto" is bfloat16 where the device multiplies it, else float32. A processor that has to emulate
            bfloat16 takes many times longer than for float32.
        device: of the network.

    Raises:
        UnknownNameError: there is no such precision.
    """
    if precision not in get_args(Precision):
        raise _unknown_name("dtype", str(precision), list(get_args(Precision)))
    if precision == "auto":
        precision = "bfloat16" if multiplies_bfloat16(device) else "float32"
    return torch.bfloat16 if precision == "bfloat16" else torch.float32


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether a device has instructions for products of bfloat16."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    found = torch.cpu.get_capabilities()
    return bool(found.get("avx512_bf16") or found.get("amx_bf16"))
