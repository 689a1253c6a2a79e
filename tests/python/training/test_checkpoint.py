"""Checkpoints: damage is found before anything is used, and a failed save keeps the earlier one."""

import errno
import os
import random
from pathlib import Path

import pytest
from tiny_runs import Weights, train
from training_runs import TrainingError, needs_train_extra, write_checkpoint

pytestmark = needs_train_extra
FLIPS = 120


def refusal(out, learner=None):
    """The line with which a resume is refused."""
    with pytest.raises(TrainingError) as refused:
        train(out, learner, resume=True, total_steps=4)
    line = str(refused.value)
    assert "\n" not in line
    assert str(out / "checkpoint.pt") in line
    return line


@pytest.fixture
def run(tmp_path):
    """A folder with the checkpoint of three updates."""
    train(tmp_path / "run")
    return tmp_path / "run"


def test_a_flipped_bit_is_refused(run):
    path, rng = run / "checkpoint.pt", random.Random(0)
    whole, log = path.read_bytes(), (run / "log.jsonl").read_bytes()
    for _ in range(FLIPS):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        line = refusal(run)
        assert "is damaged" in line
        assert path.read_bytes() == damaged
    assert (run / "log.jsonl").read_bytes() == log


def test_weights_of_other_names_and_shapes_are_told(run):
    from starmine.training.checkpoint import read_checkpoint

    contents = read_checkpoint(run / "checkpoint.pt")
    assert "does not fit this program: Error(s) in loading state_dict for Linear: size mismatch" in refusal(
        run, Weights(width=41)
    )
    for state, said in [
        ({"network": contents["state"]["network"]}, "the entry 'optimizer' is missing"),
        (contents["state"] | {"network": {}}, 'Missing key(s) in state_dict: "weight"'),
        (contents["state"] | {"network": []}, "Expected state_dict to be dict-like"),
    ]:
        write_checkpoint(run / "checkpoint.pt", contents | {"state": state})
        assert said in refusal(run)


def test_a_failed_save_keeps_the_checkpoint(run, monkeypatch):
    before = (run / "checkpoint.pt").read_bytes()

    replace = Path.replace

    def fail(path, target):
        if Path(target).name == "config.json":
            return replace(path, target)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(
        TrainingError, match=r"update 4 could not be saved: .*No space left on device: .*checkpoint\.pt"
    ):
        train(run, resume=True, total_steps=5)
    assert (run / "checkpoint.pt").read_bytes() == before
    assert not list(run.glob("*.part"))
