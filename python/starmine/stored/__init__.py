"""Games on disk: their schema, and data sets that are read back by replaying them."""

from starmine.stored.batches import replay_batch
from starmine.stored.colors import color_permutations, permute_actions, permute_colors
from starmine.stored.dataset import Dataset, RowGroup
from starmine.stored.game import Game
from starmine.stored.games import ContentHash, GameTable, content_hash
from starmine.stored.metadata import FORMAT, Metadata
from starmine.stored.schema import (
    FILE_OPTIONS,
    ROW_GROUP,
    SHARD,
    read_table,
    schema,
    shard_name,
    write_file,
    write_table,
)

__all__ = [
    "FILE_OPTIONS",
    "FORMAT",
    "ROW_GROUP",
    "SHARD",
    "ContentHash",
    "Dataset",
    "Game",
    "GameTable",
    "Metadata",
    "RowGroup",
    "color_permutations",
    "content_hash",
    "permute_actions",
    "permute_colors",
    "read_table",
    "replay_batch",
    "schema",
    "shard_name",
    "write_file",
    "write_table",
]
