"""Players as agents of AH2AC2's evaluation: observations of JaxMARL itself, and games with a stand-in of the client."""

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest
from ah2ac2_space import Connection, EvaluationSpace, Table
from recurrent_policy import recurrent

import starmine
from starmine.adapters.ah2ac2 import EvaluationAgent

RECORDED = np.load(Path(__file__).parents[2] / "data" / "jaxmarl.npz")
SEED = 4


class Scripted:
    """Plays a list of actions."""

    def __init__(self, actions):
        self.actions = list(actions)

    def act(self, view):
        return self.actions.pop(0)


@pytest.mark.parametrize("number", range(9))
def test_an_agent_follows_the_observations_that_jaxmarl_itself_has_recorded(number):
    parameters = json.loads(str(RECORDED[f"parameters_{number}"]))
    variant = starmine.Variant(players=parameters["num_agents"])
    actions, seats = RECORDED[f"actions_{number}"].tolist(), RECORDED[f"seats_{number}"].tolist()
    turns, players, noop = len(seats), variant.players, variant.num_actions
    cards = variant.colors * variant.ranks
    width = len(variant.layout()) - players * variant.hand_size * cards
    bits = np.unpackbits(RECORDED[f"bits_{number}"])[: turns * players * width].reshape(turns, players, width)
    legal = np.unpackbits(RECORDED[f"legal_{number}"])[: turns * players * (noop + 1)].reshape(turns, players, noop + 1)
    start = variant.layout()["knowledge"].start
    rest = np.zeros((turns, players, len(variant.layout()) - start))
    obs = np.concatenate([bits[..., :start], rest], axis=2)
    for seat in range(players):
        own = [action for action, holder in zip(actions, seats, strict=False) if holder == seat]
        agent = EvaluationAgent(Scripted(own), f"agent_{seat}", players)
        for turn, action in enumerate(actions):
            expected = action if seats[turn] == seat else noop
            assert agent.act(obs[turn, seat], legal[turn, seat]) == (expected, agent)
        assert [event.action for event in agent.seen.view().history] == actions[:-1]


async def game(env, make):
    """The loop of the guide for one game. Returns its score."""
    obs, legal = await env.reset()
    agents = {agent_id: make(agent_id, env.info) for agent_id in env.info.candidate_controlling}
    done = False
    while not done:
        actions = {}
        for agent_id in env.info.candidate_controlling:
            action, agents[agent_id] = agents[agent_id].act(obs[agent_id], legal[agent_id])
            actions[agent_id] = action
        obs, score, done, legal = await env.step(actions)
    return score


def play(space, make):
    """All games of a key. Returns their states."""
    states = []
    while not space.info.human_ai_eval_done:
        env = space.next_environment()
        assert asyncio.run(game(env, make)) == env.table.state.score
        states.append(env.table.state)
    return states


@pytest.mark.parametrize("player", ["smart", "noisy: 0.3; iggi", "ippo-2p", "recurrent", "all turns"])
def test_games_are_those_of_play_games(player):
    tables = [(2, [0]), (2, [1]), (2, [0, 1])]
    if player != "ippo-2p":
        tables += [(3, [1]), (3, [0, 2])]
    made = {}

    def holder(count):
        if player not in ("recurrent", "all turns"):
            return player
        if count not in made:
            made[count] = recurrent(starmine.Variant(players=count), all_turns=player == "all turns")
        return made[count]

    def make(agent_id, info):
        return EvaluationAgent(holder(info.num_players), agent_id, info.num_players, seed=SEED, game=info.game_id)

    states = play(EvaluationSpace(tables, seed=SEED), make)
    for game, ((count, positions), state) in enumerate(zip(tables, states, strict=True)):
        seats = [holder(count) if seat in positions else "iggi" for seat in range(count)]
        expected = starmine.play_games(seats, 1, SEED, first_game=game)
        assert [event.action for event in state.history] == expected.actions.tolist()


@pytest.mark.parametrize(("players", "positions"), [(2, [1]), (3, [0, 2])])
def test_the_client_of_the_challenge_itself_plays_a_game(players, positions, monkeypatch):
    client = pytest.importorskip("ah2ac2.evaluation.evaluation_environment", reason="needs AH2AC2's repository")
    table = Table(players, positions, 5, seed=SEED)
    connection = Connection(table)

    async def connect(url, **options):
        return connection

    monkeypatch.setattr(client, "connect", connect)

    def make(agent_id, info):
        return EvaluationAgent("smart", agent_id, info.num_players, seed=SEED, game=info.game_id)

    score = asyncio.run(game(client.EvaluationEnvironment("server/play-next"), make))
    seats = ["smart" if seat in positions else "iggi" for seat in range(players)]
    expected = starmine.play_games(seats, 1, SEED, first_game=5)
    assert [event.action for event in table.state.history] == expected.actions.tolist()
    assert score == expected.scores[0]
    assert not connection.is_open
