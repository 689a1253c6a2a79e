"""Moves in sentences: which the writer makes, and which are only talked about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from starmine.text.replies.parts import Parts, UnreadableError, distinct, number

MINUS = "\\-\u2212\u2013"  # hyphen, minus sign and dash
_TOKEN = re.compile(rf"[+{MINUS}]?[0-9]+(?:\.[0-9]+)?|[a-z]+|[.;!?\n,:()|]")
_NO_WHOLE_NUMBER = re.compile(rf"[{MINUS}][0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]+")
_NO_SLOT = re.compile(rf"[+{MINUS}][0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]+")
_OFFSET = re.compile(r"\+[0-9]+")

PLURALS = {"ones": 1, "twos": 2, "threes": 3, "fours": 4, "fives": 5}
VERBS = {
    **dict.fromkeys(["play"], "play"),
    **dict.fromkeys(["discard"], "discard"),
    **dict.fromkeys(["hint", "clue", "tell", "reveal", "inform"], "hint"),
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
REASONS = {"because", "since", "so", "which", "as", "then", "with", "while"}  # end a hint
BOUNDARIES = set(".;!?\n|")
CLAUSES = {",", ":", "(", ")", "and", "so", "then", "but"}


def moves_of_text(parts: Parts, text: str) -> list[int]:
    """The different moves that a text makes."""
    plain = re.sub("['\u2019]", "", text.lower())
    plain = re.sub('[*_`"#>\u201c\u201d]', " ", plain)
    found: list[int] = []
    sentence: list[str] = []
    for token in [*_TOKEN.findall(plain), "\n"]:
        sentence.append(token)
        if token in BOUNDARIES:
            found += _moves_of_sentence(parts, sentence)
            sentence = []
    return distinct(found)


def _moves_of_sentence(parts: Parts, tokens: list[str]) -> Iterator[int]:
    """The moves that a sentence makes."""
    if tokens[-1] == "?":
        return
    yield from _numbered_actions(parts, tokens)
    places = [index for index, token in enumerate(tokens) if token in VERBS]
    for place, last, following in zip(places, [-1, *places], [*places[1:], None], strict=False):
        before, after = tokens[last + 1 : place], tokens[place + 1 : following]
        if after[:1] == ["or"] and following is not None:
            raise UnreadableError("it leaves the choice open: name one move")
        kind = VERBS[tokens[place]]
        gives = kind == "hint" and bool({"give", "offer"} & set(before))  # "give seat 1 a red hint"
        if _is_withdrawn([token for token in before if token not in OTHERS] if gives else before):
            continue
        action = _hint(parts, before, after) if kind == "hint" else _card(parts, kind, before, after)
        if action is not None:
            yield action


def _numbered_actions(parts: Parts, tokens: list[str]) -> Iterator[int]:
    """Actions that are named by their id, such as "action 7"."""
    for index, token in enumerate(tokens):
        if token != "action" or _is_withdrawn(tokens[:index]):
            continue
        rest = [word for word in tokens[index + 1 : index + 5] if word not in ("id", "number", ":", "is")]
        if rest and re.fullmatch(r"[0-9]+", rest[0]):
            yield parts.numbered(int(rest[0]))


def _is_withdrawn(before: list[str]) -> bool:
    """Whether the words before a verb make it no move of the writer: negated, doubted, or someone else's."""
    starts = [index + 1 for index, token in enumerate(before) if token in CLAUSES]
    words = before[max(starts, default=0) :]
    if set(words) & (NEGATIONS | DOUBTS) or (set(before) & {"if", "unless"}):
        return True
    return bool(set(words[-4:]) & OTHERS)


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


def _hint(parts: Parts, before: list[str], after: list[str]) -> int | None:
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
    ((kind, value),) = set(values)
    seat = seats[0] if seats else None
    return parts.hinted(seat, value if kind == "color" else None, value if kind == "rank" else None)


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
