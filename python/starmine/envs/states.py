"""The games of a batch as states, followed from their deals, so that they can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Batch, State, Variant
from starmine.games.draws import deal_number
from starmine.games.variants import card_texts


class DealtSeeds:
    """The seeds from which the games of a batch are dealt.

    Args:
        batch: the batch, before its first reset.

    Attributes:
        seeds: uint64 (N,), the seed of each game.
        indices: uint64 (N,), the index of each game among the games of its seed.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self.seeds = np.full(batch.num_envs, batch.seed, np.uint64)
        self.indices = np.arange(batch.num_envs, dtype=np.uint64)

    def reset(self, seed: int | Sequence[int] | NDArray[Any] | None, mask: NDArray[np.bool_] | None) -> None:
        """Follow the batch's reset; the arguments are those of `Batch.reset`."""
        if seed is None:
            return
        dealt = np.ones(len(self.seeds), bool) if mask is None else mask
        if isinstance(seed, int):
            self.seeds[dealt], self.indices[dealt] = seed, np.flatnonzero(dealt)
        else:
            self.seeds[dealt], self.indices[dealt] = np.asarray(seed, np.uint64)[dealt], 0

    @property
    def deals(self) -> NDArray[np.uint64]:
        """The number of each game's deal, by which its players draw by chance: uint64 (N,)."""
        return deal_number(self.indices, self._batch.episodes.astype(np.uint64))


class FollowedGames:
    """The games of a batch in which no partners play.

    Args:
        variant: the rules.
        batch: the batch that is followed, before its first reset.

    Attributes:
        states: the games. An illegal action that ended a game is not in it.
        shown: the games as they are drawn: those that ended in the last step after their last turn, even if they have
            been dealt anew since; all others as in `states`.
    """

    def __init__(self, variant: Variant, batch: Batch) -> None:
        self._variant, self._batch = variant, batch
        self._seeds = DealtSeeds(batch)
        self._episodes: list[int] = [-1] * batch.num_envs
        self.states: list[State] = []
        self.shown: list[State] = []

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
        if not self.states:
            self.states = [self._deal(game) for game in range(count)]
        self._seeds.reset(seed, mask)
        for game in np.flatnonzero(chosen).tolist():
            if decks is None:
                self.states[game] = self._deal(game)
                continue
            cards = card_texts(self._variant.colors, self._variant.ranks)
            deck = [cards[card] for card in decks[game].tolist()]
            start = None if start_players is None else int(start_players[game])
            self.states[game] = self._variant.new_game(deck=deck, start_player=start)
        self._episodes, self.shown = self._batch.episodes.tolist(), list(self.states)

    def step(self, actions: Any, terminated: NDArray[np.bool_], illegal: NDArray[np.bool_]) -> None:
        """Follow a step.

        Args:
            actions: of all games.
            terminated: bool (N,), the games that ended in this step.
            illegal: bool (N,), those of them that an illegal action ended.
        """
        has_array = hasattr(actions, "__array__") or not hasattr(actions, "__dlpack__")
        played = (np.asarray(actions) if has_array else np.from_dlpack(actions)).tolist()
        episodes = self._batch.episodes.tolist()
        self.shown = list(self.states)
        for game, state in enumerate(self.shown):
            dealt = episodes[game] != self._episodes[game]
            # A game that is dealt anew was played in this step only if it also ended in it ("SameStep").
            if not illegal[game] and not state.is_terminal and (terminated[game] or not dealt):
                state.apply(played[game])
            if dealt:
                self.states[game] = self._deal(game)
                if not terminated[game]:
                    self.shown[game] = self.states[game]
        self._episodes = episodes

    def _deal(self, game: int) -> State:
        """The game's present episode after its deal."""
        seed, index = int(self._seeds.seeds[game]), int(self._seeds.indices[game])
        return self._variant.new_game(seed=seed, game=index, episode=int(self._batch.episodes[game]))
