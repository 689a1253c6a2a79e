"""Random variants and random games for the property tests."""

import random

from hypothesis import strategies as st

import starmine

MAX_CARDS = 64


def at_most(copies, cards):
    """The copies table with copies taken away, the last first, until it has no more cards than that."""
    copies = [list(row) for row in copies]
    for row in reversed(copies):
        for rank in reversed(range(len(row))):
            while row[rank] > 1 and sum(map(sum, copies)) > cards:
                row[rank] -= 1
    return copies


@st.composite
def parameters(draw):
    """Parameters of any supported variant."""
    players = draw(st.integers(2, 5))
    colors = draw(st.integers(1, 6))
    ranks = draw(st.integers(1, 5))
    copies = None
    if draw(st.booleans()):
        row = st.lists(st.integers(1, 3), min_size=ranks, max_size=ranks)
        copies = at_most(draw(st.lists(row, min_size=colors, max_size=colors)), MAX_CARDS)
    default = [[3, *[2] * (ranks - 2), *[1] * (ranks > 1)]] * colors
    cards = sum(map(sum, copies or default))
    while cards < players:
        # Too few cards for one each: such a table would be refused.
        copies = at_most([[3] * ranks] * colors, MAX_CARDS)
        cards = sum(map(sum, copies))
        players = min(players, cards)
    return {
        "players": players,
        "colors": colors,
        "ranks": ranks,
        "hand_size": draw(st.integers(1, min(6, cards // players))),
        "max_information_tokens": draw(st.integers(0, 16)),
        "max_life_tokens": draw(st.integers(1, 8)),
        "copies": copies,
        "random_start_player": draw(st.booleans()),
        "empty_hints": draw(st.booleans()),
        "crowning_piece": draw(st.booleans()),
        "timed_display": draw(st.booleans()),
        "lost_game_score": draw(st.sampled_from(["zero", "fireworks"])),
        "edition": draw(st.sampled_from(["standard", "ikebana", "traditional"])),
    }


def variants():
    """Any supported variant."""
    return parameters().map(lambda chosen: starmine.Variant(**chosen))


def seeds():
    """Any seed."""
    return st.integers(0, 2**64 - 1)


def generators():
    """A source of random choices: one draw for all of them."""
    return st.integers(0, 2**32 - 1).map(random.Random)


def is_playable(state, card):
    """Whether the card is the next of its firework."""
    return state.fireworks[card.suit] == card.rank


def choose_action(state, rng):
    """A legal action. It often peeks for a card that fits, so that games get far."""
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
