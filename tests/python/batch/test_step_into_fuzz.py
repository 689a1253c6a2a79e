"""Random calls with random memory: a call is refused and changes nothing, or writes what fresh arrays would hold.

Buffers and actions lie anywhere in one shared piece of memory, with any shape, type, stride and flag, so that they
overlap in every way; all of the memory is compared after every call. A run is a function of --fuzz-seed; more of them:
--fuzz-runs N.
"""

import random

import numpy as np
import pytest
from instruction_sets import AVAILABLE, VARIABLE
from random_variants import random_variant

import starmine
from starmine import Batch, StarmineError

CALLS = 12
CANARY = 64
DTYPES = ["float32", "float16", "uint8", "bits"]
OTHER_TYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u1", "?", ">f4", ">i4", "c8", "V4", "S1"]
EXTREME = [-(2**63), -1, 0, 63, 64, 127, 128, 2**31, 2**32, 2**63 - 1]


def any_variant(rng):
    """A preset or any other variant."""
    if rng.random() < 0.3:
        return starmine.variant(rng.choice(starmine.variants()), players=rng.randint(2, 5))
    return random_variant(rng)


def random_batch(rng):
    """A batch with random settings."""
    return Batch(
        any_variant(rng),
        rng.choice([1, 2, 7, 8, 9, 17, 70]),
        seed=rng.getrandbits(64),
        dtype=rng.choice(DTYPES),
        observers=rng.choice(["current", "all"]),
        encoder=rng.choice(["canonical", "canonical-minimal", "canonical-seer"]),
        autoreset_mode=rng.choice(["SameStep", "NextStep", "Disabled"]),
        illegal_action=rng.choice(["raise", "terminate"]),
        num_threads=rng.choice([1, 1, 1, 2]),
    )


class Memory:
    """A block of memory in which arrays are placed, and a copy of its content."""

    def __init__(self, rng, size):
        self.rng = rng
        self.bytes = np.frombuffer(bytearray(rng.randbytes(size + 2 * CANARY)), np.uint8)
        self.end = CANARY

    def take(self, size, align):
        """The offset of a range of this size: mostly of free bytes, sometimes of any."""
        rng = self.rng
        if size <= len(self.bytes) and rng.random() < 0.04:
            return rng.randrange(0, len(self.bytes) - size + 1)
        start = self.bytes.ctypes.data
        offset = self.end + -(start + self.end) % align + (rng.randint(1, 3) if rng.random() < 0.02 else 0)
        self.end = offset + size + rng.choice([0, 0, 1, 8, 64])
        return offset

    def array(self, shape, dtype):
        """An array of this shape and type in the memory, sometimes with a wrong one or with odd strides."""
        rng, dtype = self.rng, np.dtype(dtype)
        if rng.random() < 0.03:
            dtype = np.dtype(rng.choice(OTHER_TYPES))
        if rng.random() < 0.03:
            shape = self.wrong(shape)
        strides = [dtype.itemsize]
        for length in reversed(shape[1:]):
            strides.insert(0, strides[0] * length)
        spread = rng.choice([2, 3]) if shape and rng.random() < 0.03 else 1
        size = dtype.itemsize * int(np.prod(shape)) * spread
        offset = self.take(size, 64 if rng.random() < 0.2 else max(dtype.alignment, 1))
        if spread > 1:
            strides[rng.randrange(len(strides))] *= spread
        elif len(shape) > 1 and rng.random() < 0.02:
            strides = [dtype.itemsize * int(np.prod(shape[:axis])) for axis in range(len(shape))]
        strides = strides if shape else []
        if offset + size > len(self.bytes):
            return np.zeros(shape, dtype)  # no room left
        array = np.ndarray(shape, dtype, self.bytes.data, offset, strides)
        if shape and rng.random() < 0.02:
            array = array[::-1]
        if rng.random() < 0.02:
            array.flags.writeable = False
        return array

    def wrong(self, shape):
        """Another shape."""
        kind = self.rng.randrange(4)
        if kind == 0:
            return (*shape, 1)
        if kind == 1:
            return shape[1:]
        if kind == 2:
            return (max(shape[0] - 1, 0), *shape[1:])
        return (*shape[:-1], shape[-1] + 1)


def random_actions(rng, batch, mask, memory):
    """Actions: mostly legal, some extreme, as a list or as an array anywhere in the memory."""
    choices = [np.flatnonzero(row) for row in mask]
    actions = [int(rng.choice(legal)) if len(legal) else 0 for legal in choices]
    if rng.random() < 0.15:
        actions[rng.randrange(len(actions))] = rng.choice(EXTREME)
    if rng.random() < 0.05:
        actions = rng.choice([actions[1:], [*actions, 0], []])
    if rng.random() < 0.3:
        return actions
    dtype = rng.choice(["i8", "i8", "i8", "i4", "u1", ">i8"])
    array = memory.array((len(actions),), dtype)
    if array.shape == (len(actions),) and array.flags.writeable and array.dtype.kind in "iu":
        with np.errstate(all="ignore"):
            array[...] = np.array(actions, np.int64).astype(array.dtype)
    return array


def is_in(memory, array):
    return isinstance(array, np.ndarray) and np.shares_memory(memory.bytes, array)


def call(batch, actions, buffers, resets):
    return batch.reset_into(**buffers) if resets else batch.step_into(actions, **buffers)


def check_call(rng, batch):
    """Makes one call with hostile memory and returns whether it was accepted."""
    shapes = {name: (array.shape, array.dtype) for name, array in batch.allocate().items()}
    mask = batch.observe()["action_mask"]
    if batch.autoreset_mode == "Disabled" and not mask.any(axis=1).all() and rng.random() < 0.9:
        batch.reset(None, ~mask.any(axis=1))
        mask = batch.observe()["action_mask"]
    size = sum(int(np.prod(shape)) * dtype.itemsize + 96 for shape, dtype in shapes.values())
    memory = Memory(rng, size * 2 + 1024)
    names = [name for name in shapes if rng.random() < 0.6]
    rng.shuffle(names)
    buffers = {name: memory.array(*shapes[name]) for name in names}
    actions = random_actions(rng, batch, mask, memory)
    resets = rng.random() < 0.05
    given = np.array(actions) if isinstance(actions, np.ndarray) else list(actions)
    twin, before, bytes_before = batch.copy(), batch.to_bytes(), memory.bytes.copy()
    try:
        call(batch, actions, buffers, resets)
    except (StarmineError, TypeError):
        assert batch.to_bytes() == before
        np.testing.assert_array_equal(memory.bytes, bytes_before)
        return False
    expected = twin.reset() if resets else twin.step(given)
    assert batch.to_bytes() == twin.to_bytes()
    # The expected memory: a copy from before the call with what fresh arrays hold in the buffers' places.
    start = memory.bytes.ctypes.data
    for name, array in buffers.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)
        if is_in(memory, array):
            offset = array.ctypes.data - start
            bytes_before[offset : offset + array.nbytes] = np.ascontiguousarray(expected[name]).reshape(-1).view("u1")
    np.testing.assert_array_equal(memory.bytes, bytes_before)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("instruction_set", AVAILABLE)
def test_a_call_writes_the_right_values_or_is_refused(instruction_set, pytestconfig, monkeypatch):
    monkeypatch.setenv(VARIABLE, instruction_set)
    seed, runs = pytestconfig.option.fuzz_seed, pytestconfig.option.fuzz_runs
    played = refused = 0
    for run in range(runs):
        rng = random.Random(f"{seed} {run}")
        batch = random_batch(rng)
        try:
            for _ in range(CALLS):
                done = check_call(rng, batch)
                played, refused = played + done, refused + (not done)
        except Exception as error:
            raise AssertionError(f"--fuzz-seed={seed}, run {run}: {batch!r}") from error
    print(f"{played} calls played, {refused} refused")
    if runs >= 50:
        assert min(played, refused) > CALLS * runs // 10
