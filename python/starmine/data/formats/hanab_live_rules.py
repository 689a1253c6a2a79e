"""The rules of hanab.live's games, and which of our variants they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from starmine._core import StarmineError, Variant, _unknown_name

USUAL, ONE_OF_EACH, ONE_FOUR = (3, 2, 2, 2, 1), (1, 1, 1, 1, 1), (3, 2, 2, 1, 1)


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
    Suits("Critical Fours (6 Suits)", 1821, (ONE_FOUR,) * 6),
    Suits("Critical Fours (5 Suits)", 1822, (ONE_FOUR,) * 5),
)
NAMES = ("red", "yellow", "green", "blue", "purple", "teal")  # of the suits; with three there is no yellow one
# Options that change rules, by our parameter; false where a game does not tell.
SWITCHES = {"emptyClues": "empty_hints", "allOrNothing": "crowning_piece"}
HAND_SIZES = {"oneExtraCard": 1, "oneLessCard": -1}
REFUSED = ("cardCycle", "detrimentalCharacters")  # options whose rules are none of ours
CARDS_IN_HAND = {2: 5, 3: 5, 4: 4, 5: 4}


def suits_named(name: object) -> Suits:
    """The suits of a variant's name.

    Raises:
        StarmineError: it is none of ours.
    """
    for suits in SUITS:
        if suits.name == name:
            return suits
    raise _unknown_name("hanab.live variant", str(name), [suits.name for suits in SUITS])


def suits_numbered(number: int) -> Suits:
    """The suits of a variant's id.

    Raises:
        StarmineError: it is none of ours.
    """
    for suits in SUITS:
        if suits.number == number:
            return suits
    known = ", ".join(f"{suits.number} ({suits.name})" for suits in SUITS)
    raise StarmineError(f"hanab.live variant number {number} is not one of ours: expected one of {known}")


def suit_names(variant: Variant) -> tuple[str, ...]:
    """What the suits of a variant are called on hanab.live, in their order.

    A suit of which the deck has one card of each rank, beside others, is black.
    """
    names, copies = NAMES[: variant.colors] if variant.colors != 3 else ("red", "green", "blue"), variant.copies
    is_black = tuple(copies[-1]) == ONE_OF_EACH and tuple(copies[0]) != ONE_OF_EACH
    return (*names[:-1], "black") if is_black else names


def variant_of(suits: Suits, players: int, options: dict[str, Any]) -> Variant:
    """Our variant of a game of hanab.live.

    Args:
        suits: the variant there.
        players: number of players.
        options: as in the game's JSON.

    Raises:
        StarmineError: the number of players or an option is none of ours.
    """
    if players not in CARDS_IN_HAND:
        raise StarmineError(f"{players} players are not allowed: expected {' to '.join('25')}")
    for name in (*SWITCHES, *HAND_SIZES, *REFUSED):
        if not isinstance(options.get(name, False), bool):
            raise StarmineError(f"the option {name}={options[name]!r} is not allowed: expected true or false")
    refused = [name for name in REFUSED if options.get(name)]
    if refused:
        raise StarmineError(f"the option {refused[0]} is not one of our rules")
    hand = CARDS_IN_HAND[players] + sum(change for name, change in HAND_SIZES.items() if options.get(name))
    switches = {ours: options.get(name, False) for name, ours in SWITCHES.items()}
    return _built(suits, players, hand, switches)


def _built(suits: Suits, players: int, hand: int, switches: dict[str, Any]) -> Variant:
    """A variant; parameters at their defaults are left out, so that it equals the one that others build."""
    copies = None if set(suits.copies) == {USUAL} else [list(row) for row in suits.copies]
    hand_size = None if hand == CARDS_IN_HAND[players] else hand
    return Variant(players=players, colors=len(suits.copies), hand_size=hand_size, copies=copies, **switches)


def game_rules(variant: Variant) -> tuple[Suits, dict[str, bool]]:
    """How hanab.live calls a variant of ours: its suits and the options that are true.

    Which seat starts is left out, since seats are numbered from it there.

    Raises:
        StarmineError: it has no counterpart there.
    """
    for suits, options in _all_rules():
        found = variant_of(suits, variant.players, options)
        if found == variant or _with_random_start(found) == variant:
            return suits, {name: True for name, chosen in options.items() if chosen}
    raise StarmineError(f"{variant} has no counterpart on hanab.live")


def _all_rules() -> Iterator[tuple[Suits, dict[str, bool]]]:
    """Every variant with every set of options."""
    for suits in SUITS:
        for chosen in product((False, True), repeat=len(SWITCHES)):
            for hand in (None, *HAND_SIZES):
                options = dict(zip(SWITCHES, chosen, strict=True))
                yield suits, options if hand is None else options | {hand: True}


def _with_random_start(variant: Variant) -> Variant:
    """The same rules with a start player that is drawn."""
    return Variant(**variant.parameters() | {"random_start_player": True})
