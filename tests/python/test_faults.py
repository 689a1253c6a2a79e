"""Faults around the package: two processes on one folder, kill -9, damaged files and full disks."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from evaluation_runs import read_evaluation
from paths import ROOT
from tiny_runs import Walk, train
from training_runs import TrainingError, needs_train_extra

from starmine import StarmineError, evaluate
from starmine._util.durable import FolderLock
from starmine.data.manifest import MANIFEST, read_manifest, write_manifest
from starmine.data.schema import shard_name

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked on this system")
SHARD = shard_name(0)
GAMES = {"evaluated": ["iggi"], "variant": "mini", "figure": False}


def command(*arguments, **options):
    """A running `python -m starmine`."""
    line = [sys.executable, "-m", "starmine", *map(str, arguments)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def wait_for(path, running):
    """Wait until a process has written a file."""
    end = time.monotonic() + 60
    while not path.exists():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_second_evaluation_in_a_folder_is_refused_in_one_line(tmp_path, fresh):
    evaluate(**GAMES, games=10, output=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with FolderLock(tmp_path), pytest.raises(StarmineError, match="is in use: another process writes to it") as refused:
        evaluate(**GAMES, games=10, output=tmp_path, fresh=fresh)
    assert "\n" not in str(refused.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_killed_evaluation_goes_on_to_the_same_games(tmp_path):
    options = ["eval", "iggi", "--variant", "mini", "--games", "200000", "--no-figure", "--quiet", "--num-threads", "1"]
    running = command(*options, "--output", tmp_path)
    try:
        wait_for(tmp_path / "eval.json", running)
        time.sleep(1.5)
    finally:
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=60)
    evaluation = evaluate(**GAMES, games=200_000, output=tmp_path)
    assert (evaluation.played == 200_000).all()
    assert (read_evaluation(tmp_path).outcomes[0, 0, 3] > 0).all()


def test_games_and_manifest_of_different_runs_are_refused(tmp_path):
    for name in ("one", "other"):
        evaluate(**GAMES, games=10, output=tmp_path / name)
    (tmp_path / "one" / SHARD).replace(tmp_path / "other" / SHARD)
    with pytest.raises(StarmineError, match=f"the bytes of {SHARD} do not have the checksum in {MANIFEST}"):
        evaluate(**GAMES, games=10, output=tmp_path / "other")


def means_the_same(damaged, whole):
    """Whether JSON has the same values: other white space, or another last digit of the same float."""
    try:
        return json.loads(damaged) == json.loads(whole)
    except ValueError:
        return False


def test_a_flipped_bit_of_the_games_or_the_manifest_is_refused(tmp_path):
    evaluate(**GAMES, games=10, output=tmp_path)
    for name in (SHARD, MANIFEST):
        whole = (tmp_path / name).read_bytes()
        for place in range(len(whole) - 40, 0, -97):
            damaged = bytearray(whole)
            damaged[place] ^= 1
            if name == MANIFEST and means_the_same(damaged, whole):
                continue
            (tmp_path / name).write_bytes(damaged)
            with pytest.raises(StarmineError, match=r"holds (no|another) evaluation"):
                evaluate(**GAMES, games=10, output=tmp_path)
        (tmp_path / name).write_bytes(whole)
    evaluate(**GAMES, games=10, output=tmp_path)


def test_a_folder_without_saved_games_starts_over(tmp_path):
    evaluate(**GAMES, games=10, output=tmp_path)
    write_manifest(tmp_path, read_manifest(tmp_path)["configuration"], {})
    assert (evaluate(**GAMES, games=10, output=tmp_path).played == 10).all()


def test_a_full_disk_is_one_line_and_keeps_what_was_saved(small_disk):
    running = command("eval", "iggi", "--games", "1000000", "--no-figure", "--quiet", "--output", small_disk)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 2
    assert "cannot be written (No space left on device, shard-0" in errors
    assert errors.count("\n") == 1
    found = read_evaluation(small_disk)
    assert found.played.sum() == sum(entry["games"] for entry in read_manifest(small_disk)["shards"].values())


def test_a_write_that_fails_later_keeps_what_was_saved(tmp_path, monkeypatch):
    def fail(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        evaluate(**GAMES, games=10, output=tmp_path)
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StarmineError, match="No space left"):
            evaluate(**GAMES, games=10, output=tmp_path)
    assert (evaluate(**GAMES, games=10, output=tmp_path).played == 10).all()


@pytest.mark.parametrize(("redirection", "said"), [(">&-", "is closed"), (">/dev/full", "cannot be written (No space")])
def test_an_output_that_cannot_be_written_is_told_in_one_line(redirection, said):
    line = f'"{sys.executable}" -m starmine eval iggi --variant mini --games 10 --quiet {redirection}'
    ended = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr.startswith("starmine")
    assert f": standard output {said}" in ended.stderr
    assert ended.stderr.count("\n") == 1


# --- kill -9 over and over --------------------------------------------------------------------------------


@pytest.fixture
def memory():
    """A folder in memory where there is one: a killed process leaves the same there, and flushes take no time."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    yield folder
    shutil.rmtree(folder)


def kill(request, kind, folder):
    """Run a loop of `helpers/killing.py`; what it printed."""
    kills, seed = (str(request.config.getoption(name)) for name in ("--kills", "--kill-seed"))
    script = ROOT / "tests" / "python" / "helpers" / "killing.py"
    ended = subprocess.run([sys.executable, script, kind, folder, kills, seed], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.slow
@needs_fork
def test_a_killed_evaluation_goes_on_to_the_undisturbed_results(memory, request):
    assert " runs killed at random moments" in kill(request, "evaluation", memory)


@pytest.mark.slow
@needs_fork
def test_killed_games_on_disk_go_on_to_the_undisturbed_shards(memory, request):
    pytest.importorskip("pyarrow")
    assert " runs killed at random moments" in kill(request, "generation", memory)


@pytest.mark.slow
@needs_fork
@needs_train_extra
def test_a_killed_run_goes_on_to_the_undisturbed_results(memory, request):
    assert " runs killed at random moments" in kill(request, "training", memory)


# --- Training ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_train_extra
@pytest.mark.filterwarnings("ignore:Exception in thread")  # that of TensorBoard's writer
def test_a_full_disk_ends_a_run_in_one_line_and_loses_nothing(small_disk):
    out, filler = small_disk / "run", small_disk / "filler"
    train(out, Walk(), total_steps=2)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    filler.write_bytes(bytes(os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize))
    with pytest.raises((TrainingError, OSError), match="No space left on device") as stopped:
        train(out, Walk(), total_steps=4, resume=True)
    assert "\n" not in str(stopped.value)
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.name in before} == before
    filler.unlink()
    found = train(out, Walk(), total_steps=4, resume=True).weight
    assert found.tolist() == train(small_disk / "whole", Walk(), total_steps=4).weight.tolist()
