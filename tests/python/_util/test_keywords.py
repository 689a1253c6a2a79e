"""Keyword arguments that do not exist are refused with the nearest name that does."""

import inspect

import pytest

import starmine
from starmine._util.keywords import RULES, named_keywords

STANDARD = starmine.Variant()

CALLS = [
    (starmine.Variant, "player", "players"),
    (lambda **wrong: starmine.Batch("standard", 2, **wrong), "encodr", "encoder"),
    (starmine.HanabiEnv, "encodr", "encoder"),
    (lambda **wrong: starmine.play_games(["simple"] * 2, **wrong), "game", "games"),
]


@pytest.mark.parametrize(("call", "wrong", "nearest"), CALLS)
def test_the_nearest_name_is_suggested(call, wrong, nearest):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}': did you mean \"{nearest}\""):
        call(**{wrong: 1})


def test_the_parameters_of_a_variant_are_known():
    assert list(RULES) == list(STANDARD.parameters())


def test_a_function_keeps_its_signature_and_its_name():
    def add(one, /, two=2, *, three):
        """The sum."""
        return one + two + three

    checked = named_keywords(add)
    assert (checked.__name__, checked.__doc__) == ("add", "The sum.")
    assert inspect.signature(checked) == inspect.signature(add)
    assert checked(1, three=3) == 6
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument"):
        checked(1)
    with pytest.raises(TypeError, match=r'did you mean "two"\? Expected one of two, three'):
        checked(1, tow=1, three=3)
