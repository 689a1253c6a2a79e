"""Games at scale: in the formats of others."""

from starmine.data.formats import FORMATS, Format, ImportedGames, SkippedGame, format_names, read_games, write_games

__all__ = ["FORMATS", "Format", "ImportedGames", "SkippedGame", "format_names", "read_games", "write_games"]
