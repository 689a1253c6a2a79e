"""Games on disk: `generate` makes them, `Dataset` reads and replays them, `read_games` and `write_games` exchange them.

A stored game is its deck and its actions: `schema` has the columns of a file, `starmine.Games` those in memory.
`Dataset.replay` and `starmine.torch.GamesDataset` make observations of it. `verify` plays stored games again and
compares, `info` sums them up. `evaluation_decks` finds games whose decks evaluations play. The formats of others are
hanab.live's JSON and AH2AC2's safetensors.

It needs the extra `data`.
"""

from starmine._util.durable import DamagedFileError
from starmine.data.checksum import checksum_of
from starmine.data.colors import color_permutations, permute_colors
from starmine.data.dataset import Dataset, RowGroup
from starmine.data.decks import evaluation_decks
from starmine.data.formats import SkippedGame, read_games, write_games
from starmine.data.generation.driver import Generation, generate
from starmine.data.metadata import Metadata
from starmine.data.summary import Info, info
from starmine.data.verification import Problem, Verification, verify
from starmine.games.playable import whole_games

__all__ = [
    "DamagedFileError",
    "Dataset",
    "Generation",
    "Info",
    "Metadata",
    "Problem",
    "RowGroup",
    "SkippedGame",
    "Verification",
    "checksum_of",
    "color_permutations",
    "evaluation_decks",
    "generate",
    "info",
    "permute_colors",
    "read_games",
    "verify",
    "whole_games",
    "write_games",
]
