"""The actor-critic networks of the training examples and of the shipped policies, and their file format."""

from __future__ import annotations

import json
import operator
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from starmine._core import StarmineError, Variant
from starmine._util.durable import given_path, replace_file
from starmine._util.equality import equal_by_value
from starmine.envs.layout import Layout
from starmine.policies.agent import Agent, Outputs
from starmine.policies.files import KEY, PLAIN, without_wrappers
from starmine.policies.load import read_policy
from starmine.torch.unpack import unpack_bits

MAX_LAYERS, MAX_WIDTH = 16, 4096  # limits of the policy file format
MASKED_LOGIT = -1e9


@equal_by_value
class HiddenState(NamedTuple):
    """The hidden states of a recurrent network in B games, and the seats of the next T turns of each game.

    A seat's hidden state changes only at the turns at which the seat acts.

    Attributes:
        states: float32 (B, players, width), the hidden state of each seat before the first of the T turns.
            `ActorCritic.initial_state` makes those before the first turn of games.
        seat: int64 (T, B), the seat that plays each turn.
        episode_start: bool (T, B), true where a turn is the first of a game. The hidden states of all seats are set to
            zero before this turn.
    """

    states: Tensor
    seat: Tensor
    episode_start: Tensor


class HintFeatures(nn.Module):
    """Two numbers for each card: the probability that it is playable now, and that it is on its firework already.

    These are other features than the extra output "card_features" of a batch, which has three numbers and counts the
    copies that are left. Here all cards that the hints allow are equally likely, whatever copies are left. The features
    are a function of the observation, but small networks are slow to learn it.

    Args:
        layout: the layout of a canonical encoder's observations, D features.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        # Plain values, since networks are copied.
        self.sections = {section.name: (section.slice, section.shape) for section in layout.sections}

    def section(self, obs: Tensor, name: str) -> Tensor:
        """A section (n, ...) of unpacked observations (n, D), in the shape that the layout gives it."""
        place, shape = self.sections[name]
        return obs[:, place].view(-1, *shape)

    def forward(self, obs: Tensor) -> Tensor:
        """Compute the features.

        Args:
            obs: unpacked observations, float32 (n, D), as `unpack_bits` returns them.

        Returns:
            float32 (n, 2 * cards). First come the visible cards of the other seats by offset and slot, then, if the
            encoder has the section "knowledge", the cards of all seats as their hints describe them, the observer's own
            first.
        """
        heights = self.section(obs, "fireworks")  # (n, suits, ranks): one-hot height of each stack, all 0 when empty
        playable = torch.cat([1 - heights.sum(2, keepdim=True), heights[..., :-1]], 2)
        dead = heights.flip(2).cumsum(2).flip(2)
        kinds = torch.stack([playable.flatten(1), dead.flatten(1)], 2)
        cards = self.section(obs, "hands").flatten(1, 2).flatten(2)
        if "knowledge" in self.sections:
            possible = self.section(obs, "knowledge").flatten(1, 2)[..., : kinds.shape[1]]
            cards = torch.cat([cards, possible / possible.sum(2, keepdim=True).clamp(min=1)], 1)
        return (cards @ kinds).flatten(1)


class SeatGRU(nn.Module):
    """A gated recurrent unit with one hidden state for each seat of each game.

    The hidden state is updated only at the turns at which the seat acts; the turns of others are not its input.

    Args:
        width: of inputs and hidden states.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.from_input = orthogonal(nn.Linear(width, 3 * width), 1)
        self.from_state = orthogonal(nn.Linear(width, 3 * width), 1)

    def forward(self, x: Tensor, hidden_state: HiddenState) -> tuple[Tensor, Tensor]:
        """Run T turns of B games.

        Args:
            x: inputs (T * B, width), turn by turn.
            hidden_state: the `HiddenState` of the B games before these turns, with the seats of the T turns.

        Returns:
            The acting seat's hidden state after each turn, float32 (T * B, width), and the hidden states of all seats
            after the last, float32 (B, players, width).
        """
        states, outputs = hidden_state.states, []
        games = torch.arange(len(states), device=x.device)
        inputs = self.from_input(x).float().view(*hidden_state.seat.shape, self.from_input.out_features)
        for step, seat, starts in zip(inputs, hidden_state.seat, hidden_state.episode_start, strict=True):
            states = states.masked_fill(starts[:, None, None], 0)
            state = self._after(step, states[games, seat])
            states = states.index_put((games, seat), state)
            outputs.append(state)
        return torch.cat(outputs), states

    def _after(self, inputs: Tensor, state: Tensor) -> Tensor:
        """Hidden states (n, width) after a turn, given what `from_input` makes of its inputs and the states before."""
        new, update, reset = inputs.chunk(3, 1)
        state_new, state_update, state_reset = self.from_state(state).float().chunk(3, 1)
        candidate = torch.tanh(new + torch.sigmoid(reset + state_reset) * state_new)
        return candidate + torch.sigmoid(update + state_update) * (state - candidate)


class ActorCritic(Agent, ABC):
    """The base class of the policy networks: masked log probabilities, hidden states, and policy files.

    A subclass has the methods `read`, `evaluate` and `describe`, and the attributes `heads`, a linear layer, and
    `memory`, a `SeatGRU` or None.

    Policy files hold the networks of this package. Store an own subclass with `torch.save(network.state_dict(), path)`.
    To play, make the network, give `torch.load(path)` to its `load_state_dict`, and use it as a player, as any module.

    Args:
        variant: the rules that it plays.
        encoder: one of `starmine.encoders()`, of its observations.
        state_width: width of the hidden states; 0 without recurrence.
        matmul_dtype: of the matrix products, float32 or bfloat16 (autocast); the weights are float32.

    Attributes:
        features: D, the number of features of an observation.
        players: number of seats.
    """

    heads: nn.Linear
    memory: SeatGRU | None  # policy files store its weights by this name

    def __init__(self, variant: Variant, encoder: str, state_width: int, matmul_dtype: torch.dtype) -> None:
        super().__init__()
        self.variant, self.encoder, self.matmul_dtype = variant, encoder, matmul_dtype
        self.features, self.players = len(variant.layout(encoder)), variant.players
        self.state_width = state_width

    @abstractmethod
    def read(self, bits: Tensor | NDArray[np.uint8]) -> Tensor:
        """The network's input (n, ...) for packed observations, uint8 (n, 8 * ceil(D / 64)), on the same device."""

    @abstractmethod
    def evaluate(self, inputs: Tensor, hidden_state: HiddenState | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Evaluate n inputs, without a mask; `forward` calls it and describes the arguments.

        Returns:
            Logits (n, A), values (n,), and the hidden states after the last turn, (B, players, width) or None.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What a policy file says of the network: its kind and the arguments of its constructor, for JSON."""

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **options: Any) -> Any:
        """As every module; also takes the weights of a network that `torch.compile` or `DataParallel` wraps."""
        return super().load_state_dict(without_wrappers(state_dict), *args, **options)

    def fuse_kernels(self) -> None:
        """Let the compiled core compute parts of the network on a CPU, if it has any; results differ by rounding.

        The network can still be trained. It can no longer be compiled, exported or differentiated twice, since PyTorch
        does not see into these parts. The call cannot be undone, but the weights can be loaded into a new network.
        """

    def initial_state(self, games: int) -> Tensor:
        """The hidden states before the first turn: zeros (games, players, width), with width 0 without recurrence."""
        return torch.zeros(games, self.players, self.state_width, device=self.heads.weight.device)

    def one_turn(self, states: Tensor) -> HiddenState:
        """The `HiddenState` of the acting seats of K games for one turn, with `states` (K, 1, width), of (K, width)."""
        seat = torch.zeros(1, len(states), dtype=torch.int64, device=states.device)
        return HiddenState(states[:, None], seat, episode_start=seat.bool())

    def forward(
        self, inputs: Tensor, mask: Tensor, hidden_state: HiddenState | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Evaluate observations.

        Args:
            inputs: what `read` gives for n observations. With recurrence n is T * B: T turns of B games, turn by turn.
            mask: legal actions, bool (n, actions).
            hidden_state: the `HiddenState` of the B games before these turns; needed with recurrence, else optional.

        Returns:
            Log probabilities float32 (n, actions), values float32 (n,), and the hidden states after the last turn,
            float32 (B, players, width), or None without `hidden_state`.

        Raises:
            StarmineError: a recurrent network got no hidden state.
        """
        autocast = self.matmul_dtype != torch.float32
        with torch.autocast(inputs.device.type, self.matmul_dtype if autocast else torch.bfloat16, enabled=autocast):
            logits, values, states = self.evaluate(inputs, hidden_state)
        return logits.masked_fill(~mask, MASKED_LOGIT).log_softmax(1), values, states

    def turn(self, obs: Tensor, mask: Tensor, memory: Tensor, seats: Tensor) -> Outputs:
        """Evaluate one turn of K seats from their hidden states, as `forward` does; `ModulePolicy` calls it."""
        state = None if self.memory is None else self.one_turn(memory)
        log_probs, values, after = self(self.read(obs), mask, state)
        return log_probs, values, memory if after is None else after[:, 0]

    def remember(self, x: Tensor, hidden_state: HiddenState | None) -> tuple[Tensor, Tensor | None]:
        """Run the `SeatGRU`, if the network has one, on the trunk's outputs x (n, width).

        Returns:
            The inputs (n, width) of the heads, which are x without a `SeatGRU`, and the hidden states after the last
            turn, (B, players, width) or None.
        """
        if self.memory is None:
            return x, None if hidden_state is None else hidden_state.states
        if hidden_state is None:
            raise StarmineError("hidden_state=None is not allowed: a recurrent network needs its hidden state")
        remembered: tuple[Tensor, Tensor] = self.memory(x, hidden_state)
        return remembered

    def save(self, path: str | os.PathLike[str], **about: Any) -> None:
        """Write a policy file, which `starmine.load_policy` reads and which can play in any seat.

        It is a safetensors file with float16 weights; its metadata describe variant, encoder and network in JSON. The
        file is replaced as a whole, so that it is never seen half written.

        Args:
            path: of the file.
            about: notes that JSON can represent, such as steps and score; `TrainedPolicy.about` returns them.

        Raises:
            StarmineError: a weight is not finite in float16, the outputs may leave the range of float32, the encoder
                shows the own hand, a subclass computes its outputs in another way, or the core cannot read a note.
            TypeError, ValueError: a note that JSON cannot represent.
            OSError: the file cannot be written; the earlier one is still there.
        """
        from safetensors.torch import save

        self._check_outputs()
        weights = {name: tensor.detach().to("cpu", torch.float16) for name, tensor in self.state_dict().items()}
        for name, tensor in weights.items():
            if not tensor.isfinite().all():
                raise StarmineError(f"{name} has a weight that float16 cannot hold: expected at most 65,504")
        played = {"variant": json.loads(self.variant.to_json()), "encoder": self.encoder}
        path = given_path("path", path)
        data = save(weights, {KEY: json.dumps(played | self.describe() | {"about": about}, allow_nan=False)})
        read_policy(os.fspath(path), data)  # refuses what could not be loaded again
        replace_file(path, data)

    def _check_outputs(self) -> None:
        """Refuse a network whose outputs a loaded policy would not compute."""
        for kind in type(self).__mro__:
            if kind.__module__.startswith("starmine.torch."):
                return
            for name in ("read", "inputs", "evaluate", "layer", "remember", "forward", "turn"):
                if name in vars(kind):
                    raise StarmineError(
                        f"{kind.__name__} has an {name} of its own, which no policy file holds: "
                        "expected torch.save(network.state_dict(), path)"
                    )

    def extra_repr(self) -> str:
        """The variant and the encoder."""
        return f"{self.variant}, encoder={self.encoder!r}"


class PolicyNetwork(ActorCritic):
    """An actor-critic: one trunk under the action logits and the value.

    The trunk is linear layers with ReLU, orthogonally initialised, with optional layer normalisation and an optional
    gated recurrent unit behind them. Its input is unpacked observations, float32 (n, D), which `read` makes of packed
    ones.

    Args:
        variant: the rules that it plays.
        encoder: one of `starmine.encoders()`, whose observations are its input.
        hidden: widths of the trunk's layers.
        recurrent: add a `SeatGRU`, as wide as the last layer, behind the trunk.
        card_features: append `HintFeatures` to the observations.
        matmul_dtype: of the matrix products, float32 or bfloat16 (autocast); the weights are float32.
        layer_norm: normalise the outputs of the trunk's layers before their ReLU.

    Raises:
        StarmineError: no hidden layers, too many, or one too wide.
        UnknownNameError: there is no such encoder.
    """

    def __init__(
        self,
        variant: Variant,
        encoder: str = "canonical",
        hidden: Iterable[int] = (256, 256),
        recurrent: bool = False,
        card_features: bool = True,
        matmul_dtype: torch.dtype = torch.float32,
        layer_norm: bool = False,
    ) -> None:
        widths = check_widths(hidden)
        super().__init__(variant, encoder, widths[-1] if recurrent else 0, matmul_dtype)
        self.hidden, self.layer_norm = widths, layer_norm
        self.card_features = HintFeatures(variant.layout(encoder)) if card_features else None
        with torch.no_grad():
            inputs = self.inputs(torch.zeros(1, self.features)).shape[1]
        layers: list[nn.Module] = []
        for fan_in, fan_out in zip((inputs, *self.hidden), self.hidden, strict=False):
            norm = [nn.LayerNorm(fan_out)] if layer_norm else []
            layers += [orthogonal(nn.Linear(fan_in, fan_out), 2**0.5), *norm, nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.heads = orthogonal(nn.Linear(self.hidden[-1], variant.num_actions + 1), 0.01)
        self.memory = SeatGRU(self.hidden[-1]) if recurrent else None

    def inputs(self, obs: Tensor) -> Tensor:
        """The trunk's input: the unpacked observations (n, D) that `read` returns, with the card features appended.

        `forward` calls it: give `forward` the result of `read`, not of this method.
        """
        return obs if self.card_features is None else torch.cat([obs, self.card_features(obs)], 1)

    def read(self, bits: Tensor | NDArray[np.uint8]) -> Tensor:
        """The unpacked observations, float32 (n, D), of packed ones, uint8 (n, 8 * ceil(D / 64))."""
        return unpack_bits(bits, self.features)

    def evaluate(self, inputs: Tensor, hidden_state: HiddenState | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Logits (n, A), values (n,), and the hidden states after the last turn, as in `ActorCritic`."""
        x, states = self.remember(self.trunk(self.inputs(inputs)), hidden_state)
        heads = self.heads(x).float()
        return heads[:, :-1], heads[:, -1], states

    def describe(self) -> dict[str, Any]:
        """What a policy file says of the network: the arguments of its constructor."""
        return {
            "format": PLAIN,
            "hidden": self.hidden,
            "recurrent": self.memory is not None,
            "card_features": self.card_features is not None,
            "layer_norm": self.layer_norm,
        }


def check_widths(hidden: Iterable[int]) -> tuple[int, ...]:
    """The widths of a trunk, within the limits of the policy file format."""
    widths = tuple(operator.index(width) for width in hidden)
    if not 1 <= len(widths) <= MAX_LAYERS or not all(1 <= width <= MAX_WIDTH for width in widths):
        expected = f"1 to {MAX_LAYERS} widths of 1 to {MAX_WIDTH:,}"
        raise StarmineError(f"hidden={widths} is not allowed: expected {expected}")
    return widths


def orthogonal(layer: nn.Linear, gain: float) -> nn.Linear:
    """The layer, with orthogonal weights of this gain and zero bias."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer
