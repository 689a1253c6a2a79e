"""Replies: the one move that a text names, or why there is none. Nothing is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from starmine._core import NotationError, StarmineError, View
from starmine._util.numbers import is_integer
from starmine.text.facts import move_text, suits_of

MOST_CHARACTERS = 200_000  # of a reply
MOST_OBJECTS = 50  # JSON objects that are looked for in a reply

REASONING = "think|thinking|thought|reasoning|scratchpad|analysis|reflection"
_CLOSED = re.compile(rf"<({REASONING})\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"<({REASONING})\b[^>]*>", re.IGNORECASE)
_END = re.compile(rf"</({REASONING})\s*>", re.IGNORECASE)
_TAG = re.compile(r"<(move|action|answer|final_answer|final)\b[^>]*>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{(?:\\text\s*\{)?([^{}]*)\}")
_LINE = re.compile(
    r"^[\s>*_#`\"'-]*(?:(?:my|the|final|chosen|best)\s+)*(?:move|action|answer|decision)(?:\s+is)?[\s*_`]*[:=](.*)$",
    re.IGNORECASE | re.MULTILINE,
)
MINUS = "\\-\u2212\u2013"  # hyphen, minus sign and dash
_TOKEN = re.compile(rf"[+{MINUS}]?[0-9]+(?:\.[0-9]+)?|[a-z]+|[.;!?\n,:()|]")

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
    )
}
PLURALS = {"ones": 1, "twos": 2, "threes": 3, "fours": 4, "fives": 5}
VERBS = {
    **dict.fromkeys(["play"], "play"),
    **dict.fromkeys(["discard"], "discard"),
    **dict.fromkeys(["hint", "clue", "tell", "reveal", "inform"], "hint"),
}
NAMES = {
    **dict.fromkeys(["play", "play_card", "playcard"], "play"),
    **dict.fromkeys(["discard", "discard_card", "discardcard"], "discard"),
    **dict.fromkeys(["hint", "clue", "tell", "reveal", "give_hint", "give_clue"], "hint"),
    **dict.fromkeys(["hint_color", "hint_colour", "reveal_color", "clue_color", "color_hint", "colour_hint"], "hint"),
    **dict.fromkeys(["hint_rank", "reveal_rank", "clue_rank", "hint_number", "rank_hint", "hint_value"], "hint"),
}
ANNOUNCING = {"announcing", "announce", "announced", "declaring", "declare"}
OTHER_COLORS = {"purple", "orange", "pink", "teal", "cyan", "brown", "grey", "gray", "violet", "magenta"}
FILLERS = {"my", "the", "your", "a", "in", "from", "at"}
PLACES = {"card", "cards", "slot", "slots", "index", "position", "number"}
NEGATIONS = {
    *("not", "never", "dont", "wont", "cannot", "cant", "shouldnt", "wouldnt", "avoid"),
    *("instead", "rather", "nor"),
}
DOUBTS = {"if", "unless", "could", "might", "may", "can", "either", "consider", "considering", "whether", "suppose"}
OTHERS = {
    *("partner", "partners", "teammate", "teammates", "they", "he", "she", "them", "him"),
    *("her", "seat", "player", "you"),
}
BOUNDARIES = set(".;!?\n|")
CLAUSES = {",", ":", "(", ")", "and", "so", "then", "but"}


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
    Without one, the text must name exactly one move. Reasoning blocks, questions, conditions and negations do not
    count.

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
        moves, marked = _moves_of(reply, view)
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


class UnreadableError(Exception):
    """Why a reply cannot be used."""


def _moves_of(reply: Any, view: View) -> tuple[list[int], bool]:
    """The different moves of a reply, at least one, and whether they are marked."""
    reader = _Reader(view)
    if isinstance(reply, dict):
        return _some(reader.of_object(reply), "it has no move"), True
    if isinstance(reply, list) and reply and all(isinstance(call, dict) for call in reply):
        calls = [action for call in reply for action in _some(reader.of_object(call), "a tool call has no move")]
        return list(dict.fromkeys(calls)), True
    if not isinstance(reply, str):
        raise UnreadableError(f"it is a {type(reply).__name__}, not text")
    if len(reply) > MOST_CHARACTERS:
        raise UnreadableError(f"it has {len(reply):,} characters: write at most {MOST_CHARACTERS:,}")
    if not reply.strip():
        raise UnreadableError("it is empty: name a move")
    if re.fullmatch(r"\s*[0-9]{1,9}\s*", reply):
        return [reader.numbered(int(reply))], True
    text = without_reasoning(reply)
    marks, text = _marks(text)
    marks = [mark for mark in marks if not isinstance(mark, str) or mark.strip()] or marks[:1]
    if marks:
        found: list[int] = []
        for mark in marks:
            for action in _some(reader.of_mark(mark), f"its answer {_short(mark)} names no move"):
                found += [action] if action not in found else []
        return found, True
    return _some(reader.of_text(text), 'it names no move: write "play slot 0", "discard slot 0" or a hint'), False


def _some(moves: list[int], problem: str) -> list[int]:
    if not moves:
        raise UnreadableError(problem)
    return moves


def _short(mark: Any) -> str:
    text = mark if isinstance(mark, str) else json.dumps(mark)
    return repr(text.strip() if len(text) <= 80 else text.strip()[:77] + "...")


def without_reasoning(text: str) -> str:
    """The text without its reasoning blocks, such as `<think>...</think>`.

    Raises:
        UnreadableError: the text ends inside such a block.
    """
    text = _CLOSED.sub(" ", text)
    for end in reversed(list(_END.finditer(text))):
        text = text[end.end() :]  # chat templates open the block before the reply begins
        break
    opened = _OPEN.search(text)
    if opened is None:
        return text
    raise UnreadableError(f"it ends inside <{opened[1].lower()}>: close the block and name the move after it")


def _marks(text: str) -> tuple[list[Any], str]:
    """The marked answers, and the text without them and without JSON."""
    marks: list[Any] = []
    pieces, position, tried = [], 0, 0
    decoder = json.JSONDecoder()
    for match in re.finditer(r"[{\[]", text):
        if match.start() < position or tried == MOST_OBJECTS:
            continue
        tried += 1
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        found = list(_answers(value))
        if found or isinstance(value, dict):
            marks += found
            pieces.append(text[position : match.start()])
            position = end
    rest = " ".join([*pieces, text[position:]])
    for pattern in (_TAG, _BOXED, _LINE):
        group = 2 if pattern is _TAG else 1
        marks += [match[group] for match in pattern.finditer(rest)]
        rest = pattern.sub(" \n ", rest)
    return marks, rest


def _answers(value: Any) -> Iterator[Any]:
    """The answers in a JSON value: texts and action ids under `move` and `action`, and tool calls as dicts."""
    if isinstance(value, list):
        for part in value:
            if isinstance(part, dict):
                yield from _answers(part)
        return
    if not isinstance(value, dict):
        return
    lowered = {str(key).lower(): part for key, part in value.items()}
    for key in ("tool_calls", "function", "function_call", "tool_call"):
        if isinstance(lowered.get(key), dict | list):
            yield from _answers(lowered[key])
            return
    if "action_type" in lowered or _call(lowered) is not None:
        yield value
        return
    keys = ("move", "action", "action_id", "answer", "final_answer", "final_move", "next_move")
    for key in keys:
        if key in lowered and lowered[key] is not None:
            part = lowered[key]
            yield from [part] if isinstance(part, str | int | float) else _answers(part) if part else []


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


SLOTS = ("slot", "card", "card_index", "index", "position", "card_slot")
SEATS = ("seat", "player", "target", "to", "to_seat", "target_seat", "target_player", "player_id")
OFFSETS = ("offset", "target_offset")
COLORS = ("color", "colour", "suit")
RANKS = ("rank", "number")
ARGUMENTS = {*SLOTS, *SEATS, *OFFSETS, *COLORS, *RANKS, "hint", "value"}


class _Reader:
    """Reads moves for one view."""

    def __init__(self, view: View) -> None:
        self.view, self.variant = view, view.variant
        self.colors: dict[str, int] = {}
        for color, suit in enumerate(suits_of(self.variant)):
            for name in (suit.name, suit.name.rstrip("s"), suit.name + "s"):
                self.colors[name] = color
            if suit.name == "multicolour":
                self.colors |= dict.fromkeys(["multicolor", "multicoloured", "multicolored", "multi", "rainbow"], color)
        self.letters = {suit.letter.lower(): color for color, suit in enumerate(suits_of(self.variant))}
        self.actions = {str(self.variant.move(action)): action for action in range(self.variant.num_actions)}

    # --- Moves from their parts ---------------------------------------------------------------------------

    def placed(self, kind: str, slot: int, announced: int | None = None) -> int:
        """The action of a play or discard."""
        size = self.variant.hand_size
        if not 0 <= slot < size:
            raise UnreadableError(f"slot {slot} does not exist: expected 0 to {size - 1}, 0 for the oldest card")
        if announced is None:
            return slot if kind == "discard" else size + slot
        if kind != "play" or not self.variant.timed_display:
            raise UnreadableError("it announces a suit, which this game does not have: leave the announcement out")
        moves = (self.variant.move(action) for action in range(self.variant.num_actions))
        return next(a for a, move in enumerate(moves) if move.announced == announced and move.slot == slot)

    def hinted(self, seat: int | None, color: int | None, rank: int | None) -> int:
        """The action of a hint of a colour or a rank from 1; without a seat, of two players, to the other."""
        variant = self.variant
        if seat is None:
            if variant.players > 2:
                raise UnreadableError('it does not say to whom the hint goes: name a seat, such as "hint seat 1 red"')
            seat = 1 - self.view.observer
        if not 0 <= seat < variant.players or seat == self.view.observer:
            others = [str(other) for other in range(variant.players) if other != self.view.observer]
            raise UnreadableError(f"a hint cannot go to seat {seat}: expected seat {' or '.join(others)}")
        offset = (seat - self.view.observer) % variant.players
        if (color is None) == (rank is None):
            raise UnreadableError("a hint names one colour or one rank")
        first = 2 * variant.hand_size
        if color is not None:
            return first + (offset - 1) * variant.colors + color
        assert rank is not None
        if not 1 <= rank <= variant.ranks:
            raise UnreadableError(f"rank {rank} does not exist: expected 1 to {variant.ranks}")
        return first + (variant.players - 1) * variant.colors + (offset - 1) * variant.ranks + rank - 1

    def numbered(self, action: int) -> int:
        """An action id."""
        if not 0 <= action < self.variant.num_actions:
            raise UnreadableError(f"action {action} does not exist: expected 0 to {self.variant.num_actions - 1}")
        return action

    # --- Marked answers -----------------------------------------------------------------------------------

    def of_mark(self, mark: Any) -> list[int]:
        """The different moves of a marked answer."""
        if isinstance(mark, dict):
            return self.of_object(mark)
        if isinstance(mark, bool) or (isinstance(mark, float) and not mark.is_integer()):
            raise UnreadableError(f"its answer is {mark!r}: name a move")
        if isinstance(mark, int | float):
            return [self.numbered(int(mark))]
        if re.fullmatch(r"[\s\"'*`]*[0-9]+[\s\"'*`.]*", mark):
            return [self.numbered(int(re.findall(r"[0-9]+", mark)[0]))]
        return self.of_text(mark)

    def of_object(self, given: dict[str, Any]) -> list[int]:
        """The moves of a tool call, of HLE's dictionary of a move, or of an object with a marked answer."""
        lowered = {str(key).lower(): part for key, part in given.items()}
        if isinstance(lowered.get("action_type"), str):
            kind = lowered["action_type"].lower()
            rank = lowered.get("rank")  # from 0 in HLE
            if kind == "reveal_rank" and isinstance(rank, int):
                lowered["rank"] = rank + 1
            return [self.called({"reveal_color": "hint", "reveal_rank": "hint"}.get(kind, kind), lowered)]
        call = _call(lowered)
        if call is not None:
            return [self.called(*call)]
        found: list[int] = []
        for answer in _answers(given):
            if answer is not given:
                found += [action for action in self.of_mark(answer) if action not in found]
        return found

    def called(self, kind: str, arguments: dict[str, Any]) -> int:
        """The move of a kind with named arguments."""
        given = {str(key).lower(): value for key, value in arguments.items() if value is not None and value != ""}

        def one(names: tuple[str, ...]) -> Any:
            values = [given[name] for name in names if name in given]
            if len({json.dumps(value) for value in values}) > 1:
                raise UnreadableError(f"{' and '.join(name for name in names if name in given)} differ: give one")
            return values[0] if values else None

        if kind in ("play", "discard"):
            slot = one(SLOTS)
            if slot is None:
                raise UnreadableError(f"its call of {kind} has no slot: give slot, from 0")
            announced = given.get("announce", given.get("announced"))
            return self.placed(kind, self.integer("slot", slot), None if announced is None else self.color(announced))
        if kind != "hint":
            raise UnreadableError(f"{kind!r} is no kind of move: expected play, discard or hint")
        seat, offset = one(SEATS), one(OFFSETS)
        if isinstance(seat, str) and re.fullmatch(r"\s*\+[0-9]+\s*", seat):
            seat, offset = None, int(str(seat))
        if isinstance(seat, str):
            seat = re.sub(r"(?i)^\s*(seat|player)\s*", "", seat)
        if offset is not None:
            relative = (self.view.observer + self.integer("offset", offset)) % self.variant.players
            if seat is not None and self.integer("seat", seat) != relative:
                raise UnreadableError("seat and offset differ: give the seat")
            seat = relative
        color, rank, value = one(COLORS), one(RANKS), given.get("hint", given.get("value"))
        if value is not None and color is None and rank is None:
            is_rank = isinstance(value, int) or re.fullmatch(r"\s*(rank\s*)?[0-9]+\s*", str(value))
            color, rank = (None, re.sub(r"[^0-9]", "", str(value))) if is_rank else (value, None)
        return self.hinted(
            None if seat is None else self.integer("seat", seat),
            None if color is None else self.color(color),
            None if rank is None else self.integer("rank", rank),
        )

    def integer(self, name: str, value: Any) -> int:
        """An integer, also as text."""
        if isinstance(value, str):
            word = value.strip().lower()
            value = NUMBER_WORDS.get(word, int(word) if re.fullmatch(r"[0-9]{1,9}", word) else value)
        if not is_integer(value):
            raise UnreadableError(f"{name} {value!r} is no whole number of at least 0")
        return value

    def color(self, value: Any) -> int:
        """A suit by its name or letter."""
        word = str(value).strip().lower()
        color = self.colors.get(word, self.letters.get(word))
        if color is None:
            names = ", ".join(suit.name for suit in suits_of(self.variant))
            raise UnreadableError(f"{value!r} is no suit of this game: expected {names}")
        return color

    # --- Text ---------------------------------------------------------------------------------------------

    def of_text(self, text: str) -> list[int]:
        """The different moves that a text makes."""
        plain = re.sub("['\u2019]", "", text.lower())
        plain = re.sub('[*_`"#>\u201c\u201d]', " ", plain)
        found: list[int] = []
        sentence: list[str] = []
        for token in [*_TOKEN.findall(plain), "\n"]:
            sentence.append(token)
            if token in BOUNDARIES:
                for action in self.of_sentence(sentence):
                    found += [action] if action not in found else []
                sentence = []
        return found

    def of_sentence(self, tokens: list[str]) -> Iterator[int]:
        """The moves that a sentence makes."""
        if tokens[-1] == "?":
            return
        yield from self.by_number(tokens)
        places = [index for index, token in enumerate(tokens) if token in VERBS]
        for number, place in enumerate(places):
            before = tokens[places[number - 1] + 1 if number else 0 : place]
            after = tokens[place + 1 : places[number + 1] if number + 1 < len(places) else len(tokens)]
            if after[:1] == ["or"] and number + 1 < len(places):
                raise UnreadableError("it leaves the choice open: name one move")
            kind = VERBS[tokens[place]]
            gives = kind == "hint" and bool({"give", "offer"} & set(before))  # "give seat 1 a red hint"
            if self.is_withdrawn([token for token in before if token not in OTHERS] if gives else before):
                continue
            action = self.hint(before, after) if kind == "hint" else self.card(kind, before, after)
            if action is not None:
                yield action

    def by_number(self, tokens: list[str]) -> Iterator[int]:
        """Actions that are named by their id, such as "action 7"."""
        for index, token in enumerate(tokens):
            rest = [word for word in tokens[index + 1 : index + 5] if word not in ("id", "number", ":", "is")]
            if (
                token == "action"
                and rest
                and re.fullmatch(r"[0-9]+", rest[0])
                and not self.is_withdrawn(tokens[:index])
            ):
                yield self.numbered(int(rest[0]))

    @staticmethod
    def is_withdrawn(before: list[str]) -> bool:
        """Whether the words before a verb make it no move of the reader: negated, doubted, or someone else's."""
        starts = [index + 1 for index, token in enumerate(before) if token in CLAUSES]
        words = before[max(starts, default=0) :]
        if set(words) & (NEGATIONS | DOUBTS) or (set(before) & {"if", "unless"}):
            return True
        return bool(set(words[-4:]) & OTHERS)

    def number(self, token: str) -> int | None:
        """A whole number of at least 0, as digits or a word."""
        if token in NUMBER_WORDS:
            return NUMBER_WORDS[token]
        return int(token) if re.fullmatch(r"[0-9]{1,9}", token) else None

    def card(self, kind: str, before: list[str], after: list[str]) -> int | None:
        """A play or discard; None if no slot is named."""
        rest = list(after)
        while rest and rest[0] in FILLERS | PLACES | {":", "(", ","}:
            rest.pop(0)
        skipped = set(after[: len(after) - len(rest)])
        if skipped & FILLERS and not skipped & PLACES:
            return None  # "play the 3" names a rank
        if rest and re.fullmatch(rf"[+{MINUS}][0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]+", rest[0]):
            raise UnreadableError(f"slot {rest[0]} does not exist: slots are whole numbers from 0")
        slot = self.number(rest[0]) if rest else None
        if slot is None:
            if len(before) >= 2 and before[-1] in (":", "-", ","):
                before = before[:-1]
            if len(before) < 2 or before[-2] not in ("slot", "card") or (rest and rest[0] not in BOUNDARIES):
                return None
            slot = self.number(before[-1])
            return None if slot is None else self.placed(kind, slot)
        rest = rest[1:]
        joined = [word for word in rest[:3] if word not in (",", "slot", "card")]
        listed = joined[:1] in (["and"], ["or"]) and joined[1:2] and self.number(joined[1]) is not None
        if listed or (rest[:1] == [","] and joined[:1] and self.number(joined[0]) is not None):
            raise UnreadableError("it names several slots: name one")
        return self.placed(kind, slot, self.announcement(before, rest))

    def announcement(self, before: list[str], after: list[str]) -> int | None:
        """The suit that a play announces."""
        for words in (after, before):
            for index, word in enumerate(words):
                if word in ANNOUNCING and index + 1 < len(words) and words[index + 1] not in BOUNDARIES:
                    return self.color(words[index + 1])
        return None

    def hint(self, before: list[str], after: list[str]) -> int | None:
        """A hint; None if nothing is hinted."""
        seats, values = self.hint_parts(after)
        if not values or not seats:
            earlier_seats, earlier = self.hint_parts(before[-5:])
            values, seats = values or earlier, seats or earlier_seats
        if not values:
            return None
        if len(set(values)) > 1:
            raise UnreadableError("its hint names several values: a hint names one colour or one rank")
        if len(set(seats)) > 1:
            raise UnreadableError("its hint names several seats: name one")
        ((kind, value),) = set(values)
        seat = seats[0] if seats else None
        return self.hinted(seat, value if kind == "color" else None, value if kind == "rank" else None)

    def hint_parts(self, words: list[str]) -> tuple[list[int], list[tuple[str, int]]]:
        """The seats and the values that words name."""
        seats: list[int] = []
        values: list[tuple[str, int]] = []
        index = 0
        while index < len(words):
            word, following = words[index], words[index + 1] if index + 1 < len(words) else ""
            index += 1
            if word in ("because", "since", "so", "which", "as", "then", "with", "while"):
                break
            if re.fullmatch(r"\+[0-9]+", word):
                seats.append((self.view.observer + int(word)) % self.variant.players)
            elif word in ("seat", "player") and re.fullmatch(r"\+[0-9]+", following):
                continue
            elif word in ("seat", "player") and self.number(following) is not None:
                seats.append(self.number(following) or 0)
                index += 1
            elif word in ("slot", "slots", "turn", "card") and self.number(following) is not None:
                while index < len(words) and (words[index] in (",", "and") or self.number(words[index]) is not None):
                    index += 1
            elif word in ("color", "colour", "suit") and following in self.letters:
                values.append(("color", self.letters[following]))
                index += 1
            elif word in self.colors:
                values.append(("color", self.colors[word]))
            elif word in OTHER_COLORS:
                raise UnreadableError(f"{word!r} is no suit of this game")
            elif word in self.letters and len(word) == 1 and word not in ("s",) and (seats or following in BOUNDARIES):
                values.append(("color", self.letters[word]))
            elif word in PLURALS:
                values.append(("rank", PLURALS[word]))
            elif re.fullmatch(rf"[{MINUS}][0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]+", word):
                raise UnreadableError(f"{word} is no rank and no seat")
            elif self.number(word) is not None:
                values.append(("rank", self.number(word) or 0))
        return seats, values
