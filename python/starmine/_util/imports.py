"""Imports at the moment when they are needed: of higher subpackages, and of libraries of extras."""

from importlib import import_module
from typing import Any

_PLACES: dict[str, str] = {}  # by the name of what a lower subpackage needs: "module:attribute" in a higher subpackage


def register(**places: str) -> None:
    """Say where subpackages find what they need of subpackages above them.

    A subpackage imports only from those below it. Drawing, and networks in PyTorch, stand above subpackages that offer
    them.
    `starmine/__init__.py`, which stands above all subpackages, makes the only call.

    Args:
        **places: by name "module:attribute", such as `draw_grid="starmine.look.svg:grid_svg"`.
    """
    _PLACES.update(places)


def look_up(name: str) -> Any:
    """The attribute that `register` was told for this name. Its module is imported now."""
    module, attribute = _PLACES[name].split(":")
    return getattr(import_module(module), attribute)


def library(name: str, needs: str, extra: str) -> Any:
    """Import a library that only an extra of the package installs.

    Raises:
        ImportError: it is not installed; the message begins with what needs it, such as "PNG pictures need resvg-py".
    """
    try:
        return import_module(name)
    except ImportError as missing:
        raise ImportError(f"{needs}: install starmine with the extra {extra}") from missing
