"""Which game of an evaluation a stored game is, and which of its moves the fallback of a chat player has chosen."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError
from starmine.data.metadata import FORGED, Metadata
from starmine.games.pairings import TURNS, pairings_of

if TYPE_CHECKING:
    from starmine.data.dataset import Dataset

KEY = "evaluation"  # of what a file's metadata say about the evaluation
ID = "id"  # of the evaluation's folder, there


class Origin(NamedTuple):
    """A game of an evaluation.

    Attributes:
        evaluation: the id of the folder, as transcripts have it.
        pairing: "PLAYER with PARTNER".
        game: its number in its pairing, as transcripts have it.
        seed: of the decks.
        fallback_turns: the numbers of the turns, from 0, in which a fallback has chosen the move.
    """

    evaluation: str | None
    pairing: str
    game: int
    seed: int | None
    fallback_turns: frozenset[int]


class Origins:
    """The origins of the games of a file.

    Args:
        metadata: of the file, which is one of an evaluation.

    Raises:
        StarmineError: they are damaged.
    """

    def __init__(self, metadata: Metadata) -> None:
        self.names = [str(player.get("name")) for player in metadata.players]
        self._seed = metadata.seed
        self._turns: dict[tuple[int, int, int], list[int]] = {}
        try:
            self._evaluation = metadata.extra[KEY].get(ID)
            for told in metadata.extra["pairings"]:
                player, partner = told["cell"]
                for calls in told["calls"].values():
                    if len(calls[TURNS]) != calls["fallbacks"]:
                        raise ValueError(f"{len(calls[TURNS])} turns of {calls['fallbacks']} moves of a fallback")
                    for game, turn in calls[TURNS]:
                        self._turns.setdefault((player, partner, game), []).append(turn)
        except FORGED as error:
            raise StarmineError(
                f"the metadata of an evaluation are damaged ({type(error).__name__}: {error})"
            ) from error

    def of(self, players: NDArray[np.int16], games: NDArray[np.uint64]) -> list[Origin]:
        """The origins of games, by the rows of their players, int16 (G, P), and their numbers in the pairings (G,)."""
        cells = zip(*(cell.tolist() for cell in pairings_of(players)), games.tolist(), strict=True)
        return [
            Origin(
                self._evaluation,
                f"{self.names[player]} with {self.names[partner]}",
                game,
                self._seed,
                frozenset(self._turns.get((player, partner, game), ())),
            )
            for player, partner, game in cells
        ]


def origins_of(data: Dataset) -> list[Origin | None]:
    """The origin of each game of a data set; None for those of no evaluation.

    Raises:
        StarmineError: the metadata of a file are damaged.
    """
    known = [Origins(metadata) if KEY in metadata.extra else None for metadata in data.metadata]
    if not any(known):
        return [None] * len(data)
    groups = data.row_groups()
    firsts = [group.first for group in groups]
    found: list[Origin | None] = []
    for number, game in enumerate(data):
        origins, index = known[groups[bisect_right(firsts, number) - 1].file], game.table.index
        if origins is None or index is None:
            found.append(None)
            continue
        rows = [origins.names.index(str(player["name"])) for player in game.players]
        found += origins.of(np.array([rows], np.int16), index)
    return found
