"""Single actions that players and callers give: an action id, a `Move` or its text."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from starmine._core import Move, Variant


def hle_advice(action: Any) -> str:
    """The end of a message about what is no action: where a move of HLE becomes one; else nothing."""
    is_of_hle = isinstance(action, Mapping) or hasattr(action, "c_move")
    return "; starmine.hle.action reads HLE's moves" if is_of_hle else ""


def action_id(variant: Variant, action: Any) -> int:
    """The id of an action, an integer, a `Move` or text such as "play 2"; an id may be out of range.

    Raises:
        TypeError: it is none of these.
        StarmineError: a text or a `Move` that the variant does not have.
    """
    if isinstance(action, str | Move):
        return variant.action(action)
    try:
        if not isinstance(action, bool):
            return operator.index(action)
    except TypeError:
        pass
    expected = f"expected an integer, a Move or text such as 'play 2'{hle_advice(action)}"
    raise TypeError(f"action={action!r} is a {type(action).__name__}: {expected}")
