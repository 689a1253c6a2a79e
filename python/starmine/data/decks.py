"""The decks that seeds deal, and the games whose decks evaluations play."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from starmine._core import Variant, _play_bots
from starmine._util.arrays import Array
from starmine.games.games import Games
from starmine.games.seeds import EVALUATION_SEEDS

EVALUATION_GAMES = 10_000  # of a seed, at least, whose decks are looked for


def dealt(variant: Variant, seed: int, games: NDArray[np.uint64], num_threads: int) -> tuple[Array, Array]:
    """The decks uint8 (G, deck_size) and first players uint8 (G,) of games of a seed, episode 0."""
    _, recorded, _ = _play_bots(variant, ["random"] * variant.players, len(games), seed, 0, num_threads, games)
    return recorded[0], recorded[1]


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
