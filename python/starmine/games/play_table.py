"""Plays games of one table to their ends, with bots, Python players or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Batch, Variant, _play_bots, _Player
from starmine._util.arrays import Array
from starmine.games.failures import BotError, Failure
from starmine.games.games import OF_TURNS, Games
from starmine.games.roster import UNKNOWN, Roster
from starmine.games.seats import Fault, PythonPlayers, sees_every_turn

FIRST_GAMES_A_THREAD = 64  # games of bots in a first chunk, which shows how fast they are


class ChunkSize:
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
    listed: NDArray[np.uint64] | None = None,
    seated: tuple[Sequence[int], Roster] | None = None,
) -> Games:
    """Play games of one table.

    Args:
        variant: the rules.
        players: by seat, as `resolve_player` returns them.
        games: number of games.
        seed: of the decks.
        first_game: index of the first game.
        num_threads: threads for games of bots.
        listed: the indices of the games, uint64 (games,), where they are not consecutive.
        seated: the row of each seat's player in a roster, and the roster; None for players without names.

    Returns:
        The games. They have values of a search if bots hold all seats and one of them searches.

    Raises:
        BotError: a player failed; the other games were played.
    """
    loaded = [player if isinstance(player, _Player) else None for player in players]
    bots = [player for player in loaded if player is not None]
    index = np.arange(first_game, first_game + games, dtype=np.uint64) if listed is None else listed
    rows, roster = seated or ([0] * len(players), UNKNOWN)
    known: dict[str, Any] = {
        "players": np.tile(np.array(rows, np.int16), (games, 1)),
        "roster": roster,
        "number": index,
        "seed": np.full(games, seed, np.uint64),
        "index": index,
        "episode": np.zeros(games, np.uint64),
    }
    if len(bots) == len(loaded):
        outcomes, recorded, values = _play_bots(variant, loaded, games, seed, first_game, num_threads, listed)
        if values is not None and any(bot.searches for bot in bots):
            known |= dict(zip(OF_TURNS, values, strict=True))
        known |= dict(zip(("scores", "fireworks", "endings"), outcomes, strict=True))
        return Games(variant, *recorded, **known)
    python = [None if isinstance(player, _Player) else player for player in players]
    batch = Batch._without_learner(variant, loaded, games, seed, first_game, listed)
    table = PythonGames(batch, python, index.tolist(), seed)
    table.play()
    recorded = batch._recorded()
    if not table.failures:
        return Games(variant, *recorded, **known)
    texts = np.full(games, "", np.object_)
    for place, failure in table.failures.items():
        texts[place] = str(failure)
    played = Games(variant, *recorded, failures=texts, **known)
    raise BotError([table.failures[place] for place in sorted(table.failures)], played) from table.cause


class PythonGames:
    """Games that are played to their ends, in which Python players hold some of the seats.

    A game in which a player fails is given up.

    Args:
        batch: the games, from `Batch._without_learner`, with the bots that hold the other seats.
        players: for each seat the player, as `resolve_player` returns it; None for the bots of the batch.
        numbers: the index of each game.
        seed: of their decks.

    Attributes:
        failures: by their places, the games that were given up.
        cause: the exception of the first game in which a player raised one.
    """

    def __init__(self, batch: Batch, players: Sequence[Any], numbers: Sequence[int], seed: int) -> None:
        self.batch, self.numbers, self.seed = batch, numbers, seed
        self.players = PythonPlayers(players, len(numbers), batch, self._give_up)
        self._every_turn = any(map(sees_every_turn, players))
        self.failures: dict[int, Failure] = {}
        self.cause: Exception | None = None
        self._cause_game = -1
        self._goes_on = np.ones(len(numbers), dtype=bool)
        self._is_given_up = np.zeros(len(numbers), dtype=bool)

    def play(self) -> None:
        """Play all games to the end."""
        count, deals = len(self.numbers), np.array(self.numbers, np.uint64)
        self.players.begin(np.arange(count), np.full(count, self.seed, np.uint64), deals, self.players.holders)
        self.players.play(self._to_act, self._step)

    def _to_act(self) -> Array:
        """The seats to act. The games that have just ended are shown to their bots."""
        to_act = np.where(self._is_given_up, -1, self.batch._to_act())
        for game in np.flatnonzero(self._goes_on & (to_act < 0) & ~self._is_given_up).tolist():
            self.players.end(game, self.batch._state)
        self._goes_on = to_act >= 0
        return to_act

    def _step(self, actions: Array, moving: Array) -> None:
        """Play a turn: the actions of Python players, and bots of the batch whose turns all players see."""
        self.batch._answer(actions, moving & ~self._is_given_up, self._every_turn)

    def _give_up(self, fault: Fault) -> None:
        game, error = fault.game, fault.error
        if self._is_given_up[game]:  # where two players fail in one turn
            return
        state = self.batch._state(game)
        turn = state.length - state.is_terminal
        self._is_given_up[game] = True
        if fault.move is None and (self.cause is None or game < self._cause_game):
            self.cause, self._cause_game = error, game
        self.failures[game] = Failure(int(self.numbers[game]), fault.seat, fault.move, fault.message, turn)
