"""A game whose colours are permuted is the same game in other colours."""

import random

import numpy as np
import pytest
from random_variants import random_variant
from stored_games import played_table

import starmine
from starmine.data.colors import action_colors, color_permutations, interchangeable, permute_colors

OUTPUTS = ("obs", "action_mask", "current_player", "score", "reward", "terminated")
VARIANTS = [
    starmine.Variant(),
    starmine.Variant(players=4),
    starmine.variant("avalanche", players=3, timed_display=True),
    starmine.variant("timed-display", crowning_piece=True),
    starmine.variant("traditional"),
    starmine.variant("mini"),
]
# The axis of a section's shape that counts colours; knowledge and discards have none of their own.
COLOR_AXIS = {"hands": 2, "fireworks": 0, "last_color": 0, "last_card": 0, "last_announced": 0}


def permuted_features(variant, encoder, permutation):
    """For each feature, the feature of the original observation that it repeats, by the meaning of the layout."""
    inverse = np.argsort(permutation)
    layout, colors, ranks = variant.layout(encoder), variant.colors, variant.ranks
    source = np.arange(len(layout))
    for section in layout:
        places = source[section.slice]
        if section.name in COLOR_AXIS:
            source[section.slice] = np.take(places.reshape(section.shape), inverse, COLOR_AXIS[section.name]).ravel()
        elif section.name == "discards":
            copies = np.sum(variant.copies, axis=1)
            suits = np.split(places, np.cumsum(copies)[:-1])
            source[section.slice] = np.concatenate([suits[suit] for suit in inverse])
        elif section.name == "knowledge":
            cards = places.reshape(*section.shape[:2], -1).copy()
            plausible, hinted = cards[:, :, : colors * ranks], cards[:, :, colors * ranks : colors * (ranks + 1)]
            plausible[:] = plausible.reshape(*section.shape[:2], colors, ranks)[:, :, inverse].reshape(plausible.shape)
            hinted[:] = hinted[:, :, inverse]
            source[section.slice] = cards.ravel()
    return source


def replayed(games, encoder="canonical", dtype="uint8", observers="all"):
    return games.replay(OUTPUTS, encoder=encoder, dtype=dtype, observers=observers)


@pytest.mark.parametrize("encoder", starmine.encoders())
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_permuted_games_show_permuted_features(variant, encoder):
    games = played_table(12, variant)
    permutations = color_permutations(variant, 1, np.arange(12))
    assert (permutations != np.arange(variant.colors)).any()
    before, after = replayed(games, encoder), replayed(permute_colors(games, permutations), encoder)
    for game in range(12):
        turns = slice(*games.offsets[game : game + 2])
        source = permuted_features(variant, encoder, permutations[game])
        assert (after["obs"][turns] == before["obs"][turns][..., source]).all()
        base, named = action_colors(variant)
        ids = np.where(named >= 0, base + permutations[game][named], base)
        assert (after["action_mask"][turns][:, ids] == before["action_mask"][turns]).all()
    for name in ("current_player", "score", "reward", "terminated"):
        assert (after[name] == before[name]).all()


@pytest.mark.parametrize("dtype", ["bits", "float32", "float16"])
def test_every_dtype_shows_the_permuted_game(dtype):
    variant = starmine.Variant()
    games = permute_colors(played_table(5), np.array([4, 2, 0, 1, 3]))
    packed = games.replay(["obs"], dtype=dtype)["obs"]
    features = np.unpackbits(packed, axis=1, bitorder="little")[:, :658] if dtype == "bits" else packed
    assert (features == games.replay(["obs"], dtype="uint8")["obs"]).all()
    assert features.shape[1] == len(variant.layout())


@pytest.mark.parametrize("seed", range(6))
def test_permuted_games_stay_legal_in_any_variant(seed):
    variant = random_variant(random.Random(seed))
    games = played_table(20, variant, seed)
    permutations = color_permutations(variant, seed, np.arange(20))
    after = permute_colors(games, permutations)
    assert (replayed(after)["reward"] == replayed(games)["reward"]).all()
    back = permute_colors(after, np.argsort(permutations, axis=1))
    assert all(map(np.array_equal, back.played(), games.played()))
    assert (back.seed, back.index, back.search_values) == (None, None, None)
    assert all(after.state(game).ending == games.state(game).ending for game in range(20))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_colours_of_actions_are_those_of_their_meanings(variant):
    names = ["red", "yellow", "green", "white", "blue", "multicolour"][: variant.colors]
    if variant.edition == "traditional":
        names = ["spades", "hearts", "diamonds", "clubs"]
    base, named = action_colors(variant)
    for action in range(variant.num_actions):
        last = variant.action_meaning(action).split()[-1]
        assert named[action] == (names.index(last) if last in names else -1)
        assert base[action] == action - max(named[action], 0)


def test_no_games_have_no_colours_and_a_permutation_has_all_suits():
    games = starmine.play_games(["random", "random"], 3)
    assert len(permute_colors(games[:0], color_permutations(games.variant, 1, np.arange(0)))) == 0
    for wrong in (np.arange(4), np.zeros((3, 4), int)):
        with pytest.raises(starmine.ArrayError):
            permute_colors(games, wrong)


def test_a_suit_with_other_copies_stays_in_its_place():
    variant = starmine.variant("avalanche")
    assert interchangeable(variant) == [[0, 1, 2, 3, 4], [5]]
    permutations = color_permutations(variant, 0, np.arange(1000))
    assert (permutations[:, 5] == 5).all()
    assert len({tuple(row) for row in permutations.tolist()}) == 120


def test_all_permutations_are_about_as_frequent():
    permutations = color_permutations(starmine.variant("mini"), 5, np.arange(6000))
    counts = np.unique(permutations, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert counts.min() > 880
    assert counts.max() < 1120


def test_a_permutation_depends_on_seed_and_number_alone():
    variant, games = starmine.Variant(), np.array([5, 7, 2**40])
    drawn = color_permutations(variant, 3, games)
    assert (color_permutations(variant, 3, games[::-1]) == drawn[::-1]).all()
    assert (color_permutations(variant, 4, games) != drawn).any()
