"""Invariants of single games: they hold in every game of every variant."""

import copy
import pickle

import hypothesis_profiles  # noqa: F401
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from random_games import choose_action, generators, play, seeds, variants

import starmine


@given(variants(), seeds(), generators())
def test_the_numbers_of_a_state_stay_in_their_ranges(variant, seed, rng):
    state = variant.new_game(seed=seed)
    while not state.is_terminal:
        state.apply(choose_action(state, rng))
        assert 0 <= state.information_tokens <= variant.max_information_tokens
        assert 0 <= state.life_tokens <= variant.max_life_tokens
        assert all(0 <= height <= variant.ranks for height in state.fireworks)
        assert all(len(hand) <= variant.hand_size for hand in state.hands)
        assert state.deck_size == 0 or all(len(hand) == variant.hand_size for hand in state.hands)
        assert 0 <= state.current_player < variant.players
        assert state.is_terminal == (state.ending is not None)
    assert state.ending in starmine.endings()
    assert (state.ending == "lost") == (state.life_tokens == 0)
    assert (state.ending == "perfect") == (sum(state.fireworks) == variant.max_score and state.life_tokens > 0)


@given(variants(), seeds(), generators(), st.sampled_from(["copy", "copy.copy", "copy.deepcopy"]))
def test_a_copied_state_is_independent(variant, seed, rng, how):
    state = variant.new_game(seed=seed)
    play(state, rng, rng.randint(0, 20))
    other = {"copy": starmine.State.copy, "copy.copy": copy.copy, "copy.deepcopy": copy.deepcopy}[how](state)
    assert other == state
    before = state.to_json()
    play(other, rng)
    assert state.to_json() == before
    assert (other == state) == (other.length == state.length)
    after = other.to_json()
    play(state, rng)
    assert other.to_json() == after


@given(variants(), seeds(), generators())
def test_replaying_deck_and_actions_gives_an_equal_state(variant, seed, rng):
    state = variant.new_game(seed=seed)
    rewards = play(state, rng, rng.randint(0, 60))
    again = variant.new_game(deck=state.deck, start_player=state.start_player)
    assert [again.apply(event.action) for event in state.history] == rewards
    assert again == state
    by_text = variant.new_game(deck=[str(card) for card in state.deck], start_player=state.start_player)
    assert [by_text.apply(event.move) for event in state.history] == rewards
    assert by_text == state


@given(variants())
def test_a_stored_variant_is_restored(variant):
    backs = [
        starmine.Variant.from_json(variant.to_json()),
        pickle.loads(pickle.dumps(variant)),
        copy.deepcopy(variant),
        starmine.Variant(**variant.parameters()),
        eval(repr(variant), {"Variant": starmine.Variant}),
    ]
    for back in backs:
        assert back == variant
        assert hash(back) == hash(variant)


@given(variants(), seeds(), generators(), st.sampled_from(starmine.encoders()))
def test_an_observation_has_the_length_of_its_layout(variant, seed, rng, encoder):
    layout = variant.layout(encoder)
    position = 0
    for section in layout:
        assert (section.start, section.stop) == (position, position + int(np.prod(section.shape)))
        assert layout[section.name] == section
        position = section.stop
    assert position == len(layout)
    state = variant.new_game(seed=seed)
    play(state, rng, rng.randint(0, 60))
    for seat in range(variant.players):
        row = state.encode(seat, encoder)
        assert row.shape == (len(layout),)
        assert row.dtype == np.uint8
        assert row.max(initial=0) <= 1
