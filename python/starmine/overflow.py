"""Weights of a policy network with which numbers of its forward pass may leave the range of float32."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

LARGEST = float(np.finfo(np.float32).max) / 4  # so that differences of outputs are finite as well


def overflowing_layer(weights: Mapping[str, Array]) -> str | None:
    """The first layer that may overflow for some input from 0 to 1, or None.

    The largest absolute value of each unit is bounded layer by layer in float64. All partial sums are within the bound
    too, so that no order of adding overflows.

    Args:
        weights: by name, as policy files have them: `trunk.0.weight`, ..., `heads.bias`.
    """
    values = {name: np.asarray(value, dtype=np.float64) for name, value in weights.items()}
    layers = sorted({name.rpartition(".")[0] for name in values if name.startswith("trunk.")}, key=layer_index)
    upper: Array = np.ones(values[f"{layers[0]}.weight"].shape[1])  # of the inputs, which are not negative
    bound = upper  # of the absolute values before ReLU
    for layer in layers:
        weight, bias = values[f"{layer}.weight"], values[f"{layer}.bias"]
        if weight.ndim == 1:  # layer normalisation: squares of deviations are added
            if len(weight) * (2 * bound.max()) ** 2 > LARGEST:
                return layer
            bound = np.sqrt(len(weight)) * np.abs(weight) + np.abs(bias)
            upper = bound
        else:
            bound = np.abs(weight) @ upper + np.abs(bias)
            upper = np.maximum(np.maximum(weight, 0) @ upper + bias, 0)
        if bound.max() > LARGEST:
            return layer
    if "memory.from_input.weight" in values:
        if (linear(values, "memory.from_input", upper) + linear(values, "memory.from_state", 1.0)).max() > LARGEST:
            return "memory"
        upper = np.ones(len(upper))
    return "heads" if linear(values, "heads", upper).max() > LARGEST else None


def linear(values: Mapping[str, Array], layer: str, largest: Array | float) -> Array:
    """Bounds of the absolute values of a linear layer's units, given those of its inputs."""
    weight = np.abs(values[f"{layer}.weight"])
    bounds: Array = weight @ np.broadcast_to(largest, weight.shape[1:]) + np.abs(values[f"{layer}.bias"])
    return bounds


def layer_index(layer: str) -> int:
    """The number in a layer's name, such as 2 in `trunk.2`."""
    return int(layer.rpartition(".")[2])


def stored_weights(data: bytes) -> dict[str, Array]:
    """The tensors of a policy file that the core has read: of float32, float16 or bfloat16."""
    start = 8 + int.from_bytes(data[:8], "little")
    found = {}
    for name, tensor in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            kind = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}[tensor["dtype"]]
            array = np.frombuffer(data[start + begin : start + end], kind)
            if tensor["dtype"] == "BF16":  # the upper half of a float32
                array = (array.astype(np.uint32) << 16).view(np.float32)
            found[name] = array.reshape(tensor["shape"])
    return found
