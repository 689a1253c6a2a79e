"""Writes policy files as other libraries write them, with random weights.

    python tests/python/helpers/foreign_policies.py obl OBL1_a.safetensors

Needs numpy and safetensors; torch for the formats of `TORCH`. The weights of a format are a function of its name.
"""

import sys
from pathlib import Path
from zlib import crc32

import numpy as np

HIDDEN = 32
OBSERVATION = {2: 658, 3: 956, 4: 1041, 5: 1280}  # numbers in a canonical observation of the standard game
ACTIONS = {2: 21, 3: 31, 4: 39, 5: 49}  # with the no-op
HAND = {2: 125, 3: 125, 4: 100, 5: 100}  # numbers that show one hand
LAST_ACTION = {2: 55, 3: 57, 4: 57, 5: 59}


def dense(name, *sizes):
    """A layer of flax."""
    return {f"{name},kernel": sizes, f"{name},bias": sizes[1:]}


def linear(name, *sizes):
    """A layer of torch."""
    return {f"{name}.weight": sizes[::-1], f"{name}.bias": sizes[1:]}


def gru(name, size):
    """A GRU of flax."""
    parts = {gate: dense(f"{name},{gate}", size, size) for gate in ("ir", "iz", "in", "hr", "hz", "hn")}
    for gate in ("hr", "hz"):
        del parts[gate][f"{name},{gate},bias"]
    return {key: shape for part in parts.values() for key, shape in part.items()}


def jaxmarl_actor(players, hidden, recurrent, critic):
    """JaxMARL's IPPO (with a critic) and MAPPO."""
    shapes = dense("Dense_0", OBSERVATION[players], hidden) | dense("Dense_1", hidden, hidden)
    shapes |= dense("Dense_2", hidden, ACTIONS[players])
    if critic:
        shapes |= dense("Dense_3", hidden, hidden) | dense("Dense_4", hidden, 1)
    if recurrent:
        shapes |= gru("ScannedRNN_0,GRUCell_1", hidden)
    return {f"params,{name}": shape for name, shape in shapes.items()}


def jaxmarl_q(players):
    """JaxMARL's PQN-VDN, whose observations end with the seat."""
    shapes, size = {}, OBSERVATION[players] + players
    shapes |= {"BatchNorm_0,scale": (size,), "BatchNorm_0,bias": (size,)}
    for layer in range(3):
        shapes |= dense(f"Dense_{layer}", size, HIDDEN)
        shapes |= {f"LayerNorm_{layer},scale": (HIDDEN,), f"LayerNorm_{layer},bias": (HIDDEN,)}
        size = HIDDEN
    return shapes | dense("Dense_3", size, ACTIONS[players]) | dense("Dense_4", size, 1)


def jaxmarl_obl():
    """JaxMARL's port of OBL."""
    shapes = dense("priv_net_dense_0", 658, HIDDEN) | dense("publ_net_dense_0", 533, HIDDEN)
    for layer in (1, 2):
        shapes |= dense(f"priv_net_dense_{layer}", HIDDEN, HIDDEN)
    for layer in ("l0", "l1"):
        for gate in "ifgo":
            shapes |= {f"lstm,{layer},i{gate},kernel": (HIDDEN, HIDDEN)}
            shapes |= dense(f"lstm,{layer},h{gate}", HIDDEN, HIDDEN)
    shapes |= dense("fc_a", HIDDEN, 21)
    return {f"params,{name}": shape for name, shape in shapes.items()}


def human_clone(players, before, lstms, after):
    """AH2AC2's clones of people."""
    shapes, size = {}, OBSERVATION[players]
    for layer, width in enumerate(before):
        shapes |= dense(f"Dense_{layer}", size, width)
        shapes |= {f"LayerNorm_{layer},scale": (width,), f"LayerNorm_{layer},bias": (width,)}
        size = width
    for layer, width in enumerate(lstms):
        scope = f"ScanLstmCellWithHiddenStateReset_{layer}"
        for gate in "ifgo":
            shapes |= {f"{scope},i{gate},kernel": (size, width)}
            shapes |= dense(f"{scope},h{gate}", width, width)
        size = width
    for count, width in enumerate([*after, ACTIONS[players]], start=len(before)):
        shapes |= dense(f"Dense_{count}", size, width)
        size = width
    return shapes


def torch_heads(players, layers):
    """The LSTM of torch and the heads of advantages, values and own cards."""
    shapes = {}
    for layer in range(layers):
        for part in ("ih", "hh"):
            shapes[f"lstm.weight_{part}_l{layer}"] = (4 * HIDDEN, HIDDEN)
            shapes[f"lstm.bias_{part}_l{layer}"] = (4 * HIDDEN,)
    return shapes | linear("fc_a", HIDDEN, ACTIONS[players]) | linear("fc_v", HIDDEN, 1)


def torch_net(players, inputs, count, layers):
    """`R2D2Net` of SAD, and `LSTMNet` and `FFWDNet` of off-belief-learning."""
    shapes = linear("net.0", inputs, HIDDEN)
    for layer in range(1, count):
        shapes |= linear(f"net.{2 * layer}", HIDDEN, HIDDEN)
    return shapes | torch_heads(players, layers) | linear("pred", HIDDEN, 15)


def torch_obl():
    """`PublicLSTMNet` of off-belief-learning."""
    shapes = linear("priv_net.0", 658, HIDDEN) | linear("publ_net.0", 533, HIDDEN)
    for layer in (2, 4):
        shapes |= linear(f"priv_net.{layer}", HIDDEN, HIDDEN)
    return shapes | torch_heads(2, 2) | linear("pred_1st", HIDDEN, 15)


def sad_inputs(players):
    """Inputs of SAD: zeros in the place of the own hand, the observation, the greedy action."""
    return HAND[players] + OBSERVATION[players] + LAST_ACTION[players]


# Of each name: the number of players, and the shapes of the tensors by name.
JAX = {
    "obl": (2, jaxmarl_obl()),
    "ippo": (2, jaxmarl_actor(2, 512, recurrent=False, critic=True)),
    "ippo-rnn": (3, jaxmarl_actor(3, 48, recurrent=True, critic=True)),
    "mappo-tanh": (4, jaxmarl_actor(4, 32, recurrent=False, critic=False)),
    "mappo-rnn": (2, jaxmarl_actor(2, 48, recurrent=True, critic=False)),
    "pqn": (2, jaxmarl_q(2)),
    "pqn-5p": (5, jaxmarl_q(5)),
    "ah2ac2": (2, human_clone(2, [48], [HIDDEN], [24])),
    "ah2ac2-3p": (3, human_clone(3, [48, 40], [HIDDEN, HIDDEN], [24, 20])),
}
TORCH = {
    "obl.pthw": (2, torch_obl()),
    "obl-lstm.pthw": (2, torch_net(2, 658, 1, 2)),
    "obl-ffwd.pthw": (2, torch_net(2, 658, 3, 0)),
    "sad.pthw": (2, torch_net(2, sad_inputs(2), 1, 2)),
    "sad-skip.pthw": (2, torch_net(2, sad_inputs(2), 2, 2)),
    "iql-3p.pthw": (3, torch_net(3, HAND[3] + OBSERVATION[3], 1, 2)),
}
FORMATS = JAX | TORCH


def tensors(name):
    """The random tensors of a format, float32 by name."""
    random = np.random.default_rng(crc32(name.encode()))
    found = {}
    for key, shape in sorted(FORMATS[name][1].items()):
        values = random.random(shape) - 0.5
        if key.endswith("scale"):
            values += 1
        elif not key.endswith(("bias", "bias_ih_l0", "bias_hh_l0")):
            values *= 4 / np.sqrt(shape[-1] if "." in key else shape[0])
        if key.startswith("BatchNorm_0"):  # without normalised inputs it is not trained
            values = np.full(shape, float(key.endswith("scale")))
        found[key] = values.astype(np.float32)
    return found


def write(name, path):
    """Write a policy file of a format of `FORMATS`."""
    found = tensors(name)
    if name in TORCH:
        import torch

        torch.save({f"online_net.{key}": torch.from_numpy(value) for key, value in found.items()}, path)
    else:
        from safetensors.numpy import save_file

        save_file(found, path)


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]))
