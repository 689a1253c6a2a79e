"""The extra outputs of batches against their definitions, card by card, on positions of random games."""

import random

import numpy as np
import pytest
from random_variants import random_variant

import starmine
from starmine import Batch

EXTRA = ["card_features", "public_marginals", "own_hand"]
GAMES = 9  # a block of eight, and one more


def card_sets(state):
    """For each card, as (suit, rank), whether it is playable, dead, critical: the definitions."""
    variant, heights = state.variant, state.fireworks
    gone = [(card.suit, card.rank) for card in state.discard_pile]
    found = {}
    for suit in range(variant.colors):
        left = [variant.copies[suit][rank] - gone.count((suit, rank)) for rank in range(variant.ranks)]
        for rank in range(variant.ranks):
            dead = rank < heights[suit] or 0 in left[heights[suit] : rank + 1]
            found[suit, rank] = (rank == heights[suit] and not dead, dead, left[rank] == 1 and not dead)
    return found


def expected_card_features(state, seat):
    """The features of all cards as the seat sees them."""
    variant, view, sets = state.variant, state.view(seat), card_sets(state)
    features = np.zeros((variant.players, variant.hand_size, 3))
    by_kind = np.array([sets[card] for card in sorted(sets)], dtype=float)
    marginals = view.marginals()
    features[0, : len(marginals)] = marginals @ by_kind
    for offset, hand in enumerate(view.hands[1:], start=1):
        for slot, card in enumerate(hand):
            features[offset, slot] = sets[card.suit, card.rank]
    return features


def expected_marginals(state, seat):
    """The public V0 beliefs, hand by hand from the seat on."""
    variant, view = state.variant, state.view(seat)
    left = np.array(variant.copies, dtype=float)
    for suit, height in enumerate(state.fireworks):
        left[suit, :height] -= 1
    for card in state.discard_pile:
        left[card.suit, card.rank] -= 1
    rows = np.zeros((variant.players, variant.hand_size, left.size))
    for offset, hand in enumerate(view.hands):
        for slot in range(len(hand)):
            plausible = np.zeros_like(left)
            for card in view.knowledge(offset, slot).plausible:
                plausible[card.suit, card.rank] = 1
            rows[offset, slot] = (plausible * left).ravel() / (plausible * left).sum()
    return rows


def expected_own_hand(state, seat):
    """The seat's cards as indices."""
    hand = np.full(state.variant.hand_size, -1)
    cards = state.hands[seat]
    hand[: len(cards)] = [card.suit * state.variant.ranks + card.rank for card in cards]
    return hand


EXPECTED = {
    "card_features": expected_card_features,
    "public_marginals": expected_marginals,
    "own_hand": expected_own_hand,
}


def assert_as_defined(out, states):
    """Compares outputs of observers="all" with those of states."""
    for name, expected in EXPECTED.items():
        for game, state in enumerate(states):
            rows = np.stack([expected(state, seat) for seat in range(state.variant.players)])
            np.testing.assert_allclose(out[name][game], rows, rtol=0, atol=1e-6, err_msg=f"{name}\n{state}")


def play_beside_states(variant, rng, turns):
    """Plays random games to their ends as a batch and as states, and compares them now and then."""
    batch = Batch(variant, GAMES, observers="all", autoreset_mode="Disabled", extra_outputs=EXTRA, seed=3)
    states = [variant.new_game(seed=3, game=game) for game in range(GAMES)]
    assert_as_defined(batch.reset(), states)
    for turn in range(turns):
        actions = [rng.choice(state.legal_actions()) for state in states]
        out = batch.step(actions)
        for state, action in zip(states, actions, strict=True):
            state.apply(action)
        over = np.array([state.is_terminal for state in states])
        if turn % 7 == 0 or over.any():
            assert_as_defined(out, states)
        if over.any():
            out = batch.reset(reset_mask=over)
            episodes = batch.episodes
            for game in np.flatnonzero(over).tolist():
                states[game] = variant.new_game(seed=3, game=game, episode=int(episodes[game]))


@pytest.mark.parametrize("name", starmine.variants())
def test_extra_outputs_equal_their_definitions_in_every_preset(name):
    play_beside_states(starmine.variant(name), random.Random(name), 36)


@pytest.mark.parametrize("number", range(8))
def test_extra_outputs_equal_their_definitions_in_random_variants(number):
    rng = random.Random(number)
    play_beside_states(random_variant(rng), rng, 30)


@pytest.mark.parametrize(("players", "threads"), [(2, 1), (5, 3)])
def test_the_seat_to_act_gets_its_own_row(players, threads):
    variant = starmine.Variant(players=players)
    settings = {"extra_outputs": EXTRA, "seed": 1, "num_threads": threads}
    one, every = (Batch(variant, 29, observers=observers, **settings) for observers in ("current", "all"))
    rng = np.random.default_rng(0)
    out, rows = one.reset(), every.reset()
    for _ in range(90):
        for name in EXTRA:
            acting = rows[name][np.arange(29), rows["current_player"]]
            np.testing.assert_array_equal(out[name], acting, err_msg=name)
        actions = (rng.random(out["action_mask"].shape) * out["action_mask"]).argmax(axis=1)
        out, rows = one.step(actions), every.step(actions)
    assert one.episodes.min() > 0


def test_no_other_output_changes():
    plain, extra = Batch("standard", GAMES, seed=2), Batch("standard", GAMES, seed=2, extra_outputs=EXTRA)
    assert plain.extra_outputs == []
    for _ in range(4):
        expected, found = plain.step([5] * GAMES), extra.step([5] * GAMES)
        assert list(found) == [*expected, *EXTRA]
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_any_batch_writes_them_into_the_callers_arrays():
    plain, extra = Batch("standard", GAMES, seed=2), Batch("standard", GAMES, seed=2, extra_outputs=EXTRA)
    buffers = {name: np.full_like(extra.allocate()[name], 9) for name in EXTRA}
    plain.step_into([5] * GAMES, **buffers)
    for name, expected in extra.step([5] * GAMES).items():
        if name in EXTRA:
            np.testing.assert_array_equal(buffers[name], expected, err_msg=name)


def test_with_partners_the_learner_gets_its_own_hand():
    batch = Batch("standard", GAMES, partners={0: "smart"}, extra_outputs=["own_hand"], seed=4)
    seer = Batch("standard", GAMES, partners={0: "smart"}, encoder="canonical-seer", dtype="uint8", seed=4)
    for _ in range(30):
        hands, rows = batch.step([5] * GAMES), seer.step([5] * GAMES)
        knowledge = rows["obs"][:, seer.layout["knowledge"].slice].reshape(GAMES, 2, 5, -1)[:, 0, :, :25]
        shown = np.where(knowledge.any(axis=2), knowledge.argmax(axis=2), -1)
        np.testing.assert_array_equal(hands["own_hand"], shown)
