"""The devices that computations run on."""

from __future__ import annotations

import warnings

import torch

from starmine._core import StarmineError


def finds_cuda() -> bool:
    """Whether PyTorch finds a GPU with CUDA."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an old driver is warned about in many words
        return torch.cuda.is_available()


def check_cuda(what: str, instead: str) -> None:
    """Check that PyTorch finds a GPU.

    Args:
        what: asks for one, such as "device='cuda'", for the message.
        instead: what is allowed without one.

    Raises:
        StarmineError: it finds none.
    """
    if finds_cuda():
        return
    missing = "is built without CUDA" if torch.version.cuda is None else "finds no CUDA device or no driver for it"
    raise StarmineError(f"{what} is not allowed here: PyTorch {torch.__version__} {missing}; expected {instead}")
