"""Text that is no name is refused by an error of the package, wherever the core takes text."""

import numpy as np
import pytest

import starmine
from starmine import Batch, Card, StarmineError, State, Variant
from starmine._core import _play_bots, _Player, _policy_bytes, _unknown_name

STANDARD = Variant()
STATE = STANDARD.new_game(seed=0)
VIEW = STATE.view(0)
TABLE = Batch._of_table(STANDARD, ["random", None], 1, 0, 0)

TEXTS = {
    "a lone surrogate": "\ud800",
    "a surrogate from an undecodable byte": "standard\udc80",
    "a pair of surrogates": "\ud83d\ude00",
    "a zero": "\0",
    "a zero after a name": "standard\0",
    "nothing": "",
    "a space": " ",
    "an emoji": "\U0001f600",
    "directions": "\u202estandard",
    "a hundred thousand letters": "a" * 100_000,
}

DOORS = {
    "a preset": starmine.variant,
    "a preset of a batch": lambda text: Batch(text, 1),
    "an encoder": lambda text: Batch("standard", 1, encoder=text),
    "a dtype": lambda text: Batch("standard", 1, dtype=text),
    "observers": lambda text: Batch("standard", 1, observers=text),
    "an autoreset mode": lambda text: Batch("standard", 1, autoreset_mode=text),
    "what an illegal action does": lambda text: Batch("standard", 1, illegal_action=text),
    "a partner": lambda text: Batch("standard", 1, partners={1: text}),
    "one of several partners": lambda text: Batch("standard", 1, partners={1: ["smart", text]}),
    "a lost game's score": lambda text: Variant(lost_game_score=text),
    "an edition": lambda text: Variant(edition=text),
    "a stored variant": Variant.from_json,
    "a stored state": State.from_json,
    "a layout": STANDARD.layout,
    "a move": STANDARD.action,
    "a move of a game": lambda text: STATE.copy().apply(text),
    "the text of a card": Card,
    "a card of a deck": lambda text: STANDARD.new_game(deck=[text] * 50),
    "an encoder of a state": lambda text: STATE.encode(0, text),
    "an encoder of a view": VIEW.encode,
    "a bot": starmine.games.bot,
    "the name of a bot": _Player,
    "a rule": starmine.games.rule,
    "a rule list": lambda text: _Player(f"rules: {text}"),
    "a policy file": lambda text: _Player(f"policy: {text}"),
    "the bytes of a policy": _policy_bytes,
    "bots": lambda text: _play_bots(STANDARD, ["random", text], 1, 0, 0, 1, False),
    "bots at a table": lambda text: Batch._of_table(STANDARD, ["random", text], 1, 0, 0),
    "an encoder of a table": lambda text: TABLE._rows(np.array([0]), np.array([0]), (text, "uint8", [])),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_odd_text_is_refused(door, text):
    with pytest.raises(StarmineError) as caught:
        door(text)
    str(caught.value).encode()  # it can be printed


def test_a_section_of_any_name_is_not_there():
    for text in TEXTS.values():
        with pytest.raises(KeyError):
            STANDARD.layout()[text]


def test_the_error_of_a_lone_surrogate_shows_its_escape():
    with pytest.raises(starmine.UnknownNameError, match=r'standard.{1,2}udc80.*did you mean "standard"'):
        starmine.variant("standard\udc80")


def test_an_unknown_name_may_be_any_text():
    for text in TEXTS.values():
        assert isinstance(_unknown_name("name", text, ["one", text[:100]]), StarmineError)


def test_an_unknown_parameter_may_be_any_text():
    for text in TEXTS.values():
        with pytest.raises(TypeError):
            Variant(**{text: 1})
        with pytest.raises(TypeError):
            starmine.variant("standard", **{text: 1})
