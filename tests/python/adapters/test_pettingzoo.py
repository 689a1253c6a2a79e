"""The PettingZoo adapter: PettingZoo's own tests, and the same games as its `classic/hanabi-v5`."""

import copy
import importlib
import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import starmine

pettingzoo = pytest.importorskip("pettingzoo")
from pettingzoo.test import api_test, seed_test  # noqa: E402

from starmine.adapters.pettingzoo import HanabiAECEnv  # noqa: E402

ENV_ID = "starmine/hanabi-v0"
# PettingZoo warns of observations that are dicts, but for those of a list of its own environments, and of the masks
# of agents that are not to act.
WARNINGS = [
    "Observation is not a NumPy array",
    "Observation space for each agent",
    "Action mask numpy array is all zeros",
]


def make(**settings):
    return pettingzoo.make("aec", ENV_ID, **settings)


def play(env, rng, seed=None, illegal_after=None):
    """Plays a game with legal actions, or up to an illegal one, and returns what `last` told."""
    env.reset(seed=seed)
    told = []
    for agent in env.agent_iter():
        observation, *rest = env.last()
        told.append((agent, observation, *rest))
        if rest[1] or rest[2]:
            env.step(None)
            continue
        mask = observation["action_mask"]
        illegal = len(told) - 1 == illegal_after
        env.step(rng.choice(np.flatnonzero(mask != illegal)))
    return told


# --- PettingZoo's tests -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings(*(f"ignore:{text}:UserWarning" for text in WARNINGS))
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_api(players, capsys):
    api_test(make(players=players), num_cycles=300)
    assert "Passed API test" in capsys.readouterr().out


def test_seed():
    seed_test(make, num_cycles=500)


def test_render_shows_the_board(capsys):
    env = make(render_mode="ansi")
    env.reset(seed=3)
    env.step(5)
    assert env.render() == str(env.game)
    env = make(render_mode="rgb_array", players=3)
    env.reset(seed=3)
    before = env.render()
    env.step(5)
    assert env.render().shape == before.shape
    assert (env.render() != before).any()
    capsys.readouterr()
    env = make(render_mode="human")
    env.reset(seed=3)
    env.step(5)
    assert env.render() is None
    assert capsys.readouterr().out.count("fireworks") == 2


# --- Registration -----------------------------------------------------------------------------------------


# The second and third name the adapter, which is what the documentation does.
ORDERS = [
    "import pettingzoo, starmine",
    "import pettingzoo, starmine.adapters.pettingzoo",
    "import starmine.adapters.pettingzoo, pettingzoo",
    "import starmine, pettingzoo, starmine.adapters.pettingzoo",
    "import starmine, starmine.adapters.pettingzoo, pettingzoo",
]


@pytest.mark.parametrize("imports", ORDERS)
def test_registration(imports):
    code = f"{imports}; print(type(pettingzoo.make('aec', '{ENV_ID}')).__name__)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["HanabiAECEnv"], done.stderr


# --- The same games as classic/hanabi-v5 ------------------------------------------------------------------


def deck_of(classic, variant):
    """The deck of a game of OpenSpiel, from its chance actions; cards that were never drawn come in any order."""
    state = classic.unwrapped.hanabi_env.game_state
    dealt = [action for player, action in zip(players_of(state), state.history(), strict=True) if player < 0]
    cards = [starmine.Card.of(number // variant.ranks, number % variant.ranks) for number in dealt]
    full = [
        starmine.Card.of(suit, rank)
        for suit, copies in enumerate(variant.copies)
        for rank, count in enumerate(copies)
        for _ in range(count)
    ]
    for card in cards:
        full.remove(card)
    return cards + full


def players_of(state):
    """Who acted at each step of a game's history; chance is negative."""
    return [item.player for item in state.full_history()]


CONFIGURATIONS = [
    {},
    {"observation_type": "minimal"},
    {"observation_type": "seer", "players": 3},
    {"players": 4, "hand_size": 4},
    {"players": 5},
    {"colors": 2, "ranks": 5, "hand_size": 2, "max_information_tokens": 3, "max_life_tokens": 1},
]


@pytest.mark.parametrize("settings", CONFIGURATIONS, ids=str)
@pytest.mark.parametrize("illegal_after", [None, 3])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_same_deals_as_classic(settings, illegal_after):
    pytest.importorskip("pyspiel", reason="classic/hanabi-v5 needs OpenSpiel")
    pytest.importorskip("shimmy", reason="classic/hanabi-v5 needs Shimmy")
    classic = pettingzoo.make("aec", "classic/hanabi-v5", **settings)
    ours = make(**settings)
    assert ours.possible_agents == classic.possible_agents
    for agent in ours.possible_agents:
        assert ours.action_space(agent) == classic.action_space(agent)
        for name, space in classic.observation_space(agent).items():
            assert (ours.observation_space(agent)[name].shape, ours.observation_space(agent)[name].dtype) == (
                space.shape,
                space.dtype,
            )
    for seed in range(3):
        told = play(classic, np.random.default_rng(seed), seed, illegal_after)
        deck = deck_of(classic, ours.variant)
        assert_same_game(ours, deck, told, np.random.default_rng(seed), illegal_after)


def assert_same_game(ours, deck, told, rng, illegal_after):
    """Plays the game of classic/hanabi-v5 again, with the same choices."""
    ours.reset(options={"deck": deck})
    for turn, (agent, observation, reward, termination, truncation, info) in enumerate(told):
        assert ours.agent_selection == agent
        found, *rest, found_info = ours.last()
        assert rest == [reward, termination, truncation]
        assert {type(value) for value in rest[1:]} == {bool}
        if termination or truncation:  # OpenSpiel keeps the observation before the last turn
            ours.step(None)
            continue
        for name in ("observation", "action_mask"):
            np.testing.assert_array_equal(found[name], observation[name])
            assert found[name].dtype == observation[name].dtype
        np.testing.assert_array_equal(found_info["action_mask"], info["action_mask"])
        mask = observation["action_mask"]
        ours.step(rng.choice(np.flatnonzero(mask != (turn == illegal_after))))
    assert not ours.agents


# The loop of PettingZoo's documentation of `hanabi_v5`, word for word.
USAGE = """
from pettingzoo.classic import hanabi_v5

env = hanabi_v5.env(render_mode="human")
env.reset(seed=42)

for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()

    if termination or truncation:
        action = None
    else:
        mask = observation["action_mask"]
        # this is where you would insert your policy
        action = env.action_space(agent).sample(mask)

    env.step(action)
env.close()
"""


def test_the_loop_of_the_documentation_of_hanabi_v5_runs_unchanged(monkeypatch, capsys):
    """The import of the loop gives our class, as a user would put it there."""
    classic = importlib.import_module("pettingzoo.classic")
    monkeypatch.setitem(vars(classic), "hanabi_v5", SimpleNamespace(env=HanabiAECEnv))
    played = {}
    exec(USAGE, played)
    env = played["env"]
    assert isinstance(env, HanabiAECEnv)
    assert env.game.is_terminal
    assert (env.possible_agents, env.agents) == (["player_0", "player_1"], [])
    assert list(played["observation"]) == ["observation", "action_mask"]
    assert played["termination"] is True
    assert list(played["info"]) == ["action_mask"]
    boards = capsys.readouterr().out.count("fireworks")
    assert boards == 1 + len(env.game.history)


# --- Our own promises -------------------------------------------------------------------------------------


def test_an_illegal_action_costs_its_agent_alone():
    env = make(players=3)
    env.reset(seed=0)
    mask = env.last()[0]["action_mask"]
    env.step(int(np.flatnonzero(mask == 0)[0]))
    assert env.rewards == {"player_0": -1, "player_1": 0, "player_2": 0}
    assert all(env.terminations.values())
    assert all(env.truncations.values())
    assert env.game == env.variant.new_game(seed=0)


def test_only_the_agent_to_act_has_a_mask():
    env = make(players=3)
    env.reset(seed=1)
    for agent in env.possible_agents:
        observation = env.observe(agent)
        assert observation["action_mask"].any() == (agent == env.agent_selection)
        assert env.observation_space(agent).contains(observation)


def test_seeds_and_episodes_are_those_of_the_core():
    env = make()
    rng = np.random.default_rng(0)
    play(env, rng, seed=5)
    for episode in (1, 2):
        env.reset()
        assert env.game == env.variant.new_game(seed=5, episode=episode)
    env.reset(seed=5)
    assert env.game == env.variant.new_game(seed=5)


def test_state_shows_all_hands():
    env = make(players=3)
    env.reset(seed=2)
    np.testing.assert_array_equal(env.state(), env.game.encode(0, "canonical-seer"))


def test_a_game_can_be_copied_and_pickled():
    env = make()
    env.reset(seed=4)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        told, again = (play_on(one) for one in (copy.deepcopy(env), twin))
        assert told == again


def play_on(env):
    rng, told = np.random.default_rng(0), []
    for agent in env.agent_iter():
        observation, reward, termination, *_ = env.last()
        told.append((agent, observation["observation"].tolist(), reward, termination))
        env.step(None if termination else rng.choice(np.flatnonzero(observation["action_mask"])))
    return told
