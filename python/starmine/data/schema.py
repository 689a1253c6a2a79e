"""The schema of stored games: one row a game, in Parquet files.

A table and its arrays are turned into each other without a loop over games: the numbers of a column lie together in
an Arrow buffer, and decks and actions are numpy views of such buffers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant
from starmine.data.arrow import pyarrow, to_arrow, to_numpy
from starmine.data.checksum import utf_8
from starmine.data.metadata import KEY, Metadata
from starmine.games.games import DEAL, OF_TURNS, Games

ROW_GROUP = 65_536  # games that a reader holds at once
SHARD = 1_000_000  # games in a file, at most
DICTIONARIES = ("seed", "episode", "first_player", "length", "score", "fireworks", "ending", "players.list.element")
# How files are written, as options of `pyarrow.parquet.ParquetWriter`. Readers check the checksums of the pages.
# Running numbers become differences, and lengths stand apart from the actions, which saves bytes and time. Decks and
# actions, which are all different, need no dictionary.
FILE_OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "write_page_checksum": True,
    "use_dictionary": list(DICTIONARIES),
    "column_encoding": {
        "game": "DELTA_BINARY_PACKED",
        "index": "DELTA_BINARY_PACKED",
        "actions": "DELTA_LENGTH_BYTE_ARRAY",
    },
}
# The names of columns in files, and their names in `Games`. A file may lack the texts.
_NUMBERS = {"game": "number", **{name: name for name in DEAL}, "score": "scores", "fireworks": "fireworks"}
_NUMBERS |= {"ending": "endings", "first_player": "start_players"}
_TEXTS = {"name": "names", "failure": "failures"}


def shard_name(number: int) -> str:
    """The file name of a shard."""
    return f"shard-{number:06d}.parquet"


def schema(variant: Variant, optional: Collection[str] = ()) -> Any:
    """The `pyarrow.Schema` of stored games, without metadata.

    Of the columns that a file need not have, it has the `optional` ones; other names there are ignored.
    """
    pa = pyarrow()
    number = [pa.field("game", pa.uint64(), nullable=False), *(pa.field(name, pa.uint64()) for name in DEAL)]
    item = pa.field("element", pa.int16(), nullable=False)
    columns = {
        "deck": pa.binary(variant.deck_size),
        "first_player": pa.uint8(),
        "actions": pa.binary(),
        "length": pa.uint16(),
        "score": pa.uint8(),
        "fireworks": pa.uint8(),
        "ending": pa.uint8(),
        "players": pa.list_(item),
    }
    numbers = pa.list_(pa.field("element", pa.float32(), nullable=False))
    columns |= {name: numbers for name in OF_TURNS if name in optional}
    columns |= {name: pa.string() for name in _TEXTS if name in optional}
    return pa.schema([*number, *(pa.field(name, kind, nullable=False) for name, kind in columns.items())])


def write_table(games: Games, metadata: Metadata) -> Any:
    """Games as a `pyarrow.Table` with the file's metadata, in pieces of `ROW_GROUP` games."""
    if (metadata.variant, metadata.roster, metadata.suits) != (games.variant, games.roster, games.suits):
        raise StarmineError("the metadata are not those of the games: expected their variant, roster and suits")
    described = schema(games.variant, optional_columns(games)).with_metadata({KEY: metadata.to_json().encode()})
    pieces = [games[first : first + ROW_GROUP] for first in range(0, len(games), ROW_GROUP)]
    batches = [pyarrow().record_batch(_columns(piece), schema=described) for piece in pieces]
    return pyarrow().Table.from_batches(batches, schema=described)


def optional_columns(games: Games) -> list[str]:
    """The names of the columns that a file need not have and these games have."""
    return [*games.of_turns(), *(name for name, ours in _TEXTS.items() if getattr(games, ours) is not None)]


def read_table(table: Any, metadata: Metadata) -> Games:
    """The games of a `pyarrow.Table` or `RecordBatch` with the columns of the schema; others are ignored.

    Args:
        table: the columns.
        metadata: of their file.
    """
    variant = metadata.variant
    expected = schema(variant, table.schema.names)
    missing = [name for name in expected.names if name not in table.schema.names]
    if missing:
        raise StarmineError(f"there is no column {', '.join(missing)}")
    columns = {field.name: as_field(table.column(field.name), field) for field in expected}
    rows = len(columns["game"])
    deck, size = columns["deck"], variant.deck_size
    decks = _numbers(deck.buffers()[1], np.uint8, deck.offset * size, rows * size).reshape(rows, size)
    offsets, actions = _ragged(columns["actions"], np.uint8)
    if (np.diff(offsets) != to_numpy(columns["length"])).any():
        raise StarmineError("column length does not give the number of actions of each game")
    seats, players = _ragged(columns["players"], np.int16)
    if (np.diff(seats) != variant.players).any():
        raise StarmineError(f"column players does not name {variant.players} players in each game")
    if players.size and not 0 <= players.min() <= players.max() < len(metadata.roster):
        raise StarmineError("column players names a player that the metadata do not list")
    held: dict[str, Any] = {ours: _deal(columns[name], name) for name, ours in _NUMBERS.items()}
    held |= {name: _of_turns(name, columns[name], offsets, variant) for name in OF_TURNS if name in columns}
    held |= {ours: np.array(columns[name].to_pylist(), np.object_) for name, ours in _TEXTS.items() if name in columns}
    if metadata.is_evaluation and "failure" not in columns:
        held["failures"] = failures_by_ending(held["endings"])
    return Games(
        variant,
        decks,
        actions=actions,
        offsets=offsets,
        players=players.reshape(rows, variant.players),
        roster=metadata.roster,
        suits=metadata.suits,
        **held,
    )


def failures_by_ending(endings: NDArray[np.uint8]) -> NDArray[np.object_] | None:
    """The failures of an evaluation's games in a file that has none, as version 0.4 wrote it if no reason was kept.

    A game of an evaluation without an ending is one in which a player failed.
    """
    failed = endings == 0
    return np.where(failed, "a player failed", "").astype(np.object_) if failed.any() else None


def _of_turns(name: str, column: Any, offsets: NDArray[np.int64], variant: Variant) -> NDArray[np.float32]:
    """The numbers of a column that has one for each turn and action."""
    ends, numbers = _ragged(column, np.float32)
    if not np.array_equal(ends, offsets * variant.num_actions):
        raise StarmineError(f"column {name} does not have {variant.num_actions} numbers for each turn")
    return numbers.reshape(-1, variant.num_actions)


def _columns(games: Games) -> list[Any]:
    """The columns of at most `ROW_GROUP` games, in the order of the schema."""
    pa = pyarrow()
    described = schema(games.variant, optional_columns(games))
    turns = pa.py_buffer(games.offsets.astype(np.int32))
    actions, decks = np.ascontiguousarray(games.actions), np.ascontiguousarray(games.decks)
    made: dict[str, Any] = {
        "deck": pa.Array.from_buffers(described.field("deck").type, len(games), [None, pa.py_buffer(decks)]),
        "actions": pa.Array.from_buffers(pa.binary(), len(games), [None, turns, pa.py_buffer(actions)]),
        "length": to_arrow(games.lengths).cast(pa.uint16()),
    }
    seats = np.arange(len(games) + 1, dtype=np.int32) * games.variant.players
    lists: dict[str, Any] = {"players": (pa.py_buffer(seats), games.players.ravel())}
    for name, numbers in games.of_turns().items():
        ends = games.offsets * games.variant.num_actions
        lists[name] = (pa.py_buffer(ends.astype(np.int32)), numbers.ravel())
    for name, (offsets, values) in lists.items():
        kind = described.field(name).type
        made[name] = pa.Array.from_buffers(kind, len(games), [None, offsets], children=[to_arrow(values)])
    for name, ours in _NUMBERS.items():
        values = getattr(games, ours)
        made[name] = pa.nulls(len(games), pa.uint64()) if values is None else to_arrow(values)
    for name, ours in _TEXTS.items():
        if name in described.names:
            texts = list(map(utf_8, getattr(games, ours)))
            made[name] = pa.array(texts, pa.binary()).cast(pa.string())
    kinds = {field.name: field.type for field in described}
    return [made[name] if made[name].type == kinds[name] else made[name].cast(kinds[name]) for name in described.names]


def as_schema(table: Any, variant: Variant) -> Any:
    """Arrow data whose columns of the schema have its types, whatever their encoding was; other columns stay."""
    for field in schema(variant, table.schema.names):
        place = table.schema.get_field_index(field.name)
        if place >= 0:
            table = table.set_column(place, field, as_field(table.column(place), field))
    return table


def as_field(column: Any, field: Any) -> Any:
    """A column as the schema's type, in one piece. Nothing is lost: other encodings of the same values are read."""
    pa = pyarrow()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if field.name not in DEAL and column.null_count:
        raise StarmineError(f"column {field.name} has missing values")
    if column.type.equals(field.type):
        return column
    try:
        if not _is_of_kind(column.type, field.type):
            raise pa.ArrowInvalid("another kind of values")
        return column.cast(field.type)
    except pa.ArrowException as error:
        said = "" if pa.types.is_nested(column.type) else f" ({' '.join(str(error).split())})"
        raise StarmineError(f"column {field.name} has type {column.type}: expected {field.type}{said}") from error


def _is_of_kind(kind: Any, expected: Any) -> bool:
    """Whether a type holds the same kind of values as another: integers, floats, text, bytes, or lists of these."""
    types = pyarrow().types
    if types.is_string(expected):
        return bool(types.is_large_string(kind))
    if types.is_null(kind):
        return bool(types.is_uint64(expected))  # of a deal, which may be missing
    if types.is_list(expected):
        is_list = any(test(kind) for test in (types.is_list, types.is_large_list, types.is_fixed_size_list))
        return is_list and _is_of_kind(kind.value_type, expected.value_type)
    if types.is_floating(expected):
        return bool(types.is_floating(kind))
    if types.is_integer(expected):
        return bool(types.is_integer(kind))
    names = ("is_binary", "is_large_binary", "is_fixed_size_binary", "is_binary_view")
    return any(getattr(types, name)(kind) for name in names if hasattr(types, name))


def _numbers(buffer: Any, dtype: Any, first: int, count: int) -> NDArray[Any]:
    """Numbers in an Arrow buffer, which is missing where there are none."""
    if count == 0:
        return np.empty(0, dtype)
    return np.frombuffer(buffer, dtype, count, first * np.dtype(dtype).itemsize)


def _deal(column: Any, name: str) -> NDArray[np.uint64] | None:
    """The numbers of a column that has all its values or none."""
    if column.null_count == 0:
        return to_numpy(column)
    if column.null_count < len(column):
        raise StarmineError(f"column {name} has missing values: expected all of them or none")
    return None


def _ragged(column: Any, dtype: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The offsets, from 0, and the numbers of a column with several numbers a game."""
    offsets = _numbers(column.buffers()[1], np.int32, column.offset, len(column) + 1 if len(column) else 0)
    offsets = offsets.astype(np.int64) if len(offsets) else np.zeros(1, np.int64)
    first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
    if hasattr(column, "values"):
        if column.values.null_count:
            raise StarmineError("a list has missing values")
        return offsets - first, to_numpy(column.values)[first : first + count]
    return offsets - first, _numbers(column.buffers()[2], dtype, first, count)
