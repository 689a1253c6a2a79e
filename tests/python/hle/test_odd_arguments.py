"""What `starmine.hle` says of arguments that are no moves, seats, ids, cards or rules, and the door for HLE's moves."""

import numpy as np
import pytest

import starmine
from starmine import hle
from starmine.hle import pyhanabi, rl_env
from starmine.hle.pyhanabi import HanabiMove


@pytest.fixture
def env():
    """An environment after `reset`."""
    env = rl_env.HanabiEnv({"seed": 4, "players": 3})
    env.reset()
    return env


@pytest.mark.parametrize("action", [-1, 30, 10**30, np.int64(-1)], ids=str)
def test_an_id_that_does_not_exist_is_an_illegal_move(env, action):
    before = str(env.state)
    for error in (hle.IllegalMoveError, rl_env.IllegalMoveError, AssertionError, starmine.StarmineError):
        with pytest.raises(error, match=f"move_uid={action} is not allowed: expected 0 to 29"):
            env.step(action)
    assert str(env.state) == before


@pytest.mark.parametrize("action", ["5", 5.0, None, True], ids=repr)
def test_an_action_is_a_dictionary_or_an_integer(env, action):
    before = str(env.state)
    with pytest.raises(ValueError, match="Expected action as dict or int"):
        env.step(action)
    assert str(env.state) == before


@pytest.mark.parametrize("value", ["x", "0", 1.5, 0.0, None, True], ids=repr)
def test_numbers_of_moves_are_integers(env, value):
    calls = {
        "card_index": [
            lambda: HanabiMove.get_play_move(value),
            lambda: HanabiMove.get_discard_move(value),
            lambda: env.step({"action_type": "PLAY", "card_index": value}),
            lambda: env.step({"action_type": "DISCARD", "card_index": value}),
        ],
        "target_offset": [
            lambda: HanabiMove.get_reveal_color_move(value, 0),
            lambda: HanabiMove.get_reveal_rank_move(value, 0),
            lambda: env.step({"action_type": "REVEAL_RANK", "rank": 0, "target_offset": value}),
        ],
        "color": [lambda: HanabiMove.get_reveal_color_move(1, value), lambda: HanabiMove.get_deal_move(value, 0)],
        "rank": [
            lambda: HanabiMove.get_reveal_rank_move(1, value),
            lambda: HanabiMove.get_deal_move(0, value),
            lambda: env.step({"action_type": "REVEAL_RANK", "rank": value, "target_offset": 1}),
        ],
        "player": [lambda: env.state.observation(value)],
        "move_uid": [lambda: env.game.get_move(value)],
        "color_index": [lambda: knowledge(env).color_plausible(value)],
        "rank_index": [lambda: knowledge(env).rank_plausible(value)],
    }
    if value is not None:
        calls["start_player"] = [
            lambda: env.reset(start_player=value),
            lambda: env.game.new_initial_state(start_player=value),
        ]
    before = str(env.state)
    for name, call in [(name, call) for name, ones in calls.items() for call in ones]:
        with pytest.raises(TypeError, match=f"{name}={value!r} is not allowed: expected an integer"):
            call()
    assert str(env.state) == before


def knowledge(env):
    """What is known of a card."""
    return env.state.observation(0).card_knowledge()[0][0]


def test_integers_of_numpy_are_numbers_of_moves(env):
    move = HanabiMove.get_reveal_rank_move(np.int64(1), np.uint8(2))
    assert [type(move.target_offset()), type(move.rank())] == [int, int]
    assert move == HanabiMove.get_reveal_rank_move(1, 2)
    assert env.game.get_move(np.int64(7)) == HanabiMove.get_play_move(2)
    assert env.state.observation(np.int64(1)).num_players() == 3


@pytest.mark.parametrize("index", [-1, 5, 10**30])
def test_no_hint_speaks_of_a_colour_or_a_rank_that_does_not_exist(env, index):
    for name in ("color", "rank"):
        with pytest.raises(starmine.StarmineError, match=f"{name}_index={index} is not allowed: expected 0 to 4"):
            getattr(knowledge(env), f"{name}_plausible")(index)
    with pytest.raises(IndexError):
        pyhanabi.color_idx_to_char(-2 if index < 0 else index)


@pytest.mark.parametrize("move", [3, "(Play 0)", None, {"action_type": "PLAY", "card_index": 0}], ids=repr)
def test_what_is_no_move_is_named(env, move):
    for call in (env.state.move_is_legal, env.game.get_move_uid, env.state.apply_move):
        with pytest.raises(hle.IllegalMoveError, match="expected a HanabiMove, such as game"):
            call(move)


def test_the_messages_name_what_is_refused(env):
    for colors in (0, 6, -1):
        with pytest.raises(starmine.VariantError, match=f"colors={colors} is not allowed: expected 1 to 5"):
            rl_env.HanabiEnv({"colors": colors})
    with pytest.raises(starmine.StarmineError, match="make another HanabiEnv") as caught:
        env.reset({})
    assert not isinstance(caught.value, hle.IllegalMoveError)


def test_an_encoder_refuses_observations_of_other_rules(env):
    other = rl_env.make(num_players=2)
    seen, known = env.state.observation(0), other.reset()["player_observations"][0]["pyhanabi"]
    for call in (other.observation_encoder.encode, other.observation_encoder.encodeownhand):
        with pytest.raises(starmine.StarmineError, match=r"observation is of .*players=3.*: expected .*players=2"):
            call(seen)
        with pytest.raises(starmine.StarmineError, match="observation is a HanabiState: expected a HanabiObservation"):
            call(other.state)
    minimal = rl_env.HanabiEnv({"observation_type": 0})
    minimal.reset()
    with pytest.raises(starmine.StarmineError, match=r"observation is of .*CARD_KNOWLEDGE: expected .*MINIMAL"):
        minimal.observation_encoder.encode(known)
    # Parameters that change neither cards nor hands do not matter.
    same = pyhanabi.ObservationEncoder(pyhanabi.HanabiGame({"random_start_player": True, "seed": 3}))
    assert same.encode(known) == other.observation_encoder.encode(known)
    env.observation_encoder = other.observation_encoder
    with pytest.raises(starmine.StarmineError, match=r"expected .*players=2"):
        env.reset()["player_observations"][0]["vectorized"]


@pytest.mark.parametrize("form", [list, tuple, np.array, lambda deck: np.array(deck, np.uint8)])
def test_decks_may_be_numbers(env, form):
    state = starmine.Variant(players=3).new_game(seed=9)
    numbers = form([card.suit * 5 + card.rank for card in state.deck])
    env.reset(deck=numbers)
    assert str(env.state.player_hands()) == str(state.hands).replace("Card('", "").replace("')", "")
    assert str(env.game.new_initial_state(numbers)._position.core.deck) == str(state.deck)
    for wrong in ([25, *numbers[1:]], [-1, *numbers[1:]], [True, *numbers[1:]], [1.5, *numbers[1:]]):
        with pytest.raises((starmine.StarmineError, TypeError), match=r"25|-1|True|1\.5"):
            env.reset(deck=wrong)


def test_moves_of_hle_become_action_ids():
    variant = starmine.Variant(players=3)
    for uid, move in enumerate(hle.pyhanabi.HanabiGame({"players": 3}).get_move(uid) for uid in range(30)):
        for form in (move, move.to_dict(), str(move), uid, np.int64(uid)):
            found = hle.action(variant, form)
            assert (found, type(found)) == (uid, int)


@pytest.mark.parametrize(
    ("move", "message"),
    [
        (None, "move=None is no move of HLE"),
        ({"action_type": "PASS"}, "'PASS' should be one of"),
        ({"action_type": "PLAY", "card_index": "0"}, "card_index='0'"),
        ({"action_type": "PLAY", "card_index": 5}, r"\(Play 5\) does not exist in "),
        ("(Deal R1)", r"\(Deal R1\) does not exist in "),
        ("play 0", "expected a text such as"),
        (30, "move=30 is not allowed: expected 0 to 29"),
        (-1, "move=-1 is not allowed: expected 0 to 29"),
        (1.5, "move=1.5 is no move of HLE"),
    ],
    ids=repr,
)
def test_what_is_no_move_of_hle_has_no_action_id(move, message):
    with pytest.raises(starmine.StarmineError, match=message):
        hle.action(starmine.Variant(players=3), move)
    with pytest.raises(starmine.StarmineError, match="variant is a dict: expected a Variant"):
        hle.action({"players": 3}, move)


class OldAgent(rl_env.Agent):
    """An agent as users of HLE have them."""

    def __init__(self, config):
        self.config = config

    def act(self, observation):
        """The first legal move, as a dictionary."""
        return observation["legal_moves"][0] if observation["current_player_offset"] == 0 else None


def test_an_old_agent_plays():
    class Player:
        def __init__(self):
            self.agent = OldAgent({"players": 2})

        def act(self, view):
            return hle.action(view.variant, self.agent.act(hle.observation(view)))

    games = starmine.play_games([Player, Player], games=3)
    assert (games.scores >= 0).all()


class Unchanged:
    """A player that returns HLE's dictionaries."""

    def act(self, view):
        """A dictionary."""
        return {"action_type": "PLAY", "card_index": 0}


def test_a_player_that_returns_a_dictionary_is_told_of_the_door():
    message = r"expected an integer, a Move or text such as 'play 2'; starmine.hle.action reads HLE's moves"
    with pytest.raises(starmine.BotError, match=message):
        starmine.play_games([Unchanged(), "random"], games=1)
    env = starmine.HanabiVectorEnv(2, players=2, partners={1: Unchanged()}, seed=1)
    _, info = env.reset(seed=1)
    with pytest.raises(starmine.StarmineError, match=message):
        env.step(info["action_mask"].argmax(1))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda env: pyhanabi.HanabiGame(3), starmine.StarmineError, "params=3 is not allowed: expected a dict"),
        (lambda env: pyhanabi.HanabiGame("x"), starmine.StarmineError, "params='x' is not allowed: expected a dict"),
        (lambda env: pyhanabi.HanabiState(None), starmine.StarmineError, "game=None is not allowed: expected a Hanabi"),
        (lambda env: pyhanabi.HanabiState(env.game, 3), starmine.StarmineError, "c_state=3 is not allowed"),
        (lambda env: pyhanabi.ObservationEncoder(None), starmine.StarmineError, "game=None is not allowed"),
        (lambda env: env.game.num_cards("R", 0), TypeError, "color='R' is not allowed: expected an integer"),
        (lambda env: env.game.num_cards(0, 0.0), TypeError, "rank=0.0 is not allowed: expected an integer"),
        (lambda env: env.state.card_playable_on_fireworks("R", 0), TypeError, "color='R' is not allowed"),
        (lambda env: env.state.observation(0).card_playable_on_fireworks(0, "1"), TypeError, "rank='1' is not"),
        (lambda env: env.state.deal_random_cards("1"), TypeError, "count='1' is not allowed: expected an integer"),
        (lambda env: env.state.play("x"), TypeError, "move_uid='x' is not allowed: expected an integer"),
        (lambda env: env.state.play(99), hle.IllegalMoveError, "move_uid=99 is not allowed: expected 0 to 29"),
        (lambda env: env.state.play(-1), hle.IllegalMoveError, "move_uid=-1 is not allowed: expected 0 to 29"),
        (lambda env: env.reset(deck=3), TypeError, "deck=3 is not allowed: expected cards"),
        (lambda env: env.reset(deck="R1"), TypeError, "deck='R1' is not allowed: expected cards"),
        (lambda env: hle.state_of(env.state.move_history(), start_player="0"), TypeError, "start_player='0' is not"),
        (
            lambda env: hle.state_of(env.state.move_history(), start_player=3),
            starmine.StarmineError,
            "start_player=3 is",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_other_arguments_are_named(env, call, error, message):
    before = str(env.state)
    with pytest.raises(error, match=message):
        call(env)
    assert str(env.state) == before
