"""Replies: the one move that a text or a tool call names, or why there is none.

A reply names a move if it is nothing but this move, or if it ends in a marked answer:

    MOVE: play slot 2                                                a last line
    {"reasoning": "It is a 1.", "move": "play slot 2"}               JSON, with the move as its last key
    {"name": "make_move", "arguments": {"move": "play slot 2"}}      a tool call

The move is written as prompts list it; capitals, quotes, bold type, code and a full stop around it do not count. What
stands before a marked answer is not read, except that no other marked answer may name another move: a line that begins
with `MOVE:`, or a key "move" of JSON. A block `<think>...</think>` is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from starmine._core import NotationError, StarmineError, Variant, View
from starmine.text.facts import move_text, move_texts

MOST_BRACES = 50  # from which a JSON object is looked for, from the end
LONGEST = 80  # characters of a quotation in a problem
AROUND = " \t*_`\"'\u201c\u201d\u2018\u2019"  # may surround a move: spaces, bold type, code and quotes
_FENCE = re.compile(r"\s*(```|~~~)\w+\s*")  # that opens a code block of a language
_MOVE = re.compile(r"(?:play|discard) slot (\d{1,9})|hint seat (\d{1,9}) (?:rank (\d{1,9})|\w+)")
_KEY = re.compile(r'"move"\s*:\s*"((?:[^"\\]|\\.)*)"')  # of a JSON object, with its text
_LINE = re.compile(rf"[#>{AROUND}]*move[{AROUND}]*:(.*)", re.IGNORECASE)


def read_move(reply: Any, view: View) -> int:
    """The action id of the one legal move that a reply names.

    A reply is accepted if it is nothing but a move, or ends in a marked answer that is nothing but a move: a last line
    `MOVE: play slot 2`, JSON `{"move": "play slot 2"}`, or a tool call. What stands before it is not read. Everything
    else is refused.

    Args:
        reply: text, a tool call as a dict, or a list of one tool call.
        view: of the seat to act.

    Raises:
        NotationError: the reply is not such a move; the message says what to do.
        StarmineError: the move is not legal, or its slot, seat or rank does not exist.
    """
    answer, *others = _marked(reply)
    action, absent = _actions(view.variant, view.observer).get(_plain(answer)), _absent(_plain(answer), view)
    if action is None and absent is None:
        raise _unusable(
            f'{_quoted(answer)} is no move: write nothing but one move as the prompt lists it, such as "play slot 0"'
        )
    if any(_plain(other) != _plain(answer) for other in others):
        raise _unusable("it has marked answers of several moves: write one, at the end")
    if action is None:
        raise StarmineError(f'"{_plain(answer)}" is not legal now: {absent}')
    if action not in view.legal_actions():
        legal = ", ".join(move_text(view, legal) for legal in view.legal_actions()) or "none, another seat is to act"
        raise StarmineError(f'"{move_text(view, action)}" is not legal now: expected one of {legal}')
    return action


def _absent(move: str, view: View) -> str | None:
    """The slot, seat or rank of a move that does not exist, in words; None for what is written otherwise."""
    written = _MOVE.fullmatch(move)
    if written is None:
        return None
    variant = view.variant
    slot, seat, rank = (None if part is None else int(part) for part in written.groups())
    if slot is not None and slot >= variant.hand_size:
        return f"there is no slot {slot}, your slots are 0 to {variant.hand_size - 1}"
    if seat is not None and seat >= variant.players:
        return f"there is no seat {seat}, the seats are 0 to {variant.players - 1}"
    if seat == view.observer:
        return f"you are seat {seat}, hint another seat"
    if rank is not None and not 1 <= rank <= variant.ranks:
        return f"there is no rank {rank}, the ranks are 1 to {variant.ranks}"
    return None


def _unusable(problem: str) -> NotationError:
    return NotationError(f"the reply cannot be used: {problem}")


def _marked(reply: Any) -> list[str]:
    """The text of the move in a reply, and of all other marked answers."""
    if isinstance(reply, list) and reply and all(isinstance(call, Mapping) for call in reply):
        if len(reply) > 1:
            raise _unusable(f"it has {len(reply)} tool calls: make one")
        (reply,) = reply
    if isinstance(reply, Mapping):
        return _of_object(reply)
    if not isinstance(reply, str):
        raise _unusable(f"it is a {type(reply).__name__}, not text")
    return _of_text(reply)


def _of_text(text: str) -> list[str]:
    text = text.rpartition("</think>")[2]
    if "<think>" in text:
        raise _unusable("it ends inside its thinking: close the block and name the move after it")
    lines = [line for line in text.splitlines() if line.strip() not in ("", "```", "~~~")]
    if lines and _FENCE.fullmatch(lines[0]):
        del lines[0]
    if not lines:
        raise _unusable("it is empty: name a move")
    marks = [mark and mark[1] for mark in map(_LINE.fullmatch, lines)]
    if lines[-1].rstrip().endswith("}"):
        answers = _of_object(_last_object("\n".join(lines).rstrip()))
    elif len(lines) > 1 and marks[-1] is None:
        raise _unusable('it does not end in a marked answer: end it with a line such as "MOVE: play slot 0"')
    else:
        answers = [lines[-1] if marks[-1] is None else marks[-1]]
    return [*answers, *(mark for mark in marks if mark is not None), *_KEY.findall(text)]


def _last_object(text: str) -> Mapping[str, Any]:
    """The JSON object that ends a text."""
    start, decoder = len(text), json.JSONDecoder()
    for _ in range(MOST_BRACES):
        start = text.rfind("{", 0, start)
        if start < 0:
            break
        try:
            members, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if end == len(text):
            return dict(members)
    raise _unusable('it ends in no JSON object: expected {"move": "play slot 2"}')


def _of_object(given: Mapping[str, Any]) -> list[str]:
    """The text of the move that an object or a tool call names, and that of each key "move" in its text."""
    keys: list[str] = []
    if given.keys() == {"name", "arguments"} and given["name"] == "make_move":
        given = given["arguments"]
        if isinstance(given, str):
            keys = _KEY.findall(given)
            try:
                given = json.loads(given)
            except (ValueError, RecursionError):
                raise _unusable("the arguments of its tool call are no JSON: give an object") from None
    if not isinstance(given, Mapping) or list(given)[-1:] != ["move"] or not isinstance(given["move"], str):
        expected = '{"move": "play slot 2"} with the move as the last key, or a call of make_move with this argument'
        raise _unusable(f"it has {_quoted(given)}: expected {expected}")
    return [given["move"], *keys]


@lru_cache(maxsize=256)
def _actions(variant: Variant, observer: int) -> dict[str, int]:
    return {text: action for action, text in enumerate(move_texts(variant, observer))}


def _plain(text: str) -> str:
    """The text of a move as it is compared: in lower case, with single spaces, and without what surrounds it."""
    bare = re.sub(r"[.!]$", "", text.strip().strip(AROUND)).strip(AROUND)
    return " ".join(bare.split()).lower()


def _quoted(value: Any) -> str:
    """A part of the reply as problems show it."""
    try:
        text = repr(value.strip() if isinstance(value, str) else value)
    except Exception:  # such as an integer of too many digits
        return f"a {type(value).__name__}"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
