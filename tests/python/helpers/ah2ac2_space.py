"""A stand-in for AH2AC2's evaluation client, written from its guide: `EvaluationSpace` and `EvaluationEnvironment`.

The other players are bots. Its games are those of `play_games`, and its observations have probabilities where ours have
the knowledge of cards, as JaxMARL's do.
"""

from typing import NamedTuple

import numpy as np

import starmine


class EnvironmentInfo(NamedTuple):
    game_id: int
    num_players: int
    candidate_controlling: list[str]
    is_debug: bool


class EvaluationInfo(NamedTuple):
    human_ai_eval_done: bool


class EvaluationSpace:
    """The games of a key: each of them has a number of players and the candidate's positions."""

    def __init__(self, games, partner="iggi", seed=0):
        self._games, self._partner, self._seed = list(games), partner, seed
        self._number, self._active = 0, None

    @property
    def info(self):
        return EvaluationInfo(self._number == len(self._games))

    def next_environment(self):
        if self._active is not None and not self._active.is_done:
            raise RuntimeError("the last environment is still active")
        num_players, positions = self._games[self._number]
        self._active = EvaluationEnvironment(num_players, positions, self._partner, self._seed, self._number)
        self._number += 1
        return self._active


class EvaluationEnvironment:
    """One game; every call is awaited."""

    def __init__(self, num_players, positions, partner, seed, game):
        variant = starmine.Variant(players=num_players)
        self.state = variant.new_game(seed=seed, game=game)
        self.info = None
        self._own = [f"agent_{position}" for position in positions]
        self._info = EnvironmentInfo(game, num_players, self._own, True)
        self._bots = {}
        for seat in set(range(num_players)) - set(positions):
            followed = game, self.state
            player = starmine.make_bot(partner, variant, seat)._player
            self._bots[seat] = starmine.games.SeatedBot._restored(player, variant, seat, seed, followed)

    @property
    def is_done(self):
        return self.state.is_terminal

    async def reset(self):
        self.info = self._info
        return self._shown()

    async def step(self, actions):
        assert sorted(actions) == sorted(self._own)
        seat = self.state.current_player
        for agent, action in actions.items():
            assert type(action) is int
            assert (action == self.state.variant.num_actions) == (agent != f"agent_{seat}")
        chosen = actions.get(f"agent_{seat}")
        self.state.apply(self._bots[seat].act(self.state.view(seat)) if chosen is None else chosen)
        obs, legal = self._shown()
        return obs, float(self.state.score), self.is_done, legal

    def _shown(self):
        """The observations and the legal moves of the candidate's agents."""
        variant, layout = self.state.variant, self.state.variant.layout()
        obs, legal = {}, {}
        for agent in self._own:
            seat = int(agent.removeprefix("agent_"))
            row = self.state.encode(seat).astype(np.float32)
            row[layout["knowledge"].slice] *= 0.04
            mask = np.zeros(variant.num_actions + 1, np.float32)
            mask[self.state.view(seat).legal_actions() or [-1]] = 1
            obs[agent], legal[agent] = row, mask
        return obs, legal
