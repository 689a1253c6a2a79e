"""Weights that JaxMARL's scripts and ours begin with where they are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

EVERY = 1999  # of the weights of a tensor are recorded after each step


def first_weights(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """Random weights of the size of real ones, float32, by flax's names; the scales of normalisations are about 1."""
    found = {}
    for place, (name, shape) in enumerate(sorted(shapes.items())):
        noise = np.random.RandomState(place).standard_normal(shape)
        scale = 0.02 if len(shape) == 1 else 1.5 / shape[0] ** 0.5
        found[name] = (name.endswith("scale") + scale * noise).astype(np.float32)
    return found
