"""Numbers that callers give, and their bounds."""

from __future__ import annotations

import math
import operator
import os
from typing import Any, TypeGuard

import numpy as np

from starmine._core import StarmineError

MOST_THREADS = 1024  # that the core starts


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an `int`."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any, least: float, most: float = math.inf) -> bool:
    """Whether a value is a finite number from `least` to `most`."""
    is_one = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return is_one and math.isfinite(value) and bool(least <= value <= most)


def without_nan(value: Any) -> Any:
    """The value with None for nan and infinity, which JSON cannot represent."""
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_number(name: str, value: Any, least: int, most: float = math.inf) -> int:
    """A whole number within bounds.

    Raises:
        TypeError: it is not an integer.
        StarmineError: it is out of bounds.
    """
    number = operator.index(value)
    if not least <= number <= most:
        expected = f"at least {least}" if most == math.inf else f"{least} to {most}"
        raise StarmineError(f"{name}={number} is not allowed: expected {expected}")
    return number


def check_threads(num_threads: Any) -> int:
    """A number of threads; None for one for each core.

    Raises:
        TypeError: it is not an integer.
        StarmineError: it is out of bounds.
    """
    return check_number("num_threads", (os.cpu_count() or 1) if num_threads is None else num_threads, 1, MOST_THREADS)
