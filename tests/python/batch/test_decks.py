"""Batches that deal given decks play the games that single games with these decks play."""

import pickle
import random

import numpy as np
import pytest
from random_variants import random_variant

import starmine


def decks_of(variant, games, seed=0):
    """Decks of a variant in random orders, uint8 (games, deck_size)."""
    decks = [variant.new_game(seed=seed, game=game).deck for game in range(games)]
    return np.array([[card.suit * variant.ranks + card.rank for card in deck] for deck in decks], dtype=np.uint8)


def random_actions(masks, generator):
    """A legal action in each game that goes on."""
    return (masks * generator.random(masks.shape)).argmax(axis=1)


def states_of(variant, decks, start_players=None):
    """Single games with these decks."""
    text = ["RYGWBM"[suit] + str(rank + 1) for suit in range(variant.colors) for rank in range(variant.ranks)]
    cards = [[text[card] for card in deck] for deck in decks.tolist()]
    starts = [0] * len(decks) if start_players is None else start_players.tolist()
    return [variant.new_game(deck=deck, start_player=start) for deck, start in zip(cards, starts, strict=True)]


def assert_same_games(batch, out, states, generator):
    """Play random moves in a batch and in the single games, up to the end of each; None stands for any game."""
    running = [state is not None for state in states]
    while any(running):
        for game in np.flatnonzero(running):
            view = states[game].view(states[game].current_player)
            assert (out["obs"][game] == view.encode(batch.encoder)).all()
            assert (np.flatnonzero(out["action_mask"][game]) == view.legal_actions()).all()
            assert out["current_player"][game] == states[game].current_player
        actions = random_actions(out["action_mask"], generator)
        out = batch.step(actions)
        for game in np.flatnonzero(running):
            states[game].apply(int(actions[game]))
            running[game] = states[game].ending is None
            assert out["terminated"][game] != running[game]
            assert running[game] or out["final_score"][game] == states[game].score
    return out


@pytest.mark.parametrize("threads", [3])
@pytest.mark.parametrize("seed", range(8))
def test_given_decks_are_played(seed, threads):
    variant, generator = random_variant(random.Random(seed)), np.random.default_rng(seed)
    decks = decks_of(variant, 70, seed)
    start_players = generator.integers(variant.players, size=70, dtype=np.uint8)
    batch = starmine.Batch(variant, 70, dtype="uint8", num_threads=threads)
    out = batch.reset(decks=decks, start_players=start_players)
    assert_same_games(batch, out, states_of(variant, decks, start_players), generator)


def test_games_outside_the_mask_go_on():
    variant, generator = starmine.Variant(players=3), np.random.default_rng(0)
    batch, plain = (starmine.Batch(variant, 20, dtype="uint8", seed=5) for _ in range(2))
    mask = np.arange(20) % 3 == 0
    decks = decks_of(variant, 20)
    decks[~mask] = 255
    out, others = batch.reset(reset_mask=mask, decks=decks), plain.reset()
    assert (out["obs"][~mask] == others["obs"][~mask]).all()
    states = [
        state if dealt else None
        for state, dealt in zip(states_of(variant, np.where(mask[:, None], decks, decks[0])), mask, strict=True)
    ]
    assert_same_games(batch, out, states, generator)


@pytest.mark.parametrize("seed", range(5))
def test_the_next_episodes_are_dealt_by_the_seeds(seed):
    variant, generator = random_variant(random.Random(seed)), np.random.default_rng(seed)
    batch = starmine.Batch(variant, 30, dtype="uint8", seed=seed)
    out = batch.reset(decks=decks_of(variant, 30, 9))
    dealt = 0
    while dealt < 100:
        out = batch.step(random_actions(out["action_mask"], generator))
        for game in np.flatnonzero(out["terminated"]).tolist():
            state = variant.new_game(seed=seed, game=game, episode=int(batch.episodes[game]))
            assert (out["obs"][game] == state.view(state.current_player).encode(batch.encoder)).all()
            dealt += 1


GOOD = decks_of(starmine.Variant(), 4)


def changed(row, column, value):
    decks = GOOD.copy()
    decks[row, column] = value
    return decks


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"decks": changed(2, 7, 25)}, starmine.DeckError),
        ({"decks": changed(1, 0, (GOOD[1, 0] + 1) % 25)}, starmine.DeckError),
        ({"decks": GOOD, "start_players": np.array([0, 1, 0, 2], np.uint8)}, starmine.DeckError),
        ({"decks": GOOD[:, :49]}, starmine.ArrayError),
        ({"decks": GOOD.astype(int)}, starmine.ArrayError),
        ({"decks": GOOD.tolist()}, starmine.ArrayError),
        ({"decks": np.ma.array(GOOD)}, starmine.ArrayError),
        ({"start_players": np.zeros(4, np.uint8)}, starmine.StarmineError),
        ({"decks": GOOD, "start_players": np.zeros(3, np.uint8)}, starmine.ArrayError),
    ],
)
def test_what_cannot_be_dealt_is_refused_and_changes_nothing(given, error):
    batch = starmine.Batch("standard", 4, seed=8)
    batch.step([5] * 4)
    before = batch.to_bytes()
    with pytest.raises(error):
        batch.reset(**given)
    assert batch.to_bytes() == before


def test_a_batch_with_partners_deals_no_given_decks():
    batch = starmine.Batch("standard", 4, partners={1: "random"})
    with pytest.raises(starmine.StarmineError):
        batch.reset(decks=GOOD)


def test_a_batch_is_stored_again_once_every_deck_was_played():
    variant, generator = starmine.variant("standard"), np.random.default_rng(4)
    batch = starmine.Batch(variant, 4, seed=1)
    out = batch.reset(decks=decks_of(variant, 4))
    with_decks = np.ones(4, dtype=bool)
    while with_decks.any():
        with pytest.raises(starmine.SerializationError):
            batch.to_bytes()
        out = batch.step(random_actions(out["action_mask"], generator))
        with_decks &= ~out["terminated"]
    resumed = pickle.loads(pickle.dumps(batch))
    assert (resumed.observe()["obs"] == batch.observe()["obs"]).all()
