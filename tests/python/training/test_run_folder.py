"""The output folder of a run: one run a folder, and one process that writes to it."""

import json
import sys
from pathlib import Path

import pytest
from tiny_runs import Walk, tiny_args, train
from training_runs import TrainingError, log_lines, needs_train_extra

import starmine
from starmine._util.durable import FolderBusyError, FolderLock

pytestmark = needs_train_extra


def contents(folder):
    """The names and bytes of a folder and of its siblings."""
    return {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}


def test_a_second_process_is_refused_and_changes_nothing(tmp_path):
    train(tmp_path / "run")
    before = contents(tmp_path / "run")
    with FolderLock(tmp_path / "run"), pytest.raises(FolderBusyError):
        train(tmp_path / "run", resume=True, total_steps=9)
    assert contents(tmp_path / "run") == before


def test_a_new_run_in_a_used_folder_is_refused_and_changes_nothing(tmp_path):
    train(tmp_path / "run")
    before = contents(tmp_path / "run")
    with pytest.raises(TrainingError):
        train(tmp_path / "run", total_steps=9)
    assert contents(tmp_path / "run") == before
    FolderLock(tmp_path / "run").release()
    train(tmp_path / "run", resume=True, total_steps=9)


def test_a_run_begins_in_a_folder_without_a_checkpoint(tmp_path):
    """Such as one that was killed in its first update, which left parts of files."""
    train(tmp_path / "run")
    (tmp_path / "run" / "checkpoint.pt").unlink()
    (tmp_path / "run" / f"checkpoint.pt.{0:032}.part").write_bytes(b"")
    train(tmp_path / "run", total_steps=2)
    assert [row["update"] for row in log_lines(tmp_path / "run")] == [1, 2]
    assert not list((tmp_path / "run").glob("*.part"))


def test_a_folder_is_locked_until_the_run_has_reported(tmp_path):
    from starmine.training import Run

    class Learner:
        def state_dict(self):
            return {}

    with Run("nothing", tiny_args(tmp_path, total_steps=1), Learner()) as run:
        while run.begin_update():
            run.end_update({}, steps=1)
        with pytest.raises(OSError):
            FolderLock(tmp_path)
    FolderLock(tmp_path).release()


def test_the_current_folder_can_be_the_output_folder(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    train(Path())
    train(Path("."), resume=True, total_steps=4)
    assert (tmp_path / "here" / "checkpoint.pt").exists()


def test_config_json_says_what_a_run_is_made_of_and_each_resume(tmp_path, monkeypatch):
    import torch

    train(tmp_path, Walk(), seed=4)
    first = json.loads((tmp_path / "config.json").read_text())
    assert (first["program"], first["command"], first["resumed"]) == ("weights", sys.orig_argv, [])
    assert (first["starmine"], first["torch"]) == (starmine.__version__, torch.__version__)
    assert {name: first["arguments"][name] for name in ("out", "seed", "total_steps")} == {
        **{"out": str(tmp_path), "seed": 4, "total_steps": 3}
    }
    monkeypatch.setattr("torch.__version__", "99")
    train(tmp_path, Walk(), seed=4, total_steps=5, resume=True)
    train(tmp_path, Walk(), seed=4, total_steps=6, resume=True)
    found = json.loads((tmp_path / "config.json").read_text())
    assert found | {"resumed": []} == first
    starts = [(entry["update"], entry["torch"], entry["arguments"]["total_steps"]) for entry in found["resumed"]]
    assert starts == [(3, "99", 5), (5, "99", 6)]
