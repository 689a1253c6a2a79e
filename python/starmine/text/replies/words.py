"""Moves in sentences: which the writer states, and which are only considered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from itertools import pairwise

from starmine.text.replies.parts import Parts, UnreadableError, distinct, number

MINUS = "\\-\u2212\u2013"  # hyphen, minus sign and dash
# A number with letters behind it, such as "1st" or "1e0", is a word of its own; "3s" are cards of rank 3.
_WORD = rf"[+{MINUS}]?[0-9]+(?!s\b)[a-z][a-z0-9]*"
_TOKEN = re.compile(rf"{_WORD}|[+{MINUS}]?[0-9]+(?:\.[0-9]+)?|[a-z]+|[.;!?\n,:()|]")
_NO_WHOLE_NUMBER = re.compile(rf"[{MINUS}][0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]+")
_NO_SLOT = re.compile(rf"[+{MINUS}][0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]+")
_OFFSET = re.compile(r"\+[0-9]+")

PLURALS = {"ones": 1, "twos": 2, "threes": 3, "fours": 4, "fives": 5}
VERBS = {
    **dict.fromkeys(["play"], "play"),
    **dict.fromkeys(["discard"], "discard"),
    **dict.fromkeys(["hint", "clue", "tell", "reveal", "inform"], "hint"),
    "action": "action",  # by its id, such as "action 7"
}
ANNOUNCING = {"announcing", "announce", "announced", "declaring", "declare"}
OTHER_COLORS = {"purple", "orange", "pink", "teal", "cyan", "brown", "grey", "gray", "violet", "magenta"}
FILLERS = {"my", "the", "your", "a", "in", "from", "at"}
PLACES = {"card", "cards", "slot", "slots", "index", "position", "number"}
# A move is stated if only these words stand before its verb. The first ones make it a decision.
DECIDING = {
    *("i", "ill", "im", "ive", "we", "let", "lets", "my", "so", "therefore", "thus", "hence"),
    *("move", "answer", "choice", "decision"),
}
NEUTRAL = {
    *("okay", "ok", "sure", "well", "yes", "now", "first", "please", "just", "here", "final", "finally", "best"),
    *("will", "shall", "am", "is", "be", "going", "want", "choose", "chose", "pick", "decide", "decided"),
    *("take", "make", "do", "me", "us", "this", "the", "a", "an", "give", "offer", "slot", "card"),
    *("announce", "announcing"),
}
CONDITIONS = {"if", "unless", "whether"}
DOUBTS = {  # after a move
    *("is", "would", "seems", "looks", "could", "might", "may", "can"),
    *("maybe", "perhaps", "probably", "not", "or"),
}
OTHERS = {
    *("partner", "partners", "teammate", "teammates", "they", "he", "she", "them", "him"),
    *("her", "seat", "player", "you"),
}
REASONS = {"because", "since", "so", "which", "as", "then", "with", "while"}  # end a hint
UNREADABLE = -1  # a considered move that the game does not have
ADVICE = 'end with a line such as "MOVE: play slot 0"'
BOUNDARIES = set(".;!?\n|")
CLAUSES = {",", ":", "(", ")", "and", "or", "then", "but"}
OPENERS = {"so", "therefore", "thus", "hence", "because", "since", "while", "which", "that"}  # first words of a clause
ENDS = (CLAUSES - {"or"}) | REASONS | {"that"}  # after them no word doubts the move


class Standing(Enum):
    """How a text names a move."""

    DECIDED = 1  # "I will play slot 0"
    STATED = 2  # "play slot 0"
    CONSIDERED = 3  # in doubt, negated, on a condition, in a question
    FOREIGN = 4  # of another seat


def moves_of_text(parts: Parts, text: str, marked: bool = False) -> list[int]:
    """The different moves that a text states; none if it only considers moves.

    Outside a marked answer, the moves that a text considers make it ambiguous, unless it decides on one move.
    """
    plain = re.sub("['\u2019]", "", text.lower())
    plain = re.sub('[*_`"#>\u201c\u201d]', " ", plain)
    plain = re.sub(r"\bi(?:d| would) like to\b", "i will", plain)
    plain = re.sub(r"\b(?:versus|vs)\b", "or", plain)
    plain = re.sub(r":\s+", ": ", plain)  # a list after a colon continues the sentence
    named: list[tuple[int, Standing]] = []
    sentence: list[str] = []
    for token in [*_TOKEN.findall(plain), "\n"]:
        sentence.append(token)
        if token in BOUNDARIES:
            named += _moves_of_sentence(parts, sentence)
            sentence = []
    if not named:
        return []
    stated = distinct(action for action, standing in named if standing != Standing.CONSIDERED)
    moves = distinct(action for action, _ in named)
    if len(stated) == 1:
        (move,) = stated
        if marked:
            return stated
        if [standing for action, standing in named if action == move][-1] == Standing.CONSIDERED:
            raise UnreadableError(f"it states a move and then doubts it: {ADVICE}")
        if len(moves) == 1 or (move, Standing.DECIDED) in named:
            return stated
    if len(moves) == 1:
        raise UnreadableError(f"it names no move as its decision: {ADVICE}")
    if UNREADABLE in moves:
        raise UnreadableError(f"it names different moves: {ADVICE}")
    return moves


def _moves_of_sentence(parts: Parts, tokens: list[str]) -> Iterator[tuple[int, Standing]]:
    """The moves that a sentence names."""
    places = [index for index, token in enumerate(tokens) if token in VERBS]
    open_sentence = tokens[-1] == "?" or bool(set(tokens) & CONDITIONS)
    standing = Standing.STATED if tokens[0] == "or" else None
    for place, last, following in zip(places, [-1, *places], [*places[1:], None], strict=False):
        before, after = tokens[last + 1 : place], tokens[place + 1 : following]
        kind = VERBS[tokens[place]]
        standing = _standing(parts, kind, before, standing)
        if standing == Standing.FOREIGN:
            continue
        if open_sentence:
            standing = Standing.CONSIDERED
        try:
            if after[:1] == ["or"] and following is not None:
                raise UnreadableError("it leaves the choice open: name one move")
            action = _MOVES[kind](parts, kind, before, after)
        except UnreadableError:
            if standing != Standing.CONSIDERED:
                raise
            yield UNREADABLE, standing
            continue
        if _is_doubted(after):
            standing = Standing.CONSIDERED
        if action is not None:
            yield action, standing


def _is_doubted(after: list[str]) -> bool:
    """Whether the words after a verb doubt its move, such as "play slot 2 would be silly"."""
    end = next((index for index, word in enumerate(after) if word in ENDS), len(after))
    return bool(set(after[1 if after[:1] == ["is"] else 0 : end]) & DOUBTS)  # "action is 7"


def _standing(parts: Parts, kind: str, before: list[str], earlier: Standing | None) -> Standing:
    """The standing of a move by the words before its verb; `earlier` is that of the move before in the sentence."""
    clauses: list[list[str]] = [[]]
    for token in before:
        if token in CLAUSES | OPENERS:
            clauses.append([])
        if token not in CLAUSES and token != "to":
            clauses[-1].append(token)
    is_joined = earlier is not None and len(clauses) == 1  # to the verb before, such as "hint seat 1 red versus play"
    if earlier is not None and (len(clauses) > 1 or earlier == Standing.CONSIDERED):
        clauses = clauses[1:]  # without the object of the verb before
    words = next((set(clause) for clause in reversed(clauses) if clause), set())
    if earlier is not None and (not words or "or" in before):
        return earlier
    if kind == "hint" and words & {"give", "offer"}:
        words -= OTHERS  # "give seat 1 a red hint"
    if words & OTHERS and clauses[-1] and "i" not in words and not is_joined:
        return Standing.FOREIGN
    if any(word not in DECIDING | NEUTRAL and word not in parts.colors and number(word) is None for word in words):
        return Standing.CONSIDERED
    return Standing.DECIDED if words & DECIDING else Standing.STATED


def _numbered(parts: Parts, kind: str, before: list[str], after: list[str]) -> int | None:
    """An action that is named by its id; None if no id follows."""
    rest = [word for word in after[:4] if word not in ("id", "number", ":", "is")]
    return parts.numbered(int(rest[0])) if rest and re.fullmatch(r"[0-9]+", rest[0]) else None


def _card(parts: Parts, kind: str, before: list[str], after: list[str]) -> int | None:
    """A play or discard; None if no slot is named."""
    rest = list(after)
    while rest and rest[0] in FILLERS | PLACES | {":", "(", ","}:
        rest.pop(0)
    skipped = set(after[: len(after) - len(rest)])
    if skipped & FILLERS and not skipped & PLACES:
        return None  # "play the 3" names a rank
    if rest and _NO_SLOT.fullmatch(rest[0]):
        raise UnreadableError(f"slot {rest[0]} does not exist: slots are whole numbers from 0")
    slot = number(rest[0]) if rest else None
    if slot is None:
        return _card_before(parts, kind, before, rest)
    rest = rest[1:]
    joined = [word for word in rest[:3] if word not in (",", "slot", "card")]
    listed = joined[:1] in (["and"], ["or"]) and joined[1:2] and number(joined[1]) is not None
    if listed or (rest[:1] == [","] and joined[:1] and number(joined[0]) is not None):
        raise UnreadableError("it names several slots: name one")
    return parts.placed(kind, slot, _announcement(parts, before, rest))


def _card_before(parts: Parts, kind: str, before: list[str], after: list[str]) -> int | None:
    """A play or discard whose slot stands before the verb, such as "slot 2: play"; None if none does."""
    if len(before) >= 2 and before[-1] in (":", "-", ","):
        before = before[:-1]
    if len(before) < 2 or before[-2] not in ("slot", "card") or (after and after[0] not in BOUNDARIES):
        return None
    slot = number(before[-1])
    return None if slot is None else parts.placed(kind, slot)


def _announcement(parts: Parts, before: list[str], after: list[str]) -> int | None:
    """The suit that a play announces."""
    for words in (after, before):
        for word, following in pairwise(words):
            if word in ANNOUNCING and following not in BOUNDARIES:
                return parts.color(following)
    return None


def _hint(parts: Parts, kind: str, before: list[str], after: list[str]) -> int | None:
    """A hint; None if nothing is hinted."""
    seats, values = _hint_parts(parts, after)
    if not values or not seats:
        earlier_seats, earlier = _hint_parts(parts, before[-5:])
        values, seats = values or earlier, seats or earlier_seats
    if not values:
        return None
    if len(set(values)) > 1:
        raise UnreadableError("its hint names several values: a hint names one colour or one rank")
    if len(set(seats)) > 1:
        raise UnreadableError("its hint names several seats: name one")
    ((of, value),) = set(values)
    seat = seats[0] if seats else None
    return parts.hinted(seat, value if of == "color" else None, value if of == "rank" else None)


def _hint_parts(parts: Parts, words: list[str]) -> tuple[list[int], list[tuple[str, int]]]:
    """The seats and the values that words name."""
    seats: list[int] = []
    values: list[tuple[str, int]] = []
    index = 0
    while index < len(words):
        word, following = words[index], words[index + 1] if index + 1 < len(words) else ""
        index += 1
        if word in REASONS:
            break
        if _OFFSET.fullmatch(word):
            seats.append(parts.seat_at(int(word)))
        elif word in ("seat", "player") and _OFFSET.fullmatch(following):
            continue
        elif word in ("seat", "player") and number(following) is not None:
            seats.append(number(following) or 0)
            index += 1
        elif word in ("slot", "slots", "turn", "card") and number(following) is not None:
            while index < len(words) and (words[index] in (",", "and") or number(words[index]) is not None):
                index += 1
        elif word in ("color", "colour", "suit") and following in parts.letters:
            values.append(("color", parts.letters[following]))
            index += 1
        elif word in parts.colors:
            values.append(("color", parts.colors[word]))
        elif word in OTHER_COLORS:
            raise UnreadableError(f"{word!r} is no suit of this game")
        elif word in parts.letters and len(word) == 1 and word not in ("s",) and (seats or following in BOUNDARIES):
            values.append(("color", parts.letters[word]))
        elif word in PLURALS:
            values.append(("rank", PLURALS[word]))
        elif _NO_WHOLE_NUMBER.fullmatch(word):
            raise UnreadableError(f"{word} is no rank and no seat")
        elif number(word) is not None:
            values.append(("rank", number(word) or 0))
    return seats, values


_MOVES = {"play": _card, "discard": _card, "hint": _hint, "action": _numbered}
