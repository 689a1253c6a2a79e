"""The arrays that every adapter hands out: each is the caller's own, and can be written."""

import numpy as np
import pytest
from adapter_cases import CASES

pytestmark = pytest.mark.filterwarnings("ignore")  # those of the libraries
STEPPED = [name for name in CASES if name not in ("jax", "hle")]  # JAX's arrays are constants, HLE's are lists


def leaves(tree, path=""):
    """(path, array) of all that a reset or a step returned, in a fixed order."""
    if isinstance(tree, np.ndarray) and tree.dtype != object:
        yield path, tree
    elif hasattr(tree, "items"):
        for key, value in sorted(tree.items()):
            yield from leaves(value, f"{path}.{key}")
    elif hasattr(tree, "numpy"):  # a tensor
        yield path, tree.numpy()
    elif isinstance(tree, list | tuple | np.ndarray):
        for index, value in enumerate(tree):
            yield from leaves(value, f"{path}[{index}]")


def legal(mask, rng):
    return ((1 - rng.random(mask.shape)) * mask).argmax(axis=1)


@pytest.mark.parametrize("name", STEPPED)
def test_no_two_arrays_share_memory_and_all_can_be_written(name):
    case = CASES[name]()
    env, rng, ended = case.make(), np.random.default_rng(0), 0
    returned = case.reset(env, 0, None)
    for _ in range(60):
        given = list(leaves(returned))
        assert given
        for index, (path, array) in enumerate(given):
            assert array.flags.writeable, path
            for other, another in given[:index]:
                assert not np.shares_memory(array, another), f"{path} and {other}"
        returned, over = case.step(env, legal(case.mask(returned), rng), returned)
        if over:
            returned, ended = case.reset(env, None, None), ended + 1
    assert ended or "vector" in name or name == "sb3"
