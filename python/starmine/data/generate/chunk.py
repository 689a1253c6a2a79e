"""Plays any games of a data set, in chunks."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import Variant, _play_bots, _Player, _Tables
from starmine.data.generate.draws import NOISE, POLICY, choose_legal, draw, fractions
from starmine.data.generate.players import Cast, CastMember
from starmine.data.table import GameTable
from starmine.games.results import BotError, Games
from starmine.games.table import WholeGames
from starmine.games.trajectories import Trajectories

Array = NDArray[Any]
Columns: TypeAlias = tuple[Array, Array, Array, Array]  # scores, fireworks, lengths, endings
Values: TypeAlias = tuple[Array, Array]  # of all actions in all turns, and their standard errors


def play_chunk(cast: Cast, seed: int, games: NDArray[np.uint64], num_threads: int) -> GameTable:
    """Play games of a data set.

    Args:
        cast: the players.
        seed: of the data set.
        games: uint64 (G,), the indices of the games, in ascending order.
        num_threads: threads for games in which bots hold all seats.

    Returns:
        The games, in their order.

    Raises:
        BotError: a player raised an exception or chose an illegal move.
    """
    players = cast.players_of(seed, games)
    tables, table_of = distinct_rows(players)
    parts = []
    order = np.argsort(table_of, kind="stable")  # table after table
    of_tables = np.split(order, np.cumsum(np.bincount(table_of))[:-1])
    for seats, chosen in zip(tables.tolist(), of_tables, strict=True):
        parts.append(_play_table(cast.variant, [cast.members[row] for row in seats], seed, games[chosen], num_threads))
    outcomes = [np.concatenate(columns) for columns in zip(*(part[0] for part in parts), strict=True)]
    scores, fireworks, _, endings = outcomes
    values = search_values(cast.variant, [part[1:] for part in parts]) if stores_values(cast) else (None, None)
    by_table = games[order]
    played = GameTable(
        trajectories=Trajectories.concatenate([part[1] for part in parts]),
        game=by_table,
        seed=np.full(len(games), seed, np.uint64),
        index=by_table,
        episode=np.zeros(len(games), np.uint64),
        scores=scores.astype(np.uint8),
        fireworks=fireworks.astype(np.uint8),
        endings=endings.astype(np.uint8),
        players=players[order],
        search_values=values[0],
        search_errors=values[1],
    )
    return played if len(parts) == 1 else played[np.argsort(order)]


def stores_values(cast: Cast) -> bool:
    """Whether the values that players find by search are stored: those of bots that hold all seats."""
    return plays_in_core(cast) and any(player.player.searches for player in cast.members)


def search_values(variant: Variant, parts: list[tuple[Trajectories, Values | None]]) -> Values:
    """The values of all actions in the turns of several tables, `nan` at those where no seat searches."""
    means: list[Array] = []
    errors: list[Array] = []
    for trajectories, values in parts:
        unknown = np.full((len(trajectories.actions), variant.num_actions), np.nan, np.float32)
        for found, column in zip((means, errors), values or (unknown, unknown), strict=True):
            found.append(column)
    return np.concatenate(means), np.concatenate(errors)


def distinct_rows(players: NDArray[np.int16]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """The distinct rows of players in ascending order, and for each game its row.

    Args:
        players: int16 (G, P), at least one game; none is negative.
    """
    base, seats = int(players.max()) + 1, players.shape[1]
    if (players == players[0]).all():
        return players[:1], np.zeros(len(players), np.int64)
    if base**seats < 2**63:  # one number a row is sorted many times as fast as rows
        codes = players @ np.array([base**seat for seat in reversed(range(seats))], np.int64)
        _, first, row = np.unique(codes, return_index=True, return_inverse=True)
        return players[first], row
    rows, row = np.unique(players, axis=0, return_inverse=True)
    return rows, row.reshape(-1)


def plays_in_core(cast: Cast) -> bool:
    """Whether bots hold all seats, so that Python takes no part in the games."""
    return all(isinstance(player.player, _Player) for player in cast.members)


def _play_table(
    variant: Variant, seats: list[CastMember], seed: int, games: NDArray[np.uint64], num_threads: int
) -> tuple[Columns, Trajectories, Values | None]:
    """Play games of one table."""
    loaded = [player.player if isinstance(player.player, _Player) else None for player in seats]
    if None not in loaded:
        played = _play_bots(variant, loaded, len(games), seed, 0, num_threads, True, games)
        assert played[1] is not None
        values = played[2] if any(player is not None and player.searches for player in loaded) else None
        return played[0], Trajectories(variant, *played[1]), values
    python = [None if isinstance(player.player, _Player) else player.player for player in seats]
    tables, noise = _Tables(variant, loaded, len(games), seed, 0, games), _Noise(seats, seed, games)
    table = WholeGames(tables, python, games.tolist(), noise if noise.epsilons.any() else None)
    # What a policy draws by chance depends on the seed and the first game.
    table.players.reseed(lambda seat: int(draw(seed, POLICY, games[:1], seat)[0] >> np.uint64(1)))
    scores, fireworks, lengths, endings = table.play()
    trajectories = Trajectories(variant, *tables.recorded())
    if table.failures:
        given_up = Games(variant, scores, fireworks, lengths, endings, table.failures, trajectories)
        raise BotError(table.failures, given_up) from table.cause
    return (scores, fireworks, lengths, endings), trajectories, None


class _Noise:
    """The legal actions that noise plays instead of those that Python players choose."""

    def __init__(self, seats: list[CastMember], seed: int, games: NDArray[np.uint64]) -> None:
        self.seed, self.games = seed, games
        self.epsilons = np.array([0.0 if isinstance(seat.player, _Player) else seat.epsilon for seat in seats])
        self.turns = np.zeros((len(games), len(seats)), np.uint64)  # a seat's own turns so far

    def __call__(self, games: Array, seats: Array, masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The actions (K,) for games (K,), their seats (K,) and masks (K, A); -1 where noise does not play."""
        places = self.games[games], seats, self.turns[games, seats]
        self.turns[games, seats] += np.uint64(1)
        noisy = fractions(draw(self.seed, NOISE, *places, 0)) < self.epsilons[seats]
        return np.where(noisy, choose_legal(draw(self.seed, NOISE, *places, 1), masks), -1)
