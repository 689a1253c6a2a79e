"""The rules of hanab.live's games, and which of our variants they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starmine._core import StarmineError, Variant
from starmine._util.keywords import check_names
from starmine._util.numbers import is_integer

USUAL, ONE_OF_EACH, ONE_FOUR, TWO_ONES = (3, 2, 2, 2, 1), (1, 1, 1, 1, 1), (3, 2, 2, 1, 1), (2, 2, 2, 2, 1)


@dataclass(frozen=True)
class Suits:
    """A variant of hanab.live that is one of ours.

    Attributes:
        name: its name there.
        number: its id there.
        copies: for each suit, how often the deck has each rank. Colour hints touch their own suit only.
    """

    name: str
    number: int
    copies: tuple[tuple[int, ...], ...]


SUITS = (
    Suits("No Variant", 0, (USUAL,) * 5),
    Suits("6 Suits", 1, (USUAL,) * 6),
    Suits("Black (6 Suits)", 2, (*(USUAL,) * 5, ONE_OF_EACH)),
    Suits("4 Suits", 15, (USUAL,) * 4),
    Suits("3 Suits", 18, (USUAL,) * 3),
    Suits("Black (5 Suits)", 21, (*(USUAL,) * 4, ONE_OF_EACH)),
    Suits("Critical Fours & Black (6 Suits)", 1645, (*(ONE_FOUR,) * 5, ONE_OF_EACH)),
    Suits("Critical Fours (6 Suits)", 1821, (ONE_FOUR,) * 6),
    Suits("Critical Fours (5 Suits)", 1822, (ONE_FOUR,) * 5),
    Suits("Scarce Ones (6 Suits)", 2393, (TWO_ONES,) * 6),
    Suits("Scarce Ones (5 Suits)", 2394, (TWO_ONES,) * 5),
    Suits("Scarce Ones & Black (6 Suits)", 2395, (*(TWO_ONES,) * 5, ONE_OF_EACH)),
)
NAMES = ("red", "yellow", "green", "blue", "purple", "teal")  # of the suits; with three there is no yellow one
NO_VARIANT = SUITS[0]
# Options that change rules, by our parameter; false where a game does not tell.
SWITCHES = {"emptyClues": "empty_hints", "allOrNothing": "crowning_piece"}
HAND_SIZES = {"oneExtraCard": 1, "oneLessCard": -1}
REFUSED = ("cardCycle", "detrimentalCharacters")  # options whose rules are none of ours
CARDS_IN_HAND = {2: 5, 3: 5, 4: 4, 5: 4}
# Options that change no rule of the moves that were played.
OTHERS = ("timed", "timeBase", "timePerTurn", "speedrun", "deckPlays")
TABLE = ("numPlayers", "tableName", "maxPlayers")  # options of a table in the site's live messages
VARIANTS = ("variant", "variantName", "variantID")
STARTS = ("startingPlayer", "firstPlayer")
FLAGS = (*SWITCHES, *HAND_SIZES, *REFUSED)
OPTIONS = (*VARIANTS, *STARTS, *FLAGS, *OTHERS, *TABLE)
Told = tuple[str, Any]  # where the file tells something, and what


def rules_of(entry: Mapping[str, Any], players: int) -> tuple[Variant, int]:
    """Our variant of a game's JSON object and the seat that starts, told at the object's top or among its options."""
    options = entry.get("options") or {}
    if not isinstance(options, dict):
        raise StarmineError("'options' is no JSON object")
    check_names("option", [name for name, value in options.items() if value not in (None, False, 0, "")], OPTIONS)
    suits = _agreed([(where, suits_called(told)) for where, told in _told(entry, options, VARIANTS)], NO_VARIANT)
    start = _agreed(_told(entry, options, STARTS), 0)
    flags = {name: _flag(name, _agreed(_told(entry, options, (name,)), False)) for name in FLAGS}
    variant = variant_of(suits, players, flags)
    if not is_integer(start) or not 0 <= start < variant.players:
        raise StarmineError(f"startingPlayer={start!r} is not allowed: expected 0 to {variant.players - 1}")
    if (told := options.get("numPlayers", players)) != players:
        raise StarmineError(f"its rules contradict each other: numPlayers={told!r}, and it has {players} players")
    return variant, int(start)


def _told(entry: Mapping[str, Any], options: Mapping[str, Any], names: tuple[str, ...]) -> list[Told]:
    """What a game tells under some names, at its top and among its options."""
    levels = ("", entry), ("options.", options)
    return [(f"{level}{name}={held[name]!r}", held[name]) for level, held in levels for name in names if name in held]


def _agreed(told: list[Told], usual: Any) -> Any:
    """The one value that a game tells, or the usual one."""
    for where, value in told:
        if value != told[0][1]:
            raise StarmineError(f"its rules contradict each other: {told[0][0]} and {where}")
    return told[0][1] if told else usual


def _flag(name: str, value: Any) -> bool:
    """An option that is true or false."""
    if not isinstance(value, bool):
        raise StarmineError(f"the option {name}={value!r} is not allowed: expected true or false")
    return value


def suits_called(told: Any) -> Suits:
    """The suits of a variant's name or id."""
    is_id = is_integer(told)
    for suits in SUITS:
        if told == (suits.number if is_id else suits.name):
            return suits
    known = ", ".join(f"{suits.number} ({suits.name})" for suits in SUITS)
    raise StarmineError(f"hanab.live's variant {told!r} is not one of our rules: expected one of {known}")


def suit_names(variant: Variant) -> tuple[str, ...]:
    """What the suits of a variant are called on hanab.live, in their order.

    A suit with one card of each rank is black if other suits have more.
    """
    names, copies = NAMES[: variant.colors] if variant.colors != 3 else ("red", "green", "blue"), variant.copies
    is_black = tuple(copies[-1]) == ONE_OF_EACH and tuple(copies[0]) != ONE_OF_EACH
    return (*names[:-1], "black") if is_black else names


def variant_of(suits: Suits, players: int, options: Mapping[str, Any]) -> Variant:
    """Our variant of a game of hanab.live."""
    if players not in CARDS_IN_HAND:
        raise StarmineError(f"{players} players are not allowed: expected 2 to 5")
    refused = [name for name in REFUSED if options.get(name)]
    if refused:
        raise StarmineError(f"the option {refused[0]} is not one of our rules")
    if all(options.get(name) for name in HAND_SIZES):
        raise StarmineError(f"its rules contradict each other: {' and '.join(HAND_SIZES)}")
    hand = CARDS_IN_HAND[players] + sum(change for name, change in HAND_SIZES.items() if options.get(name))
    switches = {ours: options.get(name, False) for name, ours in SWITCHES.items()}
    # Parameters at their defaults are left out, so that the variant equals the one that others build.
    copies = None if set(suits.copies) == {USUAL} else [list(row) for row in suits.copies]
    hand_size = None if hand == CARDS_IN_HAND[players] else hand
    return Variant(players=players, colors=len(suits.copies), hand_size=hand_size, copies=copies, **switches)


def game_rules(variant: Variant) -> tuple[Suits, dict[str, bool]]:
    """How hanab.live calls a variant of ours: its suits and the options that are true."""
    options = {name: True for name, ours in SWITCHES.items() if getattr(variant, ours)}
    more = variant.hand_size - CARDS_IN_HAND[variant.players]
    options |= {name: True for name, change in HAND_SIZES.items() if change == more}
    for suits in SUITS:
        if variant == variant_of(suits, variant.players, options):
            return suits, options
    raise StarmineError(f"{variant} has no counterpart on hanab.live")
