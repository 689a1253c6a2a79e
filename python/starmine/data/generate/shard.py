"""One shard: written as a whole, and examined before it is trusted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError
from starmine._util.durable import FolderLock
from starmine.data.ahead import ahead
from starmine.data.arrow import pyarrow, pyarrow_parquet
from starmine.data.files import Entry, Tally, file_hash, write_games
from starmine.data.generate.chunk import play_chunk, plays_in_core, stores_values
from starmine.data.generate.configuration import Configuration, another_configuration, differences
from starmine.data.metadata import CONTENT, Metadata
from starmine.data.schema import ROW_GROUP, read_table, shard_name
from starmine.data.table import GameTable

FIRST_GAMES_A_THREAD = 64  # games of bots in a shard's first chunk, which shows how fast they are
SECONDS_A_CHUNK = 1.0  # what is aimed at for bots
PYTHON_CHUNK = 4096  # games that policies and Python bots play at once, always the same

OnChunk = Callable[[GameTable], None]


def make_shard(
    configuration: Configuration,
    shard: int,
    folder: Path,
    entry: Entry | None,
    num_threads: int,
    played: OnChunk,
    seconds: float = 0,
) -> tuple[Entry, bool]:
    """Play the games of a shard and write them, unless another process has done so in the meantime.

    Args:
        configuration: of the data set.
        shard: its number.
        folder: of the data set.
        entry: of the shard in the manifest.
        num_threads: for games in which bots hold all seats.
        played: called with games that were just played.
        seconds: to wait for another process that makes this shard.

    Returns:
        The entry for the manifest, and whether the shard was made here.

    Raises:
        FolderBusyError: another process makes this shard.
        OSError: the shard cannot be written.
        BotError: a player failed.
        StarmineError: the file holds games of another data set, or a policy has changed.
    """
    path = folder / shard_name(shard)
    with FolderLock(folder, lock_name(shard), seconds):
        found = examine_shard(configuration, shard, folder, entry)
        made = found or write_shard(configuration, shard, path, _pieces(configuration, shard, num_threads, played))
    remove_lock(folder, shard)
    return made, found is None


def lock_name(shard: int) -> str:
    """The name of the lock file of a shard."""
    return f".{Path(shard_name(shard)).stem}.lock"


def remove_lock(folder: Path, shard: int) -> None:
    """Remove the lock file of a shard that is whole.

    Whoever holds this lock, or a new one of this name, looks at the shard and finds it whole before it makes it.
    """
    try:
        (folder / lock_name(shard)).unlink(missing_ok=True)
    except PermissionError:  # the system does not remove a file that another process has opened
        return


def write_shard(configuration: Configuration, shard: int, path: Path, pieces: Iterator[GameTable]) -> Entry:
    """Write a shard, whose pieces are its row groups; its entry for the manifest."""
    optional = ("search_values", "search_errors") if stores_values(configuration.cast) else ()
    return write_games(path, configuration.metadata(shard), pieces, optional, configuration.check_weights)


def _pieces(configuration: Configuration, shard: int, num_threads: int, played: OnChunk) -> Iterator[GameTable]:
    """The games of a shard, a row group at a time."""
    games = configuration.games_of(shard)
    pace = Pace(num_threads) if plays_in_core(configuration.cast) else None
    for first in range(0, len(games), ROW_GROUP):
        yield GameTable.concatenate(
            list(_chunks(configuration, games[first : first + ROW_GROUP], num_threads, played, pace))
        )


def _chunks(
    configuration: Configuration, games: NDArray[np.uint64], num_threads: int, played: OnChunk, pace: Pace | None
) -> Iterator[GameTable]:
    """The games of a row group, in chunks as they are played."""
    done = 0
    while done < len(games):
        count = PYTHON_CHUNK if pace is None else pace.games
        began = time.perf_counter()
        chunk = play_chunk(configuration.cast, configuration.seed, games[done : done + count], num_threads)
        if pace is not None:
            pace.took(len(chunk), time.perf_counter() - began)
        done += len(chunk)
        played(chunk)
        yield chunk


class Pace:
    """How many games of bots are played at once: about as many as take a second.

    Chunks change no game; they only let the progress move, whatever the speed of the bots.

    Attributes:
        games: number of games of the next chunk.
    """

    def __init__(self, num_threads: int) -> None:
        self.games = self.least = FIRST_GAMES_A_THREAD * num_threads

    def took(self, games: int, seconds: float) -> None:
        """Set the next chunk by the seconds that these games took."""
        self.games = max(1, min(ROW_GROUP, int(games * SECONDS_A_CHUNK / max(seconds, 1e-9))))


# --- Reading ----------------------------------------------------------------------------------------------


def examine_shard(configuration: Configuration, shard: int, folder: Path, entry: Entry | None) -> Entry | None:
    """Examine whether a shard's file is whole: by its bytes where its entry is known, else by its games.

    Args:
        configuration: of the data set.
        shard: its number.
        folder: of the data set.
        entry: its entry in the manifest.

    Returns:
        Its entry; None where the file is missing or damaged.

    Raises:
        StarmineError: the file holds games of another data set.
        OSError: it cannot be read.
    """
    path = folder / shard_name(shard)
    if not path.exists():
        return None
    if entry is not None:
        # A file that the manifest names was written here, so that any other bytes are damage.
        return entry if file_hash(path) == (entry.get("bytes"), entry.get("sha256")) else None
    try:
        metadata = Metadata.of(pyarrow_parquet().read_metadata(path).metadata)
    except (pyarrow().ArrowException, OSError):
        return None
    except (StarmineError, ValueError) as error:
        raise another_configuration(folder, path.name, [str(error)]) from error
    if different := differences(metadata.extra.get("configuration"), configuration.to_dict()):
        raise another_configuration(folder, path.name, different)
    try:
        return derive_entry(path) if metadata == configuration.metadata(shard) else None
    except (pyarrow().ArrowException, StarmineError, ValueError, OSError):
        return None


def derive_entry(path: Path) -> Entry:
    """The manifest's entry of a file, of which all games are read.

    Raises:
        StarmineError: the games are not those that were written.
        OSError, pyarrow.ArrowException: the file cannot be read.
    """
    tally = Tally()
    with pyarrow_parquet().ParquetFile(path, page_checksum_verification=True) as file:
        variant = Metadata.of(file.metadata.metadata).variant
        written = (file.metadata.metadata or {}).get(CONTENT, b"").decode(errors="replace")
        for table in ahead(file.read_row_group(group) for group in range(file.num_row_groups)):
            tally.add(read_table(table, variant))
    if written != tally.contents.hexdigest():
        raise StarmineError(f"{path.name} does not hold the games that were written: their checksum differs")
    return tally.entry(*file_hash(path))
