"""Games on disk: `generate` makes them, `Dataset` reads and replays them, `read_games` and `write_games` exchange them.

A stored game is its deck and its actions: `schema` has the columns of a file, `table` those in memory. `Dataset.replay`
and `starmine.torch.GamesDataset` make observations of it. `verify` plays stored games again and compares, `info` sums
them up. `evaluation_decks` finds games whose decks evaluations play. The formats of others are hanab.live's JSON and
AH2AC2's safetensors.

It needs `pip install 'starmine[data]'`.
"""

from starmine._util.durable import DamagedFileError
from starmine.data.colors import color_permutations, permute_colors
from starmine.data.dataset import Dataset, RowGroup
from starmine.data.formats import FORMATS, Format, ImportedGames, SkippedGame, read_games, write_games
from starmine.data.game import Game
from starmine.data.generation.driver import Generation, generate
from starmine.data.metadata import Metadata
from starmine.data.outcomes import evaluation_decks
from starmine.data.summary import Info, info
from starmine.data.table import GameTable, content_hash
from starmine.data.verification import Problem, Verification, verify

__all__ = [
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
    "Problem",
    "RowGroup",
    "SkippedGame",
    "Verification",
    "color_permutations",
    "content_hash",
    "evaluation_decks",
    "generate",
    "info",
    "permute_colors",
    "read_games",
    "verify",
    "write_games",
]
