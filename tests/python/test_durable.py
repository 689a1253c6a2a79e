"""Durable files: one writer a folder, old or new contents and no mixture, and checksums over every byte."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time

import filelock
import pytest

from starmine import StarmineError, evaluate
from starmine.durable import (
    AppendedFile,
    DamagedFileError,
    FolderBusyError,
    FolderLock,
    new_run_id,
    part_of,
    replace_file,
    seal,
    seal_json,
    unseal,
    unseal_json,
)

KILLS = 4


def child(program, *arguments):
    """A Python process that prints a line once it is ready."""
    line = [sys.executable, "-c", f"import sys\nfrom pathlib import Path\nfrom starmine.durable import *\n{program}"]
    running = subprocess.Popen([*line, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "ready\n"
    return running


def kill(running):
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)


def test_a_folder_has_one_writer(tmp_path):
    with FolderLock(tmp_path), pytest.raises(FolderBusyError, match="is in use"):
        FolderLock(tmp_path)
    with FolderLock(tmp_path) as lock:
        lock.release()
        FolderLock(tmp_path).release()


def test_a_file_system_without_locks_is_told(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise NotImplementedError("FileSystem does not appear to support flock")

    monkeypatch.setattr(filelock.FileLock, "acquire", fail)
    with pytest.raises(OSError, match=r"the file system cannot lock a file: .*\.lock"):
        FolderLock(tmp_path)
    with pytest.raises(StarmineError, match=r"cannot be written .the file system cannot lock a file"):
        evaluate(["iggi"], 1, variant="mini", output=tmp_path)


def test_an_appended_file_grows_by_whole_records(tmp_path):
    path = tmp_path / "file"
    file = AppendedFile(path)
    for record in (b"one\n", b"", b"two\n"):
        file.write(record)
        assert path.read_bytes().endswith(record)
    file.close()
    AppendedFile(path, length=4).close()
    assert path.read_bytes() == b"one\n"


def test_a_lock_dies_with_its_process(tmp_path):
    program = "lock = FolderLock(Path(sys.argv[1]))\nprint('ready', flush=True)\nsys.stdin.read()"
    running = child(program, tmp_path)
    try:
        with pytest.raises(FolderBusyError):
            FolderLock(tmp_path)
    finally:
        kill(running)
    FolderLock(tmp_path).release()


def test_a_killed_writer_leaves_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "file"
    program = """
path, number = Path(sys.argv[1]), 0
while True:
    replace_file(path, seal(str(number).encode() * 100_000))
    number += 1
    if number == 1:
        print("ready", flush=True)
"""
    for _ in range(KILLS):
        running = child(program, path)
        time.sleep(random.random() * 0.05)
        kill(running)
        data = unseal(path.read_bytes()).decode()
        assert data == data[: len(data) // 100_000] * 100_000


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch, failing):
    path = tmp_path / "file"
    replace_file(path, b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os if failing == "fsync" else type(path), failing, fail)
    with pytest.raises(OSError, match="No space left"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert not part_of(path).exists()


def test_every_flipped_bit_and_every_cut_is_found():
    data = seal(b"some bytes")
    assert unseal(data) == b"some bytes"
    assert unseal(seal(b"")) == b""
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DamagedFileError):
            unseal(bytes(flipped))
    for length in range(len(data)):
        with pytest.raises(DamagedFileError):
            unseal(data[:length])


def test_every_changed_entry_of_sealed_json_is_found():
    value = {"games": 7, "mean": 0.1, "names": ["a", None]}
    text = seal_json(value)
    assert unseal_json(text) == value
    assert unseal_json(json.dumps(json.loads(text))) == value
    for changed in [text.replace("7", "8", 1), text.replace("0.1", "0.2"), text.replace("null", "[]"), text[:-3]]:
        with pytest.raises(DamagedFileError):
            unseal_json(changed)
    for other in ["", "[]", "{}", "1", "[" * 100_000]:
        with pytest.raises(DamagedFileError):
            unseal_json(other)


def test_run_ids_differ():
    assert len({new_run_id() for _ in range(1000)}) == 1000
