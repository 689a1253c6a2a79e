"""Starmine's own games on disk: Parquet files of the schema of `starmine.data`, one or a folder of them.

What the source of imported games called the suits stands in the metadata, `extra["suits"]`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant
from starmine.data.dataset import Dataset
from starmine.data.files import files_of, write_file
from starmine.data.formats.records import ImportedGames, ReadGames, Stored, common_suits
from starmine.data.metadata import Metadata, merged_players, names_by_seat
from starmine.data.schema import SHARD, shard_name
from starmine.data.table import DEAL, OF_TURNS, GameTable

NAMELESS = "unknown"  # a player whose name is not recorded


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


def table_of(games: ImportedGames) -> Stored:
    """Rows of the schema for games, and the players' table. Games that were stored before keep all their columns."""
    stored, known = games._stored or (None, [])
    if stored is not None and stored.trajectories != games.trajectories:
        stored = None  # the caller has changed the games
    if stored is not None and known and names_by_seat(known, stored.players) == games.players:
        players = stored.players
    else:
        known, players = _named_players(games)
    kept = {name: getattr(stored, name, None) for name in (*DEAL, *OF_TURNS)}
    table = GameTable(
        games.trajectories,
        game=np.arange(len(games), dtype=np.uint64),
        **kept,
        scores=games.scores,
        fireworks=games.fireworks,
        endings=games.endings,
        players=players,
        names=np.array(games.names, np.object_),
    )
    return table, known


def _named_players(games: ImportedGames) -> tuple[list[dict[str, Any]], NDArray[np.int16]]:
    """A players' table of names alone, and the rows of each game's players, int16 (G, players)."""
    unknown = (NAMELESS,) * games.variant.players
    seats = [names or unknown for names in games.players]
    table, _ = merged_players([[{"name": name, "hash": None} for name in dict.fromkeys(chain(*seats))]])
    numbers = {player["name"]: number for number, player in enumerate(table)}
    players = np.array([[numbers[name] for name in row] for row in seats], np.int16)
    return table, players.reshape(len(games), games.variant.players)


def write(games: ImportedGames, path: Path) -> None:
    """Write a file where the path ends in .parquet, and a folder of shards elsewhere."""
    table, players = table_of(games)
    extra: dict[str, Any] = {"source": "imported games"}
    if games.suits:
        extra["suits"] = list(games.suits)
    if path.suffix == ".parquet":
        write_file(path, Metadata(games.variant, players, extra=extra), table)
        return
    if path.exists() and not path.is_dir():
        raise StarmineError(f"{path}: it is a file: expected a folder, or a name that ends in .parquet")
    path.mkdir(parents=True, exist_ok=True)
    if files_of(path):
        raise StarmineError(f"{path}: it holds *.parquet files: expected an empty or a new folder")
    shards = max(1, -(-len(table) // SHARD))
    for shard in range(shards):
        rows = slice(shard * SHARD, (shard + 1) * SHARD)
        metadata = Metadata(games.variant, players, shard=shard, shards=shards, extra=extra)
        write_file(path / shard_name(shard), metadata, table[rows])
