"""Memory at the border: what is checked in every call, and what is used again."""

import inspect
import sys
import weakref

import numpy as np
import pytest
from hostile_arrays import misaligned

import starmine
from starmine import ArrayError, Batch, IllegalActionError
from starmine._core import _extra_outputs

pytestmark = pytest.mark.usefixtures("instruction_set")

PLAY = 5  # plays slot 0 in the standard game, which is always legal
SIZES = [1, 4, 100]  # up to 64 games a call keeps the interpreter
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
    "read-only": (lambda array: array.setflags(write=False), "is read-only"),
    "shape": (lambda array: setattr(array, "shape", (-1, 1, 1)), "has shape"),
    "dtype": (lambda array: setattr(array, "dtype", f"V{array.itemsize}"), "has dtype"),
    "size": (lambda array: array.resize((0,), refcheck=False), "has shape"),
}


@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")
@pytest.mark.parametrize("num_envs", SIZES)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", NAMES)
def test_a_buffer_that_was_changed_since_the_last_call_is_refused(name, change, num_envs):
    batch = Batch("standard", num_envs, extra_outputs=EXTRA, seed=0)
    actions = np.full(num_envs, PLAY)
    buffers = {key: np.zeros_like(array) for key, array in batch.allocate().items()}
    for _ in range(2):
        batch.step_into(actions, **buffers)
    before = batch.to_bytes()
    make, message = CHANGES[change]
    make(buffers[name])
    for call in (lambda: batch.step_into(actions, **buffers), lambda: batch.reset_into(1, **buffers)):
        with pytest.raises(ArrayError, match=rf"^{name} {message}"):
            call()
        assert batch.to_bytes() == before


@pytest.mark.parametrize("num_envs", SIZES)
def test_a_buffer_is_accepted_again_once_it_is_as_it_was(num_envs):
    batch = Batch("standard", num_envs, seed=0)
    actions, reward = np.full(num_envs, PLAY), np.zeros(num_envs, np.float32)
    for writable in (True, False, True, False, True):
        reward.flags.writeable = writable
        if writable:
            batch.step_into(actions, reward=reward)
            continue
        with pytest.raises(ArrayError, match="reward is read-only: expected a writable array"):
            batch.step_into(actions, reward=reward)


@pytest.mark.parametrize("num_envs", SIZES)
def test_buffers_that_overlap_are_named(num_envs):
    batch = Batch("standard", num_envs, seed=0)
    memory = np.zeros(3 * num_envs, np.int32)
    buffers = {"score": memory[:num_envs], "final_score": memory[num_envs : 2 * num_envs]}
    batch.step_into(np.full(num_envs, PLAY), **buffers)
    wrong = {**buffers, "final_length": memory[2 * num_envs - 1 :][:num_envs]}
    moved = {**buffers, "final_score": memory[num_envs - 1 :][:num_envs]}
    for _ in range(2):  # though the same were refused before, or others were not
        with pytest.raises(ArrayError, match="final_length overlaps final_score: expected separate memory"):
            batch.step_into(np.full(num_envs, PLAY), **wrong)
        with pytest.raises(ArrayError, match="final_score overlaps score: expected separate memory"):
            batch.step_into(np.full(num_envs, PLAY), **moved)
        batch.step_into(np.full(num_envs, PLAY), **buffers)


@pytest.mark.parametrize("num_envs", SIZES)
def test_a_refused_call_leaves_its_buffers_free(num_envs):
    batch = Batch("standard", num_envs, seed=0)
    buffers = batch.allocate()
    for actions in (np.full(num_envs, PLAY), np.full(num_envs, -1), np.full(num_envs + 1, PLAY)) * 2:
        if actions[0] == PLAY and len(actions) == num_envs:
            batch.step_into(actions, **buffers)
            continue
        with pytest.raises((IllegalActionError, ArrayError)):
            batch.step_into(actions, **buffers)


def test_the_signature_names_the_buffers():
    reset = ["self", "seed", "reset_mask", "decks", "start_players"]
    for method, first in ((Batch.step_into, ["self", "actions"]), (Batch.reset_into, reset)):
        parameters = inspect.signature(method).parameters
        assert [*parameters] == first + NAMES
        assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in NAMES)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_a_misaligned_buffer_is_refused_by_a_few_games_too(dtype):
    name = "reward" if dtype is np.float32 else "score"
    with pytest.raises(ArrayError, match=f"{name} is not aligned"):
        Batch("standard", 1, seed=0).step_into([PLAY], **{name: misaligned(1, dtype)})


# --- Actions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i8", "i4", "u1", ">i8"])
@pytest.mark.parametrize("num_envs", SIZES)
def test_actions_are_read_anew_in_every_call_and_not_kept(num_envs, dtype):
    batch, twin = (Batch("standard", num_envs, seed=0) for _ in range(2))
    actions = np.full(num_envs, PLAY, dtype)
    holders = sys.getrefcount(actions)
    for slot in (0, 3, 1):
        actions[:] = PLAY + slot
        batch.step_into(actions)
        twin.step([PLAY + slot] * num_envs)
        assert batch.to_bytes() == twin.to_bytes()
        assert sys.getrefcount(actions) == holders


@pytest.mark.parametrize("num_envs", SIZES)
def test_actions_may_be_in_the_memory_of_a_buffer(num_envs):
    batch, twin = (Batch("standard", num_envs, seed=0) for _ in range(2))
    memory = np.full(num_envs, PLAY, np.int32)
    batch.step_into(memory, score=memory)
    np.testing.assert_array_equal(memory, twin.step([PLAY] * num_envs)["score"])
    assert batch.to_bytes() == twin.to_bytes()


# --- Arrays that are used again ---------------------------------------------------------------------------


@pytest.mark.parametrize("num_envs", SIZES)
def test_a_dropped_array_is_used_again(num_envs):
    batch = Batch("standard", num_envs, seed=0)
    first = addresses(batch.step([PLAY] * num_envs))
    for _ in range(3):
        assert addresses(batch.step([PLAY] * num_envs)) == first


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
@pytest.mark.parametrize("name", NAMES)
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
@pytest.mark.parametrize("name", NAMES)
def test_what_was_done_to_a_dropped_array_does_not_come_back(name):
    settings = {"extra_outputs": EXTRA, "illegal_action": "terminate"}
    batch, twin = (Batch("small", 9, seed=0, **settings) for _ in range(2))
    others = []

    def other_memory(array):
        others.append((bytes([1]) * array.nbytes, array.nbytes))
        spoil_memory(array, others[-1][0])

    spoilers = [*(make for make, _ in CHANGES.values()), other_memory, lambda array: array.fill(1)]
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


def test_a_row_that_is_held_stays_while_fewer_games_end():
    env = starmine.HanabiVectorEnv(64, seed=0, illegal_action="terminate")
    env.reset()
    row = rows_of_all_games(env)[40]
    copy = row.copy()
    for number in (12, 64, 9, 64):
        actions = np.full(64, PLAY)
        actions[:number] = -1
        env.step(actions)
        np.testing.assert_array_equal(row, copy)


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

    spoilers = [*(make for make, _ in CHANGES.values() if make is not CHANGES["size"][0]), other_memory, resize_owner]
    for index in range(24):
        row, expected = (rows_of_all_games(one)[index % 5] for one in (env, twin))
        assert row.flags.writeable
        np.testing.assert_array_equal(row, expected)
        spoilers[index % len(spoilers)](row)
        del row
        for array, copy in others:
            np.testing.assert_array_equal(array, copy)


def test_rows_follow_the_number_of_games_that_end():
    batch = Batch("standard", 64, seed=0, illegal_action="terminate", dtype="uint8")
    for number in (1, 64, 3, 40, 1, 2, 0, 64):
        actions = np.full(64, PLAY)
        actions[:number] = -1
        batch.reset(0)
        batch.step(actions)
        rows, observations = batch.final_observations()
        assert rows.tolist() == [*range(number)]
        assert observations.shape == (number, len(batch.layout))
        assert observations.base is None or len(observations.base) <= 8 * max(number, 1)
        final_obs = batch._final_obs()
        if number == 0:
            assert final_obs is None
            continue
        assert [row is not None for row in final_obs] == [game < number for game in range(64)]
        for row, expected in zip(final_obs[:number], observations, strict=True):
            np.testing.assert_array_equal(row, expected)


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
