"""Settings of vector environments, and legal actions for their games."""

import numpy as np

DTYPES = ["float32", "float16", "uint8", "bits"]
MODES = ["SameStep", "NextStep", "Disabled"]


def legal_actions(masks, rng):
    """A random legal action for each mask, 0 where none is."""
    masks = np.asarray(masks)
    return np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks])
