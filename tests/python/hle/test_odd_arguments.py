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


def test_integers_of_numpy_are_numbers_of_moves(env):
    assert HanabiMove.get_reveal_rank_move(np.int64(1), np.uint8(2)) == HanabiMove.get_reveal_rank_move(1, 2)
    assert env.game.get_move(np.int64(7)) == HanabiMove.get_play_move(2)
    assert env.state.observation(np.int64(1)).num_players() == 3


NO_INTEGERS = {  # of which HLE says "an integer is required"
    "card_index": HanabiMove.get_play_move,
    "target_offset": lambda given: HanabiMove.get_reveal_rank_move(given, 0),
    "rank": lambda given: HanabiMove.get_reveal_rank_move(1, given),
    "color": lambda given: HanabiMove.get_deal_move(given, 0),
}


@pytest.mark.parametrize("given", [1.0, 0.5, "1", None, np.float32(1)], ids=repr)
def test_numbers_of_moves_and_cards_are_integers(env, given):
    for name, make in NO_INTEGERS.items():
        with pytest.raises(TypeError, match=f"{name}=.* is not allowed: expected an integer"):
            make(given)
    before = str(env.state)
    for action in (
        {"action_type": "PLAY", "card_index": given},
        {"action_type": "REVEAL_RANK", "target_offset": 1, "rank": given},
        {"action_type": "REVEAL_RANK", "target_offset": given, "rank": 0},
    ):
        with pytest.raises(TypeError, match="expected an integer"):
            env.step(action)
    known = env.state.observation(0).card_knowledge()[0][0]
    for call in (
        lambda: known.color_plausible(given),
        lambda: known.rank_plausible(given),
        lambda: env.state.card_playable_on_fireworks(0, given),
        lambda: env.game.num_cards(given, 0),
    ):
        with pytest.raises(TypeError, match="expected an integer"):
            call()
    assert str(env.state) == before


def test_true_is_the_number_1_as_in_hle(env):
    assert str(HanabiMove.get_play_move(True)) == "(Play 1)"
    assert str(HanabiMove.get_reveal_rank_move(True, True)) == "(Reveal player +1 rank 2)"
    assert env.game.num_cards(True, False) == 3
    with pytest.raises(starmine.StarmineError, match="seed=True is not allowed: expected an integer"):
        rl_env.HanabiEnv({"seed": True})  # HLE ends the process


@pytest.mark.parametrize("index", [-1, 5])
def test_a_colour_or_rank_that_does_not_exist_is_refused(env, index):
    known = env.state.observation(0).card_knowledge()[0][0]
    with pytest.raises(starmine.StarmineError, match=f"color_index={index} is not allowed: expected 0 to 4"):
        known.color_plausible(index)
    with pytest.raises(starmine.StarmineError, match=f"rank_index={index} is not allowed: expected 0 to 4"):
        known.rank_plausible(index)


@pytest.mark.parametrize("move", [True, 3, None, {"action_type": "PLAY", "card_index": 0}], ids=repr)
def test_what_is_no_move_has_no_id(env, move):
    with pytest.raises(TypeError, match=r"move=.*: expected a HanabiMove"):
        env.game.get_move_uid(move)


@pytest.mark.parametrize("action", [5.0, None, "5", [5]], ids=repr)
def test_an_action_is_a_dictionary_or_an_id(env, action):
    with pytest.raises(ValueError, match="Expected action as dict or int, got: "):
        env.step(action)


def test_reset_takes_its_arguments_by_name(env):
    with pytest.raises(TypeError, match="positional argument"):
        env.reset({})


def test_the_messages_name_what_is_refused(env):
    for colors in (0, 6, -1):
        with pytest.raises(starmine.VariantError, match=f"colors={colors} is not allowed: expected 1 to 5"):
            rl_env.HanabiEnv({"colors": colors})


def test_an_encoder_refuses_observations_of_other_rules(env):
    other = rl_env.make(num_players=2)
    seen, known = env.state.observation(0), other.reset()["player_observations"][0]["pyhanabi"]
    with pytest.raises(starmine.StarmineError, match=r"observation is of .*players=3.*: expected .*players=2"):
        other.observation_encoder.encode(seen)
    minimal = rl_env.HanabiEnv({"observation_type": 0})
    minimal.reset()
    with pytest.raises(starmine.StarmineError, match=r"observation is of .*CARD_KNOWLEDGE: expected .*MINIMAL"):
        minimal.observation_encoder.encode(known)
    # Parameters that change neither cards nor hands do not matter.
    same = pyhanabi.ObservationEncoder(pyhanabi.HanabiGame({"random_start_player": True, "seed": 3}))
    assert same.encode(known) == other.observation_encoder.encode(known)
    env.observation_encoder = other.observation_encoder
    with pytest.raises(starmine.StarmineError, match=r"expected .*players=2"):
        env.reset()


def test_moves_of_hle_become_action_ids():
    variant = starmine.Variant(players=3)
    for uid, move in enumerate(hle.pyhanabi.HanabiGame({"players": 3}).get_move(uid) for uid in range(30)):
        for form in (move, move.to_dict(), uid, np.int64(uid)):
            action = hle.action(variant, form)
            assert (action, type(action)) == (uid, int)


@pytest.mark.parametrize(
    ("move", "error", "message"),
    [
        (None, TypeError, "cannot be interpreted as an integer"),
        ({"action_type": "PASS"}, AssertionError, "'PASS' should be one of"),
        ({"action_type": "PLAY", "card_index": 5}, starmine.StarmineError, r"'card_index': 5} does not exist in "),
        ({"action_type": "REVEAL_RANK", "target_offset": 1, "rank": 7}, AssertionError, "'rank': 7} does not exist"),
        (30, starmine.StarmineError, "move_uid=30 is not allowed: expected 0 to 29"),
        (-1, starmine.StarmineError, "move_uid=-1 is not allowed: expected 0 to 29"),
    ],
    ids=repr,
)
def test_what_is_no_move_of_hle_has_no_action_id(move, error, message):
    with pytest.raises(error, match=message):
        hle.action(starmine.Variant(players=3), move)


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


def test_an_illegal_move_is_told_as_it_was_given(env):
    with pytest.raises(AssertionError, match=r"Illegal action: {.*'rank': 7}\. Move should be one of : \["):
        env.step({"action_type": "REVEAL_RANK", "target_offset": 1, "rank": 7})


class Unchanged:
    """A player that returns HLE's moves."""

    def __init__(self, move):
        self.move = move

    def act(self, view):
        """The move."""
        return self.move


@pytest.mark.parametrize(
    "move", [{"action_type": "PLAY", "card_index": 0}, pyhanabi.HanabiMove.get_play_move(0)], ids=repr
)
def test_a_player_that_returns_a_move_of_hle_is_told_of_the_door(move):
    message = r"expected an integer, a Move or text such as 'play 2'; starmine.hle.action reads HLE's moves"
    with pytest.raises(starmine.BotError, match=message):
        starmine.play_games([Unchanged(move), "random"], games=1)
    alone = starmine.HanabiEnv()
    alone.reset(seed=1)
    with pytest.raises(starmine.StarmineError, match=message.replace("an integer", "a single integer")):
        alone.step(move)
    env = starmine.HanabiVectorEnv(2, players=2, partners={1: Unchanged(move)}, seed=1)
    _, info = env.reset(seed=1)
    with pytest.raises(starmine.StarmineError, match=message):
        env.step(info["action_mask"].argmax(1))
