"""Replies of language models: each has its one move, or is refused with what to do.

A row of `replies.json` has the reply, `means` (the move that a person reads in it, or null), and for a refused reply a
part of the `problem`. A reply may be refused although its meaning is clear, but never played against it.
"""

import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import starmine
from starmine.text import read_move
from starmine.text.facts import move_text

REPLIES = json.loads((Path(__file__).parents[2] / "data" / "replies.json").read_text())
ALL = ["R1", "Y2", "G3", "W4", "B5"]  # a hand of which every hint is legal


def position(name):
    """The view of the seat to act in a position of the replies."""
    two = starmine.variant("standard", players=2)
    rest = ["R2", "Y1", "G1", "W1", "B1"]
    if name == "two":
        return played(two, [*ALL, *rest], ["hint +1 rank 1"])
    if name == "full":
        return played(two, [*ALL, *rest], [])
    if name == "empty":
        return played(two, [*ALL, *rest], ["hint +1 rank 1"] + ["hint +1 red"] * 7 + ["play 3"])
    if name == "untouched":
        return played(two, ["R1", "R1", "R3", "R3", "R4", *rest], ["hint +1 rank 1"])
    if name == "three":
        return played(
            starmine.variant("standard", players=3), [*ALL, *rest, "R1", "Y3", "G2", "W5", "B4"], ["hint +1 rank 1"]
        )
    if name == "timed":
        return played(starmine.variant("timed-display", players=2), [*ALL, *rest], ["hint +1 rank 1"])
    if name == "cards":
        return played(
            starmine.variant("traditional", players=2),
            ["S2", "H1", "D1", "C1", "S1", "S3", "S4", "S5"],
            ["hint +1 spades"],
        )
    assert name == "six"
    six = starmine.variant("avalanche", players=3)
    return played(six, [*ALL, *rest, "M1", "R1", "R1", "G1", "B1"], ["hint +1 rank 1"])


def played(variant, first_cards, moves):
    """The view of the seat to act after some moves of a game whose deck begins with these cards."""
    deck = [str(card) for card in variant.new_game(seed=0).deck]
    for card in first_cards:
        deck.remove(card)
    state = variant.new_game(deck=[*first_cards, *deck])
    for move in moves:
        state.apply(move)
    return state.view(state.current_player)


VIEWS = {name: position(name) for name in {row["view"] for row in REPLIES}}


def read(reply, view):
    """The action of a reply, and why there is none."""
    try:
        return read_move(reply, view), None
    except starmine.StarmineError as error:
        return None, error


@pytest.mark.parametrize("row", REPLIES, ids=range(len(REPLIES)))
def test_a_reply_is_read_as_it_is_meant_or_refused(row):
    view = VIEWS[row["view"]]
    action, error = read(row["reply"], view)
    if "problem" in row:
        assert row["problem"] in str(error), row
        assert isinstance(error, starmine.NotationError) is ("not legal now" not in row["problem"])
    else:
        assert error is None, row
        assert move_text(view, action) == row["means"], row


@pytest.mark.parametrize("reply", [None, 7, 2.5, b"play slot 1", ["play slot 1"], object(), {"a": object()}, {1: 2}])
def test_a_reply_that_is_no_text_is_refused(reply):
    assert isinstance(read(reply, VIEWS["two"])[1], starmine.NotationError)


@pytest.mark.parametrize("action", [-1, 20])
def test_an_action_that_is_none_has_no_text(action):
    with pytest.raises(starmine.StarmineError):
        move_text(VIEWS["two"], action)


class Nameless:
    def __repr__(self):
        raise KeyError


@pytest.mark.parametrize("value", [10**5000, Nameless(), [[]], {}], ids=["number", "nameless", "list", "dict"])
def test_a_tool_call_of_anything_is_refused(value):
    for call in (
        {"name": "make_move", "arguments": {"move": value}},
        {"name": value, "arguments": {"move": "play slot 1"}},
        {"name": "make_move", "arguments": value},
        {"move": value},
        {"move": "play slot 1", 3: value},
        {"name": "make_move", "arguments": {"move": "play slot 1", 3: value}},
    ):
        assert isinstance(read(call, VIEWS["two"])[1], starmine.NotationError)


@pytest.mark.parametrize(
    "part", ["{", '{"a":', "[", "</think>", "<think>", "MOVE:", "```\n", "**", "move ", "* ", "\n"]
)
def test_a_long_reply_is_refused_quickly(part):
    began = time.process_time()
    for text in (part * (150_000 // len(part)), part * (150_000 // len(part)) + "}"):
        assert isinstance(read(text, VIEWS["two"])[1], starmine.NotationError)
    assert time.process_time() - began < 5


# --- Properties ----------------------------------------------------------------------------------------------

FORMS = [
    "{move}",
    "**{move}**",
    "`{move}`",
    "{move}.",
    "MOVE: {move}",
    "**MOVE:** {move}",
    "**MOVE: {move}.**",
    "I think.\nMOVE: {move}",
    "<think>MOVE: play slot 0</think>\n\nmove: {move}",
    "```\nMOVE: {move}\n```",
    "<think>play slot 0?</think>{move}",
    "I would like:\n\n> MOVE: {move}",
    '{{"move": "{move}"}}',
    '```json\n{{"reasoning": "play slot 0 is worse", "move": "{move}"}}\n```',
]


@pytest.mark.parametrize("players", range(2, 6))
@pytest.mark.parametrize("name", list(starmine.variants()))
def test_every_legal_move_is_read_in_every_form(name, players):
    state = starmine.variant(name, players=players).new_game(seed=2)
    seen = set()
    while not state.is_terminal:
        view = state.view(state.current_player)
        for legal in view.legal_actions():
            move = move_text(view, legal)
            if (view.observer, legal) not in seen:
                seen.add((view.observer, legal))
                assert {read_move(form.format(move=move), view) for form in FORMS} == {legal}
                assert read_move({"name": "make_move", "arguments": {"move": move}}, view) == legal
        state.apply(state.suggest("smart") if name == "standard" else view.legal_actions()[-1])
    assert len(seen) > 10


WORDS = [
    *(
        "not",
        "don't",
        "never",
        "no",
        "if red",
        "unless",
        "or",
        "and",
        "?",
        "...",
        "maybe",
        "slot 3",
        "seat 2",
        "rank 1",
    ),
    *(
        "red",
        "1",
        "2",
        "card",
        "instead",
        "wrong",
        "example",
        "play",
        "discard",
        "hint",
        "不",
        "нет",
        "❌",
        "~~",
        "</s>",
    ),
    *(
        "MOVE: play slot 0",
        '{"move": "play slot 0"}',
        "discard slot 1",
        "(",
        ")",
        "->",
        "*",
    ),
]


@given(st.data())
def test_words_that_are_added_never_change_a_move(data):
    """Wherever words stand, except before a marked answer, the reply is refused or means the same."""
    view = VIEWS[data.draw(st.sampled_from(["two", "three", "timed", "six"]))]
    legal = data.draw(st.sampled_from(view.legal_actions()))
    form = data.draw(st.sampled_from([form for form in FORMS if "think" not in form and "reasoning" not in form]))
    reply = form.format(move=move_text(view, legal))
    before = len(form.split("{move}")[0]) if "{{" not in form else 0
    words = [word for word in WORDS if before or "play slot 0" not in word]  # else a marked answer would follow
    for word in data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=3)):
        place = data.draw(st.integers(before, len(reply)))
        reply = reply[:place] + data.draw(st.sampled_from([" ", "\n", ", ", ""])) + word + " " + reply[place:]
    assert read(reply, view)[0] in (None, legal), reply


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_around_a_move_is_refused_or_stands_before_a_marked_answer(before, after):
    view = VIEWS["two"]
    bare, marked = (read(f"{before}{text}{after}", view)[0] for text in ("play slot 2", "MOVE: play slot 2"))
    if bare is not None:
        assert not any(map(str.isalnum, before + after))
    if marked is not None:
        assert not any(map(str.isalnum, after))


def test_shuffled_words_of_moves_are_moves_or_refused():
    """Of random words of the grammar, only those that are a move as prompts list it are read."""
    rng = random.Random(0)
    words = ["play", "discard", "hint", "slot", "seat", "rank", "red", "announcing", "0", "1", "2", "MOVE:", "not", "."]
    for _ in range(20_000):
        text = " ".join(rng.choices(words, k=rng.randint(2, 6)))
        view = VIEWS[rng.choice(["two", "three", "timed"])]
        action, _ = read(text, view)
        if action is not None:
            assert text.removeprefix("MOVE: ").removesuffix(" .") == move_text(view, action)
