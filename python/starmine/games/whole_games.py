"""Plays games to their ends, in which Python players hold some of the seats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import _Tables
from starmine.games.actions import action_id
from starmine.games.python_players import Fault, Moves, Overrule, PythonPlayers
from starmine.games.results import Failure, error_text

Columns: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int8]]


class WholeGames:
    """Games that are played to their ends, in which Python players hold some of the seats.

    A game in which a player fails is given up.

    Args:
        tables: the games, with the bots that hold the other seats.
        players: for each seat the player, as `resolve_player` returns it; None for the bots of `tables`.
        numbers: for each game the number that failures tell.
        overrule: as `PythonPlayers` takes it.

    Attributes:
        failures: the games that were given up.
        cause: the exception of the first game in which a player raised one.
    """

    def __init__(
        self, tables: _Tables, players: Sequence[Any], numbers: Sequence[int], overrule: Overrule | None = None
    ) -> None:
        self.tables, self.numbers = tables, numbers
        self.players = PythonPlayers(players, tables, self._give_up, tables.view, overrule)
        self.players.holders = np.broadcast_to(self.players.numbers, (len(numbers), len(players)))
        self.failures: list[Failure] = []
        self.cause: Exception | None = None
        self._cause_game = -1
        self._abandoned: set[int] = set()

    def play(self) -> Columns:
        """Play all games to the end."""
        try:
            return self._play()
        finally:
            self.players.cancel()

    def _play(self) -> Columns:
        players, tables, goes_on = self.players, self.tables, np.ones(len(self.numbers), dtype=bool)
        players.begin(np.arange(len(goes_on)))
        while True:
            # If policies see every turn, bots play one turn at a time, after it has been shown.
            to_act = tables.run(0) if players.see_every_turn else tables.run()
            for game in np.flatnonzero(goes_on & (to_act < 0)).tolist():
                if game not in self._abandoned:
                    players.end(game, tables.state)
            goes_on = to_act >= 0
            if not goes_on.any():
                break
            moves = players.ask(to_act)
            if players.see_every_turn:
                tables.run(1)
            self._apply(moves)
        self.failures.sort(key=lambda failure: failure.game)
        return tables.outcomes()

    def _apply(self, moves: Moves) -> None:
        """Play the moves of a turn."""
        games = np.flatnonzero(moves.actions >= 0)
        self.tables.apply_all(games.tolist(), moves.actions[games].tolist())
        for game, seat, move in moves.bots:
            try:
                self.tables.apply(game, action_id(self.tables.variant, move))
            except Exception as error:
                self._give_up(Fault(None, game, seat, move, error))

    def _give_up(self, failed: Fault) -> None:
        """Record a failure and abandon the game."""
        game, error = failed.game, failed.error
        state = self.tables.state(game)
        turn = state.length + (not state.is_terminal)
        self.tables.abandon(game)
        self._abandoned.add(game)
        message = str(error)
        if failed.move is None:
            message = f"raised {error_text(error)}"
            if self.cause is None or game < self._cause_game:
                self.cause, self._cause_game = error, game
        self.failures.append(Failure(int(self.numbers[game]), failed.seat, failed.move, message, turn))
