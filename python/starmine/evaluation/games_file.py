"""The file that stores the single games of an evaluation."""

from __future__ import annotations

import io
import os
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from starmine._util.durable import DamagedFileError, replacing

EMPTY = "00000000" * 4  # the checksum of no games
ZEROS = bytes(1 << 20)


class GamesFile:
    """The array `Evaluation.outcomes` as an .npy file, followed by the run id, which `np.load` ignores.

    The file is written with plain writes, into space that was allocated first: where the disk is full, they raise
    OSError, whereas a store to a memory map would end the process with SIGBUS.

    Attributes:
        checksums: for each pairing, the CRC-32 of the saved games' scores, fireworks, lengths and endings.
    """

    def __init__(self, file: BinaryIO, outcomes: Any) -> None:
        self._file, self._outcomes = file, outcomes
        self._saved = np.zeros(outcomes.shape[:2], dtype=np.int64)
        self._crcs = np.zeros(outcomes.shape[:3], dtype=np.uint32)

    @classmethod
    def create(cls, path: Path, outcomes: Any, run: str) -> GamesFile:
        """Replace the file by one without games.

        Raises:
            OSError: it cannot be written, or the disk has no space for all games.
        """
        with replacing(path) as file:
            file.write(header(outcomes))
            allocate(file, outcomes.nbytes)
            file.write(run.encode())
        return cls(path.open("rb+", buffering=0), outcomes)

    @classmethod
    def open(cls, path: Path, outcomes: Any, played: Any, run: str) -> GamesFile:
        """Read the games into `outcomes`.

        Args:
            path: of the file.
            outcomes: of the shape that the file must have.
            played: the number of games to read, by pairing.
            run: the id that the file must have.

        Raises:
            DamagedFileError: the file has another shape, length or run id.
            OSError: it cannot be read or written.
        """
        expected = header(outcomes)
        file = path.open("rb+", buffering=0)
        try:
            length = os.fstat(file.fileno()).st_size
            if length != len(expected) + outcomes.nbytes + len(run) or file.read(len(expected)) != expected:
                raise DamagedFileError(f"{path.name} is no array of shape {outcomes.shape} with a run id")
            file.seek(len(expected) + outcomes.nbytes)
            if file.read() != run.encode():
                raise DamagedFileError(f"{path.name} belongs to another run")
            found = cls(file, outcomes)
            for cell, field, _, end in found._unsaved(played):
                file.seek(found._offset(cell, field, 0))
                outcomes[cell][field, :end] = np.frombuffer(file.read(2 * end), dtype=np.int16)
            found._count(played)
        except BaseException:
            file.close()
            raise
        return found

    @property
    def checksums(self) -> list[str]:
        """As documented for the class."""
        return ["".join(f"{crc:08x}" for crc in fields) for fields in self._crcs.reshape(-1, 4)]

    def save(self, played: Any) -> None:
        """Write the games that have been played since the last call, and flush them to the disk.

        Raises:
            OSError: they cannot be written; those saved before are still there.
        """
        for cell, field, start, end in self._unsaved(played):
            self._file.seek(self._offset(cell, field, start))
            data = memoryview(self._outcomes[cell][field, start:end].tobytes())
            while data:
                data = data[self._file.write(data) :]
        os.fsync(self._file.fileno())
        self._count(played)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _unsaved(self, played: Any) -> Any:
        for cell in np.ndindex(*self._saved.shape):
            if played[cell] > self._saved[cell]:
                for field in range(self._outcomes.shape[2]):
                    yield cell, field, int(self._saved[cell]), int(played[cell])

    def _count(self, played: Any) -> None:
        for cell, field, start, end in self._unsaved(played):
            games = self._outcomes[cell][field, start:end].tobytes()
            self._crcs[cell][field] = zlib.crc32(games, int(self._crcs[cell][field]))
        self._saved[:] = played

    def _offset(self, cell: tuple[int, ...], field: int, game: int) -> int:
        index = int(np.ravel_multi_index((*cell, field, game), self._outcomes.shape))
        return len(header(self._outcomes)) + index * int(self._outcomes.itemsize)


def header(outcomes: Any) -> bytes:
    """What an .npy file begins with."""
    found = io.BytesIO()
    np.lib.format.write_array_header_1_0(found, np.lib.format.header_data_from_array_1_0(outcomes))
    return found.getvalue()


def allocate(file: BinaryIO, size: int) -> None:
    """Append zeros, for which the disk has space, to a file.

    Raises:
        OSError: the disk has not enough space.
    """
    file.flush()
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), file.tell(), size)
        file.seek(size, os.SEEK_CUR)
        return
    for written in range(0, size, len(ZEROS)):
        file.write(ZEROS[: size - written])
