"""Masks of any bytes, bools over any bytes, and concurrent calls of one batch."""

import re
import threading

import numpy as np
import pytest

import starmine
from starmine import ArrayError, Batch

PLAY = 5  # plays slot 0 in the standard game, which is always legal


# --- Hostile buffers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda batch, mask: batch.reset(None, mask),
        lambda batch, mask: batch.worlds(2, seed=1, games=mask),
    ],
    ids=["reset", "worlds"],
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
