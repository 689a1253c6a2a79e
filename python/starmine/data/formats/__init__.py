"""Games in the formats of others: readers and writers, one module a format."""

from starmine.data.formats.exchange import read_games, write_games
from starmine.data.formats.records import SkippedGame

__all__ = ["SkippedGame", "read_games", "write_games"]
