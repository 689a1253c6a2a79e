"""The variants by name, with an answer for those who come with HLE's names."""

from __future__ import annotations

from typing import Any

from starmine._core import UnknownNameError, Variant
from starmine._core import variant as preset
from starmine.keywords import RULES, check_keywords

# HLE's presets, and what they are called here.
HLE_NAMES = {
    "Hanabi-Full": '"standard"',
    "Hanabi-Full-CardKnowledge": '"standard"',
    "Hanabi-Full-Minimal": '"standard", with encoder="canonical-minimal" in the environment',
    "Hanabi-Small": '"small"',
    "Hanabi-Very-Small": '"very-small"',
}


def variant(name: str, **overrides: Any) -> Variant:
    """The variant of a preset, with some of its parameters changed.

    Args:
        name: one of `starmine.variants()`; `starmine.hle.variant` takes HLE's names.
        **overrides: parameters of `Variant`, such as `players=4`.

    Raises:
        UnknownNameError: there is no such preset.
        VariantError: a value out of range.
        TypeError: there is no such parameter; the message has the nearest.

    >>> import starmine
    >>> starmine.variant("hard", players=4).max_life_tokens
    1
    """
    if isinstance(name, str) and name in HLE_NAMES:
        raise UnknownNameError(
            f"variant={name!r} is HLE's name: expected {HLE_NAMES[name]}; "
            f"starmine.hle.variant({name!r}) understands HLE's names"
        )
    check_keywords("variant", overrides, RULES)
    return preset(name, **overrides)
