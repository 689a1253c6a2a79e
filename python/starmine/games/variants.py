"""The variants by name, with an answer for those who come with HLE's names."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

from starmine._core import Card, UnknownNameError, Variant, VariantError, _hle_preset, variants
from starmine._core import variant as preset

FORM = "a preset, with parameters after it ('standard, colors=6')"
# HLE's preset that selects an encoder besides its rules.
MINIMAL = "Hanabi-Full-Minimal"


def variant(name: str, **overrides: Any) -> Variant:
    """The variant of a preset, with some of its parameters changed.

    Args:
        name: one of `starmine.variants()`, which parameters may follow, such as "standard, max_life_tokens=4";
            `starmine.hle.variant` takes HLE's names.
        **overrides: parameters of `Variant`, such as `players=4`.

    Raises:
        UnknownNameError: there is no such preset.
        VariantError: a value out of range, a text of another form, or another value in it than in `overrides`.
        TypeError: there is no such parameter in `overrides`, or a value of a wrong type.

    >>> import starmine
    >>> starmine.variant("hard", players=4).max_life_tokens
    1
    >>> starmine.variant("standard, max_life_tokens=4", players=4).max_life_tokens
    4
    """
    if "," in name:
        return _variant_of_text(name, overrides)
    ours = _hle_preset(name)
    if ours is not None:
        expected = f'"{ours}"'
        if name == MINIMAL:
            expected += ', with encoder="canonical-minimal" in the environment'
        raise UnknownNameError(
            f"variant={name!r} is HLE's name: expected {expected}; "
            f"starmine.hle.variant({name!r}) understands HLE's names"
        )
    return preset(name, **overrides)


def _variant_of_text(text: str, overrides: dict[str, Any]) -> Variant:
    """The variant of a preset's name with parameters after it, and of overrides, which do not contradict them."""
    name, _, following = (part.strip() for part in text.partition(","))
    try:
        call = ast.parse(f"f({following})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(each.arg is None for each in call.keywords):
            raise ValueError
        pairs = [(str(each.arg), _literal(each.value)) for each in call.keywords]
    except (TypeError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise VariantError(f"variant={text!r} is not allowed: expected {FORM}") from error
    parameters: dict[str, Any] = {}
    for key, value in [*pairs, *overrides.items()]:
        known = parameters.setdefault(key, value)
        if known is not value and str(known) != str(value):
            both = f"{key}={parameters[key]!r} and {key}={value!r}"
            raise VariantError(f"{both} contradict each other: expected {key} once")
    try:
        return variant(name, **parameters)
    except (TypeError, OverflowError) as error:
        raise VariantError(f"variant={text!r} is not allowed: {error}") from error


def _literal(value: ast.expr) -> Any:
    """The value of a parameter; true, false and texts need no quotation marks."""
    if isinstance(value, ast.Name):
        return {"true": True, "false": False}.get(value.id, value.id)
    return ast.literal_eval(value)


def resolve_variant(given: str | Variant, overrides: dict[str, Any]) -> Variant:
    """The variant of a text as `variant` takes it, or the given one, with the overrides applied.

    Raises:
        UnknownNameError: there is no such preset.
        VariantError: neither a `Variant` nor text, or a parameter out of range.
        TypeError: there is no such parameter.
    """
    if isinstance(given, str):
        return variant(given, **overrides)
    if isinstance(given, Variant):
        return Variant(**{**given.parameters(), **overrides}) if overrides else given
    raise VariantError(f"variant={given!r} is not allowed: expected a Variant or a preset's name")


@cache
def card_texts(colors: int, ranks: int) -> tuple[str, ...]:
    """The text of each kind of card, such as "R1", at its index `suit * ranks + rank`."""
    return tuple(str(Card.of(suit, rank)) for suit in range(colors) for rank in range(ranks))


def preset_of(rules: Variant) -> str | None:
    """The name of the preset that has these rules, or None."""
    for name in variants():
        try:
            if preset(name, players=rules.players) == rules:
                return name
        except VariantError:  # the preset does not allow this number of players
            continue
    return None


def variant_text(rules: Variant) -> str:
    """The variant as `variant` takes it: its preset, or "standard" with the parameters that differ."""
    name = preset_of(rules)
    different = repr(rules).removeprefix("Variant(").removesuffix(")")
    return f"standard, {different}" if name is None else f"{name}, players={rules.players}"
