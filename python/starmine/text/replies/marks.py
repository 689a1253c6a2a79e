"""Where a text marks its answer: after reasoning blocks, in JSON, in a tag, in a box, or on a line `MOVE: ...`."""

from __future__ import annotations

import json
import re
from typing import Any

from starmine.text.replies.calls import answers_in
from starmine.text.replies.parts import UnreadableError

MOST_OBJECTS = 50  # JSON objects that are looked for in a text

REASONING = "think|thinking|thought|reasoning|scratchpad|analysis|reflection"
_CLOSED = re.compile(rf"<({REASONING})\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"<({REASONING})\b[^>]*>", re.IGNORECASE)
_END = re.compile(rf"</({REASONING})\s*>", re.IGNORECASE)
_TAG = re.compile(
    r"<(?P<tag>move|action|answer|final_answer|final)\b[^>]*>(?P<answer>.*?)</(?P=tag)\s*>", re.DOTALL | re.IGNORECASE
)
_BOXED = re.compile(r"\\boxed\s*\{(?:\\text\s*\{)?(?P<answer>[^{}]*)\}")
_LINE = re.compile(
    r"^[\s>*_#`\"'-]*(?:(?:my|the|final|chosen|best)\s+)*(?:move|action|answer|decision)(?:\s+is)?[\s*_`]*[:=]"
    r"(?P<answer>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_DECODER = json.JSONDecoder()


def without_reasoning(text: str) -> str:
    """The text without its reasoning blocks, such as `<think>...</think>`.

    Raises:
        UnreadableError: the text ends inside such a block.
    """
    if "<" not in text:
        return text
    text = _CLOSED.sub(" ", text)
    for end in reversed(list(_END.finditer(text))):
        text = text[end.end() :]  # chat templates open the block before the reply begins
        break
    opened = _OPEN.search(text)
    if opened is None:
        return text
    raise UnreadableError(f"it ends inside <{opened[1].lower()}>: close the block and name the move after it")


def marked_answers(text: str) -> tuple[list[Any], str]:
    """The marked answers, and the text without them and without JSON.

    Empty answers count only if there are no others, and then only the first one.
    """
    marks, rest = _json_answers(text)
    for pattern in (_TAG, _BOXED, _LINE):
        marks += [match["answer"] for match in pattern.finditer(rest)]
        rest = pattern.sub(" \n ", rest)
    return [mark for mark in marks if not isinstance(mark, str) or mark.strip()] or marks[:1], rest


def _json_answers(text: str) -> tuple[list[Any], str]:
    """The answers in the JSON of a text, and the text without that JSON."""
    marks: list[Any] = []
    pieces, position, tried = [], 0, 0
    for match in re.finditer(r"[{\[]", text):
        if match.start() < position or tried == MOST_OBJECTS:
            continue
        tried += 1
        try:
            value, end = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        found = list(answers_in(value))
        if found or isinstance(value, dict):
            marks += found
            pieces.append(text[position : match.start()])
            position = end
    return marks, " ".join([*pieces, text[position:]])


def shortened(mark: Any) -> str:
    """An answer as an error message quotes it."""
    text = mark if isinstance(mark, str) else json.dumps(mark)
    return repr(text.strip() if len(text) <= 80 else text.strip()[:77] + "...")
