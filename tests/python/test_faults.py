"""Faults around the package: kills, two processes on one folder, full disks."""

import os
import signal
import subprocess
import sys

import pytest
from tiny_runs import Walk, train
from training_runs import TrainingError, assert_same_checkpoints, log_without_clock, needs_train_extra

from starmine import StarmineError, evaluate
from starmine._util.durable import FolderLock

# --- kill -9 ----------------------------------------------------------------------------------------------

# Kills its process before a file operation on a path with such a name.
KILLER = """
import os, signal, sys
from pathlib import Path

out, left = Path(sys.argv[1]), {times}

def hook(event, arguments):
    global left
    if event != {event!r} or (event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR)):
        return
    if {name!r} in str(arguments[event == "os.rename"]):
        left -= 1
        left or os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
"""
SHARDS = """
from starmine.data import generate
players = [["iggi", "random"], ["piers", "iggi"]]  # drawn for each game
generate(players, 100, out, "mini", seed=1, shard_size=40, num_threads=1, progress=False)
"""
RUN = """
from tiny_runs import Walk, train
train(out, Walk(), total_steps=4)
"""
needs_kill = pytest.mark.skipif(os.name != "posix", reason="the system has no SIGKILL")


def killed(code, out, event, name, times=1):
    """Run code in a process that is killed before such an operation, the first time or a later one."""
    program = KILLER.format(event=event, name=name, times=times) + code
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", program, out], env=environment, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.mark.slow
@needs_kill
@pytest.mark.parametrize("event", ["os.rename", "open"], ids=["inside a shard", "between shards"])
def test_killed_games_on_disk_go_on_to_the_undisturbed_shards(tmp_path, event):
    pytest.importorskip("pyarrow")
    exec(SHARDS, {"out": tmp_path / "whole"})
    killed(SHARDS, tmp_path / "killed", event, "shard-000001")
    left = {name: data for name, data in files(tmp_path / "killed").items() if name.endswith(".parquet")}
    assert [*left] == ["shard-000000.parquet"]
    assert left.items() <= files(tmp_path / "whole").items()
    exec(SHARDS, {"out": tmp_path / "killed"})
    assert files(tmp_path / "killed") == files(tmp_path / "whole")


@pytest.mark.slow
@needs_kill
@needs_train_extra
def test_a_run_that_is_killed_inside_a_checkpoint_goes_on_to_the_undisturbed_results(tmp_path):
    exec(RUN, {"out": tmp_path / "whole"})
    killed(RUN, tmp_path / "killed", "os.rename", "checkpoint.pt", times=3)
    train(tmp_path / "killed", Walk(), total_steps=4, resume=True)
    assert_same_checkpoints(tmp_path / "killed", tmp_path / "whole")
    assert log_without_clock(tmp_path / "killed") == log_without_clock(tmp_path / "whole")
    assert not list((tmp_path / "killed").glob("*.part"))


# --- Writers and disks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fresh", [False, True])
def test_a_second_evaluation_in_a_folder_is_refused(tmp_path, fresh):
    given = {"evaluated": ["iggi"], "games": 10, "variant": "mini", "figure": False, "output": tmp_path}
    evaluate(**given)
    before = files(tmp_path)
    with FolderLock(tmp_path), pytest.raises(StarmineError):
        evaluate(**given, fresh=fresh)
    assert files(tmp_path) == before


@pytest.mark.parametrize(("redirection", "said"), [(">&-", "is closed"), (">/dev/full", "cannot be written (No space")])
def test_an_output_that_cannot_be_written_is_told_in_one_line(redirection, said):
    line = f'"{sys.executable}" -m starmine eval iggi --variant mini --games 10 --quiet {redirection}'
    ended = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert f": standard output {said}" in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.slow
@needs_train_extra
@pytest.mark.filterwarnings("ignore:Exception in thread")  # that of TensorBoard's writer
def test_a_full_disk_ends_a_run_and_loses_nothing(small_disk):
    out, filler = small_disk / "run", small_disk / "filler"
    train(out, Walk(), total_steps=2)
    before = files(out)
    filler.write_bytes(bytes(os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize))
    with pytest.raises((TrainingError, OSError)):
        train(out, Walk(), total_steps=4, resume=True)
    assert {name: data for name, data in files(out).items() if name in before} == before
    filler.unlink()
    found = train(out, Walk(), total_steps=4, resume=True).weight
    assert found.tolist() == train(small_disk / "whole", Walk(), total_steps=4).weight.tolist()
