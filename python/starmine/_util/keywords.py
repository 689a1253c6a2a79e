"""Checks of names and options that callers give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from starmine._core import StarmineError, _unknown_name

# The options of a reset: of one game, and of many games.
GAME_OPTIONS = ("deck", "start_player")
BATCH_OPTIONS = ("decks", "start_players", "reset_mask")


def check_names(kind: str, given: Iterable[Any], known: Iterable[str]) -> None:
    """Refuse names that are not known, of a kind such as "encoder".

    Raises:
        UnknownNameError: one of them does not exist; the message has the nearest.
        StarmineError: `given` is a text, not a sequence of names.
    """
    if isinstance(given, str):
        raise StarmineError(f"{kind}={given!r} is a text: expected a sequence of names")
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
