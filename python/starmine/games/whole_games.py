"""Plays games of one table to their ends, with bots, Python players or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import Batch, Variant, _play_bots, _Player
from starmine._util.arrays import Array
from starmine.games.results import BotError, Failure, Games
from starmine.games.seats import Fault, PythonPlayers, sees_every_turn
from starmine.games.trajectories import Trajectories

Columns: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int8]]
Values: TypeAlias = tuple[NDArray[Any], NDArray[Any]]  # of all actions in all turns, and their standard errors

FIRST_GAMES_A_THREAD = 64  # games of bots in a first chunk, which shows how fast they are


class Pace:
    """How many games of bots are played at once. Chunks change no game; they only let the progress move.

    Args:
        num_threads: threads that play; the least number of games.
        seconds: that a chunk should take.
        most: the greatest number of games.

    Attributes:
        games: number of games of the next chunk.
    """

    def __init__(self, num_threads: int, seconds: float, most: int) -> None:
        self.least, self.seconds, self.most = num_threads, seconds, most
        self.games = min(most, FIRST_GAMES_A_THREAD * num_threads)

    def took(self, games: int, seconds: float) -> None:
        """Set the next chunk by the seconds that these games took."""
        self.games = max(self.least, min(self.most, int(games * self.seconds / max(seconds, 1e-9))))


def play_table(
    variant: Variant,
    players: Sequence[Any],
    games: int,
    seed: int,
    first_game: int,
    num_threads: int,
    record: bool,
    listed: NDArray[np.uint64] | None = None,
) -> tuple[Games, Values | None]:
    """Play games of one table.

    The players are as `resolve_player` returns them; the arguments up to `record` are otherwise those of `play_games`.
    `listed` has the indices of the games, uint64 (games,), where they are not consecutive.

    Returns:
        The games, and the values that bots found by search; None if no bot searches or not all seats are bots'.

    Raises:
        BotError: a player failed; the other games were played.
    """
    loaded = [player if isinstance(player, _Player) else None for player in players]
    bots = [player for player in loaded if player is not None]
    if len(bots) == len(loaded):
        columns, recorded, values = _play_bots(variant, loaded, games, seed, first_game, num_threads, record, listed)
        return results(variant, columns, recorded), values if any(bot.searches for bot in bots) else None
    python = [None if isinstance(player, _Player) else player for player in players]
    batch = Batch._of_table(variant, loaded, games, seed, first_game, listed, any(map(sees_every_turn, python)))
    numbers = range(first_game, first_game + games) if listed is None else listed.tolist()
    table = WholeGames(batch, python, numbers, seed)
    columns = table.play()
    result = results(variant, columns, batch._recorded() if record else None, table.failures)
    if result.failures:
        raise BotError(result.failures, result) from table.cause
    return result, None


def results(variant: Variant, columns: Columns, recorded: Any, failures: Sequence[Failure] = ()) -> Games:
    """The results of games, with the trajectories if they were recorded."""
    trajectories = None if recorded is None else Trajectories(variant, *recorded)
    return Games(variant, *columns, list(failures), trajectories)


class WholeGames:
    """Games that are played to their ends, in which Python players hold some of the seats.

    A game in which a player fails is given up.

    Args:
        batch: the games, from `Batch._of_table`, with the bots that hold the other seats.
        players: for each seat the player, as `resolve_player` returns it; None for the bots of the batch.
        numbers: the index of each game.
        seed: of their decks.

    Attributes:
        failures: the games that were given up.
        cause: the exception of the first game in which a player raised one.
    """

    def __init__(self, batch: Batch, players: Sequence[Any], numbers: Sequence[int], seed: int) -> None:
        self.batch, self.numbers, self.seed = batch, numbers, seed
        self.players = PythonPlayers(players, len(numbers), batch, self._give_up)
        self.failures: list[Failure] = []
        self.cause: Exception | None = None
        self._cause_game = -1
        self._goes_on = np.ones(len(numbers), dtype=bool)
        self._is_given_up = np.zeros(len(numbers), dtype=bool)

    def play(self) -> Columns:
        """Play all games to the end."""
        count, deals = len(self.numbers), np.array(self.numbers, np.uint64)
        self.players.begin(np.arange(count), np.full(count, self.seed, np.uint64), deals, self.players.holders)
        self.players.play(self._to_act, self._step)
        self.failures.sort(key=lambda failure: failure.game)
        scores, fireworks, lengths, endings = self.batch._outcomes()
        for column in (scores, fireworks, lengths):
            column[self._is_given_up] = -1
        endings[self._is_given_up] = 0
        return scores, fireworks, lengths, endings

    def _to_act(self) -> Array:
        """The seats to act. The games that have just ended are shown to their bots."""
        to_act = np.where(self._is_given_up, -1, self.batch._to_act())
        for game in np.flatnonzero(self._goes_on & (to_act < 0) & ~self._is_given_up).tolist():
            self.players.end(game, self.batch._state)
        self._goes_on = to_act >= 0
        return to_act

    def _step(self, actions: Array, moving: Array) -> None:
        """Play a turn: the actions of Python players, and bots of the batch whose turns all players see."""
        self.batch._step_some(actions, moving & ~self._is_given_up)

    def _give_up(self, fault: Fault) -> None:
        game, error = fault.game, fault.error
        if self._is_given_up[game]:  # where two players fail in one turn
            return
        state = self.batch._state(game)
        turn = state.length - state.is_terminal
        self._is_given_up[game] = True
        if fault.move is None and (self.cause is None or game < self._cause_game):
            self.cause, self._cause_game = error, game
        self.failures.append(Failure(int(self.numbers[game]), fault.seat, fault.move, fault.message, turn))
