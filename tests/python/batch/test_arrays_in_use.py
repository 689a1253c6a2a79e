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
from starmine import ArrayError, Batch, IllegalActionError, Variant
from starmine._core import (
    _Replay,
    unpack_bits_into,
)

PLAY = 5  # plays slot 0 in the standard game, which is always legal
NUM_ENVS = 20_000
VARIANT = Variant()
POLICY = starmine.load_policy("ippo-2p-small")
FEATURES = len(VARIANT.layout(POLICY.encoder))
WANTED = ("canonical", "float32", [])
READ, WRITTEN = "is being written by another call", "overlaps another array in use: expected separate memory"


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
    "bits": lambda part: unpack_bits_into(part("u1", 2, 88), zeros(2, FEATURES)),
    "games": lambda part: BATCH._rows(part("i8", 3), np.zeros(3, int), WANTED),
    "actions": lambda part: BATCH.step(part("i8", 4)),
    "actions: strided": lambda part: BATCH.step(part("i4", 8)[::2]),
    "actions: DLPack": lambda part: BATCH.step(OnlyDLPack(part("i4", 4))),
    "reset_mask": lambda part: BATCH.reset(reset_mask=part("?", 4)),
    "decks": lambda part: BATCH.reset(decks=part("u1", 4, 50)),
    "actions: a replay": lambda part: _Replay(
        "standard", *games(actions=part("u1", 2)), 1, ["obs"], "canonical", "float32", "current", 1
    ),
}

WRITERS = {
    "out": lambda part: unpack_bits_into(zeros(2, 88, dtype=np.uint8), part("f4", 2, FEATURES)),
    "reward": lambda part: BATCH.step_into([PLAY] * 4, reward=part("f4", 4)),
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


def test_actions_that_another_thread_changes_are_checked_as_they_are_played():
    num_envs = 20_000
    batch = Batch("standard", num_envs, seed=0, num_threads=1)
    actions, done, refused = np.full(num_envs, PLAY), threading.Event(), set()

    def change():
        while not done.is_set():
            actions[num_envs // 2 :] = 10**12
            actions[num_envs // 2 :] = PLAY

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(100):
            try:
                batch.step_into(actions)
            except IllegalActionError as error:
                refused.update(error.actions)
    finally:
        done.set()
        thread.join()
    assert refused <= {10**12}
    assert Batch.from_bytes(batch.to_bytes()).to_bytes() == batch.to_bytes()
