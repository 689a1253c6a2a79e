"""Games at scale: generated, verified, read back by replaying them, and in the formats of others.

It needs `pip install 'starmine[data]'`.
"""

from starmine._util.durable import DamagedFileError
from starmine.data.colors import color_permutations, permute_colors
from starmine.data.dataset import Dataset, RowGroup
from starmine.data.end_reasons import ENDED_BY
from starmine.data.formats import FORMATS, Format, ImportedGames, SkippedGame, format_names, read_games, write_games
from starmine.data.game import Game
from starmine.data.generation.configuration import Mixture
from starmine.data.generation.driver import Generation, generate
from starmine.data.metadata import Metadata
from starmine.data.summary import Info, info
from starmine.data.table import GameTable, content_hash
from starmine.data.verification import Problem, Verification, verify

__all__ = [
    "ENDED_BY",
    "FORMATS",
    "DamagedFileError",
    "Dataset",
    "Format",
    "Game",
    "GameTable",
    "Generation",
    "ImportedGames",
    "Info",
    "Metadata",
    "Mixture",
    "Problem",
    "RowGroup",
    "SkippedGame",
    "Verification",
    "color_permutations",
    "content_hash",
    "format_names",
    "generate",
    "info",
    "permute_colors",
    "read_games",
    "verify",
    "write_games",
]
