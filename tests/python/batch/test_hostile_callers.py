"""Damaged data, invalid buffers and concurrent calls: no panic, no abort, no write out of bounds."""

import pickle
import random
import re
import subprocess
import sys
import threading
import zlib

import hypothesis_profiles  # noqa: F401
import numpy as np
import pytest
from hostile_arrays import misaligned, read_only
from hypothesis import given
from hypothesis import strategies as st
from random_games import generators, play, variants
from random_variants import random_variant

import starmine
from starmine import ArrayError, Batch, IllegalActionError, SerializationError, State

pytestmark = pytest.mark.usefixtures("instruction_set")

GAMES = 4
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


@given(variants(), generators())
def test_damaged_bytes_are_refused_or_a_usable_batch(variant, rng):
    data = stored_batch(variant, rng)
    for _ in range(20):
        survives(damaged(data, rng), rng)


def test_every_byte_of_a_stored_batch_may_be_damaged():
    rng = random.Random(0)
    data = stored_batch(starmine.variant("small", players=3), rng)
    for index in range(len(data)):
        flipped = data[:index] + bytes([data[index] ^ 0xFF]) + data[index + 1 :]
        assert not survives(flipped, rng)
        survives(signed(flipped[:-CHECKSUM]), rng)
        assert not survives(data[:index], rng)


def test_forged_bytes_are_refused_or_a_usable_batch(pytestconfig):
    """So many stored batches as --fuzz-runs says, each with 40 forgeries."""
    rng = random.Random(pytestconfig.option.fuzz_seed)
    accepted = 0
    for _ in range(pytestconfig.option.fuzz_runs):
        data = stored_batch(random_variant(rng), rng)
        accepted += sum(survives(damaged(data, rng), rng) for _ in range(40))
    assert accepted > 0


def test_the_reader_chooses_the_threads():
    batch = Batch("small", 10, seed=0, num_threads=3)
    data = batch.to_bytes()
    assert data == Batch("small", 10, seed=0, num_threads=1).to_bytes()
    assert pickle.loads(pickle.dumps(batch)).num_threads == Batch.from_bytes(data).num_threads == 1
    assert Batch.from_bytes(data, num_threads=2).num_threads == 2
    with pytest.raises(starmine.StarmineError, match="num_threads=0 is not allowed: expected 1 to 1024"):
        Batch.from_bytes(data, num_threads=0)


@given(variants(), generators())
def test_damaged_json_is_refused_or_a_usable_state(variant, rng):
    state = variant.new_game(seed=rng.getrandbits(64))
    play(state, rng, rng.randint(0, 30))
    text = state.to_json()
    for _ in range(20):
        index = rng.randrange(len(text))
        changed = text[:index] + rng.choice('0123456789-[]{}",:RYGWBM.etrue') + text[index + 1 :]
        try:
            back = State.from_json(changed)
        except SerializationError:
            continue
        play(back, rng)
        str(back)


# --- Hostile buffers --------------------------------------------------------------------------------------

BUFFERS = Batch("standard", 1, seed=0).allocate()
GOOD = ["good", "inside", "None", "missing"]
BAD = ["read-only", "strided", "dtype", "byte order", "shape", "misaligned", "list", "alias"]


def fitting(name, num_envs):
    """A valid buffer, filled with a pattern."""
    array = np.empty((num_envs, *BUFFERS[name].shape[1:]), BUFFERS[name].dtype)
    array.view(np.uint8)[...] = 1
    return array


def inside(array):
    """A valid buffer inside a larger array, whose rest must not be written."""
    outer = np.concatenate([array, array, array])
    return outer[len(array) : 2 * len(array)]


def hostile(kind, array, others):
    """A buffer that must be refused, or None where this kind of fault does not apply."""
    if kind == "read-only":
        return read_only(array)
    if kind == "strided":
        return np.concatenate([array, array])[::2] if len(array) > 1 else None
    if kind == "dtype":
        return array.astype(np.float64)
    if kind == "byte order":
        return array.astype(array.dtype.newbyteorder(">")) if array.itemsize > 1 else None
    if kind == "shape":
        return array[:-1]
    if kind == "misaligned":
        return misaligned(array.shape, array.dtype) if array.itemsize > 1 else None
    if kind == "list":
        return array.tolist()
    # The memory of another output.
    arrays = [other for other in others.values() if isinstance(other, np.ndarray)]
    large = [other for other in arrays if other.flags.c_contiguous and other.nbytes >= array.nbytes > 0]
    if not large:
        return None
    memory = large[0].reshape(-1).view(np.uint8)[: array.nbytes]
    return memory.view(array.dtype).reshape(array.shape)


def memory_of(array):
    """All bytes of the array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.tobytes()


@given(
    st.integers(1, 4),
    st.dictionaries(st.sampled_from([*BUFFERS]), st.sampled_from(GOOD + BAD), max_size=5),
    st.booleans(),
)
def test_step_into_writes_fitting_buffers_or_refuses_them_all(num_envs, kinds, resets):
    batch = Batch("standard", num_envs, seed=3)
    buffers, refused = {}, False
    for name, kind in kinds.items():
        array = fitting(name, num_envs)
        if kind == "missing":
            continue
        if kind == "None":
            buffers[name] = None
        elif kind == "inside":
            buffers[name] = inside(array)
        elif kind == "good" or (spoilt := hostile(kind, array, buffers)) is None:
            buffers[name] = array
        else:
            buffers[name] = spoilt
            refused = True
    arrays = {name: array for name, array in buffers.items() if isinstance(array, np.ndarray)}
    before, memory = batch.to_bytes(), {name: memory_of(array) for name, array in arrays.items()}
    twin = batch.copy()
    actions = np.full(num_envs, PLAY)

    def call():
        return batch.reset_into(9, **buffers) if resets else batch.step_into(actions, **buffers)

    if refused:
        with pytest.raises(ArrayError):
            call()
        assert batch.to_bytes() == before
        assert {name: memory_of(array) for name, array in arrays.items()} == memory
        return
    call()
    expected = twin.reset(9) if resets else twin.step(actions)
    assert batch.to_bytes() == twin.to_bytes()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)
        if kinds[name] == "inside":
            rest = np.delete(array.base.reshape(3, -1).view(np.uint8), 1, axis=0)
            assert (rest == 1).all()


@pytest.mark.parametrize("dtype", ["i8", "i4", "u2", ">i8"])
def test_misaligned_actions_are_read_as_they_are(dtype):
    actions = misaligned((GAMES,), dtype)
    actions[:] = [5, 6, 7, 8]
    batches = [Batch("standard", GAMES, seed=0) for _ in range(2)]
    outs = [batches[0].step(actions), batches[1].step([5, 6, 7, 8])]
    np.testing.assert_array_equal(outs[0]["obs"], outs[1]["obs"])


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


def test_concurrent_steps_of_different_batches_are_independent():
    def play_out(seed):
        batch = Batch("small", 100, seed=seed, num_threads=1)
        out = batch.reset()
        for _ in range(30):
            out = batch.step(out["action_mask"].argmax(axis=1))
        return batch.to_bytes()

    calls = [lambda seed=seed: play_out(seed) for seed in range(3)]
    assert run_threads(*calls) == [call() for call in calls]


@pytest.mark.parametrize("use", ["reset_mask", "actions"])
def test_an_array_that_another_thread_writes_is_refused_or_read(use):
    num_envs = 4000
    settings = {"seed": 0, "num_threads": 1, "illegal_action": "terminate"}
    writer, reader = (Batch("standard", num_envs, **settings) for _ in range(2))
    actions = np.full(num_envs, PLAY)
    mask, score = np.ones(num_envs, bool), np.zeros(num_envs, np.int32)
    read = {"reset_mask": lambda: reader.reset_into(1, mask), "actions": lambda: reader.step_into(score)}[use]

    def read_often():
        done = 0
        for _ in range(300):
            try:
                read()
                done += 1
            except ArrayError as error:
                check_told(error)
        return done

    def write_often():
        for _ in range(60):
            try:
                writer.step_into(actions, terminated=mask, score=score)
            except ArrayError as error:
                check_told(error)
        return 0

    results = run_threads(read_often, write_often)
    assert all(isinstance(done, int) for done in results), results


# --- Reentrant calls ---------------------------------------------------------------------------------------


def run_apart(code):
    """Runs the code in another process and returns its output."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_an_array_whose_astype_returns_itself_is_refused_or_read():
    code = """
import numpy as np, starmine
class Stubborn(np.ndarray):
    def astype(self, *arguments, **settings):
        return self
try:
    starmine.Batch("standard", 2, seed=0).step(np.array([5, 5], ">i8").view(Stubborn))
except starmine.ArrayError:
    pass
print("done")
"""
    assert "done" in run_apart(code)
