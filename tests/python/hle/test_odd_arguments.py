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
        for form in (move.to_dict(), uid, np.int64(uid)):
            action = hle.action(variant, form)
            assert (action, type(action)) == (uid, int)


@pytest.mark.parametrize(
    ("move", "error", "message"),
    [
        (None, TypeError, "cannot be interpreted as an integer"),
        ({"action_type": "PASS"}, AssertionError, "'PASS' should be one of"),
        ({"action_type": "PLAY", "card_index": 5}, starmine.StarmineError, r"\(Play 5\) does not exist in "),
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
