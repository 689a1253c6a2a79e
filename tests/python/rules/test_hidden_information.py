"""A view does not depend on what its observer cannot see.

Each test plays a game, deals the same game again with the cards that the observer cannot see in other places
(its own hand, and what is left of the deck), replays the actions, and compares what the observer is shown.
"""

import random

import hypothesis_profiles  # noqa: F401
import numpy as np
import pytest
from hypothesis import given
from random_games import generators, play, seeds, variants

import starmine

FAIR_ENCODERS = [name for name in starmine.encoders() if name != "canonical-seer"]


def knowledge_values(view):
    """What hints say about every card of every hand."""
    found = [
        (offset, slot, view.knowledge(offset, slot))
        for offset, hand in enumerate(view.hands)
        for slot in range(len(hand))
    ]
    return [(offset, slot, known.plausible, known.color, known.rank) for offset, slot, known in found]


# How each method of a view is called; one that is missing here fails `test_every_attribute_of_a_view_is_compared`.
METHODS = {
    "encode": lambda view: [view.encode(name).tolist() for name in FAIR_ENCODERS],
    "knowledge": knowledge_values,
    "legal_action_mask": lambda view: view.legal_action_mask().tolist(),
    "legal_actions": lambda view: view.legal_actions(),
    "legal_moves": lambda view: [str(move) for move in view.legal_moves()],
    "marginals": lambda view: view.marginals().tolist(),
    "outlook": lambda view: {kind: list(map(str, cards)) for kind, cards in view.outlook().items()},
    "sample_hands": lambda view: view.sample_hands(20, seed=0).tolist(),
    "to_svg": lambda view: view.to_svg(),
    "__repr__": repr,
    "__str__": str,
}


def public_names(view):
    """The names of a view's attributes and methods."""
    return [name for name in dir(view) if not name.startswith("_")]


def shown_by_view(view):
    """The value of every attribute and method of a view, by name."""
    attributes = [name for name in public_names(view) if not callable(getattr(view, name))]
    shown = {name: getattr(view, name) for name in attributes}
    shown.update({name: method(view) for name, method in METHODS.items()})
    shown["history texts"] = [str(event) for event in view.history]
    return shown


def assert_shown_the_same(first, second, observer):
    """Checks that the observer cannot tell two states apart."""
    for encoder in FAIR_ENCODERS:
        rows = [state.encode(observer, encoder) for state in (first, second)]
        np.testing.assert_array_equal(*rows, err_msg=encoder)
    views = [shown_by_view(state.view(observer)) for state in (first, second)]
    for name in views[0]:
        assert views[0][name] == views[1][name], name
    if first.current_player == observer:
        np.testing.assert_array_equal(first.legal_action_mask(), second.legal_action_mask())
    assert first.is_terminal == second.is_terminal


def hand_positions(state, seat):
    """The deck indices of the cards in a seat's hand, the oldest card first."""
    size = state.variant.hand_size
    # The deck indices of each seat's cards in the order of drawing, without those played or discarded.
    held = [list(range(other * size, (other + 1) * size)) for other in range(state.variant.players)]
    drawn = state.variant.players * size
    for event in state.history:
        if event.slot is None:
            continue
        del held[event.seat][event.slot]
        if event.drawn is not None:
            held[event.seat].append(drawn)
            drawn += 1
    return held[seat]


def rearranged_deck(state, observer, rng):
    """The deck after exchanging cards that are hidden from the observer and equal by all hints so far."""
    deck = state.deck
    view = state.view(observer)
    plausible = {
        position: set(view.knowledge(0, slot).plausible)
        for slot, position in enumerate(hand_positions(state, observer))
    }
    undealt = range(len(deck) - state.deck_size, len(deck))
    hidden = [*plausible, *undealt]
    for _ in range(4 * len(hidden)):
        one, other = rng.choice(hidden), rng.choice(hidden)
        fits_one = deck[other] in plausible.get(one, (deck[other],))
        fits_other = deck[one] in plausible.get(other, (deck[one],))
        if fits_one and fits_other:
            deck[one], deck[other] = deck[other], deck[one]
    return deck


def indistinguishable_pair(variant, seed, rng):
    """Two states with the same public history for an observer, who is chosen at random."""
    state = variant.new_game(seed=seed)
    observer = rng.randrange(variant.players)
    play(state, rng, rng.randint(0, 30))
    other = variant.new_game(deck=rearranged_deck(state, observer, rng), start_player=state.start_player)
    for event in state.history:
        other.apply(event.action)
    return state, other, observer


@given(variants(), seeds(), generators())
def test_a_view_does_not_depend_on_hidden_cards(variant, seed, rng):
    first, second, observer = indistinguishable_pair(variant, seed, rng)
    assert_shown_the_same(first, second, observer)


@given(variants(), seeds(), generators())
def test_all_earlier_views_are_the_same_as_well(variant, seed, rng):
    first, second, observer = indistinguishable_pair(variant, seed, rng)
    decks = [state.deck for state in (first, second)]
    states = [variant.new_game(deck=deck, start_player=first.start_player) for deck in decks]
    assert_shown_the_same(*states, observer)
    for event in first.history:
        rewards = {state.apply(event.action) for state in states}
        assert len(rewards) == 1
        assert_shown_the_same(*states, observer)


@pytest.mark.parametrize("name", ["standard", "easy", "empty-hints", "small"])
def test_the_compared_states_differ(name):
    """The compared pairs differ: in the hands, for the seer encoder and for the other seats."""
    variant = starmine.variant(name, players=3)
    different_hands = 0
    for seed in range(40):
        first, second, observer = indistinguishable_pair(variant, seed, random.Random(seed))
        if first.hands[observer] == second.hands[observer]:
            continue
        different_hands += 1
        assert first != second
        assert (first.encode(observer, "canonical-seer") != second.encode(observer, "canonical-seer")).any()
        for seat in range(variant.players):
            if seat != observer:
                assert (first.encode(seat) != second.encode(seat)).any()
                assert first.view(seat).hands != second.view(seat).hands
    assert different_hands >= 20


def test_the_own_hand_and_the_own_draws_are_hidden():
    state = starmine.Variant(players=3).new_game(seed=5)
    for _ in range(6):
        state.apply("play 0")
        if state.is_terminal:
            break
    for seat in range(3):
        view = state.view(seat)
        assert view.hands[0] == [None] * len(state.hands[seat])
        assert view.hands[1:] == [state.hands[(seat + offset) % 3] for offset in (1, 2)]
        for event, full in zip(view.history, state.history, strict=True):
            assert event.drawn == (None if event.seat == seat else full.drawn)
            assert event.card == full.card


def test_a_view_refuses_the_encoder_that_shows_the_own_hand():
    view = starmine.Variant().new_game(seed=1).view(0)
    with pytest.raises(starmine.StarmineError):
        view.encode("canonical-seer")


def test_every_attribute_of_a_view_is_compared():
    view = starmine.Variant().new_game(seed=1).view(0)
    methods = {name for name in public_names(view) if callable(getattr(view, name))}
    assert methods == {name for name in METHODS if not name.startswith("_")}


def test_a_view_has_no_way_to_the_deck():
    assert not {"deck", "state", "copy", "apply", "to_json"} & set(dir(starmine.View))
