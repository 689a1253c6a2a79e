"""The verdict of the rules on games that were played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starmine._core import IllegalActionError, StarmineError, _outcomes

if TYPE_CHECKING:
    from starmine.games.games import Games

LEGAL = 0  # the problem of a game that keeps the rules


@dataclass(frozen=True)
class Outcomes:
    """What the rules say of G games.

    Attributes:
        scores: int32 (G,).
        fireworks: int32 (G,).
        endings: uint8 (G,), 0 for a game that has not ended.
        problems: int8 (G,), 0 for a game that keeps the rules, else what breaks them. The outcome then means nothing.
        turns: int32 (G,), the number of turns that could be played.
    """

    scores: NDArray[np.int32]
    fireworks: NDArray[np.int32]
    endings: NDArray[np.uint8]
    problems: NDArray[np.int8]
    turns: NDArray[np.int32]

    def error(self, game: int, played: Games) -> StarmineError:
        """The `DeckError` or `IllegalActionError` of a game that has a problem, with the turn in its message."""
        try:
            played.state(game)
        except IllegalActionError as error:
            error.args = (f"turn {self.turns[game]}: {error}",)
            error.rows = [game]
            return error
        except StarmineError as error:  # of the deck or the first player
            return error
        raise AssertionError(f"game {game} keeps the rules")

    def refuse(self, played: Games) -> None:
        """Raise the error of the first game that has a problem, if there is one, with the game in its message."""
        for game in np.flatnonzero(self.problems != LEGAL)[:1].tolist():
            error = self.error(game, played)
            error.args = (f"game {game}: {error}",)
            raise error


def outcomes(played: Games, num_threads: int) -> Outcomes:
    """Play games again."""
    scores, fireworks, codes, problems, turns = _outcomes(played.variant, *played.played(), num_threads)
    return Outcomes(scores.astype(np.int32), fireworks.astype(np.int32), codes, problems, turns)
