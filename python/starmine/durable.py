"""Durable files: a lock on a folder, replacement of whole files, checksums and run ids.

A reader of a file that `replace_file` wrote finds the old contents or the new ones, never a mixture: the new contents
are written beside the file, flushed to the disk and renamed. An `AppendedFile` grows by whole records. `FolderLock`
keeps a folder to one writer. An OSError of this module names the file.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

LOCK = ".lock"  # name of the lock file in a folder
PART = ".part"  # suffix of a file that is being written
CHECKSUM = "checksum"  # key of the checksum in a JSON object
MARK = b"\nstarmine sha256 "  # begins the last bytes of a sealed file, before the checksum
UNSEALED = "it does not end with its checksum"  # begins the message of `unseal` where there is no mark


class FolderBusyError(OSError):
    """Another writer holds the lock of a folder."""


class DamagedFileError(ValueError):
    """Stored bytes are not those that were written."""


class FolderLock:
    """The right to write into a folder, or a part of it, held by at most one `FolderLock` of all processes.

    The operating system releases the lock when the process ends in any way. The lock file is empty and stays.

    Args:
        folder: an existing folder.
        name: of the lock file; others are locks of other parts of the folder.
        seconds: to wait for a lock that another one holds.

    Raises:
        FolderBusyError: another `FolderLock` holds the folder.
        OSError: the lock file cannot be opened.
    """

    def __init__(self, folder: Path, name: str = LOCK, seconds: float = 0) -> None:
        from filelock import FileLock, Timeout

        self._lock = FileLock(folder / name, timeout=seconds, thread_local=False)
        try:
            self._lock.acquire()
        except Timeout:
            raise FolderBusyError(f"{str(folder)!r} is in use: another process writes to it") from None
        except NotImplementedError as error:
            raise OSError(errno.ENOTSUP, "the file system cannot lock a file", str(folder / name)) from error

    def release(self) -> None:
        """Let others write; does nothing where the lock has been released."""
        self._lock.release(force=True)

    def __enter__(self) -> FolderLock:
        """The lock."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Release it."""
        self.release()


def new_run_id() -> str:
    """A new id: 32 hexadecimal digits, drawn by chance."""
    return uuid.uuid4().hex


def replace_file(path: Path, data: bytes | memoryview, previous: Path | None = None) -> None:
    """Replace a file as a whole, or create it. The new contents have reached the disk on return.

    Args:
        path: of the file.
        data: the new contents.
        previous: the name under which the earlier file is kept; None to discard it. Where there was a file, `path`
            leads to a whole one at every moment.

    Raises:
        OSError: the file cannot be written; the earlier one is still there.
    """
    aside = part_of(path)
    try:
        with naming(path), aside.open("wb") as file:
            file.write(data)
        rename_part(path, previous)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which replaces another one as a whole once the block has ended without an error.

    Args:
        path: of the file that is replaced, or created.

    Raises:
        OSError: the file cannot be written; the earlier one is still there.
    """
    aside = part_of(path)
    try:
        with naming(path), aside.open("wb") as file:
            yield file
        rename_part(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise


def part_of(path: Path) -> Path:
    """The name under which a file is written before it is renamed."""
    return path.with_name(path.name + PART)


def rename_part(path: Path, previous: Path | None = None) -> None:
    """Replace a file by its part, which has been written: flush it to the disk, rename it, flush the folder.

    Args:
        path: of the file.
        previous: the name under which the earlier file is kept; None to discard it.

    Raises:
        OSError: a step failed; the earlier file is still there, unless only its folder could not be flushed.
    """
    aside = part_of(path)
    with naming(path):
        with aside.open("rb+") as file:
            os.fsync(file.fileno())
        if previous is not None and path.exists():
            give_second_name(path, previous)
        aside.replace(path)
        sync_folder(path.parent)


def give_second_name(path: Path, second: Path) -> None:
    """Let another name lead to a file as well; a file that had this name is discarded.

    Raises:
        OSError: the name cannot be given; the file that has it still does.
    """
    aside = part_of(second)
    try:
        aside.unlink(missing_ok=True)
        try:
            aside.hardlink_to(path)
        except OSError:  # the file system has no hard links
            shutil.copyfile(path, aside)
            with aside.open("rb+") as file:
                os.fsync(file.fileno())
        aside.replace(second)
    finally:
        # After success it is still there where both names led to one file, since such a rename does nothing.
        with suppress(OSError):
            aside.unlink()


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an OSError of the block name this file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


class AppendedFile:
    """A file that grows by whole records. Each record is handed to the operating system at once.

    Args:
        path: of the file, which is created where it does not exist.
        length: to which an existing file is cut; None for its own.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path, length: int | None = None) -> None:
        self._path = path
        with naming(path):
            self._file = path.open("ab", buffering=0)
            if length is not None:
                self._file.truncate(length)

    def write(self, record: bytes) -> None:
        """Append a record.

        Raises:
            OSError: it cannot be written as a whole; the file has its earlier length.
        """
        with naming(self._path):
            length = os.fstat(self._file.fileno()).st_size
            written = 0
            try:
                while written < len(record):
                    written += self._file.write(memoryview(record)[written:])
            except OSError:
                with suppress(OSError):
                    self._file.truncate(length)
                raise

    def sync(self) -> None:
        """Flush the file to the disk.

        Raises:
            OSError: it cannot be flushed.
        """
        with naming(self._path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, which loses nothing."""
        self._file.close()


def sync_folder(folder: Path) -> None:
    """Flush the names of a folder's files to the disk, where the operating system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def seal(data: bytes | memoryview) -> bytes:
    """The bytes followed by their SHA-256 checksum."""
    return b"".join([data, MARK, hashlib.sha256(data).hexdigest().encode()])


def unseal(data: bytes) -> bytes:
    """The bytes that were sealed.

    Raises:
        DamagedFileError: the bytes are not those that `seal` returned.
    """
    end = len(data) - len(MARK) - 64
    if end < 0 or data[end : end + len(MARK)] != MARK:
        raise DamagedFileError(f"{UNSEALED}: it is cut short, or another program wrote it")
    if hashlib.sha256(memoryview(data)[:end]).hexdigest().encode() != data[-64:]:
        raise DamagedFileError("its bytes do not have its checksum: it was changed after it was written")
    return data[:end]


def seal_json(value: dict[str, Any]) -> str:
    """A JSON object as text, with a checksum of all its other entries."""
    return json.dumps(value | {CHECKSUM: json_checksum(value)}, indent=1, allow_nan=False) + "\n"


def unseal_json(text: str) -> dict[str, Any]:
    """The object that was sealed, without its checksum.

    Raises:
        DamagedFileError: the text is not that of an object with a right checksum.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"it is not JSON ({error})") from error
    if not isinstance(value, dict) or CHECKSUM not in value:
        raise DamagedFileError(f"it is not a JSON object with a {CHECKSUM!r}")
    if value.pop(CHECKSUM) != json_checksum(value):
        raise DamagedFileError("its entries do not have its checksum: it was changed after it was written")
    return value


def json_checksum(value: dict[str, Any]) -> str:
    """The SHA-256 checksum of an object, whatever the spacing and order of its text."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
