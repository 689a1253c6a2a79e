"""The verdict of the rules on stored games, and the decks that seeds deal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, _outcomes, _play_bots
from starmine._util.arrays import Array
from starmine.games.games import Games
from starmine.games.seeds import EVALUATION_SEEDS

EVALUATION_GAMES = 10_000  # of a seed, at least, whose decks are looked for
LEGAL = 0  # the problem of a game by the rules


@dataclass(frozen=True)
class Outcomes:
    """What the rules say of G games.

    Attributes:
        scores: int32 (G,).
        fireworks: int32 (G,).
        endings: uint8 (G,), 0 for a game that has not ended.
        problems: int8 (G,), 0 for a game by the rules, else what breaks them; its outcome means nothing then.
        turns: int32 (G,), the number of turns that could be played.
    """

    scores: NDArray[np.int32]
    fireworks: NDArray[np.int32]
    endings: NDArray[np.uint8]
    problems: NDArray[np.int8]
    turns: NDArray[np.int32]

    def describe(self, game: int, played: Games) -> str:
        """What breaks the rules in a game that has a problem."""
        turn = int(self.turns[game])
        try:
            state = played.state(game, turn)
        except StarmineError as error:  # of the deck or the first player
            return str(error)
        if state.is_terminal:
            return f"it ends after {turn} turns: it has {played.lengths[game]} actions"
        try:
            state.apply(int(played.actions[played.offsets[game] + turn]))
        except StarmineError as error:
            return f"turn {turn}: {error}"
        raise AssertionError(f"game {game} is by the rules")


def outcomes(played: Games, num_threads: int) -> Outcomes:
    """Play stored games again."""
    scores, fireworks, codes, problems, turns = _outcomes(played.variant, *played.played(), num_threads)
    return Outcomes(scores.astype(np.int32), fireworks.astype(np.int32), codes, problems, turns)


def dealt(variant: Variant, seed: int, games: NDArray[np.uint64], num_threads: int) -> tuple[Array, Array]:
    """The decks uint8 (G, deck_size) and first players uint8 (G,) of games of a seed, episode 0."""
    _, decks, *_ = _play_bots(variant, ["random"] * variant.players, len(games), seed, 0, num_threads, True, games)
    assert decks is not None
    return decks[0], decks[1]


def evaluation_decks(games: Games, seeds: Iterable[int] = EVALUATION_SEEDS) -> NDArray[np.bool_]:
    """Which games have decks that evaluations also play: a policy that learned from them is not evaluated on new decks.

    Args:
        games: G of them, such as `data[:]` of a `Dataset`.
        seeds: of the evaluations; the default has those of `evaluate`, of `play_games` and of the documentation.

    Returns:
        bool (G,): whether the deck is that of one of the first 10,000 games of a seed, or of the first G if these are
        more.
    """
    numbers = np.arange(max(EVALUATION_GAMES, len(games)), dtype=np.uint64)
    decks = {deck.tobytes() for seed in seeds for deck in dealt(games.variant, seed, numbers, 1)[0]}
    return np.array([deck.tobytes() in decks for deck in games.decks], dtype=bool)
