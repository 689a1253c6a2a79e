"""The same 200 seeded games have the same scores, lengths and masks through every adapter."""

import adapter_games
import gymnasium
import numpy as np
import pytest
from adapter_games import GAMES, SEEDS, SETTINGS, VARIANT, Record

import starmine
from starmine.hle import rl_env

MODES = ["SameStep", "NextStep", "Disabled"]


@pytest.fixture(scope="module")
def expected():
    return adapter_games.played_by_states()


def test_the_games_differ(expected):
    assert expected.over.all()
    assert len(set(expected.scores)) > 3
    assert max(expected.lengths) > 30
    assert len({tuple(masks[-1]) for masks in expected.masks}) > 50


def test_gymnasium(expected):
    env = gymnasium.make("starmine:Starmine/Hanabi-v0", **SETTINGS)
    record = Record()
    for game, seed in enumerate(SEEDS):
        _, info = env.reset(seed=seed)
        while not record.over[game]:
            _, reward, terminated, truncated, info = env.step(record.action(game, info["action_mask"]))
            record.turn(game, reward, terminated or truncated)
    assert record == expected


@pytest.mark.parametrize("mode", MODES)
def test_gymnasium_vector(expected, mode):
    env = gymnasium.make_vec("starmine:Starmine/Hanabi-v0", num_envs=GAMES, autoreset_mode=mode, **SETTINGS)
    record = Record()
    _, info = env.reset(seed=SEEDS)
    while not record.over.all():
        _, reward, terminated, truncated, info = env.step(record.actions(info["action_mask"]))
        done = terminated | truncated
        record.turns(reward, done)
        if mode == "Disabled" and done.any():
            _, info = env.reset(options={"reset_mask": done})
    assert record == expected


@pytest.mark.parametrize("mode", MODES)
def test_jax(expected, mode):
    jax = pytest.importorskip("starmine.adapters.jax")
    env = jax.HanabiJaxEnv(GAMES, autoreset_mode=mode, **SETTINGS)
    record, step, reset = Record(), jax.jax.jit(env.step), jax.jax.jit(lambda mask: env.reset(reset_mask=mask))
    turn = env.reset(seed=SEEDS)
    while not record.over.all():
        turn = step(record.actions(np.asarray(turn.action_mask)))
        record.turns(np.asarray(turn.reward), np.asarray(turn.terminated))
        if mode == "Disabled":
            turn = reset(turn.terminated)
    assert record == expected


def test_jaxmarl(expected):
    adapter = pytest.importorskip("starmine.adapters.jaxmarl")
    jax, env = adapter.jax, adapter.HanabiJaxMARLEnv(num_agents=3, lost_game_score="fireworks")
    decks = [[(card.suit, card.rank) for card in VARIANT.new_game(seed=seed).deck] for seed in SEEDS]
    _, state = jax.vmap(env.reset_from_deck_of_pairs)(np.array(decks))
    step = jax.jit(jax.vmap(env.step, in_axes=(None, 0, 0)))
    record = Record()
    while not record.over.all():
        legal = jax.vmap(env.get_legal_moves)(state)
        masks = np.stack([legal[agent] for agent in env.agents])[np.asarray(state.current_player), np.arange(GAMES)]
        actions = record.actions(masks[:, :-1])
        _, state, rewards, dones, _ = step(None, state, dict.fromkeys(env.agents, actions))
        record.turns(np.asarray(rewards["__all__"]), np.asarray(dones["__all__"]))
    assert record == expected


def test_pettingzoo(expected):
    pettingzoo = pytest.importorskip("pettingzoo")
    pytest.importorskip("starmine.adapters.pettingzoo")
    env = pettingzoo.make("aec", "starmine/hanabi-v0", **SETTINGS)
    record = Record()
    for game, seed in enumerate(SEEDS):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
                continue
            env.step(record.action(game, observation["action_mask"]))
            record.turn(game, env.rewards[agent], env.terminations[agent])
    assert record == expected


def test_hle_drop_in(expected):
    """Rewards of HLE take a lost game's points back: the points are counted from the fireworks."""
    env = rl_env.HanabiEnv({"players": 3})
    record = Record()
    for game, seed in enumerate(SEEDS):
        observations, total, points = env.reset(deck=VARIANT.new_game(seed=seed).deck), 0, 0
        while not record.over[game]:
            legal = observations["player_observations"][observations["current_player"]]["legal_moves_as_int"]
            action = record.action(game, np.isin(np.arange(env.num_moves()), legal))
            observations, reward, done, _ = env.step(action)
            total, added, points = total + reward, sum(env.state.fireworks()) - points, sum(env.state.fireworks())
            record.turn(game, added, done)
        assert total == (points if env.state.life_tokens() else 0)
    assert record == expected


def test_stable_baselines3(expected):
    sb3 = pytest.importorskip("starmine.adapters.sb3")
    env = sb3.HanabiVecEnv(GAMES, **SETTINGS)
    env.set_options([{"deck": VARIANT.new_game(seed=seed).deck} for seed in SEEDS])
    env.reset()
    record = Record()
    while not record.over.all():
        _, reward, done, infos = env.step(record.actions(np.stack(env.env_method("action_masks"))))
        for game in np.flatnonzero(done & ~record.over):
            score, length = record.scores[game] + reward[game], record.lengths[game] + 1
            assert (infos[game]["episode"]["r"], infos[game]["episode"]["l"]) == (score, length)
        record.turns(reward, done)
    assert record == expected


def test_every_adapter_has_such_a_test():
    names = {"sb3": "stable_baselines3"}
    tables = ("ah2ac2", "hanab_live")  # of somebody else: no environments
    adapters = [name for name in starmine.adapters._ADAPTERS if name not in tables]
    assert [name for name in adapters if f"test_{names.get(name, name)}" not in globals()] == []
