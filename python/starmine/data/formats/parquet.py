"""Starmine's own games on disk: Parquet files of the schema of `starmine.data`, one or a folder of them.

What the source of imported games called the suits stands in the metadata, `extra["suits"]`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant
from starmine.data.dataset import Dataset
from starmine.data.files import files_of, write_file
from starmine.data.formats.records import ImportedGames, ReadGames, common_suits
from starmine.data.metadata import Metadata
from starmine.data.schema import SHARD, shard_name
from starmine.data.table import GameTable


def read(path: Path, variant: Variant | None = None) -> ReadGames:
    """Read a file. A game's name is that of its import, or its running number."""
    data = Dataset(path)
    if variant is not None and variant != data.variant:
        return ReadGames.of_other_rules(variant, data.variant, len(data))
    return of_data_set(data)


def of_data_set(data: Dataset) -> ReadGames:
    """The games of a data set."""
    table = GameTable.concatenate(list(data.tables()) or [data[:]])
    games = ReadGames.of_table(table, data.players)
    return replace(games, suits=common_suits(map(suits_in, data.metadata)))


def suits_in(metadata: Metadata) -> tuple[str, ...]:
    """What the source of imported games called the suits; empty where it has our names."""
    told = metadata.extra.get("suits")
    return tuple(map(str, told)) if isinstance(told, list) else ()


def write(games: ImportedGames, path: Path) -> None:
    """Write a file where the path ends in .parquet, and a folder of shards elsewhere."""
    extra: dict[str, Any] = {"source": "imported games"}
    if games.suits:
        extra["suits"] = list(games.suits)
    if path.suffix == ".parquet":
        write_file(path, Metadata(games.variant, games.roster, extra=extra), games.table)
        return
    if path.exists() and not path.is_dir():
        raise StarmineError(f"{path}: it is a file: expected a folder, or a name that ends in .parquet")
    path.mkdir(parents=True, exist_ok=True)
    if files_of(path):
        raise StarmineError(f"{path}: it holds *.parquet files: expected an empty or a new folder")
    shards = max(1, -(-len(games) // SHARD))
    for shard in range(shards):
        rows = slice(shard * SHARD, (shard + 1) * SHARD)
        metadata = Metadata(games.variant, games.roster, shard=shard, shards=shards, extra=extra)
        write_file(path / shard_name(shard), metadata, games.table[rows])
