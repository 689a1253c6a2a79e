"""Replies of language models: each has its one move, or is refused with what to do."""

import json
from pathlib import Path

import pytest

import starmine
from starmine.text import parse_reply, read_move
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


def test_there_are_500_replies():
    assert len(REPLIES) >= 500
    assert sum("refused" in row for row in REPLIES) >= 180


@pytest.mark.parametrize("row", REPLIES, ids=range(len(REPLIES)))
def test_a_reply_has_its_move_or_is_refused(row):
    found = parse_reply(row["reply"], VIEWS[row["view"]])
    if "move" in row:
        assert found.problem is None, row
        assert move_text(VIEWS[row["view"]], found.action) == row["move"], row
    else:
        assert found.action is None, (row, move_text(VIEWS[row["view"]], found.action))
        assert row["refused"] in found.problem, (row, found.problem)
        assert found.illegal is ("is not legal" in row["refused"])


@pytest.mark.parametrize("reply", [None, 7, 2.5, b"play slot 1", ["play slot 1"], object(), {"a": object()}, {1: 2}])
def test_a_reply_that_is_no_text_is_refused(reply):
    assert parse_reply(reply, VIEWS["two"]).action is None


def test_the_longest_reply_is_read_and_a_longer_one_refused():
    text = "x" * 199_900 + "\nMOVE: play slot 2"
    assert parse_reply(text, VIEWS["two"]).action == 7
    assert "characters" in parse_reply("x" * 200_001, VIEWS["two"]).problem


def test_refusals_are_errors_of_read_move():
    with pytest.raises(starmine.NotationError, match="different moves"):
        read_move("play slot 1, discard slot 2", VIEWS["two"])
    with pytest.raises(starmine.StarmineError, match="is not legal now: expected one of"):
        read_move("discard slot 1", VIEWS["full"])
    assert read_move({"name": "play", "arguments": {"slot": 1}}, VIEWS["two"]) == 6


@pytest.mark.parametrize("name", list(starmine.variants()))
def test_every_legal_move_is_read_in_every_form(name):
    variant = starmine.variant(name)
    state = variant.new_game(seed=2)
    for action in (None, *state.legal_actions()[-1:]):
        if action is not None:
            state.apply(action)
        view = state.view(state.current_player)
        for legal in view.legal_actions():
            move = move_text(view, legal)
            forms = [
                move,
                f"MOVE: {move}",
                f'{{"move": "{move}"}}',
                f"<move>{move}</move>",
                variant.action_meaning(legal),
                str(legal),
            ]
            assert [read_move(form, view) for form in forms] == [legal] * len(forms)
