"""The network of the training examples and of the policies that come with the package."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from starmine._core import Layout, StarmineError, Variant

FORMAT = 1  # of policy files
KEY = "starmine"
MAX_LAYERS, MAX_WIDTH = 16, 4096  # of what a policy file may hold
MASKED_LOGIT = -1e9


class Recall(NamedTuple):
    """What a recurrent network needs beside observations: the memories of B games, and T turns of each.

    Attributes:
        memory: float32 (B, players, width), of each seat before the first of these turns.
        seat: int64 (T, B), who plays each turn.
        begins: bool (T, B), whether a game begins with it, so that its seats remember nothing.
    """

    memory: Tensor
    seat: Tensor
    begins: Tensor


class CardFeatures(nn.Module):
    """Says of each card how probably it can be played now, and how probably never again.

    An own card is taken for each that its hints allow, all equally likely, a card in sight for
    itself. All of this follows from the observation; a small network learns it slowly.

    Args:
        layout: of a canonical encoder's observations.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.sections = {section.name: section for section in layout}

    def section(self, bits: Tensor, name: str) -> Tensor:
        """A part of the observations in its shape (n, ...)."""
        return bits[:, self.sections[name].slice].view(-1, *self.sections[name].shape)

    def forward(self, bits: Tensor) -> Tensor:
        """Two numbers for each card (n, 2 * cards) of observations (n, features)."""
        stacks = self.section(bits, "fireworks")  # of each suit, a one for its height, from 1
        playable = torch.cat([1 - stacks.sum(2, keepdim=True), stacks[..., :-1]], 2)
        dead = stacks.flip(2).cumsum(2).flip(2)
        kinds = torch.stack([playable.flatten(1), dead.flatten(1)], 2)
        cards = self.section(bits, "hands").flatten(1, 2).flatten(2)
        if "knowledge" in self.sections:
            possible = self.section(bits, "knowledge").flatten(1, 2)[..., : kinds.shape[1]]
            cards = torch.cat([cards, possible / possible.sum(2, keepdim=True).clamp(min=1)], 1)
        return (cards @ kinds).flatten(1)


class SeatMemory(nn.Module):
    """A gated recurrent unit with a state for each seat of each game, which changes at the seat's own turns."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.from_input = orthogonal(nn.Linear(width, 3 * width), 1)
        self.from_state = orthogonal(nn.Linear(width, 3 * width), 1)

    def forward(self, x: Tensor, recall: Recall) -> tuple[Tensor, Tensor]:
        """The states after each turn (T * B, width) of inputs (T * B, width), and all memories at the end."""
        memory, states = recall.memory, []
        games = torch.arange(len(memory), device=x.device)
        inputs = self.from_input(x).float().view(*recall.seat.shape, -1)
        for given, seat, begins in zip(inputs, recall.seat, recall.begins, strict=True):
            memory = memory.masked_fill(begins[:, None, None], 0)
            state = memory[games, seat]
            new, keep, reset = given.chunk(3, 1)
            old_new, old_keep, old_reset = self.from_state(state).float().chunk(3, 1)
            candidate = torch.tanh(new + torch.sigmoid(reset + old_reset) * old_new)
            state = candidate + torch.sigmoid(keep + old_keep) * (state - candidate)
            memory = memory.index_put((games, seat), state)
            states.append(state)
        return torch.cat(states), memory


class PolicyNetwork(nn.Module):
    """An actor-critic: a trunk, and with recurrence a memory, shared by the logits of the actions and the value.

    The trunk is linear layers with ReLU, orthogonal at the start; between the two, layers may be normalised.

    Args:
        variant: the rules that it plays.
        encoder: one of `starmine.encoders()`, whose observations it gets.
        hidden: widths of the trunk's layers.
        recurrent: a gated recurrent unit, as wide as the last layer, after the trunk.
        card_features: give the trunk, beside the observation, `CardFeatures` of it.
        matmul_dtype: of the matrix products, float32 or bfloat16; weights are float32.
        layer_norm: normalise the outputs of the trunk's layers before their ReLU.

    Raises:
        StarmineError: no hidden layers, too many or one too wide.
        TypeError: `hidden` is not whole numbers.
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
        super().__init__()
        layout = variant.layout(encoder)
        self.variant, self.encoder, self.hidden = variant, encoder, read_widths(hidden)
        self.features, self.players, self.matmul_dtype = len(layout), variant.players, matmul_dtype
        self.layer_norm = layer_norm
        self.card_features = CardFeatures(layout) if card_features else None
        with torch.no_grad():
            inputs = self.inputs(torch.zeros(1, self.features)).shape[1]
        layers: list[nn.Module] = []
        for fan_in, fan_out in zip((inputs, *self.hidden), self.hidden, strict=False):
            norm = [nn.LayerNorm(fan_out)] if layer_norm else []
            layers += [orthogonal(nn.Linear(fan_in, fan_out), 2**0.5), *norm, nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.heads = orthogonal(nn.Linear(self.hidden[-1], variant.num_actions + 1), 0.01)
        self.memory = SeatMemory(self.hidden[-1]) if recurrent else None
        self.memory_width = self.hidden[-1] if recurrent else 0

    def inputs(self, bits: Tensor) -> Tensor:
        """What the trunk gets of the unpacked observations."""
        return bits if self.card_features is None else torch.cat([bits, self.card_features(bits)], 1)

    def blank(self, games: int) -> Tensor:
        """The memories (games, players, width) before a game's first turn; without recurrence no numbers."""
        return torch.zeros(games, self.players, self.memory_width, device=self.heads.weight.device)

    def forward(self, bits: Tensor, mask: Tensor, recall: Recall | None = None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Log probabilities (n, actions) and values (n,) of unpacked observations (n, features), and memories.

        With recurrence the observations are of T turns of B games, in the order of (T, B), and the
        memories (B, players, width) those after the last turn.

        Raises:
            StarmineError: a recurrent network got no memories.
        """
        memory = None if recall is None else recall.memory
        mixed = self.matmul_dtype != torch.float32
        with torch.autocast(bits.device.type, self.matmul_dtype if mixed else torch.bfloat16, enabled=mixed):
            x = self.trunk(self.inputs(bits))
            if self.memory is not None:
                if recall is None:
                    raise StarmineError("recall=None is not allowed: a recurrent network needs its memories")
                x, memory = self.memory(x, recall)
            heads = self.heads(x).float()
        logits = heads[:, :-1].masked_fill(~mask, MASKED_LOGIT)
        return logits.log_softmax(1), heads[:, -1], memory

    def save(self, path: str | os.PathLike[str], **about: Any) -> None:
        """Write a policy file, which `starmine.load_policy` reads and any seat takes.

        It is a safetensors file with float16 weights. What it says of itself is JSON in its metadata.
        The file is written aside and renamed, so that it is always whole.

        Args:
            path: the file.
            about: notes that JSON has, such as steps and score; they come back as `TrainedPolicy.about`.

        Raises:
            StarmineError: a weight is not finite in float16.
            OSError: the file cannot be written.
        """
        from safetensors.torch import save

        weights = {name: tensor.detach().to("cpu", torch.float16) for name, tensor in self.state_dict().items()}
        for name, tensor in weights.items():
            if not tensor.isfinite().all():
                raise StarmineError(f"{name} has a weight that float16 cannot hold: expected at most 65,504")
        described = {
            "format": FORMAT,
            "variant": json.loads(self.variant.to_json()),
            "encoder": self.encoder,
            "hidden": self.hidden,
            "recurrent": self.memory is not None,
            "card_features": self.card_features is not None,
            "layer_norm": self.layer_norm,
            "about": about,
        }
        path = Path(path)
        aside = path.with_name(f"{path.name}.tmp")
        try:
            aside.write_bytes(save(weights, {KEY: json.dumps(described)}))
            aside.replace(path)
        except OSError:
            aside.unlink(missing_ok=True)
            raise

    def extra_repr(self) -> str:
        """The variant and the encoder."""
        return f"{self.variant}, encoder={self.encoder!r}"


def read_widths(hidden: Iterable[int]) -> tuple[int, ...]:
    """The widths of a trunk that a policy file may hold."""
    expected = f"1 to {MAX_LAYERS} widths of 1 to {MAX_WIDTH:,}"
    try:
        widths = tuple(operator.index(width) for width in hidden)
    except TypeError:
        raise TypeError(f"hidden={hidden!r} is not allowed: expected {expected}") from None
    if not 1 <= len(widths) <= MAX_LAYERS or not all(1 <= width <= MAX_WIDTH for width in widths):
        raise StarmineError(f"hidden={widths} is not allowed: expected {expected}")
    return widths


def orthogonal(layer: nn.Linear, gain: float) -> nn.Linear:
    """The layer with orthogonal weights and without bias."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer
