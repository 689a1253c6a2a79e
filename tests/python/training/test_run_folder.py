"""The output folder of a run: one run at a time, and earlier runs are moved aside as a whole."""

import errno
import os
from pathlib import Path

import pytest
from tiny_runs import Args, train
from training_runs import TrainingError, log_lines, needs_train_extra

from starmine._util.durable import FolderLock

pytestmark = needs_train_extra


def contents(folder):
    """The names and bytes of a folder and of its siblings."""
    return {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}


@pytest.mark.parametrize("resume", [False, True])
def test_a_second_run_is_refused_and_changes_nothing(tmp_path, resume):
    train(tmp_path / "run")
    before = contents(tmp_path / "run")
    with FolderLock(tmp_path / "run"), pytest.raises(TrainingError, match="is in use: another process") as refused:
        train(tmp_path / "run", resume=resume, total_steps=9)
    assert "\n" not in str(refused.value)
    assert contents(tmp_path / "run") == before


def test_a_folder_is_locked_until_the_run_has_reported(tmp_path):
    from starmine.training import Run

    class Learner:
        def state_dict(self):
            return {}

    with Run("nothing", Args(tmp_path, total_steps=1), Learner()) as run:
        while run.begin_update():
            run.end_update({}, steps=1)
        with pytest.raises(OSError, match="is in use"):
            FolderLock(tmp_path)
    FolderLock(tmp_path).release()


def test_a_refused_checkpoint_leaves_no_lock(tmp_path):
    train(tmp_path)
    (tmp_path / "checkpoint.pt").write_bytes(b"other")
    with pytest.raises(TrainingError):
        train(tmp_path, resume=True)
    FolderLock(tmp_path).release()


def test_the_lock_stays_when_an_earlier_run_is_moved(tmp_path):
    train(tmp_path / "run")
    place = (tmp_path / "run" / ".lock").stat().st_ino
    moved = {path.name for path in (tmp_path / "run").iterdir()} - {".lock"}
    train(tmp_path / "run")
    assert (tmp_path / "run" / ".lock").stat().st_ino == place
    assert {path.name for path in (tmp_path / "run.1").iterdir()} == moved
    assert not (tmp_path / "run" / ".earlier").exists()


@pytest.mark.parametrize("moves", range(1, 6))
@pytest.mark.parametrize("resume", [False, True])
def test_an_interrupted_move_is_completed_or_undone(tmp_path, monkeypatch, moves, resume):
    train(tmp_path / "run")
    names = {path.name for path in (tmp_path / "run").iterdir()} - {".lock"}
    rename, made = Path.rename, []

    def interrupted(path, target):
        if len(made) == moves:
            raise KeyboardInterrupt
        made.append(path)
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "run")
    train(tmp_path / "run", resume=resume, total_steps=4)
    assert [row["update"] for row in log_lines(tmp_path / "run")] == [1, 2, 3, 4]
    assert not (tmp_path / "run" / ".earlier").exists()
    if resume:
        assert not (tmp_path / "run.1").exists()
    else:
        assert {path.name for path in (tmp_path / "run.1").iterdir()} == names


@pytest.mark.parametrize("moves", range(6))
def test_a_run_that_cannot_be_moved_is_left_alone(tmp_path, monkeypatch, moves):
    train(tmp_path / "run")
    before = contents(tmp_path / "run")
    assert len(before) == 6  # with the lock: the last move is that of the folder
    rename, made = Path.rename, []

    def fail(path, target):
        made.append(path)
        if len(made) == moves + 1:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", fail)
        with pytest.raises(TrainingError, match=r"cannot be the output folder: .*cross-device"):
            train(tmp_path / "run")
    assert contents(tmp_path / "run") == before
    assert not (tmp_path / "run" / ".earlier").exists()
    assert not (tmp_path / "run.1").exists()


def test_a_folder_that_cannot_be_is_told_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(TrainingError, match="cannot be the output folder: "):
            train(out)
        with pytest.raises(TrainingError):
            train(out, resume=True)


def test_the_current_folder_can_be_the_output_folder(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    train(Path())
    train(Path("."))
    assert (tmp_path / "here.1" / "checkpoint.pt").exists()
