"""Memory at the border: what is checked in every call, and what is used again."""

import weakref

import numpy as np
import pytest

import starmine
from starmine import ArrayError, Batch
from starmine._core import _extra_outputs

PLAY = 5  # plays slot 0 in the standard game, which is always legal
EXTRA = _extra_outputs()
NAMES = [*Batch("standard", 1, extra_outputs=EXTRA, seed=0).allocate()]


def addresses(out):
    """Where each array's memory is."""
    return {name: array.ctypes.data for name, array in out.items()}


def spoil_memory(array, other):
    """Lets an array stand for another's memory, as unpickling does."""
    array.__setstate__((1, array.shape, array.dtype, False, other))


# --- Every call looks at every buffer ---------------------------------------------------------------------

CHANGES = {
    "read-only": lambda array: array.setflags(write=False),
    "shape": lambda array: setattr(array, "shape", (-1, 1, 1)),
    "dtype": lambda array: setattr(array, "dtype", f"V{array.itemsize}"),
    "size": lambda array: array.resize((0,), refcheck=False),
}


@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")
@pytest.mark.parametrize("num_envs", [4, 100])  # up to 64 games a call keeps the interpreter
@pytest.mark.parametrize("change", CHANGES)
def test_a_buffer_that_was_changed_since_the_last_call_is_refused(change, num_envs):
    batch = Batch("standard", num_envs, extra_outputs=EXTRA, seed=0)
    actions = np.full(num_envs, PLAY)
    for name in NAMES:
        buffers = {key: np.zeros_like(array) for key, array in batch.allocate().items()}
        for _ in range(2):
            batch.step_into(actions, **buffers)
        before = batch.to_bytes()
        CHANGES[change](buffers[name])
        with pytest.raises(ArrayError):
            batch.step_into(actions, **buffers)
        with pytest.raises(ArrayError):
            batch.reset_into(1, **buffers)
        assert batch.to_bytes() == before


# --- Arrays that are used again ---------------------------------------------------------------------------


HOLDERS = {
    "array": lambda array: array,
    "view": lambda array: array[:1],
    "bytes": lambda array: array.reshape(-1).view(np.uint8),
    "memoryview": memoryview,
    "dlpack": np.from_dlpack,
    "capsule": lambda array: array.__dlpack__(),
    "torch": lambda array: pytest.importorskip("torch").from_numpy(array)[1:],
}


@pytest.mark.parametrize("how", HOLDERS)
@pytest.mark.parametrize("name", ["obs", "reward", EXTRA[0]])
def test_an_array_that_is_held_is_not_used_again(name, how):
    batch = Batch("standard", 9, extra_outputs=EXTRA, seed=0)
    out = batch.step([PLAY] * 9)
    kept, copy, address = HOLDERS[how](out[name]), out[name].copy(), out[name].ctypes.data
    held = [out.pop(name)] if how == "capsule" else []  # a capsule shows nothing of what it holds
    del out
    for _ in range(6):
        assert addresses(batch.step([PLAY + 1] * 9))[name] != address
    if held:
        np.testing.assert_array_equal(held[0], copy)
    elif how in ("array", "dlpack"):
        np.testing.assert_array_equal(kept, copy)


@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")
@pytest.mark.parametrize("name", ["obs", "reward", EXTRA[0]])
def test_what_was_done_to_a_dropped_array_does_not_come_back(name):
    settings = {"extra_outputs": EXTRA, "illegal_action": "terminate"}
    batch, twin = (Batch("small", 9, seed=0, **settings) for _ in range(2))
    others = []

    def other_memory(array):
        others.append((bytes([1]) * array.nbytes, array.nbytes))
        spoil_memory(array, others[-1][0])

    spoilers = [*CHANGES.values(), other_memory, lambda array: array.fill(1)]
    for index in range(24):
        out, expected = batch.step([4] * 9), twin.step([4] * 9)
        assert out[name].flags.writeable
        np.testing.assert_array_equal(out[name], expected[name])
        spoilers[index % len(spoilers)](out[name])
        del out
    assert all(memory == bytes([1]) * length for memory, length in others)


def test_a_callback_that_steps_while_an_array_is_dropped_ends_nothing():
    batch = Batch("standard", 4, seed=0)
    called = []

    def again(_):
        try:
            called.append(batch.step([PLAY] * 4)["obs"].shape)
        except starmine.BusyError:
            called.append(None)

    obs = batch.step([PLAY] * 4)["obs"]
    reference = weakref.ref(obs, again)
    obs.flags.writeable = False
    del obs
    assert batch.step([PLAY] * 4)["obs"].flags.writeable
    assert reference() is None
    assert len(called) == 1


# --- Last observations ------------------------------------------------------------------------------------


def steps_to_an_end(batch):
    """Plays until games end, and returns the rows and their last observations."""
    while True:
        batch.step(batch.observe()["action_mask"].argmax(axis=1))
        if batch.num_finished:
            return batch.final_observations()


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "bits"])
@pytest.mark.parametrize("observers", ["current", "all"])
def test_last_observations_that_are_held_do_not_change(dtype, observers):
    batch = Batch("small", 40, seed=0, dtype=dtype, observers=observers)
    held = []
    for _ in range(30):
        rows, observations = steps_to_an_end(batch)
        assert len(rows) == len(observations) == batch.num_finished
        row = observations[len(rows) // 2]
        held.append((row, row.copy()))
        del observations
    for row, copy in held:
        np.testing.assert_array_equal(row, copy)


def rows_of_all_games(env):
    """The last observations after a step in which every game ends."""
    return env.step(np.full(env.num_envs, -1))[4]["final_obs"]


@pytest.mark.parametrize("how", HOLDERS)
def test_a_row_that_is_held_is_not_used_again(how):
    env = starmine.HanabiVectorEnv(9, seed=0, illegal_action="terminate")
    env.reset()
    row = rows_of_all_games(env)[4]
    kept, held = HOLDERS[how](row), row.ctypes.data
    del row
    for _ in range(3):
        assert rows_of_all_games(env)[4].ctypes.data != held
    del kept


@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")
def test_what_was_done_to_a_dropped_row_does_not_come_back():
    env, twin = (starmine.HanabiVectorEnv(5, seed=0, illegal_action="terminate") for _ in range(2))
    env.reset()
    twin.reset()
    others = []

    def other_memory(row):
        others.append((row.base, row.base.copy()))
        spoil_memory(row, bytes(row.nbytes))

    def resize_owner(row):
        row.base.resize((1, 3), refcheck=False)

    spoilers = [*[change for name, change in CHANGES.items() if name != "size"], other_memory, resize_owner]
    for index in range(24):
        row, expected = (rows_of_all_games(one)[index % 5] for one in (env, twin))
        assert row.flags.writeable
        np.testing.assert_array_equal(row, expected)
        spoilers[index % len(spoilers)](row)
        del row
        for array, copy in others:
            np.testing.assert_array_equal(array, copy)


def test_the_number_of_finished_games():
    batch = Batch("standard", 9, seed=0, illegal_action="terminate")
    assert batch.num_finished == 0
    assert len(batch.final_observations()[0]) == 0
    batch.step([PLAY, -1, -1] * 3)
    assert batch.num_finished == 6
    assert batch.final_observations()[0].tolist() == [1, 2, 4, 5, 7, 8]
    batch.step([PLAY] * 9)
    assert batch.num_finished == 0
    batch.step([-1] * 9)
    batch.reset()
    assert batch.num_finished == 0
    waiting = Batch("standard", 2, seed=0, illegal_action="terminate", autoreset_mode="NextStep")
    waiting.step([-1, PLAY])
    assert waiting.num_finished == 0
