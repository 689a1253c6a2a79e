"""The games that a caller holds, in any of the forms in which the package hands them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from starmine._core import StarmineError
from starmine.data.dataset import Dataset
from starmine.data.formats.parquet import of_data_set
from starmine.data.formats.records import ImportedGames, ReadGames, check
from starmine.data.game import Game
from starmine.data.metadata import merged_players
from starmine.data.table import GameTable
from starmine.games.results import Games
from starmine.games.trajectories import Trajectories

AnyGames: TypeAlias = Trajectories | ImportedGames | Games | GameTable | Dataset | Game | Sequence[Game]
EXPECTED = (
    "expected trajectories, the result of play_games(..., record=True), the result of read_games, a Dataset or a view "
    "of one, a GameTable such as data[:20], a Game such as data[3], or a list of Games"
)


def imported(games: AnyGames, on_error: str = "raise") -> ImportedGames:
    """Games of any form as a reader gives them, played by the rules."""
    if isinstance(games, ImportedGames):
        return games
    return check(_read(games), on_error, "the games")


def _read(games: Any) -> ReadGames:
    """Games of any form, as they were recorded."""
    if isinstance(games, Games):
        games = games.trajectories
    if isinstance(games, Trajectories):
        return ReadGames.of(games)
    if isinstance(games, GameTable):
        return ReadGames.of_table(games, [])
    if isinstance(games, Dataset):
        return of_data_set(games)
    listed = [games] if isinstance(games, Game) else games
    if not isinstance(listed, list | tuple) or not listed or not all(isinstance(game, Game) for game in listed):
        raise StarmineError(f"games={_named(games)} is not allowed: {EXPECTED}")
    players, rows = merged_players([game.players for game in listed])
    table = GameTable.concatenate([game.table for game in listed])
    return ReadGames.of_table(replace(table, players=np.stack(rows)), players)


def _named(value: Any) -> str:
    """A value in a message: its kind, as it may be long; for a list the kind of what is no game in it."""
    if not isinstance(value, list | tuple):
        return repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    odd = next((f"{type(item).__name__}, ..." for item in value if not isinstance(item, Game)), "")
    return f"[{odd}]"
