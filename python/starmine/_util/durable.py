"""Durable files: a lock on a folder, replacement of whole files, records appended whole, and checksums.

A reader of a file that `replacing` or `replace_file` wrote finds the old contents or the new ones, never a mixture,
however many processes write it. An `AppendedFile` grows by whole records. `FolderLock` keeps a folder to one writer.
An OSError of this module names the file.
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
from typing import Any, BinaryIO

from starmine._core import StarmineError

LOCK = ".lock"  # name of the lock file in a folder
PART = ".part"  # suffix of a file that is being written
LONGEST = 50  # characters of a file's name in that of its part, so that the latter is not too long
CHECKSUM = "checksum"  # key of the checksum in a JSON object
MARK = b"\nstarmine sha256 "  # begins the last bytes of a sealed file, before the checksum


class FolderBusyError(OSError):
    """Another writer holds the lock of a folder."""


class DamagedFileError(StarmineError):
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

    def __exit__(self, *_: object) -> None:
        """Release it."""
        self.release()


def given_path(name: str, path: str | os.PathLike[str]) -> Path:
    """A path that a user gave. An empty text is refused: `Path("")` would be the current folder.

    Raises:
        TypeError: it is neither text nor a path.
        StarmineError: it is empty, or has a character that no path has.
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        raise TypeError(f"{name}={path!r} is a {type(path).__name__}: expected the path of a file or folder")
    if not text or "\0" in text:
        raise StarmineError(f"{name}={text!r} is not allowed: expected the path of a file or folder")
    return Path(text)


def remove_parts(folder: Path, name: str = "*") -> None:
    """Remove what killed writers left of a file, or of all files of a folder. The caller holds the lock of these files.

    Raises:
        OSError: a part cannot be removed.
    """
    for part in folder.glob(f"{name[:LONGEST]}.*{PART}"):
        part.unlink()


def replace_file(path: Path, data: bytes | memoryview) -> None:
    """Replace a file as a whole, or create it, as `replacing` does, with its errors."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which replaces another one as a whole once the block has ended without an error.

    The contents go to a part: a file in the same folder, whose name no other writer has. The part is flushed to the
    disk and renamed. Several processes may therefore write one path; the last rename decides. A killed writer leaves
    its part, for `remove_parts`. An existing file keeps its mode. A symbolic link stays, and its target is replaced. A
    device or a pipe is written to directly.

    Raises:
        OSError: the file cannot be written; the earlier one is still there, unless only its folder could not be
            flushed.
    """
    target = Path(os.path.realpath(path))
    is_device = path.exists() and not path.is_file()
    part = target.with_name(f"{target.name[:LONGEST]}.{uuid.uuid4().hex}{PART}")
    try:
        with add_path_to_error(path):
            file: BinaryIO = open(target, "wb") if is_device else open(part, "xb")  # noqa: SIM115 - closed below
        with add_missing_path_to_error(path), file:
            yield file
            with add_path_to_error(path):
                file.flush()
                if not is_device:
                    os.fsync(file.fileno())
        if not is_device:
            with add_path_to_error(path):
                if target.exists():
                    shutil.copymode(target, part)
                part.replace(target)
                sync_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


@contextmanager
def add_path_to_error(path: Path) -> Iterator[None]:
    """Add the path to the message of an OSError of the block."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


@contextmanager
def add_missing_path_to_error(path: Path) -> Iterator[None]:
    """Add the path to an OSError of the block that names no file."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


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
        with add_path_to_error(path):
            self._file = path.open("ab", buffering=0)
            if length is not None:
                self._file.truncate(length)

    def write(self, record: bytes) -> None:
        """Append a record.

        Raises:
            OSError: it cannot be written as a whole; the file has its earlier length.
        """
        with add_path_to_error(self._path):
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
        with add_path_to_error(self._path):
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
        raise DamagedFileError("it does not end with its checksum: it is cut short, or another program wrote it")
    if hashlib.sha256(memoryview(data)[:end]).hexdigest().encode() != data[-64:]:
        raise DamagedFileError("its bytes do not have its checksum: it was changed after it was written")
    return data[:end]


def seal_json(value: dict[str, Any]) -> str:
    """A JSON object as text in one line, the same for equal objects, with a checksum of all its other entries."""
    return json.dumps(value | {CHECKSUM: json_checksum(value)}, sort_keys=True, separators=(",", ":"), allow_nan=False)


def unseal_json(text: str | bytes) -> dict[str, Any]:
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
