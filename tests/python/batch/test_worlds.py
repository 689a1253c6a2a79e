"""Worlds: the same positions with the hidden cards drawn anew, for batches and single states."""

import copy
import pickle
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

import starmine


def tables():
    for name in starmine.variants():
        for players in range(2, 6):
            try:
                yield starmine.variant(name, players=players)
            except starmine.VariantError:
                continue


TABLES = list(tables())
EXTRA = ("own_hand",)


def played(variant, turns, games=32, seed=3, **settings):
    """A batch after random turns, with fewer plays than hints and discards, so that games last."""
    batch = starmine.Batch(variant, games, dtype="bits", seed=seed, **settings)
    rng, outputs = np.random.default_rng(seed), batch.observe()
    plays = np.array([str(variant.action_meaning(action)).startswith("play") for action in range(variant.num_actions)])
    for _ in range(turns):
        mask = outputs["action_mask"]
        outputs = batch.step((rng.random(mask.shape) * mask * np.where(plays, 0.1, 1)).argmax(1))
    return batch


@pytest.mark.parametrize("variant", TABLES, ids=str)
def test_the_observer_sees_the_same_and_others_see_other_cards(variant):
    for turns in (0, 7, variant.deck_size // 2, variant.deck_size + 3):
        batch = played(variant, turns, observers="all", extra_outputs=EXTRA)
        before = batch.observe()
        for observer in (None, variant.players - 1):
            worlds = batch.worlds(3, seed=5, observer=observer).observe()
            for name in ("current_player", "score"):
                assert np.array_equal(worlds[name], before[name].repeat(3))
            seats = before["current_player"] if observer is None else np.full(32, observer)
            games, own = np.arange(32), seats.repeat(3)
            assert np.array_equal(worlds["obs"][np.arange(96), own], before["obs"][games, seats].repeat(3, axis=0))
            if observer is None:  # what is legal for the seat to act does not depend on its own hand
                assert np.array_equal(worlds["action_mask"], before["action_mask"].repeat(3, axis=0))
            hands = worlds["own_hand"]
            others = [seat for seat in range(variant.players) if observer is None or seat != observer]
            for seat in others:
                kept = own != seat
                assert np.array_equal(hands[kept, seat], before["own_hand"].repeat(3, axis=0)[kept, seat])
            assert ((hands >= 0) == (before["own_hand"] >= 0).repeat(3, axis=0)).all()
            if turns == 7 and variant.deck_size > 20:
                assert (hands != before["own_hand"].repeat(3, axis=0)).any()


@pytest.mark.parametrize("variant", TABLES, ids=str)
def test_worlds_are_played_to_their_end(variant):
    worlds = played(variant, 9).worlds(2, seed=1)
    rng, over = np.random.default_rng(1), np.zeros(64, bool)
    outputs = worlds.observe()
    for _ in range(4 * variant.deck_size):
        mask = outputs["action_mask"]
        outputs = worlds.step((rng.random(mask.shape) * mask).argmax(1))
        over |= outputs["terminated"]
        assert (outputs["final_score"] <= variant.max_score).all()
        if over.all():
            break
    assert over.all()


def small_variant():
    return starmine.Variant(players=2, colors=2, ranks=2, hand_size=2, copies=[[3, 2]] * 2, max_information_tokens=3)


def consistent_deals(state, seat):
    """All equally likely orders of the unseen copies: the own hand, then the deck, as tuples of card numbers."""
    variant = state.variant
    unseen = Counter(dict(enumerate(np.array(variant.copies).ravel().tolist())))
    for other, hand in enumerate(state.hands):
        if other != seat:
            unseen.subtract(card.suit * variant.ranks + card.rank for card in hand)
    unseen.subtract(card.suit * variant.ranks + card.rank for card in state.discard_pile)
    for suit, height in enumerate(state.fireworks):
        unseen.subtract(suit * variant.ranks + rank for rank in range(height))
    assert min(unseen.values()) >= 0
    allowed = plausible(state, seat)
    slots = len(state.hands[seat])
    for order in permutations(unseen.elements()):  # copies are distinct, so each has the same weight
        if all(allowed[slot][order[slot]] for slot in range(slots)):
            yield order


def plausible(state, seat):
    variant = state.variant
    section = variant.layout("canonical")["knowledge"]
    bits = state.encode(seat)[section.slice].reshape(section.shape)[0]
    return bits[:, : variant.colors * variant.ranks].astype(bool)


def chi_square(found, expected):
    total, weight = sum(found.values()), sum(expected.values())
    assert set(found) <= set(expected)
    shares = {key: total * count / weight for key, count in expected.items()}
    return sum((found[key] - share) ** 2 / share for key, share in shares.items()), len(shares) - 1


@pytest.mark.parametrize(
    "turns",
    [[], ["hint +1 rank 1"], ["hint +1 red", "discard slot 0"], ["hint +1 rank 2", "play slot 1", "hint +1 yellow"]],
)
def test_all_consistent_deals_are_equally_likely(turns):
    """Frequencies of 20,000 worlds equal those of all orders of the unseen cards, also of the next card of the deck."""
    variant = small_variant()
    state = variant.new_game(seed=11)
    batch = starmine.Batch(variant, 1, seed=11, extra_outputs=EXTRA)
    names = [str(variant.action_meaning(action)) for action in range(variant.num_actions)]
    for turn in turns:
        state.apply(names.index(turn))
        batch.step(np.array([names.index(turn)]))
    seat, slots = state.current_player, variant.hand_size
    worlds = batch.worlds(20_000, seed=2)
    hands = worlds.observe()["own_hand"]
    # The seat plays its oldest card and draws: in its next turn the newest card of its hand is the drawn one.
    outputs = worlds.step(np.full(20_000, names.index("play slot 0")))
    outputs = worlds.step(outputs["action_mask"].argmax(1))
    drawn = outputs["own_hand"][:, slots - 1]
    found = Counter((tuple(hand), card) for hand, card in zip(hands.tolist(), drawn.tolist(), strict=True))
    expected = Counter((order[:slots], order[slots]) for order in consistent_deals(state, seat))
    statistic, freedom = chi_square(found, expected)
    assert freedom > 3
    assert statistic < freedom + 4 * (2 * freedom) ** 0.5


def test_single_states_have_the_same_worlds():
    variant = small_variant()
    state = variant.new_game(seed=5)
    state.apply(state.legal_actions()[-1])
    seat = state.current_player
    worlds = state.worlds(20_000, seed=3)
    assert all(world.view(seat) == state.view(seat) for world in worlds[:200])
    kinds = variant.ranks
    found = Counter(tuple(card.suit * kinds + card.rank for card in world.hands[seat]) for world in worlds)
    expected = Counter(order[: len(state.hands[seat])] for order in consistent_deals(state, seat))
    statistic, freedom = chi_square(found, expected)
    assert statistic < freedom + 4 * (2 * freedom) ** 0.5
    other = 1 - seat
    assert all(world.view(other) == state.view(other) for world in state.worlds(50, seed=1, observer=other))
    assert [world.hands for world in state.worlds(5, seed=9)] == [world.hands for world in state.worlds(5, seed=9)]


def test_worlds_follow_from_the_seed_whatever_the_number_of_threads():
    variant = starmine.Variant(players=3)
    batch = played(variant, 12, games=1000, num_threads=1)
    threaded = played(variant, 12, games=1000, num_threads=4)
    first, second = batch.worlds(2, seed=4), threaded.worlds(2, seed=4)
    for _ in range(30):
        one, two = first.observe(), second.observe()
        assert all(np.array_equal(one[name], two[name]) for name in one)
        actions = one["action_mask"].argmax(1)
        first.step(actions)
        second.step(actions)
    assert not np.array_equal(batch.worlds(2, seed=5).observe()["obs"], first.observe()["obs"])


def test_worlds_are_written_into_a_batch_of_the_caller():
    batch = played(starmine.Variant(), 10, extra_outputs=EXTRA)
    into = starmine.Batch(batch.variant, 64, dtype="float32", seed=9, extra_outputs=EXTRA)
    into.step(into.observe()["action_mask"].argmax(1))
    before = into.observe()["own_hand"].copy()
    wanted = np.arange(32) % 2 == 0
    assert batch.worlds(2, seed=4, games=wanted, into=into) is into
    drawn, all_drawn = into.observe()["own_hand"], batch.worlds(2, seed=4).observe()["own_hand"]
    assert np.array_equal(drawn[wanted.repeat(2)], all_drawn[wanted.repeat(2)])
    assert np.array_equal(drawn[~wanted.repeat(2)], before[~wanted.repeat(2)])
    copied = copy.deepcopy(into.copy())
    actions = into.observe()["action_mask"].argmax(1)
    stepped, also = into.step(actions), copied.step(actions)
    assert all(np.array_equal(stepped[name], also[name]) for name in stepped)


def test_worlds_of_given_decks_and_of_partners():
    cards = np.repeat(np.arange(25, dtype=np.uint8), np.array(starmine.Variant().copies).ravel())
    given = starmine.Batch("standard", 2, seed=1, extra_outputs=EXTRA)
    given.reset(decks=np.stack([cards, cards]))
    worlds = given.worlds(50, seed=1)
    assert len({tuple(hand) for hand in worlds.observe()["own_hand"].tolist()}) > 50
    into = starmine.Batch("standard", 2, seed=1, extra_outputs=EXTRA)
    into.reset(decks=np.stack([cards, cards]))
    given.worlds(seed=1, into=into)
    drawn = set()
    for _ in range(20):
        drawn.add(tuple(into.step(into.observe()["action_mask"].argmax(1))["own_hand"][:, -1].tolist()))
    assert any(one != two for one, two in drawn)  # not the order of the given deck
    partnered = starmine.Batch("standard", 8, seed=1, partners={1: "smart"})
    alone = partnered.worlds(seed=2)
    seats = alone.step(alone.observe()["action_mask"].argmax(1))["current_player"]
    assert set(seats.tolist()) == {1}  # the caller plays the partner's seat, too
    with pytest.raises(starmine.StarmineError):
        partnered.worlds(seed=2, into=partnered.copy())


def test_a_batch_of_worlds_is_stored_after_a_reset():
    worlds = starmine.Batch("standard", 4, seed=1).worlds(seed=1)
    for batch in (worlds, worlds.copy()):
        with pytest.raises(starmine.SerializationError):
            pickle.dumps(batch)
    worlds.reset(reset_mask=np.array([True, False, False, False]))
    with pytest.raises(starmine.SerializationError):
        worlds.to_bytes()
    worlds.reset(reset_mask=np.ones(4, bool))
    assert pickle.loads(pickle.dumps(worlds)).num_envs == 4


def test_worlds_that_cannot_be():
    batch = starmine.Batch("standard", 4, seed=1)
    other = starmine.Batch("standard", 5, seed=1)
    with pytest.raises(starmine.StarmineError):
        batch.worlds(into=batch)
    with pytest.raises(starmine.StarmineError):
        batch.worlds(into=other)
    with pytest.raises(starmine.StarmineError):
        batch.worlds(into=starmine.Batch("avalanche", 4, seed=1))
    for arguments in ({"count": 0}, {"count": -1}, {"observer": 2}, {"observer": -1}, {"seed": -1}):
        with pytest.raises(starmine.StarmineError):
            batch.worlds(**arguments)
        with pytest.raises(starmine.StarmineError):
            starmine.Variant().new_game(seed=1).worlds(**arguments)
    with pytest.raises(starmine.ArrayError):
        batch.worlds(games=np.ones(3, bool))


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_games_that_are_over_go_only_where_they_can_be_dealt_anew(mode):
    batch = starmine.Batch("standard", 8, seed=1, autoreset_mode=mode)
    outputs = batch.observe()
    while not outputs["terminated"].any():
        outputs = batch.step(np.where(outputs["action_mask"].any(1), 5, 0))  # plays, which soon lose
    over = outputs["terminated"]
    worlds = batch.worlds(2, seed=1)
    assert np.array_equal(worlds.observe()["action_mask"].any(1), ~over.repeat(2))
    into = starmine.Batch("standard", 8, seed=1)
    with pytest.raises(starmine.StarmineError):
        batch.worlds(seed=1, into=into)
    if not over.all():
        assert batch.worlds(seed=1, into=into, games=~over) is into
