"""The verdict of the rules on stored games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Variant, _outcomes, _play_bots
from starmine.games.trajectories import Trajectories

Array = NDArray[Any]
LEGAL, DECK, FIRST_PLAYER, ACTION, AFTER_END = range(5)


@dataclass(frozen=True)
class Outcomes:
    """What the rules say of G games.

    Attributes:
        scores: uint8 (G,).
        fireworks: uint8 (G,).
        endings: uint8 (G,), 0 for a game that has not ended.
        problems: int8 (G,), 0 for a game by the rules, else what breaks them; its outcome means nothing then.
        turns: int32 (G,), the number of turns that could be played.
    """

    scores: NDArray[np.uint8]
    fireworks: NDArray[np.uint8]
    endings: NDArray[np.uint8]
    problems: NDArray[np.int8]
    turns: NDArray[np.int32]

    def describe(self, game: int, played: Trajectories) -> str:
        """The problem of a game."""
        turn = int(self.turns[game])
        problem = int(self.problems[game])
        if problem == DECK:
            return f"the deck {played.decks[game].tolist()} is not one of this variant"
        if problem == FIRST_PLAYER:
            return f"the first player is {played.start_players[game]}: expected 0 to {played.variant.players - 1}"
        action = played.actions[played.offsets[game] + turn]
        if problem == ACTION:
            return f"the action {action} in turn {turn} is not legal"
        return f"the game ends before turn {turn}, in which an action {action} is stored"


def outcomes(played: Trajectories, num_threads: int) -> Outcomes:
    """Play stored games again."""
    arrays = (played.decks, played.start_players, played.actions, played.offsets)
    return Outcomes(*_outcomes(played.variant, *arrays, num_threads))


def dealt(variant: Variant, seed: int, games: NDArray[np.uint64], num_threads: int) -> tuple[Array, Array]:
    """The decks uint8 (G, deck_size) and first players uint8 (G,) of games of a seed, episode 0."""
    _, found, *_ = _play_bots(variant, ["random"] * variant.players, len(games), seed, 0, num_threads, True, games)
    assert found is not None
    return found[0], found[1]
