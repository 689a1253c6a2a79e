"""Starmine's own games on disk: Parquet files of the schema of `starmine.data`, one or a folder of them.

What the source of imported games called the suits stands in the metadata, `extra["suits"]`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starmine._core import StarmineError
from starmine.data.dataset import Dataset
from starmine.data.files import files_of, write_file
from starmine.data.metadata import Metadata
from starmine.data.schema import SHARD, shard_name
from starmine.games.games import Games

SUFFIXES = (".parquet",)


def read(path: Path) -> Games:
    """Read a file."""
    return Dataset(path)[:]


def write(games: Games, path: Path) -> None:
    """Write a file where the path ends in .parquet, and a folder of shards elsewhere."""
    extra: dict[str, Any] = {"source": "imported games"}
    if games.suits:
        extra["suits"] = list(games.suits)
    if path.suffix.lower() == ".parquet":
        write_file(path, Metadata(games.variant, games.roster, extra=extra), games)
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
        write_file(path / shard_name(shard), metadata, games[rows])
