"""The JAX adapter: steps inside of compiled code, the same games as the batch, and its errors."""

import subprocess
import sys

import numpy as np
import pytest

import starmine

jax = pytest.importorskip("jax")

from starmine.adapters.jax import HanabiJaxEnv, Turn  # noqa: E402

GAMES = 8


def make(**settings):
    return HanabiJaxEnv(GAMES, **{"variant": "small", "autoreset_mode": "SameStep", **settings})


def first_legal(turn):
    return turn.action_mask.argmax(axis=1)


def assert_equal(turn, out):
    for name in Turn._fields:
        assert getattr(turn, name).dtype == out[name].dtype
        np.testing.assert_array_equal(getattr(turn, name), out[name], err_msg=name)


def test_a_turn_has_every_output_of_the_batch():
    assert sorted(Turn._fields) == sorted(starmine._core._outputs())


@pytest.mark.parametrize("settings", [{}, {"dtype": "bits"}, {"dtype": "float16", "observers": "all"}], ids=str)
def test_the_games_are_those_of_the_batch(settings):
    env = make(**settings)
    batch = starmine.Batch(starmine.variant("small"), GAMES, autoreset_mode="SameStep", **settings)
    turn, out = env.reset(seed=2**63 + 5), batch.reset(2**63 + 5)
    step = jax.jit(env.step)
    for _ in range(30):
        assert_equal(turn, out)
        actions = np.asarray(first_legal(turn))
        turn, out = step(actions), batch.step(actions)
    assert batch.episodes.max() > 0


def test_a_rollout_inside_of_one_compiled_function():
    env = make()

    @jax.jit
    def rollout(key):
        def body(turn, _):
            following = env.step(first_legal(turn))
            return following, (following.reward, following.terminated, following.final_score)

        return jax.lax.scan(body, env.reset(key), length=60)[1]

    reward, terminated, final_score = rollout(jax.random.key(3))
    assert terminated.any()
    expected = make()
    turn = expected.reset(jax.random.key(3))
    for index in range(60):
        turn = expected.step(first_legal(turn))
        np.testing.assert_array_equal(reward[index], turn.reward)
        np.testing.assert_array_equal(final_score[index], turn.final_score)
    np.testing.assert_array_equal(rollout(jax.random.key(3))[0], reward)
    assert not np.array_equal(rollout(jax.random.key(4))[1], terminated)


def test_a_step_runs_though_nobody_reads_what_it_gives():
    env = make(variant="standard")

    @jax.jit
    def blind(actions):
        env.step(actions)
        return actions

    blind(first_legal(env.reset(seed=0))).block_until_ready()
    jax.effects_barrier()
    assert env._env._batch.observe()["current_player"].tolist() == [1] * GAMES


def test_disabled_games_are_reset_by_the_caller():
    env = make(autoreset_mode="Disabled", num_threads=1)

    @jax.jit
    def step(turn):
        played = env.step(first_legal(turn))
        return played, env.reset(reset_mask=played.terminated)

    turn, ended = env.reset(seed=0), 0
    for _ in range(60):
        played, turn = step(turn)
        ended += int(played.terminated.sum())
        done = np.asarray(played.terminated)
        np.testing.assert_array_equal(turn.obs[~done], played.obs[~done])
        assert turn.action_mask.any(axis=1).all()
        assert not turn.score[done].any()
    assert ended > GAMES


def test_decks():
    env = HanabiJaxEnv(2, autoreset_mode="NextStep", observers="all")
    deck = np.random.default_rng(0).permutation(np.repeat(np.arange(25), [3, 2, 2, 2, 1] * 5)).astype(np.uint8)
    turn = env.reset(decks=np.stack([deck, deck[::-1]]))
    hands = env.layout["hands"].slice
    shown = np.asarray(turn.obs)[0, 1, hands].reshape(5, 25).argmax(axis=1)
    assert shown.tolist() == deck[:5].tolist()
    with pytest.raises(jax.errors.JaxRuntimeError):
        env.reset(decks=np.zeros((2, 50), dtype=np.uint8))


class LastLegal:
    """A policy that plays the last legal action, a hint where it can: beside it, the deck lasts for 41 steps."""

    encoder = "canonical"

    def act_batch(self, turns):
        return turns.action_mask.shape[1] - 1 - turns.action_mask[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize("partner", ["smart", LastLegal()], ids=["bot", "object"])
def test_rewards_and_partners(partner):
    settings = {"reward": "fireworks", "lost_game_penalty": 3.0, "partners": {1: partner}}
    env, expected = make(variant="standard", **settings), starmine.HanabiVectorEnv(GAMES, **settings)
    turn, (_, info) = env.reset(seed=1), expected.reset(seed=1)
    ended = np.zeros(GAMES, dtype=int)
    for _ in range(60):
        actions = np.asarray(first_legal(turn))
        turn, (_, reward, terminated, _, info) = env.step(actions), expected.step(actions)
        np.testing.assert_array_equal(turn.reward, reward)
        np.testing.assert_array_equal(turn.terminated, terminated)
        np.testing.assert_array_equal(turn.score, info["score"])
        ended += terminated
    assert ended.all(), "every game ends at least once"


def test_an_illegal_action_says_so_and_moves_no_game():
    env = make(variant="standard")
    turn = env.reset(seed=0)
    actions = first_legal(turn)
    step = jax.jit(env.step)
    for illegal in (99, -1):
        with pytest.raises(jax.errors.JaxRuntimeError):
            jax.block_until_ready(step(actions.at[2].set(illegal)))
    with pytest.raises(jax.errors.JaxRuntimeError):
        env.step(np.full(GAMES, 2**32 + 5))  # whose lower 32 bits are a legal action
    np.testing.assert_array_equal(env._env._batch.observe()["obs"], turn.obs)
    assert jax.block_until_ready(step(actions)).current_player.tolist() == [1] * GAMES


@pytest.mark.parametrize("module", ["jax", "jaxmarl"])
def test_without_jax_the_error_names_the_extra(module):
    code = f"import sys; sys.modules['jax'] = None; import starmine.adapters; starmine.adapters.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip().endswith("needs JAX: install starmine with the extra jax")
    assert "ImportError: starmine.adapters." in done.stderr
