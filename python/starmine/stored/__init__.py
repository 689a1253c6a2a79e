"""Games on disk: their schema, and data sets that are read back by replaying them."""

from starmine.stored.games import ContentHash, GameTable, content_hash
from starmine.stored.metadata import FORMAT, Metadata
from starmine.stored.schema import ROW_GROUP, SHARD, read_table, schema, shard_name, write_file, write_table

__all__ = [
    "FORMAT",
    "ROW_GROUP",
    "SHARD",
    "ContentHash",
    "GameTable",
    "Metadata",
    "content_hash",
    "read_table",
    "schema",
    "shard_name",
    "write_file",
    "write_table",
]
