"""Replies: the one move that a text or a tool call names, or why there is none. Nothing is guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from starmine._core import NotationError, StarmineError, View
from starmine.text.facts import move_text
from starmine.text.replies.calls import moves_of_mark, moves_of_object
from starmine.text.replies.marks import marked_answers, shortened, without_reasoning
from starmine.text.replies.parts import Parts, UnreadableError, distinct
from starmine.text.replies.words import moves_of_text

MOST_CHARACTERS = 200_000  # of a reply


@dataclass(frozen=True)
class Reply:
    """What a reply says.

    Attributes:
        action: the action id of its one move; None if it names none, several, or one that is not legal.
        problem: why `action` is None, with what to do; None if there is an action.
        marked: whether the move stood in a marked answer: a line `MOVE: ...`, a tag, JSON or a tool call.
        illegal: whether the reply names one move clearly, but that move is not legal now.
    """

    action: int | None
    problem: str | None
    marked: bool
    illegal: bool = False


def read_move(reply: Any, view: View) -> int:
    """The action id of the one legal move that a reply names.

    A marked answer decides: a line `MOVE: ...`, a tag such as `<move>`, JSON with `move` or `action`, a tool call.
    Without one, the text must state exactly one move. A move in doubt, negated, on a condition or in a question is not
    stated, and it makes the text ambiguous unless another move is the decision, such as "I will play slot 0". Reasoning
    blocks and moves of other seats do not count.

    Args:
        reply: text, or a tool call as a dict.
        view: of the seat to act.

    Raises:
        NotationError: the reply names no move, or several different ones; the message says what to do.
        StarmineError: the move is not legal.
    """
    found = parse_reply(reply, view)
    if found.action is None:
        assert found.problem is not None
        raise (StarmineError if found.illegal else NotationError)(found.problem)
    return found.action


def parse_reply(reply: Any, view: View) -> Reply:
    """What a reply says; see `read_move`. No reply raises an exception."""
    try:
        moves, marked = _moves_of(reply, Parts(view))
        if len(moves) > 1:
            named = " and ".join(f'"{move_text(view, action)}"' for action in moves)
            raise UnreadableError(f"it names {len(moves)} different moves, {named}: name one")
        (action,) = moves
    except UnreadableError as problem:
        return Reply(None, f"the reply cannot be used: {problem}", False)
    if action not in view.legal_actions():
        legal = ", ".join(move_text(view, legal) for legal in view.legal_actions()) or "none, another seat is to act"
        return Reply(None, f'"{move_text(view, action)}" is not legal now: expected one of {legal}', marked, True)
    return Reply(action, None, marked)


def _moves_of(reply: Any, parts: Parts) -> tuple[list[int], bool]:
    """The different moves of a reply, at least one, and whether they are marked."""
    if isinstance(reply, dict):
        return _some(moves_of_object(parts, reply), _without_move(reply)), True
    if isinstance(reply, list) and reply and all(isinstance(call, dict) for call in reply):
        return distinct(
            action for call in reply for action in _some(moves_of_object(parts, call), _without_move(call))
        ), True
    if not isinstance(reply, str):
        raise UnreadableError(f"it is a {type(reply).__name__}, not text")
    if len(reply) > MOST_CHARACTERS:
        raise UnreadableError(f"it has {len(reply):,} characters: write at most {MOST_CHARACTERS:,}")
    if not reply.strip():
        raise UnreadableError("it is empty: name a move")
    if re.fullmatch(r"\s*[0-9]{1,9}\s*", reply):
        return [parts.numbered(int(reply))], True
    marks, rest = marked_answers(without_reasoning(reply))
    if marks:
        return distinct(
            action
            for mark in marks
            for action in _some(moves_of_mark(parts, mark), f"its answer {shortened(mark)} names no move")
        ), True
    return _some(moves_of_text(parts, rest), 'it names no move: write "play slot 0", "discard slot 0" or a hint'), False


def _without_move(reply: dict[Any, Any]) -> str:
    """What is wrong with a dict that is no tool call and has no move."""
    keys = ", ".join(map(str, reply))
    told = f", but the keys {keys if len(keys) < 100 else keys[:99] + '...'}" if reply else " and no key"
    expected = '{"name": "play", "arguments": {"slot": 2}}, or {"move": "play slot 2"}'
    return f"it has no move{told}: expected a tool call such as {expected}"


def _some(moves: list[int], problem: str) -> list[int]:
    if not moves:
        raise UnreadableError(problem)
    return moves
