"""A turn and the players in words."""

from __future__ import annotations

from collections.abc import Sequence

from starmine.look.frame import Frame


def told_apart(names: Sequence[str]) -> list[str]:
    """The names of the seats, with the seat where several have the same, as `seatOf` of replay.js has them."""
    return [f"{name} (seat {seat})" if names.count(name) > 1 else name for seat, name in enumerate(names)]


def last_turn(frame: Frame) -> str:
    """The last turn in words, such as "seat 0 hints seat 1: red (slots 2, 3)", as `describe` of board.js has it."""
    last, names = frame["last"], frame["names"]
    if last is None:
        return f"{names[frame['start_player']]} begins"
    who = names[last["seat"]]
    if last["target"] is not None:
        what = f"rank {last['rank'] + 1}" if last["color"] is None else frame["suits"][last["color"]]["name"]
        slots = ", ".join(map(str, last["touched"]))
        places = f"slot{'s' if len(last['touched']) > 1 else ''} {slots}" if slots else "no card"
        return f"{who} hints {names[last['target']]}: {what} ({places})"
    if last["kind"] == "discard":
        return f"{who} discards {last['card']} from slot {last['slot']}"
    announced = "" if last["announced"] is None else f", announced as {frame['suits'][last['announced']]['name']}"
    result = "a misplay" if last["misplay"] else "and a token is regained" if last["regained"] else "and it fits"
    return f"{who} plays {last['card']} from slot {last['slot']}{announced}: {result}"
