"""Replies: the one move that a text or a tool call names, or why there is none. Nothing is guessed.

A reply names a move if it is nothing but this move, or if it ends in a marked answer that is nothing but this move:

    MOVE: play slot 2                                 a last line
    <move>play slot 2</move>                          a tag, or <answer>
    {"move": "play slot 2"}                           JSON, after keys such as "reasoning"
    {"name": "play", "arguments": {"slot": 2}}        a tool call

The move is written as prompts list it; capitals, quotes, bold type, code and a full stop do not count. Thinking may
stand before the marked answer, but neither a second marked answer nor a sentence that runs on into it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from starmine._core import NotationError, StarmineError, Variant, View
from starmine._util.numbers import is_integer
from starmine.text.exchange import Answer
from starmine.text.facts import move_text, move_texts

MOST_CHARACTERS = 200_000  # of a reply
MOST_BRACES = 50  # from which a JSON object is looked for, from the end
LONGEST = 80  # characters of a quotation in a problem

# What may surround a move: quotes, code and bold type.
PAIRS = [
    *((mark, mark) for mark in ("```", "**", "__", "*", "_", "`", '"', "'")),
    ("\u201c", "\u201d"),
    ("\u2018", "\u2019"),
]
# Keys that may stand before "move" in JSON, since a model thinks before it answers.
THINKING = {"analysis", "explanation", "rationale", "reason", "reasoning", "thinking", "thought", "thoughts"}
# Words of a line that may run on into the marked answer, such as "So my final move is:".
LEAD_IN = """
a action answer as best choice choose chosen conclusion decide decided decision final finally follows for go hence here
here's i i'll i'm is json let's make making me move my now output response result so the then therefore this thus to
turn we will with
"""
# What ends a sentence, and what does not: commas, dashes, ellipses, also those of Chinese, and abbreviations.
ENDS = (".", "!", "?", "\u3002", "\uff01", "\uff1f")
GOES_ON = (*":,;-=", *"\uff1a\uff0c\u3001\u2013\u2014\u2026\u2192", "...", "e.g.", "i.e.", "vs.", "cf.")

_BLOCK = re.compile(
    r"<(?P<end>/?)(?P<name>think|thinking|thoughts?|reasoning|scratchpad|analysis|reflection)>|\[(?P<end2>/?)THINK\]"
    r"|◁(?P<end3>/?)think▷",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(move|answer)>([^<>]*)</\1>$", re.IGNORECASE)
_LINE = re.compile(r"move\s*:(?P<answer>.*)", re.IGNORECASE)
_BOLD_LINE = re.compile(r"(?P<mark>\*\*|__|\*|_|`)move(?:(?P=mark)\s*:|\s*:\s*(?P=mark))(?P<answer>.*)", re.IGNORECASE)
_MARK = re.compile(  # of any marked answer, wherever it stands: a line with a text, or something that names a move
    r"(?im:^(?:[^\w\n]|_)*move(?:[^\w\n:]|_)*:[^\n]*\w)"
    r"|(?:(?<![A-Za-z])MOVE(?:[^\w\n:]|_)*:|(?i:</?(?:move|answer)\b[^<>]*>)|(?i:[\"'](?:move|name)[\"']\s*:))"
    r"\s*[^\n]{0,200}?\b(?i:play|discard|hint)\b"
)
# Another answer before the marked one, in other forms: "Final answer: play slot 2", \\boxed{play slot 2}.
_OTHER_ANSWER = re.compile(
    r"(?:\b(?:final|answer|move|action|decision|choice|verdict|output|response|result|conclusion)\b"
    r"[^\w\n:\uff1a]*(?:\w+[^\w\n:\uff1a]*){0,2}(?:[:\uff1a=\u2192\u2013\u2014]|->|\s-\s|\bis\b)"
    r"|\\(?:boxed|fbox)\{(?:\\text\{)?|<(?:action|decision|final|final_answer|output)>)(?P<move>[^{}<>\n]*)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"[-*\u2022]\s|\||[0-9]+[.)]\s")  # of a list or a table
_EXAMPLE = re.compile(r"\b(?:examples?|formats?|templates?)\b|\be\.g\.", re.IGNORECASE)
_SYMBOL = re.compile(
    r"[^\w\s:,;.'\"*_`>#=\u2013\u2014\u2026\u2192-]"
)  # that is no punctuation, such as a crossed-out mark


class UnreadableError(Exception):
    """Why a reply cannot be used."""


@dataclass(frozen=True)
class Reply:
    """What a reply says.

    Attributes:
        action: the action id of its one move; None if it names none, several, or one that is not legal.
        problem: why `action` is None, with what to do; None if there is an action.
        illegal: whether the reply names one move, but that move is not legal now.
    """

    action: int | None
    problem: str | None
    illegal: bool = False


def read_move(reply: Any, view: View) -> int:
    """The action id of the one legal move that a reply names.

    A reply is accepted if it is nothing but a move, or ends in a marked answer that is nothing but a move: a last line
    `MOVE: play slot 2`, a tag `<move>play slot 2</move>`, JSON `{"move": "play slot 2"}`, or a tool call. Thinking may
    stand before it. Everything else is refused.

    Args:
        reply: text, a tool call as a dict, a list of one tool call, or an `Answer`.
        view: of the seat to act.

    Raises:
        NotationError: the reply is not such a move; the message says what to do.
        StarmineError: the move is not legal.
    """
    parsed = parse_reply(reply, view)
    if parsed.action is None:
        assert parsed.problem is not None
        raise (StarmineError if parsed.illegal else NotationError)(parsed.problem)
    return parsed.action


def parse_reply(reply: Any, view: View) -> Reply:
    """What a reply says; see `read_move`. No reply raises an exception."""
    try:
        action = _action(_answer(reply, _actions(view.variant, view.observer)), view)
    except UnreadableError as problem:
        return Reply(None, f"the reply cannot be used: {problem}")
    except RecursionError:
        return Reply(None, "the reply cannot be used: its tool call is nested too deeply")
    if action not in view.legal_actions():
        legal = ", ".join(move_text(view, legal) for legal in view.legal_actions()) or "none, another seat is to act"
        return Reply(None, f'"{move_text(view, action)}" is not legal now: expected one of {legal}', True)
    return Reply(action, None)


# --- Where the answer stands ---------------------------------------------------------------------------------


def _answer(reply: Any, actions: Mapping[str, int]) -> str:
    """The text of the move in a reply, given the actions by their texts."""
    if isinstance(reply, Answer):
        if not reply.complete:
            raise UnreadableError("it was cut off at its length limit: think in fewer words, then name a move")
        if reply.tool_calls and _MARK.search(reply.text):
            raise UnreadableError("it has a tool call and a marked answer in its text: give one of them")
        if len(reply.tool_calls) == 1 and isinstance(reply.tool_calls[0], Mapping):
            _check_others(_without_reasoning(reply.text), _of_object(reply.tool_calls[0]), actions)
        reply = list(reply.tool_calls) or reply.text
    if isinstance(reply, list) and reply and all(isinstance(call, Mapping) for call in reply):
        if len(reply) > 1:
            raise UnreadableError(f"it has {len(reply)} tool calls: make one")
        (reply,) = reply
    if isinstance(reply, Mapping):
        return _of_object(reply)
    if not isinstance(reply, str):
        raise UnreadableError(f"it is a {type(reply).__name__}, not text")
    if len(reply) > MOST_CHARACTERS:
        raise UnreadableError(f"it has {len(reply):,} characters: write at most {MOST_CHARACTERS:,}")
    text = "\n".join(_without_reasoning(reply).splitlines()).strip()
    if not text:
        raise UnreadableError("it is empty: name a move")
    return _of_text(text, actions)


def _without_reasoning(text: str) -> str:
    """The text without its reasoning blocks, such as `<think>...</think>`. Chat templates open the first one."""
    start = 0
    pieces: list[str] = []
    blocks = [(block, bool(block["end"] or block["end2"] or block["end3"])) for block in _BLOCK.finditer(text)]
    inside, opened = bool(blocks) and blocks[0][1], ""
    for block, ends in blocks:
        name = (block["name"] or "").lower()
        if inside and ends and (name == opened or (not start and not pieces)):
            start, inside = block.end(), False
        elif not inside and not ends:
            pieces.append(text[start : block.start()])
            inside, opened = True, name
    if inside:
        raise UnreadableError("it ends inside its thinking: close the block and name the move after it")
    if blocks and not text[start:].strip() and "".join(pieces).strip():
        raise UnreadableError("its thinking stands after its answer: name the move at the end")
    return "\n".join([*pieces, text[start:]])


def _of_text(text: str, actions: Mapping[str, int]) -> str:
    before, end = _last_block(text)
    if not before:
        bare = _bare(end)
        if "\n" not in bare and not _MARK.search(bare) and not bare.endswith("}"):
            return bare
    before, answer = _marked(before, end)
    if _MARK.search(before):
        raise UnreadableError("it has more than one marked answer: write one, at the end")
    _check_others(before, answer, actions)
    _check_lead_in(before)
    return answer


def _check_others(before: str, answer: str, actions: Mapping[str, int]) -> None:
    """Refuse a line that is another move than the answer, also after a label such as "Final answer:"."""
    others = before.split("\n") + [match["move"].strip("*_`\"' .!\u3002") for match in _OTHER_ANSWER.finditer(before)]
    for line in others:
        if _plain(line) in actions and _plain(line) != _plain(answer):
            raise UnreadableError(f"it has {_quoted(line)} before its marked answer {_quoted(answer)}: name one move")


def _last_block(text: str) -> tuple[str, str]:
    """What stands before the code block at the end of a text, and what is in it; without one, nothing and the text."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if re.match(r"\s*(```|~~~)\w*\s*$", line)]
    if len(fences) % 2 or not fences or fences[-1] != len(lines) - 1 or re.search(r"\w", lines[-1]):
        return "", text
    inside = "\n".join(lines[fences[-2] + 1 : -1]).strip()
    return "\n".join(lines[: fences[-2]]), inside


def _marked(before: str, end: str) -> tuple[str, str]:
    """What stands before the marked answer at the end of a text, and its move.

    Args:
        before: what stands before a code block at the end, which must hold nothing but the marked answer.
        end: the rest.
    """
    start, answer = _marked_end(end)
    if before.strip() and end[:start].strip():
        raise UnreadableError("its code block has more than the marked answer: leave the rest out")
    return before + "\n" + end[:start] if before.strip() else end[:start], answer


def _marked_end(text: str) -> tuple[int, str]:
    """Where the marked answer at the end of a text begins, and its move."""
    if text.endswith("}"):
        members = _last_object(text)
        if members is not None:
            return members[0], _of_object(members[1])
    tag = _TAG.search(text)
    if tag is not None:
        return tag.start(), tag[2]
    start = text.rfind("\n") + 1
    line = re.sub(r"^(#+|>)\s+", "", text[start:].strip())
    whole = _bare(line.removesuffix("."), stop=False)  # a line that is bold or quoted as a whole
    marked = _LINE.fullmatch(line) or _BOLD_LINE.fullmatch(line) or _LINE.fullmatch(whole)
    if marked is not None:
        return start, marked["answer"]
    if _MARK.search(text):
        raise UnreadableError('its marked answer does not end it: end it with a line such as "MOVE: play slot 0"')
    raise UnreadableError('it has no marked answer: end it with a line such as "MOVE: play slot 0"')


def _last_object(text: str) -> tuple[int, dict[str, Any]] | None:
    """The JSON object that ends a text, and where it begins; None without one."""
    start, decoder = len(text), json.JSONDecoder(object_pairs_hook=_distinct)
    for _ in range(MOST_BRACES):
        start = text.rfind("{", 0, start)
        if start < 0:
            return None
        try:
            members, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if end == len(text):
            return start, members
    return None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of some keys and values."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise UnreadableError("its JSON has a key twice: give each key once")
    return members


def _check_lead_in(before: str) -> None:
    """Refuse a line before the marked answer that speaks of an example, or that runs on into the answer.

    "I would never:" and "Wrong answer" may negate it. "So my final move is:" has known words only, and may stand there.
    """
    text = before.rstrip()
    breaks, line = before[len(text) :].count("\n"), text[text.rfind("\n") + 1 :].strip()
    if _EXAMPLE.search(line):
        raise UnreadableError(f"{_quoted(line)} before its marked answer speaks of an example: leave that line out")
    bare = line.rstrip("*_`\"')] \u201d\u2019")
    is_item = breaks > 1 and _ITEM.match(line)
    if not bare.endswith(GOES_ON) and (is_item or bare.endswith(ENDS)):
        return
    last = re.split(r"[.!?]\s", bare)[-1].replace("\u2019", "'")
    words = re.findall(r"[\w']+", last.strip("*_").lower())
    if not set(words) <= set(LEAD_IN.split()) or _SYMBOL.search(last):
        raise UnreadableError(f"{_quoted(line)} runs on into its marked answer: end that line with a full stop")


# --- Objects -------------------------------------------------------------------------------------------------


def _of_object(given: Mapping[str, Any]) -> str:
    """The text of the move that a tool call, or an object with a move, names."""
    if given.keys() == {"name", "arguments"}:
        return _called(given["name"], given["arguments"])
    last = list(given)[-1] if given else None
    if "move" not in given or not set(given) <= THINKING | {"move"}:
        named = ", ".join(key for key in given if isinstance(key, str))
        told = f"the keys {_shortened(named)}" if given else "no key"
        expected = '{"move": "play slot 2"}, or a tool call such as {"name": "play", "arguments": {"slot": 2}}'
        raise UnreadableError(f"it has {told}: expected {expected}")
    if last != "move":
        raise UnreadableError(f"{_quoted(last)} stands after its move: give the move as the last key")
    for key in given:
        if not isinstance(given[key], str):
            raise UnreadableError(f"its {key} is {_quoted(given[key])}: expected text")
    return str(given["move"])


def _called(name: Any, arguments: Any) -> str:
    """The text of the move of a tool call."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, object_pairs_hook=_distinct)
        except (ValueError, RecursionError):
            raise UnreadableError("the arguments of its tool call are no JSON: give an object") from None
    if not isinstance(arguments, dict):
        raise UnreadableError(f"the arguments of its tool call are {_quoted(arguments)}: give an object")
    given = {key: value for key, value in arguments.items() if value is not None}
    match name, sorted(given, key=str):
        case "make_move", _:
            return _of_object(given)
        case "play" | "discard", ["slot"]:
            return f"{name} slot {_whole(given, 'slot')}"
        case "play", ["announcing", "slot"]:
            return f"play slot {_whole(given, 'slot')} announcing {_word(given, 'announcing')}"
        case "hint", ["color", "seat"]:
            return f"hint seat {_whole(given, 'seat')} {_word(given, 'color')}"
        case "hint", ["rank", "seat"]:
            return f"hint seat {_whole(given, 'seat')} rank {_whole(given, 'rank')}"
    told = _quoted({"name": name, "arguments": given})
    raise UnreadableError(
        f"{told} is no call of a known tool: expected play with slot, discard with slot, hint with seat and color, or "
        "hint with seat and rank"
    )


def _whole(given: Mapping[str, Any], name: str) -> int:
    value = given[name]
    if not is_integer(value) or abs(value) > 999:
        raise UnreadableError(f"{name} {_quoted(value)} is no whole number of this game")
    return value


def _word(given: Mapping[str, Any], name: str) -> str:
    if not isinstance(given[name], str):
        raise UnreadableError(f"{name} {_quoted(given[name])} is no name of a suit")
    return str(given[name])


# --- Moves ---------------------------------------------------------------------------------------------------


def _action(answer: str, view: View) -> int:
    """The action that is written as prompts list it."""
    action = _actions(view.variant, view.observer).get(_plain(answer))
    if action is None:
        raise UnreadableError(
            f'{_quoted(answer)} is no move: write nothing but one move as the prompt lists it, such as "play slot 0"'
        )
    return action


@lru_cache(maxsize=256)
def _actions(variant: Variant, observer: int) -> dict[str, int]:
    return {text: action for action, text in enumerate(move_texts(variant, observer))}


def _plain(text: str) -> str:
    """The text of a move as it is compared: in lower case, with single spaces, and without what surrounds it."""
    return " ".join(_bare(text).split()).lower()


def _bare(text: str, stop: bool = True) -> str:
    """The text without surrounding quotes, code and bold type, and with `stop` without a full stop or `!`."""
    text = text.strip()
    while True:
        if stop and text.endswith((".", "!")):
            text, stop = text[:-1].rstrip(), False
            continue
        pair = next((pair for pair in PAIRS if text.startswith(pair[0]) and text.endswith(pair[1])), ("", ""))
        if not pair[0] or len(text) <= len(pair[0] + pair[1]):
            return text
        text = text[len(pair[0]) : -len(pair[1])].strip()


def _quoted(value: Any) -> str:
    """A part of the reply as problems show it."""
    if isinstance(value, str):
        return repr(_shortened(value.strip()))
    try:
        return _shortened(repr(value))
    except Exception:  # such as an integer of too many digits
        return f"a {type(value).__name__}"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
