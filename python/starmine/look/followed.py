"""The games of a batch as states, followed from their deals, so that they can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Batch, State, Variant

LETTERS = "RYGWBM"  # of the suits, in every edition


class FollowedGames:
    """The games of a batch in which no partners play.

    Args:
        variant: the rules.
        batch: the batch that is followed, before its first reset.
    """

    def __init__(self, variant: Variant, batch: Batch) -> None:
        self._variant, self._batch = variant, batch
        self._seeds: list[tuple[int, int]] = []  # of each game: seed, and index of its deals
        self._episodes: list[int] = [-1] * batch.num_envs
        self.states: list[State] = []

    def reset(
        self,
        seed: int | Sequence[int] | NDArray[Any] | None,
        mask: NDArray[np.bool_] | None,
        decks: NDArray[np.uint8] | None,
        start_players: NDArray[np.uint8] | None,
    ) -> None:
        """Follow the batch's reset; the arguments are those of `Batch.reset`."""
        count = self._batch.num_envs
        chosen = [True] * count if mask is None else mask.tolist()
        if not self._seeds:
            self._seeds = [(self._batch.seed, game) for game in range(count)]
            self.states = [self._deal(game) for game in range(count)]
        for game in np.flatnonzero(chosen).tolist():
            if seed is not None:
                self._seeds[game] = (seed, game) if isinstance(seed, int) else (int(seed[game]), 0)
            if decks is None:
                self.states[game] = self._deal(game)
                continue
            ranks = self._variant.ranks
            deck = [f"{LETTERS[card // ranks]}{card % ranks + 1}" for card in decks[game].tolist()]
            start = None if start_players is None else int(start_players[game])
            self.states[game] = self._variant.new_game(deck=deck, start_player=start)
        self._episodes = self._batch.episodes.tolist()

    def step(self, actions: Any, illegal: NDArray[np.bool_]) -> None:
        """Follow a step.

        Args:
            actions: of all games.
            illegal: bool (N,), the games that an illegal action ended.
        """
        episodes, played = self._batch.episodes.tolist(), np.asarray(actions).tolist()
        for game, state in enumerate(self.states):
            if episodes[game] != self._episodes[game]:
                self.states[game] = self._deal(game)
            elif not illegal[game] and not state.is_terminal:
                state.apply(played[game])
        self._episodes = episodes

    def _deal(self, game: int) -> State:
        """The game's present episode after its deal."""
        seed, index = self._seeds[game]
        return self._variant.new_game(seed=seed, game=index, episode=int(self._batch.episodes[game]))
