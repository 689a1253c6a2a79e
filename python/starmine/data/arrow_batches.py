"""Stored games as another library hands them over, turned into rows of turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from starmine._core import StarmineError, Variant
from starmine._core import variant as preset
from starmine.data.arrow import pyarrow, pyarrow_compute
from starmine.data.metadata import Metadata
from starmine.data.rows import Rows, RowSettings
from starmine.data.schema import as_schema, read_table, schema

NEEDED = ("deck", "first_player", "actions", "score")  # for a replay
OF_OUTPUTS = {"number": "game", "player": "players", "log_prob": "log_prob"}  # the columns of other outputs
USED = (*NEEDED, *OF_OUTPUTS.values())


def replay_batch(
    batch: Any,
    variant: Variant | str | None = None,
    *,
    outputs: Sequence[str] | None = None,
    encoder: str = "canonical",
    dtype: str = "bits",
    observers: str = "current",
    num_threads: int | None = 1,
) -> Rows:
    """Turn stored games into rows of turns: a function for `ray.data.read_parquet(...).map_batches(replay_batch)`.

    Args:
        batch: games with the columns of the package's Parquet files: a `pyarrow.Table` or `RecordBatch`, a
            `pandas.DataFrame`, or a dictionary of arrays or lists by column. These columns are needed: `deck`, of type
            `bytes`, one byte `suit * ranks + rank` for each card, the top card first; `actions`, of type `bytes`, one
            action id for each turn; `first_player`, the seat that starts, which `Trajectories` calls `start_players`;
            and `score`. Columns of bytes are lists or arrays of dtype object. The output "number" needs the column
            `game`, "player" needs `players`, the number of the player in each seat, and "log_prob" needs `log_prob`.
        variant: the rules, the name of a preset, or JSON text; None for those of an Arrow table's metadata, which
            dictionaries and data frames do not have.
        outputs: as `Dataset.replay` takes them.
        encoder: one of `starmine.encoders()`.
        dtype: of the observations.
        observers: "current" or "all".
        num_threads: of the replay.

    Returns:
        For each output an array (T, ...), one row a turn, game after game. `game` is the index in the batch; `number`
        is the stored number, which is the same in every batch.

    Raises:
        StarmineError: there are no rules, or a column is missing or contradicts them; a deck or an action is not
            allowed.
        UnknownNameError: there is no such output, encoder, dtype or preset.
        ImportError: pyarrow is not installed.
    """
    settings = RowSettings.of(outputs, encoder=encoder, dtype=dtype, observers=observers, num_threads=num_threads)
    table = _as_table(batch)
    missing = [name for name in NEEDED if name not in table.schema.names]
    wanted = [column for output, column in OF_OUTPUTS.items() if output in settings.outputs]
    missing += [column for column in wanted if column not in table.schema.names]
    if missing:
        raise StarmineError(f"the batch has no column {', '.join(missing)}")
    rules = _rules(variant, table)
    return settings.rows(read_table(_completed(table, rules), rules))


def _as_table(batch: Any) -> Any:
    """The columns of a batch that are used, as Arrow data."""
    pa = pyarrow()
    if isinstance(batch, pa.Table | pa.RecordBatch):
        return batch.select([name for name in USED if name in batch.schema.names])
    if not isinstance(batch, Mapping) and not (hasattr(batch, "columns") and hasattr(batch, "to_dict")):
        raise StarmineError(f"batch is a {type(batch)}: expected an Arrow table, a data frame or a dictionary")
    columns = {name: _as_column(name, batch[name]) for name in USED if name in batch}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise StarmineError(f"the columns have different lengths: {lengths}")
    return pa.table(columns)


def _as_column(name: str, given: Any) -> Any:
    """A column of a dictionary or a data frame as Arrow data."""
    pa = pyarrow()
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return given
    values = given if isinstance(given, list | tuple) else np.asanyarray(given)
    if isinstance(values, np.ma.MaskedArray):
        raise StarmineError(f"column {name} is a masked array: expected one without a mask")
    if isinstance(values, np.ndarray) and values.dtype.kind == "S":
        raise StarmineError(
            f"column {name} is an array of dtype {values.dtype}, in which numpy drops zeros at the end: expected bytes "
            "in a list or in an array of dtype object"
        )
    try:
        # Of a list numpy would make text of a fixed length, or numbers of a common type.
        return pa.array(values if isinstance(values, np.ndarray) and values.ndim == 1 else list(values))
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise StarmineError(f"column {name} is not allowed: {' '.join(str(error).split())}") from error


def _rules(variant: Variant | str | None, table: Any) -> Variant:
    if variant is None:
        if not table.schema.metadata:
            raise StarmineError("variant is not given: expected the rules, since the batch has no metadata")
        return Metadata.of(table.schema.metadata).variant
    if isinstance(variant, str):
        return Variant.from_json(variant) if variant.lstrip().startswith("{") else preset(variant)
    return variant


def _completed(table: Any, variant: Variant) -> Any:
    """A table with all columns of the schema; those that a replay does not need are filled in."""
    pa = pyarrow()
    table = as_schema(table, variant)
    columns = {name: table.column(name) for name in table.schema.names}
    for field in schema(variant):
        if field.name == "length":
            columns["length"] = pyarrow_compute().binary_length(columns["actions"])
        elif field.name == "players" and "players" not in columns:
            columns["players"] = pa.array([[0] * variant.players] * len(table), field.type)
        elif field.name not in columns:
            columns[field.name] = pa.array(np.zeros(len(table), np.int64)).cast(field.type)
    return pa.table(columns)
