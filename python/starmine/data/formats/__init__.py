"""Games in the formats of others: readers and writers, one module a format."""

from starmine.data.formats.read import read_games
from starmine.data.formats.records import ImportedGames, SkippedGame
from starmine.data.formats.registry import FORMATS, Format
from starmine.data.formats.write import write_games

__all__ = ["FORMATS", "Format", "ImportedGames", "SkippedGame", "read_games", "write_games"]
