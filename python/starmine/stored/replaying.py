"""Rows of turns: what a learner sees of stored games, made by playing them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, _unknown_name
from starmine.stored.games import GameTable

Rows = dict[str, NDArray[Any]]

DEFAULT = ("obs", "action_mask", "action", "current_player", "reward", "return_to_go", "game", "turn")
OUTPUTS = (*DEFAULT, "score", "terminated", "player", "log_prob")
_OF_THE_BATCH = ("obs", "action_mask", "current_player", "reward", "score", "terminated")
AT_ONCE = 4096  # games that are replayed together


@dataclass(frozen=True)
class Replay:
    """How games become rows.

    Attributes:
        outputs: names of `OUTPUTS`.
        encoder: of the observations, one of `starmine.encoders()`.
        dtype: of the observations: "float32", "float16", "uint8" or "bits".
        observers: "current" for the seat to act, "all" for every seat.
        num_threads: of the replay; None for all processors.
    """

    outputs: tuple[str, ...] = DEFAULT
    encoder: str = "canonical"
    dtype: str = "float32"
    observers: str = "current"
    num_threads: int | None = None

    @staticmethod
    def of(outputs: Sequence[str] | None, **settings: Any) -> Replay:
        """Settings whose outputs are checked; None for `DEFAULT`.

        Raises:
            UnknownNameError: there is no such output.
            StarmineError: there is none at all.
        """
        names = DEFAULT if outputs is None else tuple(outputs)
        if not names:
            raise StarmineError("outputs is empty: expected at least one name")
        for name in names:
            if name not in OUTPUTS:
                raise _unknown_name("output", str(name), list(OUTPUTS))
        return Replay(names, **settings)

    def rows(self, games: GameTable) -> Rows:
        """All turns of games, game after game.

        Args:
            games: G games of T turns.

        Returns:
            For each output an array (T, ...): `game` is the index among these games.

        Raises:
            UnknownNameError: there is no such encoder or dtype.
            DeckError: a deck is not the variant's.
            StarmineError: an action is not legal, a game ends before its last action, or `log_prob` is asked for
                where the games have none.
        """
        played = games.trajectories
        settings = {"encoder": self.encoder, "dtype": self.dtype, "observers": self.observers}
        needed = {name for name in self.outputs if name in _OF_THE_BATCH}
        needed |= {"score"} if "return_to_go" in self.outputs else set()
        needed |= {"current_player"} if "player" in self.outputs else set()
        found = played.replay(sorted(needed), **settings, num_threads=self.num_threads) if needed else {}
        lengths = played.lengths
        game = np.repeat(np.arange(len(games)), lengths)
        made: Rows = {
            "action": played.actions.astype(np.int64),
            "game": game,
            "turn": (np.arange(len(game)) - np.repeat(played.offsets[:-1], lengths)).astype(np.int32),
        }
        if "return_to_go" in self.outputs:
            made["return_to_go"] = games.scores[game] - found["score"].astype(np.float32)
        if "player" in self.outputs:
            made["player"] = games.players[game, found["current_player"]]
        if "log_prob" in self.outputs:
            if games.log_prob is None:
                raise StarmineError("the games have no column log_prob")
            made["log_prob"] = games.log_prob
        return {name: made[name] if name in made else found[name] for name in self.outputs}

    def pieces(self, games: GameTable, size: int) -> Iterator[Rows]:
        """The rows of games in dictionaries of up to `size` rows.

        Raises:
            As `rows`.
        """
        for first in range(0, len(games), AT_ONCE):
            rows = self.rows(games[first : first + AT_ONCE])
            if "game" in rows:
                rows["game"] += first
            turns = len(next(iter(rows.values())))
            for start in range(0, turns, size):
                yield {name: array[start : start + size] for name, array in rows.items()}
