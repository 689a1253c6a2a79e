"""One stored game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import State, endings
from starmine._util.equality import equal_by_value
from starmine.data.table import GameTable


@equal_by_value
@dataclass(frozen=True)
class Game:
    """One stored game, as `data[3]` of a `Dataset` returns it.

    Attributes:
        table: a `GameTable` of this game alone.
        players: for each seat the player's entry of `Dataset.players`: a dict with at least the "name".
    """

    table: GameTable
    players: list[dict[str, Any]]

    def state(self, turn: int | None = None) -> State:
        """The game after some of its turns; None for all.

        Raises:
            StarmineError: there is no such turn, or the game breaks the rules.
        """
        return self.table.state(0, turn)

    @property
    def number(self) -> int:
        """The number that is stored with the game: its index in the data set as it was generated or written.

        In a view, or in some files of a data set, it differs from the index in the `Dataset`.
        """
        return int(self.table.game[0])

    @property
    def deck(self) -> NDArray[np.uint8]:
        """The cards, `suit * ranks + rank` with suit and rank from 0, the top card first: uint8 (deck_size,)."""
        deck: NDArray[np.uint8] = self.table.trajectories.decks[0]
        return deck

    @property
    def actions(self) -> NDArray[np.uint8]:
        """The action ids, uint8 (turns,)."""
        return self.table.trajectories.actions

    @property
    def score(self) -> int:
        """The score at the end."""
        return int(self.table.scores[0])

    @property
    def ending(self) -> str | None:
        """One of `starmine.endings()`, or None for a game that was not finished."""
        code = int(self.table.endings[0])
        return endings()[code - 1] if code else None

    @property
    def name(self) -> str:
        """The name of an imported game in its source, such as an id; of other games the `number` as text."""
        told = self.table.names
        return str(self.number) if told is None or not told[0] else str(told[0])

    def __len__(self) -> int:
        """Number of turns."""
        return len(self.actions)

    def __repr__(self) -> str:
        """Number, turns and score."""
        names = ", ".join(str(player["name"]) for player in self.players)
        return f"<Game {self.number} of {names}: {len(self)} turns, score {self.score}>"
