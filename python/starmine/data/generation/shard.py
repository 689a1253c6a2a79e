"""One shard: its games are played in chunks, written as a whole, and examined before they are trusted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, _Player
from starmine._util.durable import DamagedFileError, FolderLock, remove_parts
from starmine.data.arrow import pyarrow, pyarrow_parquet
from starmine.data.files import GamesFile, Totals, write_file
from starmine.data.generation.configuration import Configuration, another_configuration
from starmine.data.metadata import Metadata, differences
from starmine.data.schema import ROW_GROUP, shard_name
from starmine.games.games import OF_TURNS, Games
from starmine.games.play_table import ChunkSize, play_table

SECONDS_A_CHUNK = 1.0  # what is aimed at for bots
PYTHON_CHUNK = 4096  # games that policies and Python bots play at once, always the same

OnChunk = Callable[[Games], None]


def make_shard(
    configuration: Configuration, shard: int, folder: Path, num_threads: int, played: OnChunk, seconds: float = 0
) -> tuple[Totals, bool]:
    """Play the games of a shard and write them, unless another process has done so in the meantime.

    Returns:
        The sums over its games, and whether the shard was made here.
    """
    path = folder / shard_name(shard)
    with FolderLock(folder, lock_name(shard), seconds):
        remove_parts(folder, path.name)
        totals, is_own = examine_shard(configuration, shard, folder), False
        if totals is None:
            optional = OF_TURNS if keeps_values(configuration) else ()
            pieces = _pieces(configuration, shard, num_threads, played)
            totals = write_file(path, configuration.metadata(shard), pieces, optional, configuration.check_weights)
            is_own = True
    remove_lock(folder, shard)
    return totals, is_own


def lock_name(shard: int) -> str:
    """The name of the lock file of a shard."""
    return f".{Path(shard_name(shard)).stem}.lock"


def remove_lock(folder: Path, shard: int) -> None:
    """Remove the lock file of a shard that is whole.

    Any process that later takes the lock examines the shard first. It finds the shard whole and does not play it again.
    """
    try:
        (folder / lock_name(shard)).unlink(missing_ok=True)
    except PermissionError:  # the system does not remove a file that another process has opened
        return


def _pieces(configuration: Configuration, shard: int, num_threads: int, played: OnChunk) -> Iterator[Games]:
    """The games of a shard, a row group at a time, which are played in chunks."""
    games = configuration.games_of(shard)
    chunk_size = ChunkSize(num_threads, SECONDS_A_CHUNK, ROW_GROUP) if plays_in_core(configuration) else None
    for first in range(0, len(games), ROW_GROUP):
        left, chunks = games[first : first + ROW_GROUP], []
        while len(left):
            began = time.perf_counter()
            chunk = play_chunk(configuration, left[: chunk_size.games if chunk_size else PYTHON_CHUNK], num_threads)
            if chunk_size:
                chunk_size.took(len(chunk), time.perf_counter() - began)
            chunks.append(chunk)
            played(chunk)
            left = left[len(chunk) :]
        yield Games.concatenate(chunks)


def play_chunk(configuration: Configuration, games: NDArray[np.uint64], num_threads: int) -> Games:
    """Play the games of a data set with these indices, uint64 (G,), ascending. The result has the same order."""
    seated, table_of = distinct_rows(configuration.players_of(games))
    order = np.argsort(table_of, kind="stable")  # the games of a table are played together
    of_tables = np.split(order, np.cumsum(np.bincount(table_of))[:-1])
    parts = []
    for rows, chosen in zip(seated.tolist(), of_tables, strict=True):
        players = [configuration.players[row] for row in rows]
        listed = games[chosen]
        roster = rows, configuration.roster
        part = play_table(
            configuration.variant, players, len(listed), configuration.seed, 0, num_threads, listed, roster
        )
        parts.append(with_values(part) if keeps_values(configuration) else part)
    return parts[0] if len(parts) == 1 else Games.concatenate(parts)[np.argsort(order)]


def keeps_values(configuration: Configuration) -> bool:
    """Whether search values are stored: only if bots hold all seats and one of them searches."""
    return plays_in_core(configuration) and any(player.searches for player in configuration.players)


def with_values(games: Games) -> Games:
    """The games with columns of searched values, `nan` where no player searches."""
    if games.search_values is not None:
        return games
    unknown = np.full((len(games.actions), games.variant.num_actions), np.nan, np.float32)
    return replace(games, search_values=unknown, search_errors=unknown)


def distinct_rows(players: NDArray[np.int16]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """The distinct rows of players in ascending order, and for each game its row.

    Args:
        players: int16 (G, P), at least one game; none is negative.
    """
    base, seats = int(players.max()) + 1, players.shape[1]
    if (players == players[0]).all():
        return players[:1], np.zeros(len(players), np.int64)
    if base**seats < 2**63:  # one number a row is sorted many times as fast as rows
        codes = players @ np.array([base**seat for seat in reversed(range(seats))], np.int64)
        _, first, row = np.unique(codes, return_index=True, return_inverse=True)
        return players[first], row
    rows, row = np.unique(players, axis=0, return_inverse=True)
    return rows, row.reshape(-1)


def plays_in_core(configuration: Configuration) -> bool:
    """Whether bots hold all seats, so that Python takes no part in the games."""
    return all(isinstance(player, _Player) for player in configuration.players)


# --- Reading ----------------------------------------------------------------------------------------------


def examine_shard(configuration: Configuration, shard: int, folder: Path) -> Totals | None:
    """The sums over the games of a shard's file; None where the file is missing or damaged.

    A file is whole if it has the metadata and the games of the shard, and these match the stored checksum.
    """
    path = folder / shard_name(shard)
    if not path.exists() or own_metadata(configuration, path) != configuration.metadata(shard):
        return None
    totals, index = Totals(), configuration.games_of(shard)
    try:
        for games in GamesFile.open(path).pieces():
            first = totals.games
            totals.add(games)
            if games.index is None or not np.array_equal(games.index, index[first : totals.games]):
                return None
    except (StarmineError, OSError):
        return None
    return totals if totals.games == len(index) else None


def own_metadata(configuration: Configuration, path: Path) -> Metadata | None:
    """The metadata of a file of the data set; None where they are damaged.

    Raises:
        StarmineError: it is a file of another data set.
    """
    try:
        with pyarrow_parquet().ParquetFile(path) as file:
            metadata = Metadata.of_file(file)
    except (pyarrow().ArrowException, OSError, DamagedFileError):
        return None
    except (StarmineError, ValueError) as error:
        raise another_configuration(path.parent, path.name, [str(error)]) from error
    if different := differences(metadata.extra.get("configuration"), configuration.to_dict()):
        raise another_configuration(path.parent, path.name, different)
    return metadata
