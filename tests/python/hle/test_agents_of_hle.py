"""Moves of HLE as action ids, and an agent that was written for HLE."""

import numpy as np

import starmine
from starmine import hle
from starmine.hle import rl_env


def test_moves_of_hle_become_action_ids():
    variant = starmine.Variant(players=3)
    for uid, move in enumerate(hle.pyhanabi.HanabiGame({"players": 3}).get_move(uid) for uid in range(30)):
        for form in (move, move.to_dict(), uid, np.int64(uid)):
            action = hle.action(variant, form)
            assert (action, type(action)) == (uid, int)


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
