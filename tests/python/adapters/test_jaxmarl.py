"""The JaxMARL adapter: games that JaxMARL's own Hanabi played, its training loop's use, and what is refused.

The recorded games are those of tests/data/make_jaxmarl.py. Where the two disagree, `starmine.hle` says what HLE does;
other tests compare it with HLE itself.
"""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from paths import ROOT

import starmine
from starmine.hle import pyhanabi

jax = pytest.importorskip("jax")
from jax import numpy as jnp  # noqa: E402

from starmine.adapters.jaxmarl import HanabiJaxMARLEnv  # noqa: E402

RECORDED = np.load(ROOT / "tests" / "data" / "jaxmarl.npz")
NUMBERS = range(sum(name.startswith("deck_") for name in RECORDED.files))


def game(number):
    """A recorded game with its arrays in their shapes, and our environment of the same parameters."""
    found = {name: RECORDED[f"{name}_{number}"] for name in ("deck", "actions", "rewards", "dones", "seats", "belief")}
    env = HanabiJaxMARLEnv(**json.loads(str(RECORDED[f"parameters_{number}"])))
    rows = (len(found["actions"]) + 1, env.num_agents)
    cards = env.variant.colors * env.variant.ranks
    sizes = {"legal": env.num_moves, "bits": env.obs_size - env.num_agents * env.variant.hand_size * cards}
    for name, size in sizes.items():
        bits = np.unpackbits(RECORDED[f"{name}_{number}"])
        found[name] = bits[: rows[0] * rows[1] * size].reshape(*rows, size).astype(bool)
    return SimpleNamespace(env=env, turns=rows[0] - 1, cards=cards, **found)


def played_by_us(played):
    """Our outputs before each turn and at the end."""
    batch = starmine.Batch(played.env.variant, 1, observers="all", autoreset_mode="Disabled")
    outs = [batch.reset(decks=played.deck[None])]
    outs += [batch.step([action]) for action in played.actions]
    return {name: np.concatenate([out[name] for out in outs]) for name in outs[0]}


def split(played, obs):
    """Observations (T, players, D) as the environment shows them: the bits, and the cards' probabilities."""
    turns, agents, _ = obs.shape
    start = played.env.variant.layout()["knowledge"].start
    rows = np.asarray(jax.jit(jax.vmap(played.env._with_v0_belief))(obs))
    known = rows[..., start:].reshape(turns, agents, agents * played.env.variant.hand_size, -1)
    bits = np.concatenate([rows[..., :start], known[..., played.cards :].reshape(turns, agents, -1)], axis=2)
    return bits, known[..., : played.cards]


def test_beliefs_take_the_place_of_what_hints_allow_in_every_variant():
    rules = starmine.variant("timed-display")
    place, cards = rules.layout()["knowledge"], rules.colors * rules.ranks
    with_hints, with_beliefs = (
        HanabiJaxMARLEnv(variant=rules, knowledge=knowledge).reset(jax.random.key(1))[0]["agent_0"]
        for knowledge in ("hints", "v0_belief")
    )
    beliefs = np.asarray(with_beliefs[place.start : place.stop]).reshape(rules.players * rules.hand_size, -1)
    np.testing.assert_allclose(beliefs[:, :cards].sum(axis=1), 1, atol=1e-6)
    assert (with_beliefs[: place.start] == with_hints[: place.start]).all()
    assert (with_beliefs[place.stop :] == with_hints[place.stop :]).all()


@pytest.mark.parametrize("number", NUMBERS)
def test_rewards_ends_turns_and_observations_are_those_of_jaxmarl(number):
    played = game(number)
    ours = played_by_us(played)
    np.testing.assert_array_equal(ours["reward"][1:], played.rewards)
    np.testing.assert_array_equal(ours["terminated"][1:], played.dones)
    np.testing.assert_array_equal(ours["current_player"][:-1], played.seats[:-1])
    bits, belief = split(played, ours["obs"])
    np.testing.assert_array_equal(bits, played.bits)
    size = played.env.variant.hand_size
    for seat in range(played.env.num_agents):
        np.testing.assert_array_equal(belief[:, seat], np.roll(played.belief, -seat * size, axis=1))


def hle_moves_at_the_end(played):
    """The ids of the moves that HLE lists at the end, and the seat to act."""
    rules = played.env.variant
    names = ("players", "colors", "ranks", "hand_size", "max_information_tokens", "max_life_tokens")
    table = pyhanabi.HanabiGame({name: getattr(rules, name) for name in names})
    state = table.new_initial_state([starmine.Card.of(*divmod(int(card), rules.ranks)) for card in played.deck])
    for action in [None, *played.actions.tolist()]:
        if action is not None:
            state.apply_move(table.get_move(action))
        while state.cur_player() == pyhanabi.CHANCE_PLAYER_ID:
            state.deal_random_card()
    assert state.is_terminal()
    return sorted(table.get_move_uid(move) for move in state.legal_moves()), state.cur_player()


@pytest.mark.parametrize("number", NUMBERS)
def test_legal_moves_differ_from_jaxmarl_after_the_end_alone(number):
    """There JaxMARL follows HLE, which goes on listing moves; ours has none."""
    played = game(number)
    masks = played_by_us(played)["action_mask"]
    shown = np.zeros_like(played.legal)
    shown[..., -1] = True
    for turn, seat in enumerate(played.seats):
        shown[turn, seat] = [*masks[turn], False]
    np.testing.assert_array_equal(shown[:-1], played.legal[:-1])
    moves, seat = hle_moves_at_the_end(played)
    assert seat == played.seats[-1]
    assert np.flatnonzero(played.legal[-1, seat]).tolist() == moves
    assert len(moves) > 0
    assert not masks[-1].any()


@pytest.mark.parametrize("knowledge", ["v0_belief", "hints"])
def test_the_environment_shows_a_recorded_game(knowledge):
    played = game(3)
    env = HanabiJaxMARLEnv(3, knowledge=knowledge)
    obs, state = jax.jit(env.reset_from_deck_of_pairs)(np.stack(np.divmod(played.deck, 5), axis=1))
    step, legal = jax.jit(env.step), jax.jit(env.get_legal_moves)
    ours = played_by_us(played)
    shows = jax.jit(env._with_v0_belief) if knowledge == "v0_belief" else np.asarray
    for turn, action in enumerate(played.actions):
        shown = np.stack([obs[agent] for agent in env.agents])
        np.testing.assert_array_equal(shown, shows(ours["obs"][turn]))
        moves = np.stack([legal(state)[agent] for agent in env.agents])
        np.testing.assert_array_equal(moves, played.legal[turn])
        assert (state.step, state.score, state.done) == (turn, ours["score"][turn], False)
        actions = dict.fromkeys(env.agents, env.num_moves - 1) | {env.agents[played.seats[turn]]: action}
        obs, state, rewards, dones, infos = step(jax.random.key(0), state, actions)
        assert set(rewards) == set(dones) == {*env.agents, "__all__"}
        assert {float(reward) for reward in rewards.values()} == {float(played.rewards[turn])}
        assert {bool(done) for done in dones.values()} == {bool(played.dones[turn])}
        assert infos == {}
    assert state.step == state.score == state.current_player == 0  # the next episode


def rollout(env, key, games=4, turns=40):
    """Turns under `vmap` and `scan`: rewards, dones and numbers of turns (turns, games)."""
    _, state = jax.vmap(env.reset)(jax.random.split(key, games))

    def body(state, turn):
        legal = jax.vmap(env.get_legal_moves)(state)
        order = (jnp.arange(env.num_moves) * 7919 + turn * 31) % 101 + 1
        actions = {agent: (legal[agent] * order).argmax(axis=1) for agent in env.agents}
        _, state, rewards, dones, _ = jax.vmap(env.step, in_axes=(None, 0, 0))(key, state, actions)
        return state, (rewards["agent_0"], dones["__all__"], state.step)

    return jax.lax.scan(body, state, jnp.arange(turns))[1]


def test_a_compiled_rollout_with_a_game_for_each_key():
    env = HanabiJaxMARLEnv()
    compiled = jax.jit(lambda key: rollout(env, key))
    rewards, dones, turns = compiled(jax.random.key(0))
    assert rewards.shape == dones.shape == (40, 4)
    assert dones.any(axis=0).all()
    np.testing.assert_array_equal(turns == 0, dones)
    np.testing.assert_array_equal(compiled(jax.random.key(0))[0], rewards)
    assert not np.array_equal(compiled(jax.random.key(1))[0], rewards)


def test_many_trainings_at_once():
    """`vmap` over what already has `vmap` inside, as over the seeds of a training run."""
    env = HanabiJaxMARLEnv(knowledge="hints")
    keys = jax.random.split(jax.random.key(0), 3)
    rewards, dones, _ = jax.jit(jax.vmap(lambda key: rollout(env, key)))(keys)
    assert dones.shape == (3, 40, 4)
    single = jax.jit(lambda key: rollout(env, key))
    for index, key in enumerate(keys):
        np.testing.assert_array_equal(single(key)[0], rewards[index])


def test_an_old_state_cannot_be_stepped_again():
    env = HanabiJaxMARLEnv(knowledge="hints")
    _, state = env.reset(jax.random.key(0))
    actions, step = dict.fromkeys(env.agents, 5), jax.jit(env.step)
    _, newest, *_ = step(None, state, actions)
    with pytest.raises(ValueError):
        jax.block_until_ready(step(None, state, actions))
    _, newest, *_ = step(None, newest, actions)
    assert newest.step == 2
    _, states = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), 2))
    swapped = states._replace(serial=states.serial[::-1])
    with pytest.raises(jax.errors.JaxRuntimeError):
        jax.vmap(env.step, in_axes=(None, 0, None))(None, swapped, actions)


def test_what_training_scripts_read():
    env = HanabiJaxMARLEnv(4)
    assert env.agents == ["agent_0", "agent_1", "agent_2", "agent_3"]
    assert env.action_space("agent_1").n == env.num_moves == env.num_actions == env.variant.num_actions + 1
    assert env.observation_space("agent_1").shape == env.obs_size == len(env.variant.layout())
    assert (env.num_agents, env.name) == (4, "Hanabi")
    assert HanabiJaxMARLEnv().num_moves == 21
    assert HanabiJaxMARLEnv(None, "small").variant == starmine.variant("small")
    small = HanabiJaxMARLEnv(num_colors=2, num_ranks=4, num_cards_of_rank=(3, 2, 2, 1), max_info_tokens=3)
    assert small.variant == starmine.Variant(colors=2, ranks=4, max_information_tokens=3)
    assert repr(small).startswith("HanabiJaxMARLEnv(variant=Variant(")
