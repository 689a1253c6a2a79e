"""Hidden states of recurrent policies, by game and seat. Imported with torch alone."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from starmine._util.arrays import Array


class Memory:
    """A hidden state for each seat of each game, zero until the seat's first turn.

    Args:
        players: number of seats of a game.
        width: numbers in a hidden state.
        device: of the hidden states.

    Attributes:
        states: float32 (R, width), a row for each pair of a game and a seat that has been seen.
    """

    def __init__(self, players: int, width: int, device: torch.device) -> None:
        self.states = torch.zeros(0, width, device=device)
        self._players = players
        self._rows = np.full(0, -1, np.int64)  # by game * players + seat

    def new(self) -> Memory:
        """Hidden states of other games, all zero."""
        return Memory(self._players, self.states.shape[1], self.states.device)

    def places(self, games: Array, seats: Array) -> Tensor:
        """The rows of `states`, int64 (K,), for K pairs of a game and a seat."""
        keys = games * self._players + seats
        if len(keys) and (most := int(keys.max()) + 1) > len(self._rows):
            self._rows = np.concatenate([self._rows, np.full(most - len(self._rows), -1, np.int64)])
        new = keys[self._rows[keys] < 0]
        if len(new):
            self._rows[new] = len(self.states) + np.arange(len(new))
            self.states = torch.cat([self.states, self.states.new_zeros(len(new), self.states.shape[1])])
        return torch.from_numpy(self._rows[keys]).to(self.states.device)

    def clear(self, games: Array, seats: Array) -> None:
        """Set the hidden states of these pairs to zero."""
        places = self.places(games, seats)  # which may replace the states
        self.states[places] = 0
