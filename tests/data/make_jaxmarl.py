"""Writes tests/data/jaxmarl.npz: games by JaxMARL's own Hanabi, with all that its agents observe.

JaxMARL needs an environment of its own (`make .venv-jaxmarl/ready`):

    .venv-jaxmarl/bin/python tests/data/make_jaxmarl.py

Each game has an entry for its number k and each of:
    parameters_k: those of the environment, as JSON.
    deck_k: uint8 (cards,), color * ranks + rank, the top card first.
    actions_k: uint8 (T,), the action ids.
    rewards_k: int8 (T,); dones_k: bool (T,).
    seats_k: uint8 (T + 1,), the seat to act.
    legal_k: (T + 1, players, A + 1) bits, what `get_legal_moves` gives each agent.
    bits_k: (T + 1, players, D - belief) bits, the observations without the probabilities of cards.
    belief_k: float32 (T + 1, players * hand size, colors * ranks), these probabilities as agent 0 observes them.
and "version" is JaxMARL's. Bits are packed in flat order.
"""

import functools
import json
import os
from importlib import metadata
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jaxmarl.environments.hanabi.hanabi import HanabiEnv

SMALL = {"num_agents": 2, "num_colors": 2, "hand_size": 2, "max_info_tokens": 3, "max_life_tokens": 1}
ODD = {"num_agents": 3, "num_colors": 3, "num_ranks": 4, "num_cards_of_rank": [3, 2, 2, 1], "hand_size": 4}
# Parameters, and the share of turns that are chosen by sight of all cards; the others are random legal ones.
GAMES = [
    *(({"num_agents": 2}, sight) for sight in (1.0, 0.0, 0.97)),
    *(({"num_agents": 3}, sight) for sight in (1.0, 0.5)),
    *(({"num_agents": 4}, sight) for sight in (1.0, 0.0)),
    *(({"num_agents": 5}, sight) for sight in (1.0, 0.5)),
    *((SMALL, sight) for sight in (1.0, 0.9)),
    *((ODD, sight) for sight in (1.0, 0.8)),
]


def choose(random, env, state, legal, sight):
    """A playable card, else a hint, else the discard of a card that is not needed; or a random legal action."""
    if random.random() >= sight:
        return int(random.choice(np.flatnonzero(legal)))
    seat = int(np.argmax(state.cur_player_idx))
    tops = np.asarray(state.fireworks).sum(axis=1)
    cards = [np.argwhere(card) for card in np.asarray(state.player_hands)[seat]]
    cards = [tuple(map(int, found[0])) if len(found) else None for found in cards]
    for slot, card in enumerate(cards):
        if card and card[1] == tops[card[0]]:
            return env.hand_size + slot
    dead = [slot for slot, card in enumerate(cards) if card and (card[1] < tops[card[0]] or cards.count(card) > 1)]
    discards = [slot for slot in dead if legal[slot]]
    if discards and random.random() < 0.8:
        return discards[0]
    hints = [action for action in np.flatnonzero(legal) if action >= 2 * env.hand_size]
    others = [slot for slot, card in enumerate(cards) if card and card[1] < env.num_ranks - 1 and legal[slot]]
    return int(random.choice(hints or discards or others or np.flatnonzero(legal)))


def parts(env, obs):
    """The bits of all seats' observations, and the probabilities of cards that seat 0 observes."""
    rows = np.stack([np.asarray(obs[agent]) for agent in env.agents])
    start = int(env.obs_size - env.v0_belief_n_feats)
    known = rows[:, start:].reshape(env.num_agents, env.num_agents * env.hand_size, -1)
    kinds = env.num_colors * env.num_ranks
    belief = known[..., :kinds]
    for seat in range(env.num_agents):  # the others observe the same hands, in another order
        np.testing.assert_array_equal(belief[seat], np.roll(belief[0], -seat * env.hand_size, axis=0))
    bits = np.concatenate([rows[:, :start], known[..., kinds:].reshape(env.num_agents, -1)], axis=1)
    assert np.isin(bits, (0, 1)).all()
    return bits.astype(bool), belief[0].astype(np.float32)


@functools.cache
def compiled(parameters):
    """The environment of parameters in JSON, its step and its legal moves."""
    given = json.loads(parameters)
    if "num_cards_of_rank" in given:
        given["num_cards_of_rank"] = np.array(given["num_cards_of_rank"])
    env = HanabiEnv(**given)
    return env, jax.jit(env.step_env), jax.jit(env.get_legal_moves)


def play(number, parameters, sight):
    """One game, as entries of the file."""
    random = np.random.default_rng(number)
    env, step, legal_moves = compiled(parameters)
    copies = np.tile(env.num_cards_of_rank, env.num_colors)
    deck = random.permutation(np.repeat(np.arange(len(copies)), copies)).astype(np.uint8)
    pairs = np.stack(np.divmod(deck, env.num_ranks), axis=1)
    obs, state = env.reset_from_deck_of_pairs(jax.numpy.array(pairs))
    entries = {name: [] for name in ("actions", "rewards", "dones", "seats", "legal", "bits", "belief")}
    done = False
    while True:
        legal = np.stack([np.asarray(moves) for moves in legal_moves(state).values()])
        seat = int(np.argmax(state.cur_player_idx))
        bits, belief = parts(env, obs)
        found = {"seats": seat, "legal": legal.astype(bool), "bits": bits, "belief": belief}
        for name, value in found.items():
            entries[name].append(value)
        if done:
            break
        action = choose(random, env, state, legal[seat], sight)
        actions = {agent: action if number == seat else env.num_moves - 1 for number, agent in enumerate(env.agents)}
        obs, state, rewards, dones, _ = step(jax.random.PRNGKey(0), state, actions)
        done = bool(dones["__all__"])
        for name, value in {"actions": action, "rewards": int(rewards["__all__"]), "dones": done}.items():
            entries[name].append(value)
    print(number, parameters, sight, len(entries["actions"]), "turns", sum(entries["rewards"]), "points", flush=True)
    kinds = {"actions": np.uint8, "rewards": np.int8, "dones": bool, "seats": np.uint8, "belief": np.float32}
    arrays = {name: np.array(entries[name], dtype=kind) for name, kind in kinds.items()}
    packed = {name: np.packbits(np.array(entries[name])) for name in ("legal", "bits")}
    return {f"{name}_{number}": array for name, array in {"deck": deck, **arrays, **packed}.items()}


def main():
    """Play the games and write the file."""
    entries = {"version": np.array(metadata.version("jaxmarl"))}
    for number, (given, sight) in enumerate(GAMES):
        parameters = json.dumps(given)
        entries |= {f"parameters_{number}": np.array(parameters), **play(number, parameters, sight)}
    np.savez_compressed(Path(__file__).with_name("jaxmarl.npz"), **entries)


if __name__ == "__main__":
    main()
