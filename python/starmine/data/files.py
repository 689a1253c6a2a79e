"""A file of games: its metadata, and its row groups, which are read and written one by one."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from starmine._core import StarmineError
from starmine._util.durable import DamagedFileError, FolderBusyError, given_path, replacing
from starmine.data.arrow import pyarrow, pyarrow_parquet
from starmine.data.checksum import Checksum
from starmine.data.metadata import CONTENT, KEY, Metadata
from starmine.data.prefetch import ahead
from starmine.data.schema import FILE_OPTIONS, ROW_GROUP, optional_columns, read_table, schema, write_table
from starmine.games.games import Games

PARQUET = b"PAR1"  # begins a Parquet file
SHARD_FILE = re.compile(r"shard-(\d+)\.parquet")
Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


@dataclass(frozen=True)
class GamesFile:
    """A Parquet file of games.

    Attributes:
        path: of the file.
        metadata: what it says about all its games.
        sizes: the number of games of each row group.
        columns: the names of its columns.
        key_values: its metadata as they are stored, and the checksum of its games, `Checksum`; None where there is
            none.
        stamp: inode, bytes and time of modification of a file without a checksum of its games.
    """

    path: Path
    metadata: Metadata
    sizes: tuple[int, ...]
    columns: tuple[str, ...]
    key_values: tuple[bytes | None, bytes | None]
    stamp: tuple[int, int, int] | None

    @staticmethod
    def open(path: Path) -> GamesFile:
        """Read a file's metadata."""
        with reading(path):
            stamp = _stamp(path)
        with reading(path), pyarrow_parquet().ParquetFile(path) as file:
            metadata = Metadata.of_file(file)
            check_name(path, metadata)
            groups = file.metadata
            sizes = tuple(groups.row_group(group).num_rows for group in range(groups.num_row_groups))
            names = tuple(file.schema_arrow.names)
            key_values = _key_values(file)
        missing = set(schema(metadata.variant).names) - set(names)
        if missing:
            kind = StarmineError if key_values[1] is None else DamagedFileError
            raise kind(f"{path}: there is no column {', '.join(sorted(missing))}")
        return GamesFile(path, metadata, sizes, names, key_values, stamp if key_values[1] is None else None)

    def checksum(self) -> str:
        """The checksum of its games; for a file without one, as other programs write it, the SHA-256 of the file."""
        if self.key_values[1] is not None:
            return self.key_values[1].decode(errors="replace")
        with reading(self.path):
            with self.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            is_same = self.stamp == _stamp(self.path)
        if not is_same:
            raise self._changed()
        return digest

    def read(self, group: int, columns: Iterable[str] | None = None) -> Any:
        """A row group as a `pyarrow.Table`, with some of its columns or all."""
        names = None if columns is None else list(columns)
        options = {"page_checksum_verification": True}
        with reading(self.path), pyarrow_parquet().ParquetFile(self.path, **options) as file:
            is_same = _key_values(file) == self.key_values and self.stamp in (None, _stamp(self.path))
            table = file.read_row_group(group, columns=names, use_threads=False) if is_same else None
        if table is None or len(table) != self.sizes[group]:
            raise self._changed()
        return table

    def _changed(self) -> DamagedFileError:
        return DamagedFileError(f"{self.path}: it has other games than when the file was opened")

    def pieces(self) -> Iterator[Games]:
        """The games of each row group, in order. A thread reads the next row group.

        Raises:
            DamagedFileError: after the last ones, if the games do not have the checksum in the metadata.
            DamagedFileError, StarmineError, OSError: as `games`.
        """
        checksum, written = Checksum(), self.key_values[1]
        for games in ahead(self.games(group) for group in range(len(self.sizes))):
            checksum.update(games)
            yield games
        if written is not None and written != checksum.hexdigest().encode():
            raise DamagedFileError(f"{self.path}: its games do not have the checksum in its metadata")

    def games(self, group: int, optional: bool = True) -> Games:
        """The games of a row group. Without `optional`, the only optional column that is read is "failure"."""
        further = self.columns if optional else [name for name in self.columns if name == "failure"]
        names = schema(self.metadata.variant, further).names
        table = self.read(group, names)
        with reading(self.path):
            return read_table(table, self.metadata)


def _key_values(file: Any) -> tuple[bytes | None, bytes | None]:
    """`GamesFile.key_values` of an open `pyarrow.parquet.ParquetFile`."""
    stored = file.metadata.metadata or {}
    return stored.get(KEY), stored.get(CONTENT)


def _stamp(path: Path) -> tuple[int, int, int]:
    """`GamesFile.stamp` of a file."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def list_paths(paths: Paths) -> list[str | PathLike[str]]:
    """One or several paths as a list."""
    return [paths] if isinstance(paths, str | PathLike) else list(paths)


def open_files(path: Paths) -> list[GamesFile]:
    """The files of games of a data set.

    Args:
        path: of a folder, whose files `*.parquet` are taken in the order of their names; of a file; or of several.
    """
    given = list_paths(path)
    paths = [file for each in given for file in files_of(given_path("path", each))]
    if not paths:
        raise StarmineError(f"there are no games in {', '.join(map(str, given))!r}: expected files '*.parquet'")
    refuse_twice(paths)
    for each in paths:
        refuse_other_format(each)
    files = [GamesFile.open(file) for file in paths]
    for file in files:
        if file.metadata.variant != files[0].metadata.variant:
            raise StarmineError(
                f"games of different rules cannot be one data set: {files[0].path} holds games of "
                f"{files[0].metadata.variant}, {file.path} those of {file.metadata.variant}"
            )
    for folder in filter(Path.is_dir, map(Path, given)):
        held = [file.metadata for file in files if file.path.parent == folder]
        if missing := missing_shards(held):
            said = f"{folder}: {missing:,} of {missing + len(held):,} shards are missing, and with them their games"
            warnings.warn(said, UserWarning, stacklevel=3)
    return files


def missing_shards(files: Sequence[Metadata]) -> int:
    """How many shards a folder lacks, given the metadata of its files."""
    return max(0, max((metadata.shards or 0 for metadata in files), default=0) - len(files))


def refuse_twice(paths: Iterable[Path]) -> None:
    """Refuse a file that stands twice among others: its games would count twice."""
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise StarmineError(f"{path} is given twice: expected each file once")
        seen.add(path.resolve())


def check_name(path: Path, metadata: Metadata) -> None:
    """Refuse a file under the name of another shard: a copy, whose games would count twice."""
    named = SHARD_FILE.fullmatch(path.name)
    if named is not None and metadata.shard is not None and int(named[1]) != metadata.shard:
        raise DamagedFileError(f"its name is that of another shard: it is shard {metadata.shard} by its metadata")


def refuse_other_format(path: Path) -> None:
    """Refuse a file that other software or another format of ours wrote, which cannot be a damaged Parquet file."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise StarmineError(f"{path}: it is a pipe or a device: expected a Parquet file or a folder of them")
    if path.suffix != ".parquet" and path.is_file():
        with path.open("rb") as file:
            if file.read(len(PARQUET)) == PARQUET:
                return
        raise StarmineError(f"{path}: it is no Parquet file: convert it first, as with `starmine data convert`")


def files_of(path: Path) -> list[Path]:
    """The files of a folder that may hold games, by name; a file itself. Hidden files are none of them."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.glob("*.parquet") if file.is_file() and file.name[0] not in "._")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """A block that reads a file: errors name it, and what pyarrow and numpy raise is damage."""
    try:
        yield
    except FileNotFoundError:  # Arrow's names the file in its text only
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from None
    except (IsADirectoryError, PermissionError):
        raise
    except DamagedFileError as error:
        raise DamagedFileError(f"{path}: it is damaged: {error}") from error
    except StarmineError as error:
        raise StarmineError(f"{path}: {error}") from error
    except (pyarrow().ArrowException, OSError, ValueError) as error:
        said = " ".join(str(error).split())  # Arrow's messages may end with a line break
        raise DamagedFileError(f"{path}: it is damaged or no Parquet file of games ({said})") from error


# --- Writing -----------------------------------------------------------------------------------------------


@dataclass
class Totals:
    """Sums over the games of a file.

    Attributes:
        games: number of games.
        turns: number of their turns.
        score: sum of their scores.
    """

    games: int = 0
    turns: int = 0
    score: int = 0

    def add(self, games: Games) -> None:
        """Add games."""
        self.games += len(games)
        self.turns += len(games.actions)
        self.score += int(games.scores.sum(dtype=np.int64))


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Turn the errors of a folder that cannot be written into a `StarmineError` of one line."""
    try:
        yield
    except FolderBusyError as error:
        raise StarmineError(f"output={error}: expected another folder, or the end of that process") from error
    except (OSError, pyarrow().ArrowException) as error:
        is_taken = isinstance(error, FileExistsError)
        reason = "it is no folder" if is_taken else getattr(error, "strerror", None) or error
        file = getattr(error, "filename", None)
        named = f", {Path(str(file)).name}" if file is not None and Path(str(file)) != folder else ""
        raise StarmineError(
            f"output={str(folder)!r} cannot be written ({reason}{named}): expected a folder that can be"
        ) from error


def write_file(
    path: Path,
    metadata: Metadata,
    games: Games | Iterable[Games],
    optional: Collection[str] = (),
    check: Callable[[], None] = lambda: None,
) -> Totals:
    """Write a file as a whole: aside, flushed to the disk and renamed.

    Args:
        path: of the file.
        metadata: of the file.
        games: games of the metadata's roster, whole or in pieces of `ROW_GROUP` games. A piece is written while the
            next one is made.
        optional: of pieces, the columns that a file need not have.
        check: called after the last piece; an error in it leaves the earlier file.

    Returns:
        The sums over its games.

    Raises:
        OSError, pyarrow.ArrowException: the file cannot be written; the earlier one is still there.
    """
    if isinstance(games, Games):
        optional = optional_columns(games)
        games = [games]
    described = schema(metadata.variant, optional).with_metadata({KEY: metadata.to_json().encode()})
    totals, checksum = Totals(), Checksum()
    with replacing(path) as file, _parquet_writer(file, described) as writer, ThreadPoolExecutor(1) as background:

        def write(piece: Games) -> None:
            writer.write_table(write_table(piece, metadata), row_group_size=ROW_GROUP)
            totals.add(piece)
            checksum.update(piece)

        written = background.submit(lambda: None)
        for piece in games:
            written.result()
            written = background.submit(write, piece)
        written.result()
        check()
        writer.add_key_value_metadata({CONTENT: checksum.hexdigest().encode()})
    return totals


@contextmanager
def _parquet_writer(file: Any, described: Any) -> Iterator[Any]:
    """A Parquet writer, which is closed, and whose own errors do not hide that of the block."""
    sink = pyarrow().PythonFile(file, mode="w")
    writer = pyarrow_parquet().ParquetWriter(sink, described, **FILE_OPTIONS)
    try:
        yield writer
    except BaseException:
        try:
            writer.close()
        except Exception:
            writer.is_open = False
        raise
    writer.close()
