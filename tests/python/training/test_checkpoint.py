"""Checkpoints: damage is found before anything is used, and a failed save keeps the earlier one."""

import errno
import os
import random
from pathlib import Path

import numpy as np
import pytest
from tiny_runs import Weights, train
from training_runs import TrainingError, needs_train_extra

pytestmark = needs_train_extra
FLIPS = 20


def refused(out):
    """Check that a resume is refused and changes nothing."""
    before = {name: (out / name).read_bytes() for name in ("checkpoint.pt", "log.jsonl", "config.json")}
    with pytest.raises(TrainingError):
        train(out, resume=True, total_steps=4)
    assert {name: (out / name).read_bytes() for name in before} == before


@pytest.fixture
def run(tmp_path):
    """A folder with the checkpoint of three updates."""
    train(tmp_path / "run")
    return tmp_path / "run"


def test_a_flipped_bit_is_refused(run):
    path, rng = run / "checkpoint.pt", random.Random(0)
    whole = path.read_bytes()
    for _ in range(FLIPS):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        refused(run)


def test_weights_that_do_not_fit_keep_the_error_of_pytorch(run):
    with pytest.raises(RuntimeError):
        train(run, Weights(width=41), resume=True, total_steps=4)


def test_a_state_that_a_resume_could_not_read_is_not_saved(tmp_path):
    class WithNumbers(Weights):
        def state_dict(self):
            return super().state_dict() | {"mean": np.float64(0.5)}

    with pytest.raises(TrainingError):
        train(tmp_path, WithNumbers())
    assert not (tmp_path / "checkpoint.pt").exists()


def test_a_failed_save_keeps_the_checkpoint(run, monkeypatch):
    before = (run / "checkpoint.pt").read_bytes()

    replace = Path.replace

    def fail(path, target):
        if Path(target).name == "config.json":
            return replace(path, target)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError):
        train(run, resume=True, total_steps=5)
    assert (run / "checkpoint.pt").read_bytes() == before
    assert not list(run.glob("*.part"))
    monkeypatch.undo()
    train(run, resume=True, total_steps=5)
