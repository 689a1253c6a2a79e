"""Every set of vector instructions gives the same games, and one that the processor lacks is refused."""

import numpy as np
import pytest
from instruction_sets import AVAILABLE, SETS, VARIABLE

import starmine


def test_long_games_are_the_same_on_all_sets(monkeypatch):
    batches = []
    for name in AVAILABLE:
        monkeypatch.setenv(VARIABLE, name)
        batches.append(starmine.Batch("standard", 100, seed=7, illegal_action="terminate", observers="all"))
    rng = np.random.default_rng(0)
    for _ in range(150):
        actions = rng.integers(-1, 20, 100)
        outs = [batch.step(actions) for batch in batches]
        for name, out in zip(AVAILABLE, outs, strict=True):
            for column, array in out.items():
                np.testing.assert_array_equal(array, outs[0][column], err_msg=f"{column} on {name}")
    assert len({batch.to_bytes() for batch in batches}) == 1


@pytest.mark.parametrize("name", ["sse2", "AVX2", "avx2 ", "neon", "0"])
def test_an_unknown_set_is_refused(name, monkeypatch):
    batch = starmine.Batch("standard", 2, seed=0)
    stored = batch.to_bytes()
    monkeypatch.setenv(VARIABLE, name)
    for make in (lambda: starmine.Batch("standard", 1), lambda: starmine.HanabiVectorEnv(2), starmine.HanabiEnv):
        with pytest.raises(starmine.StarmineError):
            make()
    with pytest.raises(starmine.StarmineError):
        starmine.Batch.from_bytes(stored)
    batch.step([5, 5])  # a batch keeps the set that it was made with


def test_a_set_that_the_processor_lacks_is_refused(monkeypatch):
    if AVAILABLE == SETS:
        pytest.skip("this processor has all sets")
    for name in set(SETS) - set(AVAILABLE):
        monkeypatch.setenv(VARIABLE, name)
        with pytest.raises(starmine.StarmineError):
            starmine.Batch("standard", 1)
