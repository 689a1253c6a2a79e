"""Games at scale: generated, verified, read back by replaying them, and in the formats of others.

It needs `pip install 'starmine[data]'`.
"""

from starmine.data.formats import FORMATS, Format, ImportedGames, SkippedGame, format_names, read_games, write_games
from starmine.data.generate import Generated, generate
from starmine.data.info import Info, info
from starmine.data.players import Mixture
from starmine.data.verify import Problem, Verified, verify
from starmine.stored import Dataset, replay_batch
from starmine.stored.ended import ENDED_BY

__all__ = [
    "ENDED_BY",
    "FORMATS",
    "Dataset",
    "Format",
    "Generated",
    "ImportedGames",
    "Info",
    "Mixture",
    "Problem",
    "SkippedGame",
    "Verified",
    "format_names",
    "generate",
    "info",
    "read_games",
    "replay_batch",
    "verify",
    "write_games",
]
