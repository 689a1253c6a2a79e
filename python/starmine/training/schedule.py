"""Schedules of hyperparameters over the budget of a run."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

from starmine._core import StarmineError, _unknown_name

Schedule: TypeAlias = Literal["constant", "linear"]


def anneal(schedule: Schedule, start: float, end: float, fraction: float) -> float:
    """The value of a hyperparameter when a fraction of the budget is spent.

    Args:
        schedule: "constant" stays at `start`; "linear" goes to `end`.
        start: the value at fraction 0.
        end: the value at fraction 1 and beyond.
        fraction: the spent part of the budget, at least 0.

    Raises:
        UnknownNameError: there is no such schedule.
    """
    if schedule not in get_args(Schedule):
        raise _unknown_name("schedule", str(schedule), list(get_args(Schedule)))
    if schedule == "constant":
        return start
    return end + (start - end) * (1 - min(fraction, 1.0))


def doubled(size: int, end: int | None, fraction: float) -> int:
    """A size, such as a minibatch's, that is doubled after equal parts of the budget.

    Args:
        size: at fraction 0.
        end: which no size exceeds, at least `size`; None to stay at `size`.
        fraction: the spent part of the budget, at least 0.

    Raises:
        StarmineError: the end is below the size.
    """
    if end is not None and end < size:
        raise StarmineError(
            f"a size that grows from {size} to {end} is not allowed: expected an end of at least {size}"
        )
    doublings = 0 if end is None else int(math.log2(end / size))
    return size << min(int((doublings + 1) * fraction), doublings)
