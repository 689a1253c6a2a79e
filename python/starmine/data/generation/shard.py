"""One shard: its games are played in chunks, written as a whole, and examined before they are trusted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, _Player
from starmine._util.arrays import Array
from starmine._util.durable import DamagedFileError, FolderLock, remove_parts
from starmine.data.arrow import pyarrow, pyarrow_parquet
from starmine.data.files import Entry, GamesFile, Tally, file_hash, write_file
from starmine.data.generation.configuration import (
    Configuration,
    Roster,
    RosterPlayer,
    another_configuration,
    players_of,
)
from starmine.data.manifest import differences
from starmine.data.metadata import Metadata
from starmine.data.prefetch import ahead
from starmine.data.schema import ROW_GROUP, shard_name
from starmine.data.table import GameTable
from starmine.games.results import Games
from starmine.games.trajectories import Trajectories
from starmine.games.whole_games import Pace, Values, play_table

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

    Returns:
        The entry for the manifest, and whether the shard was made here.
    """
    path = folder / shard_name(shard)
    with FolderLock(folder, lock_name(shard), seconds):
        remove_parts(folder, path.name)
        made_entry, is_own = examine_shard(configuration, shard, folder, entry), False
        if made_entry is None:
            optional = ("search_values", "search_errors") if stores_values(configuration.roster) else ()
            pieces, metadata = _pieces(configuration, shard, num_threads, played), configuration.metadata(shard)
            written = write_file(path, metadata, pieces, optional, configuration.check_weights)
            made_entry, is_own = written.entry(path), True
    remove_lock(folder, shard)
    return made_entry, is_own


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


def _pieces(configuration: Configuration, shard: int, num_threads: int, played: OnChunk) -> Iterator[GameTable]:
    """The games of a shard, a row group at a time, which are played in chunks."""
    games, roster = configuration.games_of(shard), configuration.roster
    pace = Pace(num_threads, SECONDS_A_CHUNK, ROW_GROUP) if plays_in_core(roster) else None
    for first in range(0, len(games), ROW_GROUP):
        left, chunks = games[first : first + ROW_GROUP], []
        while len(left):
            began = time.perf_counter()
            chunk = play_chunk(roster, configuration.seed, left[: pace.games if pace else PYTHON_CHUNK], num_threads)
            if pace is not None:
                pace.took(len(chunk), time.perf_counter() - began)
            left = left[len(chunk) :]
            played(chunk)
            chunks.append(chunk)
        yield GameTable.concatenate(chunks)


# --- Playing ----------------------------------------------------------------------------------------------


def play_chunk(roster: Roster, seed: int, games: NDArray[np.uint64], num_threads: int) -> GameTable:
    """Play games of a data set, given their indices, uint64 (G,), in ascending order, in which the result is, too."""
    players = players_of(roster, seed, games)
    tables, table_of = distinct_rows(players)
    parts = []
    order = np.argsort(table_of, kind="stable")  # table after table
    of_tables = np.split(order, np.cumsum(np.bincount(table_of))[:-1])
    for seats, chosen in zip(tables.tolist(), of_tables, strict=True):
        parts.append(
            _play_table(roster.variant, [roster.members[row] for row in seats], seed, games[chosen], num_threads)
        )
    scores, fireworks, endings = (
        np.concatenate([getattr(part[0], name) for part in parts]) for name in ("scores", "fireworks", "endings")
    )
    trajectories = [part[0].trajectories for part in parts]
    with_values = [(played, part[1]) for played, part in zip(trajectories, parts, strict=True)]
    values = search_values(roster.variant, with_values) if stores_values(roster) else (None, None)
    by_table = games[order]
    played = GameTable(
        trajectories=Trajectories.concatenate(trajectories),
        game=by_table,
        seed=np.full(len(games), seed, np.uint64),
        index=by_table,
        episode=np.zeros(len(games), np.uint64),
        scores=scores.astype(np.uint8),
        fireworks=fireworks.astype(np.uint8),
        endings=endings.astype(np.uint8),
        players=players[order],
        search_values=values[0],
        search_errors=values[1],
    )
    return played if len(parts) == 1 else played[np.argsort(order)]


def stores_values(roster: Roster) -> bool:
    """Whether the values that players find by search are stored: those of bots that hold all seats."""
    return plays_in_core(roster) and any(player.player.searches for player in roster.members)


def search_values(variant: Variant, parts: list[tuple[Trajectories, Values | None]]) -> Values:
    """The values of all actions in the turns of several tables, `nan` at those where no seat searches."""
    means: list[Array] = []
    errors: list[Array] = []
    for trajectories, values in parts:
        unknown = np.full((len(trajectories.actions), variant.num_actions), np.nan, np.float32)
        for numbers, column in zip((means, errors), values or (unknown, unknown), strict=True):
            numbers.append(column)
    return np.concatenate(means), np.concatenate(errors)


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


def plays_in_core(roster: Roster) -> bool:
    """Whether bots hold all seats, so that Python takes no part in the games."""
    return all(isinstance(player.player, _Player) for player in roster.members)


def _play_table(
    variant: Variant, seats: list[RosterPlayer], seed: int, games: NDArray[np.uint64], num_threads: int
) -> tuple[Games, Values | None]:
    players = [seat.player for seat in seats]
    return play_table(variant, players, len(games), seed, 0, num_threads, record=True, listed=games)


# --- Reading ----------------------------------------------------------------------------------------------


def examine_shard(configuration: Configuration, shard: int, folder: Path, entry: Entry | None) -> Entry | None:
    """Examine whether a shard's file is whole: by its bytes where its entry is known, else by its games.

    Returns:
        Its entry; None where the file is missing or damaged.
    """
    path = folder / shard_name(shard)
    if not path.exists():
        return None
    if entry is not None:
        # A file that the manifest names was written here, so that any other bytes are damage.
        return entry if file_hash(path) == (entry.get("bytes"), entry.get("sha256")) else None
    if own_metadata(configuration, path) != configuration.metadata(shard):
        return None
    try:
        file, tally = GamesFile.open(path), Tally()
        for games in ahead(file.games(group) for group in range(len(file.sizes))):
            tally.add(games)
        return tally.entry(path) if file.checksum() == tally.contents.hexdigest() else None
    except (StarmineError, OSError):
        return None


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
