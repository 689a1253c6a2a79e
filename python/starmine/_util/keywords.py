"""Keyword arguments that do not exist are refused with the nearest name that does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from starmine._core import StarmineError, Variant, _unknown_keyword, _unknown_name

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# The options of a reset: of one game, and of many games.
GAME_OPTIONS = ("deck", "start_player")
BATCH_OPTIONS = ("decks", "start_players", "reset_mask")
# The parameters of a variant.
RULES = tuple(signature(Variant).parameters)
NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


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
        if name not in known:
            raise _unknown_name(kind, str(name), known)


def check_options(options: Any, known: Sequence[str], passed_over: Sequence[str] = ()) -> dict[str, Any]:
    """Check the options of a reset; None means no options. Names in `passed_over` are for another library.

    Returns:
        A new dict with the value of each known name, None where it is not given.

    Raises:
        TypeError: `options` is not a dict.
        UnknownNameError: it has another name; the message has the nearest.
    """
    if not isinstance(options, dict | None):
        raise TypeError(f"options={options!r} is not allowed: expected a dict or None")
    check_names("option", [name for name in options or {} if name not in passed_over], known)
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


def named_keywords(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function, or the `__init__` of a class, that names the nearest keyword argument where one does not exist.

    What `**overrides` takes are the parameters of `Variant`.
    """
    parameters = signature(function).parameters.values()
    known = [parameter.name for parameter in parameters if parameter.kind in NAMED and parameter.name != "self"]
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        known += [name for name in RULES if name not in known]
    owner = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        check_keywords(owner, kwargs, known)
        return function(*args, **kwargs)

    return checked
