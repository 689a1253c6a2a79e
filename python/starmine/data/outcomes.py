"""The verdict of the rules on stored games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import DeckError, IllegalActionError, StarmineError, Variant, _play_bots, endings
from starmine.trajectories import Trajectories

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
        turns: int32 (G,), the turn of the problem.
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


def outcomes(played: Trajectories, threads: int) -> Outcomes:
    """Play stored games again."""
    columns = [_outcome(played, game) for game in range(len(played))]
    found = np.array(columns, dtype=np.int64).reshape(-1, 5).T
    kinds = (np.uint8, np.uint8, np.uint8, np.int8, np.int32)
    return Outcomes(*(column.astype(kind) for column, kind in zip(found, kinds, strict=True)))


def _outcome(played: Trajectories, game: int) -> tuple[int, int, int, int, int]:
    if not played.start_players[game] < played.variant.players:
        return 0, 0, 0, FIRST_PLAYER, 0
    try:
        state = played.state(game, 0)
    except (DeckError, StarmineError, IndexError):
        return 0, 0, 0, DECK, 0
    for turn, action in enumerate(played.actions[played.offsets[game] : played.offsets[game + 1]].tolist()):
        if state.is_terminal:
            return 0, 0, 0, AFTER_END, turn
        try:
            state.apply(action)
        except (IllegalActionError, StarmineError):
            return 0, 0, 0, ACTION, turn
    ending = 0 if state.ending is None else endings().index(state.ending) + 1
    return state.score, sum(state.fireworks), ending, LEGAL, 0


def dealt(variant: Variant, seed: int, games: NDArray[np.uint64], threads: int) -> tuple[Array, Array]:
    """The decks uint8 (G, deck_size) and first players uint8 (G,) of games of a seed, episode 0."""
    decks, first = [], []
    for part in np.split(games, np.flatnonzero(np.diff(games) != 1) + 1):
        _, found = _play_bots(variant, ["random"] * variant.players, len(part), seed, int(part[0]), threads, True)
        assert found is not None
        decks.append(found[0])
        first.append(found[1])
    return np.concatenate(decks), np.concatenate(first)
