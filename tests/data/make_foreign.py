"""Writes tests/data/foreign.npz: games by the agents of other libraries, with random weights.

Three steps, of which the second needs JaxMARL's environment (`make .venv-jaxmarl/ready`):

    .venv/bin/python tests/data/make_foreign.py decks
    .venv-jaxmarl/bin/python tests/data/make_foreign.py jax JAXMARL_CHECKOUT AH2AC2_CHECKOUT [NAME ...]
    .venv/bin/python tests/data/make_foreign.py torch OBL_CHECKOUT SAD_CHECKOUT

The networks are the libraries' own classes: those of JaxMARL play in JaxMARL's own environment, those of torch see
observations that tests/python/adapters/test_jaxmarl.py compares with JaxMARL's. All seats of a game are played by one
agent. For each name in tests/python/helpers/foreign_policies.py there are
    NAME/actions: uint8 (T, 200), the action ids; 255 after the end of a game.
    NAME/scores: float32 (T, 2, players, A), the scores of the actions without the no-op, of all seats of two games.
and "decks-N", uint8 (200, 50), the decks of N players, color * ranks + rank, the top card first.
"""

import os
import sys
import types
from pathlib import Path

os.environ["PYTORCH_JIT"] = "0"  # SAD's network has an error in the text of an assertion, which the compiler sees

import numpy as np

HERE = Path(__file__).resolve().parent
FILE = HERE / "foreign.npz"
sys.path.insert(0, str(HERE.parents[0] / "python" / "helpers"))
import foreign_policies  # noqa: E402

GAMES, SHOWN, SEED = 200, 2, 7


def add(entries):
    """Add entries to the file."""
    old = dict(np.load(FILE)) if FILE.exists() else {}
    np.savez_compressed(FILE, **old | entries)


def decks():
    """The decks of the games that `play_games` deals with the seed."""
    import starmine

    entries = {}
    for players in range(2, 6):
        games = starmine.play_games(["random"] * players, GAMES, SEED, starmine.variant("standard", players=players))
        entries[f"decks-{players}"] = games.decks
    add(entries)


def jax_modules(checkout, ah2ac2):
    """The modules of JaxMARL's baselines, whose other imports are not needed here, and of AH2AC2's networks."""
    import importlib.util

    class Anything(types.ModuleType):
        def __getattr__(self, name):
            return Anything(name)

        def __call__(self, *given, **named):
            return given[0] if given and callable(given[0]) else Anything("called")

    distrax = types.ModuleType("distrax")
    distrax.Categorical = lambda logits: logits
    sys.modules["distrax"] = distrax
    for name in ("hydra", "omegaconf", "wandb", "orbax", "orbax.checkpoint", "flashbax"):
        sys.modules[name] = Anything(name)
    found = {}
    for name in (
        "IPPO/ippo_ff_hanabi",
        "IPPO/ippo_rnn_hanabi",
        "MAPPO/mappo_ff_hanabi",
        "MAPPO/mappo_rnn_hanabi",
        "QLearning/pqn_vdn_ff",
    ):
        spec = importlib.util.spec_from_file_location(name.replace("/", "_"), checkout / "baselines" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[name.split("/")[1]] = module
    import jax

    jax.tree_map = jax.tree.map  # AH2AC2 was written for an earlier JAX
    sys.path.insert(0, str(ah2ac2))
    from ah2ac2.nn import multi_layer_lstm

    return found | {"multi_layer_lstm": multi_layer_lstm}


def jax_agent(name, modules, players, actions):
    """A function of parameters, hidden states, rows, legal actions and seats to hidden states and scores; and zeros."""
    import jax
    from jax import numpy as jnp
    from jaxmarl.environments.hanabi.pretrained.obl_r2d2_agent import OBLAgentR2D2

    size = {"ippo-rnn": 48, "mappo-rnn": 48}.get(name, 32)
    config = {"FC_DIM_SIZE": size, "GRU_HIDDEN_DIM": size, "ACTIVATION": "tanh" if name.endswith("tanh") else "relu"}
    rows = GAMES * players
    nothing = jnp.zeros((rows, 1))
    everything = jnp.ones((rows, actions))
    if name == "obl":
        agent = OBLAgentR2D2(hid_dim=foreign_policies.HIDDEN)
        zero = agent.initialize_carry(jax.random.PRNGKey(0), (rows,))
        return lambda params, carry, x, seats: agent.apply(params, carry, (x, x[:, 125:])), zero
    if name.startswith("ah2ac2"):
        shapes = foreign_policies.JAX[name][1]
        norms = sum(key.endswith("scale") for key in shapes)
        widths = [
            shapes[f"Dense_{layer},bias"][0] for layer in range(sum(key.startswith("Dense") for key in shapes) // 2)
        ]
        lstms = [shape[0] for key, shape in sorted(shapes.items()) if key.endswith(",hi,bias")]
        agent = modules["multi_layer_lstm"].MultiLayerLstm(
            widths[:norms], lstms, widths[norms:-1], actions, 0.5, "gelu"
        )

        def act(params, carry, x, seats):
            carry, scores = agent.apply({"params": params}, carry, x[:, None], training=False)
            return carry, scores[:, 0]

        return act, agent.initialize_carry(rows)
    if name.startswith("pqn"):
        agent = modules["pqn_vdn_ff"].QNetwork(actions, hidden_size=foreign_policies.HIDDEN, num_layers=3)

        def act(params, carry, x, seats):
            shown = jnp.concatenate([x, jax.nn.one_hot(seats, players)], axis=1)
            stats = {"BatchNorm_0": {"mean": jnp.zeros(shown.shape[1]), "var": jnp.ones(shown.shape[1])}}
            return carry, agent.apply({"params": params, "batch_stats": stats}, shown)

        return act, nothing
    if name in ("ippo", "mappo-tanh"):
        module = modules["ippo_ff_hanabi"].ActorCritic if name == "ippo" else modules["mappo_ff_hanabi"].ActorFF
        agent = module(actions, config)
        if name == "ippo":
            return lambda params, carry, x, seats: (carry, agent.apply(params, (x, nothing, everything))[0]), nothing
        return lambda params, carry, x, seats: (carry, agent.apply(params, (x, everything))), nothing
    module = modules["ippo_rnn_hanabi"].ActorCriticRNN if name == "ippo-rnn" else modules["mappo_rnn_hanabi"].ActorRNN
    agent = module(actions, config)
    never = jnp.zeros((1, rows), bool)

    def act(params, carry, x, seats):
        found = agent.apply(params, carry, (x[None], never, everything[None]))
        return found[0], found[1][0]

    return act, jnp.zeros((rows, size))


def play_jax(name, modules, all_decks):
    """200 games of an agent in JaxMARL's environment."""
    import jax
    from flax.traverse_util import unflatten_dict
    from jax import numpy as jnp
    from jaxmarl.environments.hanabi.hanabi import HanabiEnv

    players = foreign_policies.JAX[name][0]
    env = HanabiEnv(num_agents=players)
    params = unflatten_dict(foreign_policies.tensors(name), sep=",")
    act, carry = jax_agent(name, modules, players, env.num_moves)
    act = jax.jit(act)
    step, legal_moves = jax.jit(jax.vmap(env.step_env)), jax.jit(jax.vmap(env.get_legal_moves))
    deal = jax.jit(jax.vmap(env.reset_from_deck_of_pairs))
    pairs = np.stack(np.divmod(all_decks[f"decks-{players}"], 5), axis=2)
    obs, state = deal(jnp.array(pairs))
    over, keys = np.zeros(GAMES, bool), jax.random.split(jax.random.PRNGKey(0), GAMES)
    seats = jnp.tile(jnp.arange(players), GAMES)
    entries = {"actions": [], "scores": []}
    while not over.all():
        rows = jnp.stack([obs[agent] for agent in env.agents], axis=1).reshape(GAMES * players, -1)
        legal = jnp.stack(list(legal_moves(state).values()), axis=1).reshape(GAMES * players, -1)
        carry, scores = act(params, carry, rows, seats)
        if name == "obl":
            best = jnp.argmax((1 + scores - scores.min()) * legal, axis=-1)
        else:
            best = jnp.argmax(scores - (1 - legal) * 1e10, axis=-1)
        chosen = np.asarray(best).reshape(GAMES, players)
        seat = np.asarray(jnp.argmax(state.cur_player_idx, axis=1))
        entries["actions"].append(np.where(over, 255, chosen[np.arange(GAMES), seat]))
        entries["scores"].append(np.asarray(scores).reshape(GAMES, players, -1)[:SHOWN, :, :-1])
        obs, state, _, done, _ = step(
            keys, state, {agent: best[place::players] for place, agent in enumerate(env.agents)}
        )
        over |= np.asarray(done["__all__"])
    return packed(name, entries)


def packed(name, entries):
    """The entries of one agent."""
    print(name, len(entries["actions"]), "turns", flush=True)
    return {
        f"{name}/actions": np.array(entries["actions"], np.uint8),
        f"{name}/scores": np.array(entries["scores"], np.float32),
    }


def torch_agent(name, obl, sad):
    """The library's network, with its random weights."""
    import torch

    shapes = foreign_policies.TORCH[name][1]
    found = {key: torch.from_numpy(value) for key, value in foreign_policies.tensors(name).items()}
    actions = shapes["fc_a.bias"][0]
    if name.startswith("obl"):
        sys.path.insert(0, str(obl / "pyhanabi"))
        from net import FFWDNet, LSTMNet, PublicLSTMNet

        sizes = (0, 658, 533)
        if name == "obl-ffwd.pthw":
            network = FFWDNet(sizes, foreign_policies.HIDDEN, actions)
        else:
            kind = PublicLSTMNet if name == "obl.pthw" else LSTMNet
            network = kind("cpu", sizes, foreign_policies.HIDDEN, actions, 2)
        found = {key.replace("pred.", "pred_1st."): value for key, value in found.items()}
    else:
        sys.path.insert(0, str(sad / "pyhanabi"))
        from r2d2 import R2D2Net

        inputs = shapes["net.0.weight"][1]
        network = R2D2Net(
            "cpu", inputs, foreign_policies.HIDDEN, actions, 2, 5, 2 if "skip" in name else 1, "skip" in name
        )
    network.load_state_dict(found)
    return network


def play_torch(name, obl, sad, all_decks):
    """200 games of an agent, on our games."""
    import torch

    import starmine
    from starmine.policies.foreign.observations import with_v0_beliefs

    players = foreign_policies.TORCH[name][0]
    variant = starmine.variant("standard", players=players)
    network = torch_agent(name, obl, sad)
    batch = starmine.Batch(variant, GAMES, observers="all", autoreset_mode="SameStep")
    out = batch.reset(decks=all_decks[f"decks-{players}"])
    rows = GAMES * players
    hidden = {key: torch.zeros(2, rows, foreign_policies.HIDDEN) for key in ("h0", "c0")}
    entries, over = {"actions": [], "scores": []}, np.zeros(GAMES, bool)
    layout = variant.layout()
    while not over.all():
        seen = with_v0_beliefs(variant, torch.from_numpy(out["obs"].reshape(rows, -1)))
        with torch.no_grad():
            if name.startswith("obl"):
                split = {key: value.reshape(2, GAMES, players, -1).transpose(0, 1) for key, value in hidden.items()}
                hand = foreign_policies.HAND[players] * (players - 1)
                scores, after = network.act(seen, seen[:, hand:], split)
                if name != "obl-ffwd.pthw":
                    hidden = {key: value.transpose(0, 1).reshape(2, rows, -1) for key, value in after.items()}
            else:
                parts = [torch.zeros(rows, foreign_policies.HAND[players]), seen]
                if name.startswith("sad"):
                    parts.append(seen[:, layout["last_player"].start : layout["knowledge"].start])
                scores, hidden = network.act(torch.cat(parts, dim=1), hidden)
        scores = scores.reshape(GAMES, players, -1)
        acting = scores[torch.arange(GAMES), torch.from_numpy(out["current_player"]).long()]
        legal = torch.cat([torch.from_numpy(out["action_mask"]), torch.zeros(GAMES, 1, dtype=bool)], dim=1)
        chosen = ((1 + acting - acting.min()) * legal).argmax(1).numpy()
        entries["actions"].append(np.where(over, 255, chosen))
        entries["scores"].append(scores[:SHOWN, :, :-1].numpy())
        out = batch.step(chosen)
        over |= out["terminated"]
    return packed(name, entries)


def main():
    """Take the step that the command line names."""
    what, *checkouts = sys.argv[1:]
    if what == "decks":
        FILE.unlink(missing_ok=True)
        decks()
        return
    all_decks = dict(np.load(FILE))
    if what == "jax":
        modules = jax_modules(Path(checkouts[0]), Path(checkouts[1]))
        for name in checkouts[2:] or foreign_policies.JAX:
            add(play_jax(name, modules, all_decks))
    else:
        for name in foreign_policies.TORCH:
            add(play_torch(name, Path(checkouts[0]), Path(checkouts[1]), all_decks))


if __name__ == "__main__":
    main()
