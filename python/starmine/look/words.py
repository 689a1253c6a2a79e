"""A turn and the players in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starmine._core import Move

Suits = Sequence[Mapping[str, str]]
"""The `letter` and the `name` of each suit."""


def told_apart(names: Sequence[str]) -> list[str]:
    """The names of the seats, with the seat where several have the same."""
    return [f"{name} (seat {seat})" if names.count(name) > 1 else name for seat, name in enumerate(names)]


def does(name: str, verb: str) -> str:
    """A player and what it does, such as "smart plays"; a person, who is called "you", plays without the s."""
    return f"{name} {verb}" if name == "you" else f"{name} {verb}s"


def move_in_words(move: Move, suits: Suits, names: Sequence[str] | None = None, seat: int = 0) -> str:
    """A move with the names of these suits, such as "hint +1 red"; with names, that of a seat: "hint smart: red"."""
    if move.offset is not None:
        what = f"rank {(move.rank or 0) + 1}" if move.color is None else suits[move.color]["name"]
        return (
            f"hint +{move.offset} {what}"
            if names is None
            else f"hint {names[(seat + move.offset) % len(names)]}: {what}"
        )
    announced = "" if move.announced is None else f" announcing {suits[move.announced]['name']}"
    return f"{move.kind} slot {move.slot}{announced}"


def turn_in_words(last: dict[str, Any], names: Sequence[str], suits: Suits) -> str:
    """A turn, the `last` of a frame, in words."""
    who = does(names[last["seat"]], last["kind"] if last["target"] is None else "hint")
    if last["target"] is not None:
        what = f"rank {last['rank'] + 1}" if last["color"] is None else suits[last["color"]]["name"]
        slots = ", ".join(map(str, last["touched"]))
        places = f"slot{'s' if len(last['touched']) > 1 else ''} {slots}" if slots else "no card"
        return f"{who} {names[last['target']]}: {what} ({places})"
    if last["kind"] == "discard":
        return f"{who} {last['card']} from slot {last['slot']}"
    announced = "" if last["announced"] is None else f", announced as {suits[last['announced']]['name']}"
    result = "a misplay" if last["misplay"] else "and a token is regained" if last["regained"] else "and it fits"
    return f"{who} {last['card']} from slot {last['slot']}{announced}: {result}"
