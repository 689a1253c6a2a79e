"""The arrays of the Gymnasium classes: those that they hand out, and those that may be given as actions."""

import random

import numpy as np
import pytest
from other_arrays import OnlyDLPack
from vector_games import DTYPES, MODES, legal_actions

import starmine


def play_first_slot(env):
    """The action that plays slot 0, which is always legal, for each game."""
    return np.full(env.num_envs, env.variant.action("play 0"))


# --- Arrays -----------------------------------------------------------------------------------------------


def arrays_of(result):
    """All arrays that a reset or a step handed out."""
    *arrays, info = result
    arrays = list(arrays)
    for value in info.values():
        arrays += [value] if isinstance(value, np.ndarray) else list(value.values())
    arrays += [row for row in info.get("final_obs", ()) if row is not None]
    return [array for array in arrays if isinstance(array, np.ndarray)]


def held(arrays):
    """The same arrays with copies of them."""
    return [(array, array.copy()) for array in arrays if array.dtype != object]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_handed_out_are_never_changed(dtype, mode):
    env = starmine.HanabiVectorEnv(4, "small", dtype=dtype, autoreset_mode=mode, illegal_action="terminate")
    given = held(arrays_of(env.reset(seed=0)))
    rng = random.Random(0)
    for _ in range(30):
        over = env._batch.observe()["action_mask"].any(axis=1) == 0
        if mode == "Disabled" and over.any():
            given += held(arrays_of(env.reset(options={"reset_mask": over})))
        mask = env._batch.observe()["action_mask"]
        given += held(arrays_of(env.step(legal_actions(mask, rng))))
    given += held(arrays_of(env.reset(seed=1)))
    for array, copy in given:
        np.testing.assert_array_equal(array, copy)


def test_a_callers_reset_mask_is_not_kept():
    env = starmine.HanabiVectorEnv(2, autoreset_mode="Disabled")
    env.reset(seed=0)
    mask = np.array([True, False])
    _, info = env.reset(options={"reset_mask": mask})
    mask[:] = True
    assert info["_score"].tolist() == [True, False]


# --- Actions ----------------------------------------------------------------------------------------------


def strided(array):
    """The same numbers, not contiguous."""
    return np.stack([array, array], axis=1)[:, 0]


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ACTION_FORMS = {
    **{name: lambda array, name=name: array.astype(name) for name in INTEGERS},
    "longlong": lambda array: array.astype(np.longlong),
    "big-endian": lambda array: array.astype(">i4"),
    "list": lambda array: array.tolist(),
    "tuple": lambda array: tuple(array.tolist()),
    "list of numpy integers": lambda array: list(array),
    "strided": strided,
    "reversed": lambda array: array[::-1].copy()[::-1],
    "read-only": read_only,
    "dlpack": OnlyDLPack,
    "memoryview": memoryview,
}


@pytest.mark.parametrize("form", ACTION_FORMS)
def test_forms_of_actions(form):
    env = starmine.HanabiVectorEnv(4, seed=0)
    expected = starmine.HanabiVectorEnv(4, seed=0)
    _, info = env.reset()
    expected.reset()
    rng = random.Random(0)
    for _ in range(10):
        actions = legal_actions(info["action_mask"], rng)
        obs, *_, info = env.step(ACTION_FORMS[form](actions))
        np.testing.assert_array_equal(obs, expected.step(actions)[0])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_torch_tensors_as_actions(dtype):
    torch = pytest.importorskip("torch")
    env = starmine.HanabiVectorEnv(4, seed=0)
    env.reset()
    actions = torch.tensor(play_first_slot(env)).to(getattr(torch, dtype))
    np.testing.assert_array_equal(
        env.step(actions)[0], starmine.Batch("standard", 4, seed=0).step(play_first_slot(env))["obs"]
    )
    single = starmine.HanabiEnv(seed=0)
    single.reset()
    single.step(actions[0])


def test_observations_become_tensors_without_a_copy():
    torch = pytest.importorskip("torch")
    env = starmine.HanabiVectorEnv(4, seed=0)
    obs, _ = env.reset()
    assert torch.from_numpy(obs).data_ptr() == obs.ctypes.data
