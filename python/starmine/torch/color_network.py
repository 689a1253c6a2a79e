"""A network that treats all colours alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from starmine._core import StarmineError, Variant
from starmine.policies.files import BELIEF, COLORS
from starmine.torch.color_features import ColorFeatures
from starmine.torch.network import ActorCritic, HiddenState, SeatGRU, check_widths, orthogonal
from starmine.torch.pooling import fused_pool, pool


class ColorNetwork(ActorCritic):
    """An actor-critic that treats all colours alike.

    A tower of two layers reads the row of each colour; its parameters are the same for all colours. After each layer
    the outputs of the towers are pooled over the colours, by mean and maximum. The first pool is an input of the second
    layer, the second pool an input of the trunk. A permutation of the colours therefore permutes the logits of the
    actions that name a colour, and changes nothing else.

    Args:
        variant: the rules that it plays. Suits with other copies than the others, such as the multicoloured one, have
            an input that tells them apart.
        encoder: of the observations.
        hidden: the width of a colour's tower and the width of the trunk.
        belief: how the probabilities of own cards are computed, "slots" or "hands", see `ColorFeatures`.
        recurrent: add a `SeatGRU`, as wide as the trunk, behind the trunk.
        matmul_dtype: of the matrix products, float32 or bfloat16 (autocast); the parameters are float32.

    Raises:
        StarmineError: other than two widths, one too wide, or an encoder without the section "knowledge".
        UnknownNameError: there is no such encoder, or `belief` is another text.
    """

    def __init__(
        self,
        variant: Variant,
        encoder: str = "canonical",
        hidden: Iterable[int] = (96, 256),
        belief: str = "slots",
        recurrent: bool = False,
        matmul_dtype: torch.dtype = torch.float32,
    ) -> None:
        widths = check_widths(hidden)
        if len(widths) != 2:
            raise StarmineError(f"hidden={widths} is not allowed: expected two widths, of the towers and the trunk")
        super().__init__(variant, encoder, widths[1] if recurrent else 0, matmul_dtype)
        self.hidden, self.belief = widths, belief
        self.color_features = ColorFeatures(variant, encoder, belief)
        inputs, rest, (width, trunk) = len(self.color_features.row), len(self.color_features.rest), widths
        # Plain numbers, since torch.compile cannot trace the length of a layout.
        self.colors, self.row_length = self.color_features.colors, inputs
        core = self.color_features._core
        self.plain, self.groups = core.heads
        self.pool: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = pool

        def layer(fan_in: int, fan_out: int, gain: float = 2**0.5) -> nn.Linear:
            return orthogonal(nn.Linear(fan_in, fan_out), gain)

        self.color: Any = nn.ModuleList([layer(inputs, width), layer(width, width)])
        self.color_rest, self.color_pooled = layer(rest, width), layer(2 * width, width)
        self.rest, self.trunk = layer(rest, width), layer(3 * width, trunk)
        self.memory = SeatGRU(trunk) if recurrent else None
        self.heads = layer(trunk, self.plain + self.groups + 1, 0.01)
        self.color_heads = layer(width, self.groups, 0.01)
        columns = [head if color is None else head + color * self.groups for head, color in core.actions]
        # On the CPU, since a network that is read from a file is made on a device without memory.
        self.register_buffer("columns", torch.tensor(columns, device="cpu"), persistent=False)

    def read(self, bits: Tensor | NDArray[np.uint8]) -> Tensor:
        """The `ColorFeatures` (n, length) of packed observations, uint8 (n, 8 * ceil(D / 64)), in `matmul_dtype`."""
        return self.color_features.read(bits, self.matmul_dtype)

    def evaluate(self, inputs: Tensor, hidden_state: HiddenState | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Logits (n, A), values (n,), and the hidden states after the last turn, as in `ActorCritic`."""
        split = self.colors * self.row_length
        # Products of tensors in bfloat16 that are not contiguous take fifteen times longer.
        rows, rest = inputs[:, :split].contiguous(), inputs[:, split:].contiguous()
        rows = rows.view(len(inputs), self.colors, self.row_length)
        tower, pooled = self.layer(self.color[0], rows, self.color_rest, rest)
        tower, pooled = self.layer(self.color[1], tower, self.color_pooled, pooled)
        x = relu(self.trunk(torch.cat([pooled, relu(self.rest(rest))], 1)))
        x, states = self.remember(x, hidden_state)
        heads = self.heads(x).float()
        plain, groups, values = heads[:, : self.plain], heads[:, self.plain : -1], heads[:, -1]
        by_color = groups[:, None] + self.color_heads(tower).float()
        columns: Any = self.columns
        return torch.cat([plain, by_color.flatten(1)], 1).index_select(1, columns), values, states

    def layer(self, own: nn.Linear, rows: Tensor, common: nn.Linear, shared: Tensor) -> tuple[Tensor, Tensor]:
        """Compute one layer of the towers.

        Args:
            own: the linear layer for the colours' rows.
            rows: (n, C, inputs of `own`), a row for each colour.
            common: the linear layer for `shared`.
            shared: (n, inputs of `common`), the input that all colours share.

        Returns:
            The outputs of the towers (n, C, width), and their mean and maximum over the colours, (n, 2 * width).
        """
        return self.pool(linear(rows, own.weight), linear(shared, common.weight, common.bias + own.bias))

    def fuse_kernels(self) -> None:
        """Let the compiled core add, rectify and pool the outputs of the towers' layers on a CPU; see `ActorCritic`."""
        self.pool = fused_pool

    def describe(self) -> dict[str, Any]:
        """What a policy file says of the network: its kind and the arguments of its constructor."""
        return {
            "format": COLORS,
            "network": "colors",
            "hidden": self.hidden,
            BELIEF: self.belief,
            "recurrent": self.memory is not None,
            "card_features": False,
            "layer_norm": False,
        }
