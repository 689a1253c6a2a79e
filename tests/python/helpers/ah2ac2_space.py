"""A stand-in for AH2AC2's evaluation, written from its guide and from the messages that its client reads.

`EvaluationSpace` and `EvaluationEnvironment` stand for the client, `Connection` for the server at the other end of the
challenge's own client. The other players are bots. The games are those of `play_games`, and the observations have
probabilities where ours have the knowledge of cards, as JaxMARL's do.
"""

import json
from typing import NamedTuple

import numpy as np

import starmine
from starmine.games import SeatedBot


class EnvironmentInfo(NamedTuple):
    game_id: int
    num_players: int
    candidate_controlling: list[str]
    is_debug: bool


class EvaluationInfo(NamedTuple):
    human_ai_eval_done: bool


class Table:
    """A game at the server.

    Attributes:
        state: the game.
        info: what a candidate is told of it.
    """

    def __init__(self, num_players, positions, game, partner="iggi", seed=0):
        variant = starmine.Variant(players=num_players)
        self.state = variant.new_game(seed=seed, game=game)
        self.info = EnvironmentInfo(game, num_players, [f"agent_{position}" for position in positions], True)
        self._bots = {}
        for seat in set(range(num_players)) - set(positions):
            player = starmine.make_bot(partner, variant, seat)._player
            self._bots[seat] = SeatedBot._restored(player, variant, seat, seed, (game, self.state))

    def step(self, actions):
        """Play a turn by the action of the agent to act, or by a bot; the candidate's other agents play the no-op."""
        assert sorted(actions) == sorted(self.info.candidate_controlling)
        seat = self.state.current_player
        for agent, action in actions.items():
            assert type(action) is int
            assert (action == self.state.variant.num_actions) == (agent != f"agent_{seat}")
        chosen = actions.get(f"agent_{seat}")
        self.state.apply(self._bots[seat].act(self.state.view(seat)) if chosen is None else chosen)

    def shown(self):
        """The observations and the legal moves of the candidate's agents."""
        layout = self.state.variant.layout()
        obs, legal = {}, {}
        for agent in self.info.candidate_controlling:
            seat = int(agent.removeprefix("agent_"))
            row = self.state.encode(seat).astype(np.float32)
            row[layout["knowledge"].slice] *= 0.04
            mask = np.zeros(self.state.variant.num_actions + 1, np.float32)
            mask[self.state.view(seat).legal_actions() or [-1]] = 1
            obs[agent], legal[agent] = row, mask
        return obs, legal


class EvaluationSpace:
    """The games of a key: for each the number of players and the candidate's positions."""

    def __init__(self, games, seed=0):
        self._games, self._seed = list(games), seed
        self._number, self._active = 0, None

    @property
    def info(self):
        return EvaluationInfo(self._number == len(self._games))

    def next_environment(self):
        if self._active is not None and not self._active.table.state.is_terminal:
            raise RuntimeError("the last environment is still active")
        table = Table(*self._games[self._number], self._number, seed=self._seed)
        self._active = EvaluationEnvironment(table)
        self._number += 1
        return self._active


class EvaluationEnvironment:
    """One game; every call is awaited."""

    def __init__(self, table):
        self.table, self.info = table, None

    async def reset(self):
        self.info = self.table.info
        return self.table.shown()

    async def step(self, actions):
        self.table.step(actions)
        obs, legal = self.table.shown()
        return obs, float(self.table.state.score), self.table.state.is_terminal, legal


class Connection:
    """The server's end of the WebSocket that the challenge's own `EvaluationEnvironment` opens."""

    def __init__(self, table):
        self._table = table
        self._messages = ["connected", json.dumps({"info": table.info._asdict(), **self._agents()})]
        self.is_open = True

    def _agents(self):
        obs, legal = self._table.shown()
        return {agent: {"obs": obs[agent].tolist(), "legal_moves": legal[agent].tolist()} for agent in obs}

    async def recv(self):
        return self._messages.pop(0)

    async def send(self, text):
        self._table.step(json.loads(text))
        state = self._table.state
        self._messages.append(json.dumps({**self._agents(), "done": state.is_terminal, "score": state.score}))

    async def close(self):
        self.is_open = False
