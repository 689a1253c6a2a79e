"""The variants by name, with an answer for those who come with HLE's names."""

from __future__ import annotations

from typing import Any

from starmine._core import UnknownNameError, Variant, _hle_preset
from starmine._core import variant as preset
from starmine.keywords import RULES, check_keywords

# HLE's preset that selects an encoder besides its rules.
MINIMAL = "Hanabi-Full-Minimal"


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
    ours = _hle_preset(name) if isinstance(name, str) else None
    if ours is not None:
        expected = f'"{ours}"'
        if name == MINIMAL:
            expected += ', with encoder="canonical-minimal" in the environment'
        raise UnknownNameError(
            f"variant={name!r} is HLE's name: expected {expected}; "
            f"starmine.hle.variant({name!r}) understands HLE's names"
        )
    check_keywords("variant", overrides, RULES)
    return preset(name, **overrides)
