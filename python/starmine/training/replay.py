"""A replay memory of whole games, which are kept as their decks and actions and observed again when they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from starmine._core import StarmineError, Variant
from starmine._util.equality import equal_by_value
from starmine.games.trajectories import Trajectories


@equal_by_value
class PlayedGames(NamedTuple):
    """G games of T turns in all, with what a learner keeps of them.

    Attributes:
        trajectories: decks and actions.
        greedy: uint8 (T,), what the greedy policy would have played in each turn.
        lost: bool (G,), whether the game was lost.
        colors: uint8 (G, players, C): the seat sees the suit s as `colors[game, seat, s]`.
    """

    trajectories: Trajectories
    greedy: NDArray[np.uint8]
    lost: NDArray[np.bool_]
    colors: NDArray[np.uint8]


class GameReplay:
    """The latest games, of which those with large errors are drawn more often (Schaul et al., 2015, proportional).

    A game is drawn with a probability proportional to its priority to the power of `alpha`. New games have the largest
    priority that was ever set, so that each is soon drawn. A game takes about 300 bytes, so that the memory can be
    saved with every checkpoint.

    Args:
        variant: the rules.
        capacity: number of games; then the oldest is replaced.
        alpha: 0 to draw all games alike, 1 to draw them by their priorities.
        beta: of the weights that make up for it; 1 makes up for it in full.

    Raises:
        StarmineError: a capacity below 1.
    """

    def __init__(self, variant: Variant, capacity: int, alpha: float = 0.9, beta: float = 0.6) -> None:
        if capacity < 1:
            raise StarmineError(f"capacity={capacity} is not allowed: expected at least 1")
        self.variant, self.capacity, self.alpha, self.beta = variant, capacity, alpha, beta
        self._games: dict[str, NDArray[Any]] = {
            "decks": np.zeros((capacity, variant.deck_size), np.uint8),
            "start_players": np.zeros(capacity, np.uint8),
            "lengths": np.zeros(capacity, np.int64),
            "actions": np.zeros((capacity, 2 * variant.deck_size), np.uint8),
            "greedy": np.zeros((capacity, 2 * variant.deck_size), np.uint8),
            "lost": np.zeros(capacity, np.bool_),
            "colors": np.zeros((capacity, variant.players, variant.colors), np.uint8),
            "priorities": np.zeros(capacity, np.float64),
        }
        self._added, self._largest = 0, 1.0

    def __len__(self) -> int:
        """Number of games."""
        return min(self._added, self.capacity)

    def add(self, games: PlayedGames) -> None:
        """Keep games, in place of the oldest where there is no room.

        Raises:
            StarmineError: more games than the capacity, or games of other rules.
        """
        played, count = games.trajectories, len(games.lost)
        if played.variant != self.variant:
            raise StarmineError(f"the games are of {played.variant}: expected {self.variant}")
        if count > self.capacity:
            raise StarmineError(f"{count} games are too many: expected at most {self.capacity}, the capacity")
        place = (self._added + np.arange(count)) % self.capacity
        self._widen(int(played.lengths.max(initial=0)))
        turns, kept = self._turns(played.lengths), self._games
        for name, moves in (("actions", played.actions), ("greedy", games.greedy)):
            rows = np.zeros((count, turns.shape[1]), np.uint8)
            rows[turns] = moves
            kept[name][place] = rows
        kept["decks"][place], kept["start_players"][place] = played.decks, played.start_players
        kept["lengths"][place], kept["lost"][place] = played.lengths, games.lost
        kept["colors"][place], kept["priorities"][place] = games.colors, self._largest
        self._added += count

    def sample(self, count: int, generator: torch.Generator | None = None) -> tuple[Tensor, PlayedGames, Tensor]:
        """Draw games by their priorities, with replacement.

        Args:
            count: number of games, n.
            generator: of the draws; None for torch's default generator.

        Returns:
            int64 (n,), the places of the games, for `set_priorities`; the games; and float32 (n,), their weights in a
            loss: (number of games * probability) ** -beta, divided by the largest.

        Raises:
            StarmineError: there are no games.
        """
        if not len(self):
            raise StarmineError("the replay has no games: expected add() before sample()")
        # A sum tree would find the games faster, by less than a thousandth of what learning from them takes.
        shares = torch.from_numpy(self._games["priorities"][: len(self)]) ** self.alpha
        place = torch.multinomial(shares, count, replacement=True, generator=generator)
        weights = (len(self) * shares[place] / shares.sum()) ** -self.beta
        return place, self._at(place.numpy()), (weights / weights.max()).float()

    def set_priorities(self, place: Tensor, priorities: Tensor) -> None:
        """Set the priorities of games that `sample` drew, before games are added again.

        Args:
            place: int64 (n,).
            priorities: floats (n,).

        Raises:
            StarmineError: a priority is not above 0, or not finite.
        """
        values = priorities.detach().double().cpu().numpy()
        wrong = values[~(np.isfinite(values) & (values > 0))]
        if len(wrong):
            raise StarmineError(f"a priority is not allowed: expected finite numbers above 0, found {wrong[0]}")
        self._games["priorities"][place.cpu().numpy()] = values
        self._largest = max(self._largest, float(values.max()))

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        games = {name: torch.from_numpy(array[: len(self)].copy()) for name, array in self._games.items()}
        settings = {"variant": self.variant.to_json(), "capacity": self.capacity}
        return {**settings, "games": games, "added": self._added, "largest": self._largest}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint.

        Raises:
            StarmineError: the rules or the capacity are not those of the checkpoint; nothing has changed.
        """
        variant = Variant.from_json(state["variant"])
        if variant != self.variant:
            raise StarmineError(f"the checkpoint's replay has games of {variant}: expected {self.variant}")
        if state["capacity"] != self.capacity:
            raise StarmineError(f"the checkpoint's replay has capacity {state['capacity']}: expected {self.capacity}")
        count = len(state["games"]["decks"])
        self._widen(state["games"]["actions"].shape[1])
        for name, array in self._games.items():
            array[:count] = state["games"][name].numpy()
        self._added, self._largest = state["added"], state["largest"]

    def _widen(self, length: int) -> None:
        """Make room for games of this length."""
        for name in ("actions", "greedy"):
            missing = length - self._games[name].shape[1]
            if missing > 0:
                self._games[name] = np.pad(self._games[name], ((0, 0), (0, missing)))

    def _turns(self, lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which columns of a row belong to its game."""
        found: NDArray[np.bool_] = np.arange(self._games["actions"].shape[1]) < lengths[:, None]
        return found

    def _at(self, place: NDArray[np.int64]) -> PlayedGames:
        """The games at these places."""
        found = {name: array[place] for name, array in self._games.items()}
        turns, offsets = self._turns(found["lengths"]), np.concatenate([[0], np.cumsum(found["lengths"])])
        dealt = (found["decks"], found["start_players"])
        trajectories = Trajectories(self.variant, *dealt, found["actions"][turns], offsets.astype(np.int64))
        return PlayedGames(trajectories, found["greedy"][turns], found["lost"], found["colors"])
