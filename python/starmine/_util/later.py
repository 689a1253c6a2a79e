"""Imports of rooms that stand above the one that needs them, at the moment when they are needed."""

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
