"""Damaged data, invalid buffers and concurrent calls: no panic, no abort, no write out of bounds."""

import pickle
import random
import re
import threading
import zlib

import numpy as np
import pytest
from random_variants import random_variant

import starmine
from starmine import ArrayError, Batch, IllegalActionError, SerializationError

PLAY = 5  # plays slot 0 in the standard game, which is always legal


# --- Damaged data -----------------------------------------------------------------------------------------


def stored_batch(variant, rng):
    """A stored batch in the middle of its games."""
    settings = {
        "autoreset_mode": rng.choice(["SameStep", "NextStep", "Disabled"]),
        "illegal_action": "terminate",
        "dtype": "bits",
        "observers": rng.choice(["current", "all"]),
        "num_threads": 1,
    }
    batch = Batch(variant, rng.randint(1, 3), seed=rng.getrandbits(64), **settings)
    step_anyhow(batch, rng, rng.randint(0, 40))
    return batch.to_bytes()


def step_anyhow(batch, rng, steps):
    """Steps a batch with legal and illegal actions, past the ends of games."""
    for _ in range(steps):
        masks = batch.observe()["action_mask"]
        actions = [rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks]
        if rng.random() < 0.05:
            actions[rng.randrange(len(actions))] = rng.randint(-3, batch.variant.num_actions + 3)
        try:
            batch.step(actions)
        except IllegalActionError:
            batch.reset()


CHECKSUM = 4  # bytes at the end


def signed(body):
    """The bytes of a stored batch with a valid checksum."""
    return body + zlib.crc32(body).to_bytes(CHECKSUM, "little")


def damaged(data, rng):
    """The bytes with a few changed, and sometimes cut or grown; mostly with a valid checksum, as a forger has."""
    if rng.random() < 0.8:
        return signed(with_changes(data[:-CHECKSUM], rng))
    return with_changes(data, rng)


def with_changes(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        index = rng.randrange(len(data))
        data[index] = rng.choice([0, 1, 127, 128, 255, data[index] ^ 1 << rng.randrange(8)])
    if rng.random() < 0.1:
        del data[rng.randrange(len(data)) :]
    if rng.random() < 0.1:
        data += rng.randbytes(rng.randint(1, 20))
    return bytes(data)


def survives(data, rng):
    """Whether the bytes are a batch; calls its methods if so."""
    try:
        batch = Batch.from_bytes(data)
    except SerializationError:
        return False
    assert Batch.from_bytes(batch.to_bytes()).to_bytes() == batch.to_bytes()
    assert batch.num_threads == 1
    for _ in range(2):
        games, rows = batch.final_observations()
        assert len(games) == len(rows) == batch.num_finished
        assert batch._final_obs() is None or batch.num_finished
        assert batch.copy().to_bytes() == pickle.loads(pickle.dumps(batch)).to_bytes() == batch.to_bytes()
        assert (len(batch.episodes), batch.seed >= 0, batch.layout is not None) == (batch.num_envs, True, True)
        repr(batch)
        step_anyhow(batch, rng, 20)
    return True


def test_forged_bytes_are_refused_or_a_usable_batch(pytestconfig):
    """So many stored batches as --fuzz-runs says, each with 40 forgeries."""
    rng = random.Random(pytestconfig.option.fuzz_seed)
    accepted = 0
    for _ in range(pytestconfig.option.fuzz_runs):
        data = stored_batch(random_variant(rng), rng)
        accepted += sum(survives(damaged(data, rng), rng) for _ in range(40))
    assert accepted > 0


# --- Hostile buffers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda batch, mask: batch.reset(None, mask),
        lambda batch, mask: batch._step_some([PLAY] * 3, mask),
        lambda batch, mask: batch.worlds(2, seed=1, games=mask),
    ],
    ids=["reset", "step of some games", "worlds"],
)
def test_a_mask_of_other_bytes_than_0_and_1_is_true(call):
    masks = [np.array([0, 2, 255], np.uint8).view(bool), np.array([False, True, True])]
    batches = [Batch("standard", 3, partners={1: "cheater"}, observers="all", seed=0) for _ in masks]
    for batch in batches:
        batch.step([PLAY] * 3)
    results = [call(batch, mask) for batch, mask in zip(batches, masks, strict=True)]
    compared = results if isinstance(results[0], Batch) else batches
    np.testing.assert_array_equal(*(batch.observe()["obs"] for batch in compared))


def test_bools_are_written_where_memory_holds_other_bytes():
    batch = Batch("standard", 4, seed=0)
    names = ("action_mask", "terminated", "truncated", "illegal_action")
    expected = batch.observe()
    memory = {name: np.full(expected[name].shape, 7, np.uint8) for name in names}
    batch.reset_into(seed=0, **{name: memory[name].view(bool) for name in names})
    for name in names:
        np.testing.assert_array_equal(memory[name], expected[name].view(np.uint8), name)


# --- Threads ----------------------------------------------------------------------------------------------


def run_threads(*calls):
    """Runs the calls at the same time and returns what each returned or raised."""
    results = [None] * len(calls)
    start = threading.Barrier(len(calls))

    def run(index):
        start.wait()
        try:
            results[index] = calls[index]()
        except BaseException as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def check_told(error):
    """Raises the error again unless it reports a concurrent call."""
    if not re.search("in use by another thread|another call|overlaps|all False", str(error)):
        raise error


def repeated(times, call, allowed):
    """Repeats the call and returns how often it succeeded; only these errors may be raised."""

    def run():
        done = 0
        for _ in range(times):
            try:
                call()
                done += 1
            except allowed as error:
                check_told(error)
        return done

    return run


@pytest.mark.parametrize("own_buffers", [False, True])
def test_concurrent_steps_of_one_batch_succeed_or_raise_that_it_is_busy(own_buffers):
    num_envs = 2000
    batch = Batch("standard", num_envs, seed=0, num_threads=2, illegal_action="terminate")
    actions = np.full(num_envs, PLAY)
    buffers = batch.allocate() if own_buffers else {}
    allowed = (starmine.BusyError, ArrayError) if own_buffers else starmine.BusyError
    calls = [lambda: batch.step_into(actions, **buffers), lambda: batch.step(actions), batch.observe]
    results = run_threads(*(repeated(15, call, allowed) for call in calls))
    assert all(isinstance(done, int) for done in results), results
    assert sum(results) > 0
    assert Batch.from_bytes(batch.to_bytes()).to_bytes() == batch.to_bytes()
