"""`starmine.hle` by itself: its dictionaries behave as plain ones, errors name what is wrong, conversions agree."""

import pickle
import random

import pytest

import starmine
from starmine import hle
from starmine.hle import pyhanabi, rl_env

KEYS = [
    "current_player",
    "current_player_offset",
    "life_tokens",
    "information_tokens",
    "num_players",
    "deck_size",
    "fireworks",
    "legal_moves",
    "legal_moves_as_int",
    "observed_hands",
    "discard_pile",
    "card_knowledge",
    "vectorized",
    "pyhanabi",
]


def fresh(seat=0):
    """The dictionary of a seat."""
    return rl_env.HanabiEnv({"seed": 4}).reset()["player_observations"][seat]


def without_object(entries):
    """The entries that can be compared: each game has an observation object of its own."""
    return {key: value for key, value in entries.items() if key != "pyhanabi"}


def test_a_dictionary_stays_while_the_game_goes_on():
    env = rl_env.HanabiEnv({"seed": 4})
    early = env.reset()["player_observations"][0]
    for _ in range(3):
        env.step(env.state.observation(env.state.cur_player()).legal_moves()[0].to_dict())
    assert without_object(early) == without_object(fresh())
    assert str(early["pyhanabi"]) == str(fresh()["pyhanabi"])


def spoil(value):
    """Change every list and dictionary of an entry."""
    for inner in [*value.values()] if isinstance(value, dict) else [*value] if isinstance(value, list) else []:
        spoil(inner)
    if isinstance(value, dict):
        value.update(dict.fromkeys(value, "spoilt"))
    elif isinstance(value, list):
        value.append("spoilt")


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_nothing_that_a_reader_changes_is_seen_by_another(kind):
    environments = [rl_env.HanabiEnv({"seed": 4, "players": 3, "observation_type": kind}) for _ in range(2)]
    spoilt, untouched = [env.reset()["player_observations"] for env in environments]
    generator = random.Random(2)
    while environments[0].state.discard_pile() == []:
        action = generator.choice(untouched[environments[1].state.cur_player()]["legal_moves_as_int"])
        for seen in spoilt[:2]:
            for key in KEYS:
                spoil(seen[key])
        assert without_object(spoilt[2]) == without_object(untouched[2])
        spoilt, untouched = [env.step(action)[0]["player_observations"] for env in environments]
    assert without_object(spoilt[0]) == without_object(untouched[0])


def test_an_encoder_of_the_user_makes_the_vectors():
    class Reversed(pyhanabi.ObservationEncoder):
        def encode(self, observation):
            return super().encode(observation)[::-1]

    env = rl_env.HanabiEnv({"seed": 4})
    env.observation_encoder = Reversed(env.game)
    assert env.reset()["player_observations"][0]["vectorized"] == fresh()["vectorized"][::-1]


def test_the_moves_after_the_end_are_listed_and_refused():
    env = rl_env.make("Hanabi-Very-Small")
    observations, done = env.reset(deck=["R5", "R4", "R4", "R3", "R3", "R2", "R2", "R1", "R1", "R1"]), False
    while not done:
        observations, _, done, _ = env.step({"action_type": "PLAY", "card_index": 0})
    seat = observations["current_player"]
    assert env.state.end_of_game_status() == pyhanabi.HanabiEndOfGameType.OUT_OF_LIFE_TOKENS
    assert observations["player_observations"][seat]["legal_moves"][0] == {"action_type": "PLAY", "card_index": 0}
    assert observations["player_observations"][1 - seat]["legal_moves"] == []
    assert env.state.move_is_legal(pyhanabi.HanabiMove.get_play_move(0))
    before = str(env.state)
    with pytest.raises(pyhanabi.IllegalMoveError):
        env.step({"action_type": "PLAY", "card_index": 0})
    assert str(env.state) == before


def test_parameters_may_be_text_as_in_hle():
    game = pyhanabi.HanabiGame({"players": "3", "random_start_player": "true", "observation_type": "0", "seed": "-1"})
    assert (game.num_players(), game.observation_type().name) == (3, "MINIMAL")
    assert "random_start_player=true" in game.parameter_string()
    assert "seed=-1" not in game.parameter_string()


def test_names_of_presets():
    with pytest.raises(starmine.UnknownNameError):
        rl_env.make("Hanabi-Ful")
    with pytest.raises(ValueError):  # as HLE raises
        rl_env.make("other")
    for name, ours in (("Hanabi-Full", "standard"), ("Hanabi-Small", "small"), ("Hanabi-Very-Small", "very-small")):
        for players in (2, 3, 4, 5):
            assert hle.variant(name, players=players) == starmine.variant(ours, players=players)
        with pytest.raises(starmine.UnknownNameError):
            starmine.variant(name)
    assert hle.variant({"players": 3, "seed": 5, "observation_type": 0}) == starmine.Variant(players=3)
    with pytest.raises(starmine.UnknownNameError):
        starmine.HanabiVectorEnv(2, variant="Hanabi-Full-Minimal")
    for call in (lambda: starmine.variant("small", observation_type=0), lambda: starmine.HanabiEnv(observation_type=1)):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("players", [2, 5])
@pytest.mark.parametrize("kind", [0, 1])
def test_a_view_gives_the_same_dictionary(kind, players):
    generator = random.Random(players)
    env = rl_env.HanabiEnv({"players": players, "observation_type": kind})
    state = starmine.Variant(players=players).new_game(seed=players)
    observations, done = env.reset(deck=state.deck), False
    while True:
        for seat, expected in enumerate(observations["player_observations"]):
            found = hle.observation(state.view(seat), kind)
            assert type(found) is dict
            assert list(found) == KEYS
            assert without_object(found) == without_object(expected)
            ours, theirs = found["pyhanabi"], expected["pyhanabi"]
            assert str(ours) == str(theirs)
            assert str(ours.last_moves()) == str(theirs.last_moves())
        if done:
            break
        action = generator.choice(state.legal_actions())
        state.apply(action)
        observations, _, done, _ = env.step(action)
    assert state.is_terminal


def test_copies_of_a_state_do_not_share_their_future():
    game = pyhanabi.HanabiGame({"seed": 3})
    state = game.new_initial_state()
    while state.cur_player() == pyhanabi.CHANCE_PLAYER_ID:
        state.deal_random_card()
    drawn = set()
    for _ in range(40):
        branch = state.copy()
        branch.apply_move(pyhanabi.HanabiMove.get_play_move(0))
        branch.deal_random_card()
        drawn.add(str(branch.player_hands()[0][-1]))
    assert len(drawn) > 8
    assert state.deck_size() == 40


def test_states_and_moves_are_pickled():
    env = rl_env.HanabiEnv({"seed": 3})
    env.reset()
    env.step(5)
    again = pickle.loads(pickle.dumps(env))
    assert str(again.state) == str(env.state)
    for other in (env, again):
        other.step(6)
    assert str(again.state.move_history()) == str(env.state.move_history())
    move = env.game.get_move(12)
    assert pickle.loads(pickle.dumps(move)) == move
    assert len({move, pyhanabi.HanabiMove.get_reveal_color_move(1, 2)}) == 1


def test_a_given_deck_is_dealt_in_its_order():
    deck = [str(card) for card in starmine.Variant().new_game(seed=9).deck]
    state = pyhanabi.HanabiGame().new_initial_state(deck)
    while state.cur_player() == pyhanabi.CHANCE_PLAYER_ID:
        state.deal_random_card()
    state.apply_move(pyhanabi.HanabiMove.get_play_move(0))
    state.deal_random_card()
    assert str(state.player_hands()[0][-1]) == deck[10]
    assert [str(item.move()) for item in state.move_history()[:10]] == [f"(Deal {card})" for card in deck[:10]]
