"""Answers as data: tool calls, JSON with a `move` or an `action`, dictionaries of HLE."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from starmine.text.replies.parts import Parts, UnreadableError, distinct, integer
from starmine.text.replies.words import moves_of_text

NAMES = {
    **dict.fromkeys(["play", "play_card", "playcard"], "play"),
    **dict.fromkeys(["discard", "discard_card", "discardcard"], "discard"),
    **dict.fromkeys(["hint", "clue", "tell", "reveal", "give_hint", "give_clue"], "hint"),
    **dict.fromkeys(["hint_color", "hint_colour", "reveal_color", "clue_color", "color_hint", "colour_hint"], "hint"),
    **dict.fromkeys(["hint_rank", "reveal_rank", "clue_rank", "hint_number", "rank_hint", "hint_value"], "hint"),
}
WRAPPERS = ("tool_calls", "function", "function_call", "tool_call")
ANSWERS = ("move", "action", "action_id", "answer", "final_answer", "final_move", "next_move")

# Names of arguments; those of a group mean the same.
SLOTS = ("slot", "card", "card_index", "index", "position", "card_slot")
SEATS = ("seat", "player", "target", "to", "to_seat", "target_seat", "target_player", "player_id")
OFFSETS = ("offset", "target_offset")
COLORS = ("color", "colour", "suit")
RANKS = ("rank", "number")
ARGUMENTS = {*SLOTS, *SEATS, *OFFSETS, *COLORS, *RANKS, "hint", "value"}


def answers_in(value: Any) -> Iterator[Any]:
    """The answers in a JSON value: texts and action ids under `move` and `action`, and tool calls as dicts."""
    if isinstance(value, list):
        for part in value:
            if isinstance(part, dict):
                yield from answers_in(part)
        return
    if not isinstance(value, dict):
        return
    lowered = {str(key).lower(): part for key, part in value.items()}
    for key in WRAPPERS:
        if isinstance(lowered.get(key), dict | list):
            yield from answers_in(lowered[key])
            return
    if "action_type" in lowered or _call(lowered) is not None:
        yield value
        return
    for key in ANSWERS:
        part = lowered.get(key)
        if isinstance(part, str | int | float):
            yield part
        elif part:
            yield from answers_in(part)


def moves_of_mark(parts: Parts, mark: Any) -> list[int]:
    """The different moves of a marked answer."""
    if isinstance(mark, dict):
        return moves_of_object(parts, mark)
    if isinstance(mark, bool) or (isinstance(mark, float) and not mark.is_integer()):
        raise UnreadableError(f"its answer is {mark!r}: name a move")
    if isinstance(mark, int | float):
        return [parts.numbered(int(mark))]
    if re.fullmatch(r"[\s\"'*`]*[0-9]+[\s\"'*`.]*", mark):
        return [parts.numbered(int(re.findall(r"[0-9]+", mark)[0]))]
    return moves_of_text(parts, mark, marked=True)


def moves_of_object(parts: Parts, given: dict[str, Any]) -> list[int]:
    """The moves of a tool call, of HLE's dictionary of a move, or of an object with a marked answer."""
    lowered = {str(key).lower(): part for key, part in given.items()}
    if isinstance(lowered.get("action_type"), str):
        kind = lowered["action_type"].lower()
        rank = lowered.get("rank")  # from 0 in HLE
        if kind == "reveal_rank" and isinstance(rank, int):
            lowered["rank"] = rank + 1
        return [_called(parts, {"reveal_color": "hint", "reveal_rank": "hint"}.get(kind, kind), lowered)]
    call = _call(lowered)
    if call is not None:
        return [_called(parts, *call)]
    answers = (answer for answer in answers_in(given) if answer is not given)
    return distinct(action for answer in answers for action in moves_of_mark(parts, answer))


def _call(lowered: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The kind of move and the arguments of a tool call; None for another object."""
    for key in ("name", "tool", "type", "kind", "move", "action"):
        name = lowered.get(key)
        if not isinstance(name, str) or name.lower() not in NAMES:
            continue
        for place in ("arguments", "parameters", "args", "input"):
            arguments = lowered.get(place)
            if isinstance(arguments, str):
                try:
                    arguments = json.loads(arguments)
                except ValueError:
                    continue
            if isinstance(arguments, dict):
                return NAMES[name.lower()], arguments
        rest = {other: value for other, value in lowered.items() if other != key}
        if rest.keys() & ARGUMENTS:
            return NAMES[name.lower()], rest
    return None


def _called(parts: Parts, kind: str, arguments: dict[str, Any]) -> int:
    """The move of a kind with named arguments."""
    given = {str(key).lower(): value for key, value in arguments.items() if value is not None and value != ""}
    if kind in ("play", "discard"):
        slot = _one(given, SLOTS)
        if slot is None:
            raise UnreadableError(f"its call of {kind} has no slot: give slot, from 0")
        announced = given.get("announce", given.get("announced"))
        return parts.placed(kind, integer("slot", slot), None if announced is None else parts.color(announced))
    if kind != "hint":
        raise UnreadableError(f"{kind!r} is no kind of move: expected play, discard or hint")
    color, rank = _hinted_value(given)
    return parts.hinted(
        _hinted_seat(parts, given),
        None if color is None else parts.color(color),
        None if rank is None else integer("rank", rank),
    )


def _hinted_seat(parts: Parts, given: dict[str, Any]) -> int | None:
    """The seat of a hint; None if it is not named."""
    seat, offset = _one(given, SEATS), _one(given, OFFSETS)
    if isinstance(seat, str) and re.fullmatch(r"\s*\+[0-9]+\s*", seat):
        seat, offset = None, int(str(seat))
    if isinstance(seat, str):
        seat = re.sub(r"(?i)^\s*(seat|player)\s*", "", seat)
    named = None if seat is None else integer("seat", seat)
    if offset is None:
        return named
    relative = parts.seat_at(integer("offset", offset))
    if named not in (None, relative):
        raise UnreadableError("seat and offset differ: give the seat")
    return relative


def _hinted_value(given: dict[str, Any]) -> tuple[Any, Any]:
    """The colour and the rank of a hint, as they were given."""
    color, rank, value = _one(given, COLORS), _one(given, RANKS), given.get("hint", given.get("value"))
    if value is None or color is not None or rank is not None:
        return color, rank
    is_rank = isinstance(value, int) or re.fullmatch(r"\s*(rank\s*)?[0-9]+\s*", str(value))
    return (None, re.sub(r"[^0-9]", "", str(value))) if is_rank else (value, None)


def _one(given: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The argument of a group; None if it is not given."""
    values = [given[name] for name in names if name in given]
    if len({json.dumps(value) for value in values}) > 1:
        raise UnreadableError(f"{' and '.join(name for name in names if name in given)} differ: give one")
    return values[0] if values else None
