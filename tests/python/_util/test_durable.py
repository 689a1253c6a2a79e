"""Durable files: one writer a folder, old or new contents and no mixture, and checksums over every byte."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from starmine._util.durable import (
    AppendedFile,
    DamagedFileError,
    FolderBusyError,
    FolderLock,
    replace_file,
    seal,
    seal_json,
    unseal,
    unseal_json,
)


def child(program, *arguments):
    """A Python process that prints a line once it is ready."""
    line = [
        sys.executable,
        "-c",
        f"import sys\nfrom pathlib import Path\nfrom starmine._util.durable import *\n{program}",
    ]
    running = subprocess.Popen([*line, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "ready\n"
    return running


def kill(running):
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)


def parts(folder):
    return list(folder.glob("*.part"))


def test_a_folder_has_one_writer(tmp_path):
    with FolderLock(tmp_path), pytest.raises(FolderBusyError):
        FolderLock(tmp_path)
    with FolderLock(tmp_path) as lock:
        lock.release()
        FolderLock(tmp_path).release()


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


@pytest.mark.skipif(os.name != "posix", reason="files have no such modes")
def test_a_file_keeps_its_mode_and_a_new_one_has_the_usual_mode(tmp_path):
    path, usual = tmp_path / "file", tmp_path / "usual"
    usual.write_bytes(b"")
    replace_file(path, b"old")
    assert path.stat().st_mode == usual.stat().st_mode
    for mode in (0o600, 0o664, 0o444, 0o755):
        path.chmod(mode)
        replace_file(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="links need a right")
def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    target, link, chain = tmp_path / "real" / "file", tmp_path / "link", tmp_path / "chain"
    link.symlink_to(Path("real") / "file")
    chain.symlink_to("link")
    for path, data in ((link, b"created through a dangling link"), (link, b"replaced"), (chain, b"through two")):
        replace_file(path, data)
        assert link.is_symlink()
        assert chain.is_symlink()
        assert target.read_bytes() == data
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["chain", "link", "real"]
    assert [entry.name for entry in (tmp_path / "real").iterdir()] == ["file"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch, failing):
    path = tmp_path / "file"
    replace_file(path, b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os if failing == "fsync" else type(path), failing, fail)
    with pytest.raises(OSError):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert not parts(tmp_path)


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
