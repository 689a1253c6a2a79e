"""Errors name the argument: one that does not exist, with the nearest name that does, or one of a wrong type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from starmine._core import StarmineError, Variant, _unknown_keyword, _unknown_name

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# The options of a reset: of one game, and of many games.
GAME_OPTIONS = ("deck", "start_player")
BATCH_OPTIONS = ("decks", "start_players", "reset_mask")
# The parameters of a variant.
RULES = tuple(signature(Variant).parameters)
NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
OF_THE_CORE = re.compile(r"while processing '(\w+)'")  # a note of the core about an argument
SHOWN = 80  # characters of a value in a message


def check_keywords(owner: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names of keyword arguments that the function or class `owner` does not have.

    Raises:
        TypeError: one of them does not exist.
    """
    known = list(known)
    for name in given:
        if name not in known:
            raise _unknown_keyword(owner, name, known)


def check_names(kind: str, given: Iterable[Any], known: Iterable[str]) -> None:
    """Refuse names that are not known, of a kind such as "encoder".

    Raises:
        UnknownNameError: one of them does not exist; the message has the nearest.
    """
    known = list(known)
    for name in given:
        if not isinstance(name, str) or name not in known:
            raise _unknown_name(kind, str(name), known)


def check_options(options: Any, known: Sequence[str]) -> dict[str, Any]:
    """Check the options of a reset; None means no options.

    Returns:
        A new dict with the value of each known name, None where it is not given.

    Raises:
        TypeError: `options` is not a dict.
        UnknownNameError: it has another name; the message has the nearest.
    """
    if not isinstance(options, dict | None):
        raise TypeError(f"options={options!r} is not allowed: expected a dict or None")
    check_names("option", options or {}, known)
    return {name: (options or {}).get(name) for name in known}


def refuse_settings(given: Mapping[str, Any], refused: Iterable[str], reason: str) -> None:
    """Refuse settings of `HanabiVectorEnv` that an adapter decides by itself.

    Raises:
        StarmineError: one of them is given; the message has its value and the reason.
    """
    for name in refused:
        if name in given:
            raise StarmineError(f"{name}={given[name]!r} is not allowed: {reason}")


def refuse_without(needed: str, value: Any, options: Mapping[str, Any]) -> None:
    """Refuse options, None where they are not given, that do nothing without the argument `needed`.

    Raises:
        StarmineError: one of them is given and the value of `needed` is None.
    """
    for name, option in options.items():
        if value is None and option is not None:
            raise StarmineError(f"{name}={option!r} without {needed} is not allowed: it would do nothing")


def wrong_type(name: str, value: object, expected: str) -> TypeError:
    """The error for an argument of a wrong type."""
    shown = " ".join(repr(value).split())
    shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
    return TypeError(f"{name}={shown} is a {type(value).__name__}: expected {expected}")


def are_names(value: object) -> bool:
    """Whether a value may be a sequence of names: a text is none, since it would be read letter by letter."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


# By annotation, the values that an argument may have, and what a message calls them.
CHECKED: dict[str, tuple[Callable[[object], bool], str]] = {
    "str": (lambda value: isinstance(value, str), "a str"),
    "str | None": (lambda value: isinstance(value, str | None), "a str or None"),
    "Sequence[str]": (are_names, "a sequence of names"),
    "Sequence[str] | None": (lambda value: value is None or are_names(value), "a sequence of names, or None"),
    "str | Sequence[str] | None": (
        lambda value: isinstance(value, str | None) or are_names(value),
        "a name, a sequence of names, or None",
    ),
    "Sequence[str | None] | None": (lambda value: value is None or are_names(value), "a sequence of names, or None"),
    "bool": (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "bool | None": (lambda value: isinstance(value, bool | np.bool_ | None), "True, False or None"),
    "Variant": (lambda value: isinstance(value, Variant), "a Variant"),
}


def named_keywords(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function, or the `__init__` of a class, whose errors name the argument.

    Where a keyword argument does not exist, the error has the nearest name. What `**overrides` takes are the parameters
    of `Variant`. An argument of a wrong type is named if its annotation is one of `CHECKED`, or if the core refuses it.
    """
    of_function = signature(function)
    parameters = of_function.parameters.values()
    known = [parameter.name for parameter in parameters if parameter.kind in NAMED and parameter.name != "self"]
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        known += [name for name in RULES if name not in known]
    checks = {one.name: CHECKED[one.annotation] for one in parameters if one.annotation in CHECKED}
    owner = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        check_keywords(owner, kwargs, known)
        for name, value in of_function.bind_partial(*args, **kwargs).arguments.items():
            if name in checks and not checks[name][0](value):
                raise wrong_type(name, value, checks[name][1])
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            _put_name_first(error, known)
            raise

    return checked


def _put_name_first(error: TypeError, known: Sequence[str]) -> None:
    """Begin the message of an error with the argument that a note of the core names, if the function has it."""
    for note in getattr(error, "__notes__", ()):
        match = OF_THE_CORE.fullmatch(note)
        if match and match[1] in known:
            error.args = (f"{match[1]}: {error}",)
            error.__notes__.remove(note)
            return
