"""Memory shared by two threads: no concurrent writes, and no reads of memory that is being written."""

import contextlib
import threading

import numpy as np
import pytest

from starmine import ArrayError, Batch, IllegalActionError
from starmine._core import unpack_bits_into

FLOATS = np.ctypeslib.ctypes.POINTER(np.ctypeslib.ctypes.c_float)
PLAY = 5  # plays slot 0 in the standard game, which is always legal


def step_often(batch, times, refused, **buffers):
    """Steps in a thread and counts the calls whose buffers were refused."""
    actions = np.full(batch.num_envs, PLAY)
    for _ in range(times):
        try:
            batch.step_into(actions, **buffers)
        except ArrayError as error:
            refused.append(str(error))


@pytest.mark.parametrize("second", ["the same array", "a part of it", "another owner of it", "a few games"])
def test_two_batches_never_write_the_same_memory_at_once(second):
    num_envs = 20_000
    settings = {"seed": 0, "num_threads": 1}
    large = Batch("standard", num_envs, **settings)
    obs = np.zeros((num_envs, len(large.layout)), np.float32)
    small = Batch("standard", 4 if second == "a few games" else num_envs // 2, **settings)
    part = {
        "the same array": lambda: obs,
        "a part of it": lambda: obs[num_envs // 2 :],
        "another owner of it": lambda: np.ctypeslib.as_array(obs.ctypes.data_as(FLOATS), obs.shape)[: num_envs // 2],
        "a few games": lambda: obs[7:11],
    }[second]()
    if second == "the same array":
        small = Batch("standard", num_envs, **settings)
    refused = []
    thread = threading.Thread(target=step_often, args=(large, 40, refused), kwargs={"obs": obs})
    thread.start()
    while thread.is_alive():
        step_often(small, 1, refused, obs=part)
    thread.join()
    assert set(refused) == {"obs overlaps another array in use: expected separate memory"}
    step_often(small, 1, refused := [], obs=part)
    step_often(large, 1, refused, obs=obs)
    assert not refused


def test_two_threads_with_buffers_of_their_own_step_at_the_same_time():
    batches = [Batch("standard", 2000, seed=seed, num_threads=1) for seed in range(2)]
    memory = np.zeros((2, 2000, len(batches[0].layout)), np.float32)
    refused = []
    arguments = [(batch, 30, refused) for batch in batches]
    threads = [
        threading.Thread(target=step_often, args=given, kwargs={"obs": obs})
        for given, obs in zip(arguments, memory, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not refused
    for obs, batch in zip(memory, batches, strict=True):
        np.testing.assert_array_equal(obs, batch.observe()["obs"])


@pytest.mark.parametrize("use", ["reset_mask", "actions"])
def test_memory_that_a_call_writes_is_not_read_by_another(use):
    num_envs = 20_000
    settings = {"seed": 0, "num_threads": 1, "illegal_action": "terminate"}
    writer, reader = (Batch("standard", num_envs, **settings) for _ in range(2))
    actions, mask, score = np.full(num_envs, PLAY), np.ones(num_envs, bool), np.zeros(num_envs, np.int32)
    read = {"reset_mask": lambda: reader.reset_into(1, mask), "actions": lambda: reader.step_into(score)}[use]

    def write():
        for _ in range(20):
            writer.step_into(actions, terminated=mask, score=score)

    thread = threading.Thread(target=write)
    thread.start()
    messages = set()
    while thread.is_alive():
        try:
            read()
        except ArrayError as error:
            messages.add(str(error))
    thread.join()
    assert messages - {"reset_mask is all False: expected at least one game to reset"} == {
        f"{use} is being written by another call"
    }


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


def refusals(first, second):
    """The reasons for which calls of the second function are refused while another thread calls the first one."""
    messages = set()

    def call_often():
        for _ in range(30):
            with contextlib.suppress(ArrayError):
                first()

    thread = threading.Thread(target=call_often)
    thread.start()
    while thread.is_alive():
        try:
            second()
        except ArrayError as error:
            messages.add(str(error))
    thread.join()
    second()
    return messages


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("out of a few rows", "out overlaps another array in use: expected separate memory"),
        ("out of many rows", "out overlaps another array in use: expected separate memory"),
        ("out of the bits", "out overlaps another array in use: expected separate memory"),
        ("bits of the elements", "bits is being written by another call"),
        ("observations", "obs overlaps another array in use: expected separate memory"),
        ("the same bits", None),
    ],
)
def test_memory_that_a_call_unpacks_into_is_not_written_by_another(use, message):
    num_envs = 20_000
    batch = Batch("standard", num_envs, dtype="bits", seed=0, num_threads=1)
    bits, actions = batch.observe()["obs"], np.full(num_envs, PLAY)
    out, other = (np.empty((num_envs, len(batch.layout)), np.float32) for _ in range(2))
    second = {
        "out of a few rows": lambda: unpack_bits_into(bits[:2], out[5:7]),
        "out of many rows": lambda: unpack_bits_into(bits[:5000], out[5000:10_000]),
        "out of the bits": lambda: unpack_bits_into(np.zeros((1, 8), np.uint8), bits[7:8, :64]),
        "bits of the elements": lambda: unpack_bits_into(out.view(np.uint8)[:1, :88], other[:1]),
        "observations": lambda: batch.step_into(actions, obs=bits),
        "the same bits": lambda: unpack_bits_into(bits, other),
    }[use]
    assert refusals(lambda: unpack_bits_into(bits, out), second) == ({message} if message else set())


def test_bits_are_not_unpacked_while_a_batch_writes_them():
    num_envs = 20_000
    batch = Batch("standard", num_envs, dtype="bits", seed=0, num_threads=1)
    bits, actions = np.zeros((num_envs, 88), np.uint8), np.full(num_envs, PLAY)
    out = np.empty((10, len(batch.layout)), np.float32)
    found = refusals(lambda: batch.step_into(actions, obs=bits), lambda: unpack_bits_into(bits[:10], out))
    assert found == {"bits is being written by another call"}
