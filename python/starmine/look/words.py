"""A turn and the players in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any


def told_apart(names: Sequence[str]) -> list[str]:
    """The names of the seats, with the seat where several have the same."""
    return [f"{name} (seat {seat})" if names.count(name) > 1 else name for seat, name in enumerate(names)]


def does(name: str, verb: str) -> str:
    """A player and what it does, such as "smart plays"; a person, who is called "you", plays without the s."""
    return f"{name} {verb}" if name == "you" else f"{name} {verb}s"


def move_in_words(text: str, seat: int, names: Sequence[str]) -> str:
    """A move of a seat, such as "hint +1 red", with the name of the player who gets the hint: "hint smart: red"."""
    hint = re.fullmatch(r"hint \+(\d+) (.*)", text)
    return f"hint {names[(seat + int(hint[1])) % len(names)]}: {hint[2]}" if hint else text


def turn_in_words(last: dict[str, Any], names: Sequence[str], suits: Sequence[dict[str, str]]) -> str:
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
