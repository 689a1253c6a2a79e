"""Who plays with whom in a game of an evaluation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TURNS = "fallback_turns"  # the (game, turn) of the fallback's moves, which are stored with the games only


def pairings_of(players: NDArray[np.int16]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The player and the partner of each game, int64 (G,), of the players in its seats (G, P)."""
    seats = players.astype(np.int64)
    if seats.shape[1] == 2:
        return seats[:, 0], seats[:, 1]
    partner = np.median(seats, axis=1).astype(np.int64)  # it holds all seats but one, at least two of three
    return seats.sum(axis=1) - (seats.shape[1] - 1) * partner, partner
