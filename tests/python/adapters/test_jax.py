"""The JAX adapter: steps inside of compiled code, the same games as the batch, and its errors."""

import subprocess
import sys

import numpy as np
import pytest

import starmine

jax = pytest.importorskip("jax")
from jax import numpy as jnp  # noqa: E402

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


def test_seeds():
    env = make()
    by_integer = env.reset(seed=7)
    np.testing.assert_array_equal(by_integer.obs, starmine.Batch("small", GAMES).reset(7)["obs"])
    each = np.arange(GAMES) + 2**40
    np.testing.assert_array_equal(env.reset(seed=each).obs, starmine.Batch("small", GAMES).reset(each)["obs"])
    keys = jax.random.split(jax.random.key(0), GAMES)
    by_keys = env.reset(seed=keys).obs
    np.testing.assert_array_equal(jax.jit(env.reset)(keys).obs, by_keys)
    assert not np.array_equal(env.reset(seed=keys[::-1]).obs, by_keys)
    old, new = jax.random.PRNGKey(5), jax.random.key(5)
    np.testing.assert_array_equal(env.reset(seed=old).obs, env.reset(seed=new).obs)
    assert not np.array_equal(env.reset().obs, env.reset().obs)


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
    with pytest.raises(jax.errors.JaxRuntimeError, match="DeckError"):
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
        with pytest.raises(jax.errors.JaxRuntimeError, match=f"IllegalActionError: 1 illegal .*actions.2.={illegal},"):
            jax.block_until_ready(step(actions.at[2].set(illegal)))
    with pytest.raises(jax.errors.JaxRuntimeError, match="2147483647"):
        env.step(np.full(GAMES, 2**32 + 5))  # whose lower 32 bits are a legal action
    np.testing.assert_array_equal(env._env._batch.observe()["obs"], turn.obs)
    assert jax.block_until_ready(step(actions)).current_player.tolist() == [1] * GAMES


def test_what_is_wrong_before_any_step():
    env = make()
    with pytest.raises(starmine.ArrayError, match=r"actions is int32 \(3,\): expected integers \(8,\)"):
        env.step([1, 2, 3])
    with pytest.raises(starmine.ArrayError, match="actions is float32"):
        jax.jit(env.step)(jnp.zeros(GAMES))
    with pytest.raises(starmine.ArrayError, match="reset_mask is int32"):
        env.reset(reset_mask=jnp.zeros(GAMES, dtype=int))
    with pytest.raises(starmine.ArrayError, match=r"decks is uint8 \(8, 50\): expected uint8 \(8, 20\)"):
        env.reset(decks=np.zeros((8, 50), dtype=np.uint8))
    with pytest.raises(starmine.ArrayError, match=r"expected one integer, or \(8,\)"):
        env.reset(seed=[1, 2])
    with pytest.raises(starmine.ArrayError, match=r"expected one key, or \(8,\)"):
        env.reset(seed=jax.random.split(jax.random.key(0), 3))
    for seed in (-1, 2**64, True):
        with pytest.raises(starmine.StarmineError, match=r"expected 0 to 2\*\*64 - 1"):
            env.reset(seed=seed)
    for seed in (1.5, "1", jnp.array(3)):
        with pytest.raises(TypeError, match=r"key of jax\.random"):
            env.reset(seed=seed)
    with pytest.raises(starmine.StarmineError, match="render_mode='rgb_array' is not allowed"):
        make(render_mode="rgb_array")
    with pytest.raises(TypeError, match="autoreset_mode"):
        HanabiJaxEnv(2)
    with pytest.raises(starmine.UnknownNameError, match="SameStep"):
        HanabiJaxEnv(2, autoreset_mode="same")
    assert repr(env).startswith("HanabiJaxEnv(num_envs=8, variant=Variant(")


@pytest.mark.parametrize("module", ["jax", "jaxmarl"])
def test_without_jax_the_error_names_the_extra(module):
    code = f"import sys; sys.modules['jax'] = None; import starmine.adapters; starmine.adapters.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip().endswith("needs JAX: pip install 'starmine[jax]'")
    assert "ImportError: starmine.adapters." in done.stderr
