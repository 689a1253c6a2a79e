"""What a policy is asked with: a row for each game and seat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starmine._util.arrays import Array
from starmine._util.equality import equal_by_value


@equal_by_value
@dataclass(frozen=True)
class Turns:
    """K rows for a policy: each row is what one seat sees of one game before a turn.

    A recurrent policy keeps one hidden state for each pair (`game[k]`, `seat[k]`), since one object may play several
    seats of a game. The policy may change all arrays.

    Attributes:
        obs: the observations, uint8 (K, D), each 0 or 1; or in the policy's `dtype`, with "bits" uint8
            (K, 8 * ceil(D / 64)).
        action_mask: bool (K, A), the legal actions; all false in the rows of a seat that is not to act.
        game: int64 (K,), the index of the game in the call that plays it, from 0. It stays the same from the first
            turn of a game to its last.
        seat: int64 (K,), the seat that sees the row.
        to_act: bool (K,), whether the seat is to act. All are true unless the policy sets `all_turns`, see
            `starmine.games.Policy`.
        uniform: float64 (K,), a number from 0 to below 1 for each row, by which a policy can draw its action. It
            follows from the seed of the games, the game, its episode, the seat, and the number of turns that the seat
            has had. A policy that draws by it alone plays the same again, whichever games are played next to each
            other. None in turns that you make yourself without it.
        card_features: None unless it is one of the policy's `extra_outputs`; float32 (K, players, hand size, 3): for
            each card whether it is playable, dead (it can never be played) and critical (still needed, and the last
            copy). 0 or 1 for visible cards, probabilities for the seat's own cards. The seat's own hand is first.
        public_marginals: None unless it is one of the `extra_outputs`; float32 (K, players, hand size, colors *
            ranks), the public beliefs, unlike `View.marginals`: the probability of each card in each slot by the hints
            and by the cards that were played or discarded.
        own_hand: None unless it is one of the `extra_outputs`; int8 (K, hand size), the seat's own cards,
            `suit * ranks + rank`, and -1 for no card. A policy that uses it must set `cheats = True`.
    """

    obs: Array
    action_mask: NDArray[np.bool_]
    game: NDArray[np.int64]
    seat: NDArray[np.int64]
    to_act: NDArray[np.bool_]
    uniform: NDArray[np.float64] | None = None
    card_features: NDArray[np.float32] | None = None
    public_marginals: NDArray[np.float32] | None = None
    own_hand: NDArray[np.int8] | None = None

    def __len__(self) -> int:
        """Number of rows, K."""
        return len(self.game)

    def __repr__(self) -> str:
        """The number of rows and the shape of the observations."""
        return f"<Turns: {len(self)} rows, obs {self.obs.dtype} {self.obs.shape}>"
