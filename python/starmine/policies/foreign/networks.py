"""The networks of other libraries in torch, made from the tensors of their files.

Each is called with inputs (K, W) and hidden states (K, width), and returns a score of each action and of the no-op
(K, A + 1), values (K,), and the next hidden states (K, width). Values are nan where a file has no head for them.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from starmine.policies.foreign.files import lstm_scopes

Outputs = tuple[Tensor, Tensor, Tensor]
Tensors = dict[str, Tensor]


class Actor(nn.Module):
    """JaxMARL's IPPO and MAPPO: a layer, optionally a GRU, and a head of two layers; the critic's head if it is there.

    Source: JaxMARL, baselines/IPPO and baselines/MAPPO, `ActorCritic`, `ActorCriticRNN`, `ActorFF`, `ActorRNN`.
    """

    def __init__(self, tensors: Tensors, activation: str) -> None:
        super().__init__()
        self.embed, self.hidden, self.policy = (_dense(tensors, f"Dense_{layer}") for layer in range(3))
        critic = [name for name in ("Dense_3", "Dense_4") if f"{name},kernel" in tensors]
        self.critic = nn.ModuleList([_dense(tensors, name) for name in critic])
        self.cell = _gru(tensors) if any(name.startswith("ScannedRNN_0,") for name in tensors) else None
        self.activation = _activation(activation)
        self.width = 0 if self.cell is None else self.cell.hidden_size

    def forward(self, inputs: Tensor, memory: Tensor) -> Outputs:
        """See the module."""
        core = self.activation(self.embed(inputs))
        if self.cell is not None:
            core = memory = self.cell(core, memory)
        scores = self.policy(self.activation(self.hidden(core)))
        if not self.critic:
            return scores, scores.new_full((len(scores),), torch.nan), memory
        return scores, self.critic[1](self.activation(self.critic[0](core)))[:, 0], memory


class QNetwork(nn.Module):
    """JaxMARL's PQN-VDN: layers with layer, batch or no normalisation, and one or two heads.

    The inputs are normalised if the numbers of `BatchNorm_0` were trained. They are there, untrained, in every file.

    Source: JaxMARL, baselines/QLearning/pqn_vdn_ff.py, `QNetwork`.
    """

    width = 0

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        count = sum(name.startswith("Dense_") and name.endswith(",kernel") for name in tensors)
        dense = [_dense(tensors, f"Dense_{layer}") for layer in range(count)]
        heads = 2 if dense[-1].out_features == 1 else 1
        self.layers, self.heads = nn.ModuleList(dense[:-heads]), nn.ModuleList(dense[-heads:])
        hidden = range(count - heads)
        norms: list[nn.Module] = []
        if "LayerNorm_0,scale" in tensors:
            norms = [_layer_norm(tensors, layer) for layer in hidden]
        elif "BatchNorm_1,scale" in tensors:
            norms = [_batch_norm(tensors, layer + 1) for layer in hidden]
        self.norms = nn.ModuleList(norms)
        self.inputs = _batch_norm(tensors, 0) if _is_trained(tensors) else nn.Identity()

    def forward(self, inputs: Tensor, memory: Tensor) -> Outputs:
        """See the module."""
        inputs = self.inputs(inputs)
        for place, layer in enumerate(self.layers):
            inputs = layer(inputs)
            inputs = torch.relu(self.norms[place](inputs) if self.norms else inputs)
        scores = self.heads[0](inputs)
        if len(self.heads) == 1:
            return scores, scores.max(-1).values, memory
        value = self.heads[1](inputs)
        return scores + value - scores.mean(-1, keepdim=True), value[:, 0], memory


class HumanClone(nn.Module):
    """AH2AC2's clones of people: normalised layers, LSTMs, layers, and the scores of the actions; it has no values.

    Source: ah2ac2, nn/multi_layer_lstm.py, `MultiLayerLstm`.
    """

    def __init__(self, tensors: Tensors, activation: str) -> None:
        super().__init__()
        count = sum(name.startswith("Dense_") and name.endswith(",kernel") for name in tensors)
        dense = [_dense(tensors, f"Dense_{layer}") for layer in range(count)]
        first = sum(name.startswith("LayerNorm_") and name.endswith(",scale") for name in tensors)
        self.before, self.after, self.policy = nn.ModuleList(dense[:first]), nn.ModuleList(dense[first:-1]), dense[-1]
        self.norms = nn.ModuleList([_layer_norm(tensors, layer) for layer in range(first)])
        self.lstms = nn.ModuleList([_flax_lstm(tensors, scope) for scope in lstm_scopes(tensors)])
        self.activation = _activation(activation)
        widths = [tensors[f"{scope},hi,bias"].shape[0] for scope in lstm_scopes(tensors)]
        self.sizes = [width for width in widths for _ in ("hidden state", "cell state")]
        self.width = sum(self.sizes)

    def forward(self, inputs: Tensor, memory: Tensor) -> Outputs:
        """See the module."""
        core = inputs
        for layer, norm in zip(self.before, self.norms, strict=True):
            core = self.activation(norm(layer(core)))
        states, after = iter(torch.split(memory, self.sizes, dim=1)), []
        for lstm in self.lstms:
            core, cell = lstm(core, (next(states), next(states)))
            after += [core, cell]
        for layer in self.after:
            core = self.activation(layer(core))
        scores = self.policy(core)
        return scores, scores.new_full((len(scores),), torch.nan), torch.cat(after, dim=1)


class R2D2(nn.Module):
    """SAD's and OBL's networks: private layers, an LSTM over them or over the public inputs, heads of advantages.

    Source: hanabi_SAD, pyhanabi/r2d2.py, `R2D2Net`; off-belief-learning, pyhanabi/net.py, `PublicLSTMNet`, `LSTMNet`
    and `FFWDNet`; JaxMARL's port of OBL, `OBLAgentR2D2`.

    Args:
        tensors: by the names of the torch files.
        hands: number of inputs before the public ones.
        skip_connect: the output of the private layers is added to that of the LSTM.
    """

    def __init__(self, tensors: Tensors, hands: int, skip_connect: bool) -> None:
        super().__init__()
        self.hands, self.skip_connect = hands, skip_connect
        is_public = "priv_net.0.weight" in tensors
        self.private = _sequence(tensors, "priv_net" if is_public else "net")
        self.public = _sequence(tensors, "publ_net") if is_public else None
        self.lstm = _lstm(tensors) if "lstm.weight_ih_l0" in tensors else None
        self.advantages = _linear(tensors, "fc_a")
        self.value = _linear(tensors, "fc_v") if "fc_v.weight" in tensors else None
        self.width = 0 if self.lstm is None else 2 * self.lstm.num_layers * self.lstm.hidden_size

    def forward(self, inputs: Tensor, memory: Tensor) -> Outputs:
        """See the module."""
        core = self.private(inputs)
        if self.lstm is not None:
            before = core if self.public is None else self.public(inputs[:, self.hands :])
            shape = (len(inputs), 2, self.lstm.num_layers, self.lstm.hidden_size)
            hidden, cell = (part.contiguous() for part in memory.reshape(shape).permute(1, 2, 0, 3))
            after, (hidden, cell) = self.lstm(before[None], (hidden, cell))
            memory = torch.stack([hidden, cell]).permute(2, 0, 1, 3).reshape(len(inputs), -1)
            if self.public is not None:
                core = core * after[0]
            elif self.skip_connect:
                core = core + after[0]
            else:
                core = after[0]
        scores = self.advantages(core)
        values = scores.new_full((len(scores),), torch.nan) if self.value is None else self.value(core)[:, 0]
        return scores, values, memory


def torch_names(tensors: Tensors) -> Tensors:
    """The tensors of JaxMARL's port of OBL by the names of the torch files."""
    names: Tensors = {}
    for layer in ("priv_net_dense_0", "priv_net_dense_1", "priv_net_dense_2", "publ_net_dense_0", "fc_a"):
        net, _, number = layer.partition("_dense_")
        name = f"{net}.{2 * int(number)}" if number else net
        names[f"{name}.weight"], names[f"{name}.bias"] = tensors[f"{layer},kernel"].T, tensors[f"{layer},bias"]
    layers = {name.split(",")[1] for name in tensors if name.startswith("lstm,")}
    for layer in sorted(layers):
        place = int(layer.removeprefix("l"))
        names[f"lstm.weight_ih_l{place}"] = torch.cat([tensors[f"lstm,{layer},i{gate},kernel"].T for gate in "ifgo"])
        names[f"lstm.weight_hh_l{place}"] = torch.cat([tensors[f"lstm,{layer},h{gate},kernel"].T for gate in "ifgo"])
        bias = torch.cat([tensors[f"lstm,{layer},h{gate},bias"] for gate in "ifgo"])
        names[f"lstm.bias_hh_l{place}"], names[f"lstm.bias_ih_l{place}"] = bias, torch.zeros_like(bias)
    return names


def _activation(name: str) -> Callable[[Tensor], Tensor]:
    """An activation as flax computes it."""
    if name == "gelu":
        return lambda x: nn.functional.gelu(x, approximate="tanh")
    return {"relu": torch.relu, "tanh": torch.tanh}[name]


def _flax_lstm(tensors: Tensors, scope: str) -> nn.LSTMCell:
    """Flax's optimised cell, whose gates have a bias for the hidden states alone."""
    weights = {part: torch.cat([tensors[f"{scope},{part}{gate},kernel"].T for gate in "ifgo"]) for part in "ih"}
    bias = torch.cat([tensors[f"{scope},h{gate},bias"] for gate in "ifgo"])
    cell = nn.LSTMCell(weights["i"].shape[1], weights["h"].shape[1])
    named = {"weight_ih": weights["i"], "weight_hh": weights["h"], "bias_hh": bias, "bias_ih": torch.zeros_like(bias)}
    cell.load_state_dict(named)
    return cell


def _layer(weight: Tensor, bias: Tensor) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    layer.load_state_dict({"weight": weight, "bias": bias})
    return layer


def _dense(tensors: Tensors, name: str) -> nn.Linear:
    """A layer of flax."""
    return _layer(tensors[f"{name},kernel"].T, tensors[f"{name},bias"])


def _linear(tensors: Tensors, name: str) -> nn.Linear:
    """A layer of torch."""
    return _layer(tensors[f"{name}.weight"], tensors[f"{name}.bias"])


def _sequence(tensors: Tensors, name: str) -> nn.Sequential:
    """Layers with ReLU behind each."""
    numbers = sorted(int(key.split(".")[1]) for key in tensors if key.startswith(f"{name}.") and key.endswith("weight"))
    layers = [_linear(tensors, f"{name}.{number}") for number in numbers]
    return nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())))


def _layer_norm(tensors: Tensors, layer: int) -> nn.LayerNorm:
    scale = tensors[f"LayerNorm_{layer},scale"]
    norm = nn.LayerNorm(len(scale), eps=1e-6)  # flax's epsilon
    norm.load_state_dict({"weight": scale, "bias": tensors[f"LayerNorm_{layer},bias"]})
    return norm


def _is_trained(tensors: Tensors) -> bool:
    """Whether the scale and the bias of the inputs are others than those with which training begins."""
    scale, bias = tensors.get("BatchNorm_0,scale"), tensors.get("BatchNorm_0,bias")
    return (scale is not None and bool((scale != 1).any())) or (bias is not None and bool((bias != 0).any()))


def _batch_norm(tensors: Tensors, layer: int) -> nn.BatchNorm1d:
    """A batch normalisation of flax with its running statistics.

    Raises:
        ValueError: the file has no statistics.
    """
    name = f"BatchNorm_{layer}"
    if f"{name},mean" not in tensors or f"{name},var" not in tensors:
        found = "its inputs were normalised in training" if layer == 0 else "its layers have batch normalisation"
        raise ValueError(
            f"{found}, but it has no running mean and variance of {name}: expected the tensors {name},mean and "
            f"var of JaxMARL's batch_stats next to its params"
        )
    norm = nn.BatchNorm1d(len(tensors[f"{name},scale"]), eps=1e-5)  # flax's epsilon
    names = {"weight": "scale", "bias": "bias", "running_mean": "mean", "running_var": "var"}
    norm.load_state_dict({own: tensors[f"{name},{other}"] for own, other in names.items()}, strict=False)
    return norm.eval()


def _gru(tensors: Tensors) -> nn.GRUCell:
    """Flax's cell, whose gates r and z have a bias for the inputs alone."""
    cells = [name.rsplit(",", 2)[0] for name in tensors if name.endswith(",hn,kernel")]
    if not cells:
        raise ValueError("it has no gate hn: expected a GRU of flax")
    cell = cells[0]
    part = {gate: tensors[f"{cell},{gate},kernel"].T for gate in ("ir", "iz", "in", "hr", "hz", "hn")}
    bias = {gate: tensors[f"{cell},{gate},bias"] for gate in ("ir", "iz", "in", "hn")}
    zeros = torch.zeros_like(bias["hn"])
    made = nn.GRUCell(part["ir"].shape[1], part["hr"].shape[0])
    made.load_state_dict(
        {
            "weight_ih": torch.cat([part["ir"], part["iz"], part["in"]]),
            "weight_hh": torch.cat([part["hr"], part["hz"], part["hn"]]),
            "bias_ih": torch.cat([bias["ir"], bias["iz"], bias["in"]]),
            "bias_hh": torch.cat([zeros, zeros, bias["hn"]]),
        }
    )
    return made


def _lstm(tensors: Tensors) -> nn.LSTM:
    weights = {name.removeprefix("lstm."): tensors[name] for name in tensors if name.startswith("lstm.")}
    first = weights["weight_ih_l0"]
    layers = sum(name.startswith("weight_ih") for name in weights)
    lstm = nn.LSTM(first.shape[1], first.shape[0] // 4, layers)
    lstm.load_state_dict(weights)
    return lstm
