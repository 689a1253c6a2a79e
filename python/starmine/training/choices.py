"""Arguments that are one of several choices."""

from __future__ import annotations

from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from starmine._core import _unknown_name


def check_choices(args: Any) -> None:
    """Check a dataclass's fields of a `Literal` type, since a dataclass takes any value.

    Raises:
        UnknownNameError: a value is none of the choices.
    """
    for name, hint in get_type_hints(type(args)).items():
        kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        if not all(kind is type(None) or get_origin(kind) is Literal for kind in kinds):
            continue
        allowed = [choice for kind in kinds for choice in (get_args(kind) or (None,))]
        if (value := getattr(args, name)) not in allowed:
            raise _unknown_name(name, str(value), list(map(str, allowed)))
