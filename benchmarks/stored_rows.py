"""Turns stored as rows, as people store them: in Parquet and in numpy's memory maps.

Each kind writes the rows of a data set once and reads them back as shuffled minibatches of tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray

from starmine.data import Dataset

MINIBATCH = 4096
OUTPUTS = ("obs", "action_mask", "action", "reward")
ROW_GROUP = 65_536  # rows
MIXED = 4  # row groups that are read and permuted together: as many turns as `GamesDataset` mixes
GAMES_AT_ONCE = 1024  # games whose rows are in memory while they are written

Rows = dict[str, NDArray[Any]]
Minibatch = dict[str, torch.Tensor]


def rows_of(data: Dataset) -> Iterator[Rows]:
    """All turns as packed rows, game after game, some games at a time."""
    for games in data.tables():
        for first in range(0, len(games), GAMES_AT_ONCE):
            some = games[first : first + GAMES_AT_ONCE]
            yield some.replay(["obs", "action_mask", "reward"], dtype="bits") | {"action": some.actions}


class ParquetRows:
    """A column for each array, zstd; row groups are read in an order drawn by chance and permuted in memory."""

    name = "rows in Parquet"

    def __init__(self, data: Dataset, folder: Path) -> None:
        self.path = folder / "rows.parquet"
        self.games, self.turns = len(data), data.turns
        schema = pa.table({name: column(rows[name]) for rows in rows_of(data.select([0])) for name in OUTPUTS}).schema
        with pq.ParquetWriter(self.path, schema, compression="zstd") as writer:
            waiting = schema.empty_table()
            for rows in rows_of(data):
                more = pa.table({name: column(rows[name]) for name in OUTPUTS})
                waiting = pa.concat_tables([waiting, more])
                whole = len(waiting) // ROW_GROUP * ROW_GROUP
                if whole:
                    writer.write_table(waiting[:whole], row_group_size=ROW_GROUP)
                    waiting = waiting[whole:]
            writer.write_table(waiting, row_group_size=ROW_GROUP)
        self.bytes = self.path.stat().st_size

    def minibatches(self, seed: int) -> Iterator[Minibatch]:
        """All rows once."""
        rng = np.random.default_rng(seed)
        with pq.ParquetFile(self.path) as file:
            groups = rng.permutation(file.num_row_groups)
            for start in range(0, len(groups), MIXED):
                table = file.read_row_groups(groups[start : start + MIXED].tolist(), use_threads=False)
                arrays = {name: array(table.column(name)) for name in OUTPUTS}
                yield from chosen_rows(arrays, rng.permutation(len(table)))


class MemoryMaps:
    """A file of numpy for each array; any rows are chosen."""

    name = "numpy memory maps"

    def __init__(self, data: Dataset, folder: Path) -> None:
        self.paths = {name: folder / f"{name}.npy" for name in OUTPUTS}
        self.games, self.turns, first = len(data), data.turns, 0
        maps: dict[str, Any] = {}
        for rows in rows_of(data):
            for name, path in self.paths.items():
                if name not in maps:
                    shape = (self.turns, *rows[name].shape[1:])
                    maps[name] = np.lib.format.open_memmap(path, "w+", rows[name].dtype, shape)
                maps[name][first : first + len(rows[name])] = rows[name]
            first += len(rows["action"])
        self.bytes = sum(path.stat().st_size for path in self.paths.values())

    def minibatches(self, seed: int) -> Iterator[Minibatch]:
        """All rows once."""
        arrays = {name: np.asarray(np.load(path, mmap_mode="r")) for name, path in self.paths.items()}
        yield from chosen_rows(arrays, np.random.default_rng(seed).permutation(self.turns))


def chosen_rows(arrays: Rows, order: NDArray[np.int64]) -> Iterator[Minibatch]:
    """Minibatches of rows in this order."""
    for start in range(0, len(order), MINIBATCH):
        chosen = order[start : start + MINIBATCH]
        yield {name: torch.from_numpy(array[chosen]) for name, array in arrays.items()}


def column(rows: NDArray[Any]) -> Any:
    """An array as a column; rows of bytes as binary values of one size."""
    if rows.ndim == 1:
        return pa.array(rows)
    buffers = [None, pa.py_buffer(np.ascontiguousarray(rows).view(np.uint8))]
    return pa.Array.from_buffers(pa.binary(rows.shape[1]), len(rows), buffers)


def array(stored: Any) -> NDArray[Any]:
    """A column as an array, without a copy."""
    stored = stored.combine_chunks() if isinstance(stored, pa.ChunkedArray) else stored
    if not pa.types.is_fixed_size_binary(stored.type):
        return stored.to_numpy()  # type: ignore[no-any-return]
    width = stored.type.byte_width
    numbers = np.frombuffer(stored.buffers()[1], np.uint8, len(stored) * width, stored.offset * width)
    return numbers.reshape(len(stored), width)
