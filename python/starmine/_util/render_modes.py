"""The render modes of environments."""

from collections.abc import Iterable
from importlib.util import find_spec

RENDER_MODES = ("ansi", "human", "rgb_array")


def usable_modes(modes: Iterable[str]) -> list[str]:
    """The render modes to list in an environment's metadata. Other libraries' checkers try each listed mode.

    Without resvg-py and Pillow, which draw pictures as arrays, "rgb_array" is left out.
    """
    has_pictures = all(map(find_spec, ("resvg_py", "PIL")))
    return [mode for mode in modes if mode != "rgb_array" or has_pictures]
