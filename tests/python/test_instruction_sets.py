"""Every set of vector instructions gives the same games, and one that the processor lacks is refused.

The best set is what all other tests run on, so those that step batches run again on each of the others. Golden traces,
HLE and the long run of the oracle play single states, which have no vector code: they would only be played again.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import starmine

SETS = ["portable", "avx2", "avx512"]
VARIABLE = "STARMINE_SIMD"
FOLDER = Path(__file__).parent
STEPPING = [
    "test_properties.py",
    "test_buffers.py",
    "test_hostile_callers.py",
    "test_step_into_fuzz.py",
    "test_oracle_batch.py",
]


def available_sets(monkeypatch):
    """The sets that this processor has, the best last."""
    found = []
    for name in SETS:
        monkeypatch.setenv(VARIABLE, name)
        try:
            starmine.Batch("standard", 1)
        except starmine.StarmineError:
            continue
        found.append(name)
    monkeypatch.delenv(VARIABLE)
    return found


@pytest.mark.parametrize("name", SETS)
def test_batches_are_the_same_on_this_set(name, monkeypatch):
    if os.environ.get(VARIABLE):
        pytest.skip(f"{VARIABLE} is set: this is such a run already")
    sets = available_sets(monkeypatch)
    if name not in sets:
        pytest.skip(f"this processor has no {name}")
    if name == sets[-1]:
        pytest.skip(f"{name} is the best set of this processor: all tests run on it")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *STEPPING]
    environment = {**os.environ, VARIABLE: name}
    done = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]


def test_long_play_is_the_same_on_all_sets(monkeypatch):
    sets = available_sets(monkeypatch)
    batches = []
    for name in sets:
        monkeypatch.setenv(VARIABLE, name)
        batches.append(starmine.Batch("standard", 100, seed=7, illegal_action="terminate", observers="all"))
    rng = np.random.default_rng(0)
    for _ in range(150):
        actions = rng.integers(-1, 20, 100)
        outs = [batch.step(actions) for batch in batches]
        for name, out in zip(sets, outs, strict=True):
            for column, array in out.items():
                np.testing.assert_array_equal(array, outs[0][column], err_msg=f"{column} on {name}")
    assert len({batch.to_bytes() for batch in batches}) == 1


@pytest.mark.parametrize("name", ["sse2", "AVX2", "avx2 ", "neon", "0"])
def test_an_unknown_set_is_refused(name, monkeypatch):
    sets = available_sets(monkeypatch)
    batch = starmine.Batch("standard", 2, seed=0)
    stored = batch.to_bytes()
    monkeypatch.setenv(VARIABLE, name)
    message = f'^{VARIABLE}="{name}" is not possible on this processor: expected one of {", ".join(sets)}$'
    for make in (lambda: starmine.Batch("standard", 1), lambda: starmine.HanabiVectorEnv(2), starmine.HanabiEnv):
        with pytest.raises(starmine.StarmineError, match=message):
            make()
    with pytest.raises(starmine.StarmineError, match=VARIABLE):
        starmine.Batch.from_bytes(stored)
    batch.step([5, 5])  # one that runs keeps its set


def test_a_set_that_the_processor_lacks_is_refused(monkeypatch):
    sets = available_sets(monkeypatch)
    if sets == SETS:
        pytest.skip("this processor has all sets")
    for name in set(SETS) - set(sets):
        monkeypatch.setenv(VARIABLE, name)
        with pytest.raises(starmine.StarmineError, match=f'"{name}" is not possible .* expected one of portable'):
            starmine.Batch("standard", 1)


def test_no_name_is_the_best_set(monkeypatch):
    monkeypatch.setenv(VARIABLE, "")
    starmine.Batch("standard", 1).step([5])
