"""Random variants, seeds and games for the property tests."""

import random

from hypothesis import strategies as st
from random_variants import random_variant


def variants():
    """Any supported variant."""
    return st.randoms(use_true_random=False).map(random_variant)


def seeds():
    """Any seed."""
    return st.integers(0, 2**64 - 1)


def generators():
    """A generator of random choices that takes a single draw from Hypothesis."""
    return st.integers(0, 2**32 - 1).map(random.Random)


def is_playable(state, card):
    """Whether the card is the next of its stack."""
    return state.fireworks[card.suit] == card.rank


def choose_action(state, rng):
    """A legal action: often a play of a playable card, so that games last."""
    hand = state.hands[state.current_player]
    playable = [slot for slot, card in enumerate(hand) if is_playable(state, card)]
    if playable and rng.random() < 0.6:
        return state.variant.hand_size + rng.choice(playable)
    return rng.choice(state.legal_actions())


def play(state, rng, turns=None):
    """Plays the state on, to the end or for so many turns, and returns the rewards."""
    rewards = []
    while not state.is_terminal and (turns is None or len(rewards) < turns):
        rewards.append(state.apply(choose_action(state, rng)))
    return rewards
