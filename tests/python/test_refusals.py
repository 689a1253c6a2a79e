"""What the core refuses because it would give a wrong game or a wrong number without a word; no game moves.

Memory is in batch/test_step_into_fuzz.py, illegal actions are in batch/test_batch_properties.py, forged files and texts
in test_forged_inputs.py.
"""

import contextlib
import subprocess
import sys

import numpy as np
import pytest

import starmine
from starmine import ArrayError, Batch, IllegalActionError, NotationError, StarmineError, UnknownNameError, VariantError

PLAY = 5  # plays slot 0 in the standard game, which is always legal
BATCH = Batch("standard", 2, seed=0)
STATE = starmine.Variant().new_game(seed=1)


def masked(values, dtype=np.int64):
    return np.ma.array(values, dtype=dtype, mask=np.arange(np.size(values)).reshape(np.shape(values)) == 0)


def over():
    state = starmine.variant("mini").new_game(seed=1)
    while not state.is_terminal:
        state.apply(state.legal_actions()[0])
    return state


REFUSED = [
    *[(VariantError, lambda rules=rules: starmine.Variant(**rules)) for rules in ({"players": 1}, {"colors": 7})],
    (VariantError, lambda: starmine.Variant(players=5, hand_size=20)),
    (VariantError, lambda: starmine.Variant(copies=[[3, 2, 2, 2, 0]] * 5)),
    (UnknownNameError, lambda: starmine.variant("standrad")),
    (UnknownNameError, lambda: starmine.make_bot("smrat", "standard")),
    (UnknownNameError, lambda: Batch("standard", 2, encoder="canonicl")),
    (UnknownNameError, lambda: Batch("standard", 2, extra_outputs=["marginal"])),
    (StarmineError, lambda: Batch("standard", 2, seed=-1)),
    (StarmineError, lambda: Batch("standard", 2, num_threads=0)),
    (StarmineError, lambda: Batch("standard", 2, partners={2: "smart"})),
    (StarmineError, lambda: STATE.view(2)),
    (NotationError, lambda: STATE.apply("play slot 9 please")),
    (IllegalActionError, lambda: STATE.apply(20)),
    (IllegalActionError, lambda: over().apply(0)),
    (IllegalActionError, lambda: BATCH.step([PLAY, -1])),
    (ArrayError, lambda: BATCH.step([PLAY])),
    (ArrayError, lambda: BATCH.step(masked([PLAY, PLAY]))),
    (ArrayError, lambda: BATCH.step_into([PLAY, PLAY], reward=masked([0, 0], np.float32))),
    (ArrayError, lambda: BATCH.reset(reset_mask=masked([True, True], bool))),
    (StarmineError, lambda: starmine.play_games(["smart"], 2)),
]


@pytest.mark.parametrize(("error", "call"), REFUSED)
def test_it_is_refused_and_no_game_moves(error, call):
    before = BATCH.to_bytes(), STATE.to_json()
    with pytest.raises(error):
        call()
    assert (BATCH.to_bytes(), STATE.to_json()) == before


def test_an_illegal_action_error_lists_rows_actions_and_what_was_legal():
    batch = Batch("standard", 300, seed=0)
    with pytest.raises(IllegalActionError) as caught:
        batch.step(np.where(np.arange(300) % 2, PLAY, -3))
    error = caught.value
    assert error.count == 150
    assert error.rows == list(range(0, 200, 2))
    assert error.actions == [-3] * 100
    masks = batch.observe()["action_mask"]
    assert error.legal == [np.flatnonzero(masks[row]).tolist() for row in error.rows]


def test_every_error_of_the_package_is_a_starmine_error():
    for name in [name for name in starmine.__all__ if name.endswith("Error")]:
        assert issubclass(getattr(starmine, name), RuntimeError if name == "BusyError" else StarmineError)
    assert issubclass(StarmineError, ValueError)


def test_a_seed_is_any_integer():
    env = starmine.HanabiVectorEnv(1, "mini")
    expected = env.reset(seed=3)[0]
    for seed in (np.array(3), np.int64(3), np.uint8(3)):
        assert np.array_equal(env.reset(seed=seed)[0], expected)
        assert Batch("mini", 1, seed=0).reset(seed)["obs"].tolist() == expected.tolist()


class Reentrant:
    """An action that uses its state while it is read."""

    def __init__(self, use):
        self.use = use

    def __index__(self):
        self.use()
        return 5


def test_a_state_can_be_used_while_its_action_is_read():
    state = starmine.Variant().new_game(seed=1)
    state.apply(Reentrant(lambda: (state.suggest("smart"), state.worlds(2), repr(state), state.copy())))
    assert state.length == 1
    for call in (state.encode, state.worlds, lambda seed: state.suggest("smart", seed), state.view):
        with contextlib.suppress(RuntimeError, starmine.StarmineError):
            call(Reentrant(lambda: state.apply(state.legal_actions()[0])))


def test_a_length_that_is_claimed_reserves_nothing():
    with pytest.raises((TypeError, starmine.StarmineError)):
        starmine.Knowledge._restored(range(2**40), None, None)
    with pytest.raises((TypeError, starmine.StarmineError)):
        starmine._core._play_bots("standard", range(2**62), 1, 0, 0, 1)


def test_a_text_of_nested_noise_is_refused():
    with pytest.raises(starmine.StarmineError):
        starmine.make_bot("noisy:0;" * 100_000 + "smart", starmine.Variant())


def test_a_child_process_loads_a_policy_while_its_parent_does(tmp_path):
    """The child has no thread that would give the lock of loaded policies back."""
    path = tmp_path / "policy.safetensors"
    path.write_bytes(starmine._core._policy_bytes("ippo-5p"))  # a large one: the lock is held long
    script = f"""
import os, signal, threading
from starmine._core import _Player

text = "policy: {path}"
kept = _Player(text)
def load():
    while True:
        _Player(text)
for _ in range(3):
    threading.Thread(target=load, daemon=True).start()
for _ in range(60):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        _Player(text)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "the child hangs"
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)
