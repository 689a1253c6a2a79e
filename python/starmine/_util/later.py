"""Imports at the moment when they are needed: of rooms above the one that needs them, and of libraries of extras."""

from importlib import import_module
from typing import Any


def later(name: str) -> Any:
    """Import a module of the package now and return one of its attributes.

    Rooms import only from rooms below them. Drawing, and networks in PyTorch, stand above the rooms that offer them.
    They are imported when somebody asks for them.

    Args:
        name: "module:attribute", such as "starmine.look.svg:to_svg".
    """
    module, attribute = name.split(":")
    return getattr(import_module(module), attribute)


def library(name: str, needs: str, extra: str) -> Any:
    """Import a library that only an extra of the package installs.

    Raises:
        ImportError: it is not installed; the message begins with what needs it, such as "PNG pictures need resvg-py".
    """
    try:
        return import_module(name)
    except ImportError as missing:
        raise ImportError(f"{needs}: pip install 'starmine[{extra}]'") from missing
