"""What the text of conventions says of `smart` is what this bot does."""

from collections import Counter

import starmine
from starmine.text import SMART_CONVENTIONS, PromptOptions, rules_prompt

BASE = starmine.variant("standard")


def deal(cards):
    """A game whose hands are these cards, seat 0's first; the rest of the deck follows, yellow first."""
    first = [str(starmine.Card(card)) for card in cards.split()]
    left = Counter(str(card) for card in BASE.new_game(seed=0).deck)
    left.subtract(first)
    return BASE.new_game(deck=[*first, *sorted(left.elements(), reverse=True)])


def choice(state, bot):
    """The move in words of the seat to act, when this bot holds it."""
    seat = state.current_player
    return str(BASE.move(starmine.make_bot(bot, BASE, seat).act(state.view(seat))))


def test_smart_promises_that_the_newest_card_that_may_be_playable_is_playable():
    state = deal("R3 Y4 G4 W3 B3 R4 Y3 R1 G3 W4")
    assert choice(state, "smart") == "hint +1 red"
    state.apply("hint +1 red")
    assert choice(state, "smart") == "play slot 2"
    assert "the newest one that may be playable is playable" in SMART_CONVENTIONS


def test_smart_warns_of_a_critical_card_which_is_kept():
    state = deal("R3 Y4 G4 W3 B3 R5 Y3 G3 W4 B4")
    assert choice(state, "smart") == "hint +1 rank 5"
    state.apply("hint +1 5")
    assert choice(state, "smart") == "discard slot 1"  # not slot 0, its next discard before
    assert "means that this card is critical: keep it" in SMART_CONVENTIONS


def test_smart_discards_on_purpose_what_another_hand_has_as_its_newest_card():
    state = deal("B1 Y4 G4 W3 R3 R4 Y3 G3 W4 B1")
    state.apply("hint +1 4")
    state.apply("hint +1 blue")
    assert choice(state, "smart") == "discard slot 0"
    state.apply("discard 0")
    assert choice(state, "smart") == "play slot 4"
    assert "it is your newest card: play it" in SMART_CONVENTIONS


def test_smart_passes_by_a_rank_hint_at_the_oldest_card_of_the_seat_before_it():
    state = deal("R3 Y4 G4 W3 B3 R4 Y3 G3 W4 B4")
    assert state.information_tokens == BASE.max_information_tokens
    assert choice(state, "smart") == "hint +1 rank 4"
    state.apply("hint +1 4")
    assert choice(state, "smart") == "discard slot 0"  # the oldest card, which nothing makes likely dead


def test_a_prompt_has_the_text_and_stays_short():
    prompt = rules_prompt(BASE, PromptOptions(conventions=SMART_CONVENTIONS))
    assert SMART_CONVENTIONS in prompt
    assert len(SMART_CONVENTIONS) < 4 * 800  # tokens
