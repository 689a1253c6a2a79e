"""Every class that resets games: options, seeds and given decks."""

import inspect

import numpy as np
import pytest
from adapter_cases import CASES, GAMES, adapter

import starmine
from starmine import ArrayError, HanabiVectorEnv, StarmineError, UnknownNameError

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the libraries
VARIANT = starmine.Variant()
DECKS = [[str(card) for card in VARIANT.new_game(seed=seed).deck] for seed in range(100, 100 + GAMES)]


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]()


# --- Options ----------------------------------------------------------------------------------------------


def test_a_refused_option_leaves_games_and_seeds_as_they_were(case):
    """The seed that came with the refused options is not used either."""
    env, other = case.make(), case.make()
    for one in (env, other):
        case.reset(one, 3, None)
    if case.snapshot(env) is None:
        pytest.skip("HLE's reset takes no seed")
    before = case.snapshot(env)
    with pytest.raises(case.refusal):
        case.reset(env, 4, {case.wrong[0]: 1})
    assert case.snapshot(env) == before
    found, expected = (case.observed(case.reset(one, None, None)) for one in (env, other))
    np.testing.assert_array_equal(found, expected)


# --- Seeds ------------------------------------------------------------------------------------------------


def first_observations(case, seed):
    return {row.tobytes() for row in np.asarray(case.observed(case.reset(case.make(), seed, None)))}


def test_close_seeds_share_no_game(case):
    if case.snapshot(case.make()) is None and case.refusal is TypeError:
        pytest.skip("HLE's reset takes no seed")
    dealt = [first_observations(case, seed) for seed in range(3)]
    count = len(np.asarray(case.observed(case.reset(case.make(), 0, None))))
    assert len(set.union(*dealt)) == 3 * count


def test_games_are_those_of_the_vector_environment(case):
    """Game i follows from (seed, i), in every class."""
    if case.snapshot(case.make()) is None and case.refusal is TypeError:
        pytest.skip("HLE's reset takes no seed")
    env = case.make()
    found = np.asarray(case.observed(case.reset(env, 7, None)))
    expected, _ = HanabiVectorEnv(GAMES).reset(seed=7)
    np.testing.assert_array_equal(found, expected[: len(found)])
    found = np.asarray(case.observed(case.reset(env, None, None)))  # the next episodes
    np.testing.assert_array_equal(
        found,
        [VARIANT.new_game(seed=7, game=game, episode=1).encode(0) for game in range(len(found))],
    )


# --- Given decks ------------------------------------------------------------------------------------------


def test_a_given_deck_and_start_player_deal_that_game(case):
    one = case.wrong[1] in ("deck", "start_player")
    starts = [game % 2 for game in range(GAMES)]
    states = [VARIANT.new_game(deck=deck, start_player=seat) for deck, seat in zip(DECKS, starts, strict=True)]
    rows = [[card.suit * 5 + card.rank for card in state.deck] for state in states]
    many = {"decks": np.array(rows, dtype=np.uint8), "start_players": np.array(starts, dtype=np.uint8)}
    env = case.make()
    if not one:
        found = np.asarray(case.observed(case.reset(env, None, many)))
        np.testing.assert_array_equal(found, [state.encode(state.current_player) for state in states])
        return
    case.reset(env, 7, None)
    returned = case.reset(env, None, {"deck": DECKS[1], "start_player": 1})
    if case.observed(returned) is None:
        assert returned["current_player"] == 1
        np.testing.assert_array_equal(returned["player_observations"][1]["vectorized"], states[1].encode(1))
        return
    for found in np.asarray(case.observed(returned)):
        np.testing.assert_array_equal(found, states[1].encode(1))
    after = np.asarray(case.observed(case.reset(env, None, None)))  # by the seed again
    expected = [VARIANT.new_game(seed=7, game=game, episode=2).encode(0) for game in range(len(after))]
    np.testing.assert_array_equal(after, expected)


def test_stable_baselines3_gives_each_game_its_options():
    env = adapter("sb3").HanabiVecEnv(GAMES)
    env.set_options([{"deck": deck, "start_player": game % 2} for game, deck in enumerate(DECKS)])
    expected = [VARIANT.new_game(deck=deck, start_player=game % 2) for game, deck in enumerate(DECKS)]
    np.testing.assert_array_equal(env.reset(), [state.encode(state.current_player) for state in expected])
    env.seed(3)
    np.testing.assert_array_equal(env.reset(), HanabiVectorEnv(GAMES).reset(seed=3)[0])  # the decks hold once
    for options, error in [
        ([{"deck": DECKS[0]}] * 3, ArrayError),
        ([{"deck": DECKS[0]}] * 7 + [{}], ArrayError),
        ([{}] * 7 + [{"dek": DECKS[0]}], UnknownNameError),
        ([{}] * 7 + [{"start_player": 1}], StarmineError),
    ]:
        with pytest.raises(error):
            env.set_options(options)
    env.set_options({})
    env.reset()


def test_every_adapter_is_tried():
    tried = " ".join(CASES)
    # AH2AC2 and hanab.live are tables of somebody else: nothing is reset.
    assert [name for name in starmine.adapters._ADAPTERS if name not in tried] == ["ah2ac2", "hanab_live", "jaxmarl"]
    # JaxMARL's reset takes a key of jax.random, and no options.
    jaxmarl = adapter("jaxmarl")
    assert list(inspect.signature(jaxmarl.HanabiJaxMARLEnv.reset).parameters) == ["self", "key"]
