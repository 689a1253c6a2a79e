"""Numbers that callers give: what is a number, and what is an integer. True and False are neither."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import numpy as np


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an `int`."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any, least: float, most: float = math.inf) -> bool:
    """Whether a value is a finite number from `least` to `most`."""
    is_one = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return is_one and math.isfinite(value) and bool(least <= value <= most)
