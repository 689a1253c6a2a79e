"""Files on a disk that is full."""

import errno
import io
import os
from pathlib import Path

from starmine._util import durable


def no_space(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FullDisk(io.FileIO):
    """A file of which half of each write is written before the disk is full."""

    def write(self, data):
        super().write(memoryview(data)[: len(data) // 2])
        no_space()


def fail_write(patch):
    """Let all files that `starmine._util.durable` and `Path.open` open for writing be on a full disk."""
    fail_replacements(patch)
    patch.setattr(Path, "open", on_full_disk(Path.open))


def fail_replacements(patch):
    """Let all files that `starmine._util.durable` replaces be on a full disk."""
    patch.setattr(durable, "open", on_full_disk(open), raising=False)


def on_full_disk(usual):
    """A function as `open`, whose files for writing are on a full disk."""

    def full(path, mode="r", *rest, **named):
        return FullDisk(path, mode) if set(mode) & set("wax+") else usual(path, mode, *rest, **named)

    return full
