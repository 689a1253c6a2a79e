"""Equality by value of classes whose fields hold arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

Class = TypeVar("Class", bound=type)


def equal_by_value(kind: Class) -> Class:
    """Let objects of a dataclass or a named tuple be equal if they have the same class and equal fields.

    Arrays and tensors are equal if shape, dtype and values are; nan is equal to nan. Such objects have no hash.
    """

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807 - it becomes the method
        if type(self) is not type(other):
            return NotImplemented
        return self is other or all(map(is_equal, _values(self), _values(other)))

    def __ne__(self: Any, other: object) -> Any:  # noqa: N807
        equal = __eq__(self, other)
        return equal if equal is NotImplemented else not equal

    kind.__eq__, kind.__ne__, kind.__hash__ = __eq__, __ne__, None  # type: ignore[method-assign, assignment]
    return kind


def _values(value: Any) -> Iterable[Any]:
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value) if field.compare]
    return tuple(value)


def is_equal(one: Any, other: Any) -> bool:
    """Whether two values are equal, as `equal_by_value` compares fields."""
    if one is other:
        return True
    if any(hasattr(value, "dtype") and hasattr(value, "shape") for value in (one, other)):
        return _is_same_array(one, other)
    if isinstance(one, Mapping):
        return (
            type(one) is type(other)
            and one.keys() == other.keys()
            and all(is_equal(one[key], other[key]) for key in one)
        )
    if isinstance(one, list | tuple) and type(one).__eq__ in (list.__eq__, tuple.__eq__):
        return type(one) is type(other) and len(one) == len(other) and all(map(is_equal, one, other))
    return bool(one == other) or bool(one != one and other != other)  # nan


def _is_same_array(one: Any, other: Any) -> bool:
    """Whether two arrays, numbers of numpy or tensors have the same class, dtype, shape and values."""
    if type(one) is not type(other) or one.dtype != other.dtype or one.shape != other.shape:
        return False
    if isinstance(one, np.ndarray) and one.dtype.hasobject:
        return is_equal(one.tolist(), other.tolist())
    is_same = (one == other) | ((one != one) & (other != other))
    return bool(is_same.all())
