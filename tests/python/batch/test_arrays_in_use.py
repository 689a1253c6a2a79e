"""An array that a running step writes: every call that would read or write it is refused, whoever owns the memory."""

import ctypes
import threading
import time
import weakref
from contextlib import suppress

import numpy as np
import pytest
from other_arrays import OnlyDLPack

import starmine
from starmine import ArrayError, Batch, Variant
from starmine._core import (
    _ColorFeatures,
    _outcomes,
    _play_bots,
    _pool,
    _pool_gradient,
    _Replay,
    unpack_bits_into,
)

PLAY = 5  # plays slot 0 in the standard game, which is always legal
NUM_ENVS = 20_000
VARIANT = Variant()
POLICY = starmine.load_policy("ippo-2p-small")
FEATURES = len(VARIANT.layout(POLICY.encoder))
COLORS = _ColorFeatures("standard", "canonical", "slots")
NUMBERS = COLORS.colors * len(COLORS.row) + len(COLORS.rest)
WANTED = ("canonical", "float32", [])
READ, WRITTEN = "is being written by another call", "overlaps another array in use: expected separate memory"


class Subclass(np.ndarray):
    pass


def messages_while(first, second):
    """The messages with which calls of `second` are refused while another thread calls `first`."""
    messages, done = set(), threading.Event()

    def call_often():
        while not done.is_set():
            with suppress(ArrayError):  # a call of `second` came first, and is refused next time
                first()

    thread = threading.Thread(target=call_often)
    thread.start()
    start = time.monotonic()
    try:
        while (elapsed := time.monotonic() - start) < 0.1 or (not messages and elapsed < 3):
            try:
                second()
            except ArrayError as error:
                messages.add(str(error))
            except starmine.StarmineError:
                continue  # between two steps: the bytes are no decks, games or seats
    finally:
        done.set()
        thread.join()
    return messages


def observations(memory=None):
    """Memory for the observations of a batch of many games, and a call that steps the batch into it."""
    batch = Batch("standard", NUM_ENVS, dtype="uint8", seed=0, num_threads=1)
    if memory is None:
        memory = np.zeros((NUM_ENVS, FEATURES), np.uint8)
    actions = np.full(NUM_ENVS, PLAY)
    return memory, lambda: batch.step_into(actions, obs=memory)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def games(**given):
    arrays = {
        "decks": zeros(1, 50, dtype=np.uint8),
        "start_players": zeros(1, dtype=np.uint8),
        "actions": zeros(2, dtype=np.uint8),
        "offsets": np.array([0, 2]),
    }
    return (arrays | given).values()


BATCH = Batch("standard", 4, seed=0, illegal_action="terminate")

# `part(dtype, *shape)` is an array in the memory. The parameter's name stands before the colon.
READERS = {
    "observations": lambda part: POLICY.logits(part("u1", 64, FEATURES)),
    "observations: every second row": lambda part: POLICY.logits(part("u1", 64, FEATURES)[::2]),
    "observations: a subclass": lambda part: POLICY.logits(part("u1", 64, FEATURES).view(Subclass)),
    "bits": lambda part: unpack_bits_into(part("u1", 2, 88), zeros(2, FEATURES)),
    "bits: color features": lambda part: COLORS.write(part("u1", 2, 88), zeros(2, NUMBERS)),
    "rows": lambda part: _pool(part("f4", 2, 3, 4), zeros(2, 4), zeros(2, 3, 4), zeros(2, 8)),
    "shared": lambda part: _pool(zeros(2, 3, 4), part("f4", 2, 4), zeros(2, 3, 4), zeros(2, 8)),
    "d_pooled": lambda part: _pool_gradient(
        zeros(2, 3, 4), zeros(2, 8), zeros(2, 3, 4), part("f4", 2, 8), zeros(2, 3, 4), zeros(2, 4)
    ),
    "games": lambda part: BATCH._rows(part("i8", 3), np.zeros(3, int), WANTED),
    "seats": lambda part: VARIANT.new_game(seed=0)._rows(np.zeros(3, int), part("i8", 3), WANTED),
    "listed": lambda part: _play_bots("standard", ["random"] * 2, 2, 0, 0, 1, False, part("u8", 2)),
    "listed: tables": lambda part: Batch._of_table("standard", ["random", None], 2, 0, 0, part("u8", 2)),
    "actions": lambda part: BATCH.step(part("i8", 4)),
    "actions: misaligned": lambda part: BATCH.step(part("u1", 33)[1:].view("i8")),
    "actions: another C type": lambda part: BATCH.step(part(np.longlong, 4)),
    "actions: other byte order": lambda part: BATCH.step(part(">i4", 4)),
    "actions: strided": lambda part: BATCH.step(part("i4", 8)[::2]),
    "actions: memoryview": lambda part: BATCH.step(memoryview(part("i4", 4))),
    "actions: DLPack": lambda part: BATCH.step(OnlyDLPack(part("i4", 4))),
    "reset_mask": lambda part: BATCH.reset(reset_mask=part("?", 4)),
    "seed": lambda part: BATCH.reset(part("u8", 4)),
    "decks": lambda part: BATCH.reset(decks=part("u1", 4, 50)),
    "start_players": lambda part: BATCH.reset(decks=zeros(4, 50, dtype=np.uint8), start_players=part("u1", 4)),
    "decks: recorded games": lambda part: _outcomes("standard", *games(decks=part("u1", 1, 50)), 1),
    "offsets: recorded games": lambda part: _outcomes("standard", *games(offsets=part("i8", 2)), 1),
    "actions: a replay": lambda part: _Replay(
        "standard", *games(actions=part("u1", 2)), 1, ["obs"], "canonical", "float32", "current", 1
    ),
    "copies": lambda part: Variant(copies=part("u1", 5, 5)),
}

WRITERS = {
    "out": lambda part: unpack_bits_into(zeros(2, 88, dtype=np.uint8), part("f4", 2, FEATURES)),
    "out: color features": lambda part: COLORS.write(zeros(2, 88, dtype=np.uint8), part("f4", 2, NUMBERS)),
    "tower": lambda part: _pool(zeros(2, 3, 4), zeros(2, 4), part("f4", 2, 3, 4), zeros(2, 8)),
    "d_shared": lambda part: _pool_gradient(
        zeros(2, 3, 4), zeros(2, 8), zeros(2, 3, 4), zeros(2, 8), zeros(2, 3, 4), part("f4", 2, 4)
    ),
    "reward": lambda part: BATCH.step_into([PLAY] * 4, reward=part("f4", 4)),
    "score: a reset": lambda part: BATCH.reset_into(score=part("i4", 4)),
}


def part_of(memory):
    """Arrays in the last rows of the memory, which a step writes last."""

    def part(dtype, *shape):
        length = int(np.prod(shape)) * np.dtype(dtype).itemsize
        start = memory.nbytes - length - 64
        return memory.reshape(-1)[start - start % 8 :][:length].view(dtype).reshape(shape)

    return part


@pytest.mark.parametrize("name", READERS)
def test_an_array_that_a_step_writes_is_not_read(name):
    memory, step = observations()
    part = part_of(memory)
    assert messages_while(step, lambda: READERS[name](part)) == {f"{name.partition(':')[0]} {READ}"}


@pytest.mark.parametrize("name", WRITERS)
def test_an_array_that_a_step_writes_is_not_written(name):
    memory, step = observations()
    part = part_of(memory)
    assert messages_while(step, lambda: WRITERS[name](part)) == {f"{name.partition(':')[0]} {WRITTEN}"}


@pytest.mark.parametrize("owner", ["frombuffer", "ctypes", "memoryview", "torch"])
def test_other_owners_of_the_memory_are_seen(owner):
    buffer = bytearray(NUM_ENVS * FEATURES)
    memory, step = observations(np.frombuffer(buffer, np.uint8).reshape(NUM_ENVS, FEATURES))
    if owner == "torch":
        tensor = pytest.importorskip("torch").frombuffer(buffer, dtype=pytest.importorskip("torch").uint8)
    other = {
        "frombuffer": lambda: np.frombuffer(buffer, np.uint8),
        "ctypes": lambda: np.ctypeslib.as_array((ctypes.c_uint8 * len(buffer)).from_buffer(buffer)),
        "memoryview": lambda: np.asarray(memoryview(memory)).reshape(-1),
        "torch": lambda: tensor.numpy(),
    }[owner]()
    part = part_of(other)
    assert messages_while(step, lambda: POLICY.logits(part("u1", 64, FEATURES))) == {f"observations {READ}"}


def test_a_new_array_of_a_running_step_is_not_read_by_a_weak_reference():
    """A step reuses the memory of an earlier array that nobody holds, although a weak reference leads to it."""
    batch = Batch("standard", NUM_ENVS, dtype="uint8", seed=0, num_threads=1)
    actions, references = np.full(NUM_ENVS, PLAY), []

    def step():
        references.append(weakref.ref(batch.step(actions)["obs"]))

    def read():
        array = references[-1]() if references else None
        if array is not None:
            POLICY.logits(array[:64])

    assert messages_while(step, read) == {f"observations {READ}"}


def test_an_empty_array_without_memory():
    torch = pytest.importorskip("torch")
    bits = torch.empty(0, 88, dtype=torch.uint8).numpy()
    unpack_bits_into(bits, torch.empty(0, FEATURES).numpy())
    assert POLICY.logits(torch.empty(0, FEATURES, dtype=torch.uint8).numpy())[0].shape == (0, 20)


def test_arrays_that_are_only_read_may_be_read_only():
    def frozen(array):
        array.flags.writeable = False
        return array

    tower, pooled = zeros(2, 3, 4), zeros(2, 8)
    _pool(frozen(zeros(2, 3, 4)), frozen(zeros(2, 4)), tower, pooled)
    with pytest.raises(ArrayError, match="tower is read-only: expected a writable array"):
        _pool(zeros(2, 3, 4), zeros(2, 4), frozen(tower), pooled)


def test_a_mask_with_bytes_of_any_value_is_written():
    masks = np.full((4, 20), 7, np.uint8)
    BATCH.reset_into(action_mask=masks.view(bool))
    assert set(masks.reshape(-1)) == {0, 1}


def test_a_refused_call_leaves_the_bytes_of_bools():
    masks = np.full((4, 20), 7, np.uint8)
    with pytest.raises(ArrayError, match="reward has shape"):
        BATCH.step_into([PLAY] * 4, action_mask=masks.view(bool), reward=zeros(3))
    with pytest.raises(starmine.IllegalActionError):
        Batch("standard", 4, seed=0).step_into([99] * 4, action_mask=masks.view(bool))
    assert (masks == 7).all()
