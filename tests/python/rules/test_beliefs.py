"""Beliefs about the own hand: possible cards, marginal probabilities, sampled hands.

The Rust tests compare the counting with listed hands in many variants and samples with their distribution. Here the
same is asked of the Python side, and hands are listed in the plainest way there is.
"""

import collections
import itertools
import random

import hypothesis_profiles  # noqa: F401
import numpy as np
import pytest
from hypothesis import given
from random_games import generators, play, seeds, variants

from starmine import Card, Variant


def card_index(variant, card):
    return card.suit * variant.ranks + card.rank


def unseen_copies(view):
    """The copies that the observer cannot see: in its own hand or in the deck."""
    variant = view.variant
    cards = [Card.of(suit, rank) for suit in range(variant.colors) for rank in range(variant.ranks)]
    left = collections.Counter({card: variant.copies[card.suit][card.rank] for card in cards})
    left.subtract(card for hand in view.hands[1:] for card in hand)
    left.subtract(view.discard_pile)
    left.subtract(card for card in cards if card.rank < view.fireworks[card.suit])
    return sorted(left.elements())


def listed_hands(view):
    """Every assignment of unseen copies to the own slots that fits the hints."""
    plausible = [view.knowledge(0, slot).plausible for slot in range(len(view.hands[0]))]
    choices = itertools.permutations(unseen_copies(view), len(plausible))
    return [hand for hand in choices if all(card in fits for card, fits in zip(hand, plausible, strict=True))]


def small_states():
    """Positions of small games, the first and the last ones among them."""
    for players, hand_size in ((2, 2), (2, 3), (3, 2)):
        variant = Variant(players, colors=2, ranks=3, hand_size=hand_size)
        for seed in range(8):
            state = variant.new_game(seed=seed)
            rng = random.Random(seed)
            while not state.is_terminal:
                yield state
                play(state, rng, 3)
            yield state


def test_marginals_are_the_shares_of_listed_hands():
    for state in small_states():
        view = state.view(0)
        hands = listed_hands(view)
        variant = view.variant
        expected = np.zeros((len(view.hands[0]), variant.colors * variant.ranks))
        for hand in hands:
            for slot, card in enumerate(hand):
                expected[slot, card_index(variant, card)] += 1
        np.testing.assert_array_equal(view.marginals(), expected / len(hands))
        assert view.possible == [sorted({hand[slot] for hand in hands}) for slot in range(len(view.hands[0]))]


@given(variants(), seeds(), generators())
def test_beliefs_agree_with_each_other_and_with_the_truth(variant, seed, rng):
    state = variant.new_game(seed=seed)
    play(state, rng, rng.randint(0, 60))
    for seat in range(variant.players):
        view = state.view(seat)
        truth = state.hands[seat]
        marginals = view.marginals()
        assert marginals.dtype == np.float64
        assert marginals.shape == (len(truth), variant.colors * variant.ranks)
        np.testing.assert_allclose(marginals.sum(axis=1), 1, rtol=1e-12)
        hands = view.sample_hands(20, seed=seed)
        assert hands.dtype == np.uint8
        assert hands.shape == (20, len(truth))
        for slot, card in enumerate(truth):
            possible = [card_index(variant, other) for other in view.possible[slot]]
            assert possible == np.flatnonzero(marginals[slot]).tolist()
            assert card_index(variant, card) in possible
            assert set(hands[:, slot].tolist()) <= set(possible)
            assert set(view.possible[slot]) <= set(view.knowledge(0, slot).plausible)
        unseen = collections.Counter(card_index(variant, card) for card in unseen_copies(view))
        assert all(collections.Counter(hand) <= unseen for hand in hands.tolist())


def test_samples_have_the_marginals():
    state = Variant(players=3).new_game(seed=4)
    play(state, random.Random(4), 20)
    view = state.view(state.current_player)
    number = 40_000
    hands = view.sample_hands(number, seed=0)
    marginals = view.marginals()
    for slot, row in enumerate(marginals):
        shares = np.bincount(hands[:, slot], minlength=len(row)) / number
        # Five standard deviations of a share; the seed is fixed, so this cannot fail by chance.
        assert (abs(shares - row) <= 5 * np.sqrt(row * (1 - row) / number)).all()


def test_the_same_seed_gives_the_same_samples():
    view = Variant().new_game(seed=1).view(0)
    hands = view.sample_hands(50, seed=2**64 - 1)
    np.testing.assert_array_equal(hands, view.sample_hands(50, seed=2**64 - 1))
    np.testing.assert_array_equal(hands[:10], view.sample_hands(10, 2**64 - 1))
    assert (hands != view.sample_hands(50, seed=3)).any()
    assert (view.sample_hands(50) != view.sample_hands(50)).any()


@pytest.mark.parametrize("players", range(2, 6))
def test_a_sample_with_the_seed_of_the_game_does_not_reveal_the_hand(players):
    guessed = 0
    for seed in range(300):
        state = Variant(players).new_game(seed=seed)
        hand = [card_index(state.variant, card) for card in state.hands[0]]
        guessed += state.view(0).sample_hands(1, seed=seed)[0].tolist() == hand
    assert guessed == 0


def test_hints_can_make_every_card_certain():
    variant = Variant(colors=2, ranks=2, hand_size=2, copies=[[1, 1], [1, 2]])
    state = variant.new_game(deck=["R1", "Y2", "R2", "Y1", "Y2"])
    state.apply("hint +1 2")
    state.apply("hint +1 red")
    view = state.view(0)
    assert view.possible == [[Card("R1")], [Card("Y2")]]
    np.testing.assert_array_equal(view.marginals(), [[1, 0, 0, 0], [0, 0, 0, 1]])
    np.testing.assert_array_equal(view.sample_hands(3), [[0, 3]] * 3)
