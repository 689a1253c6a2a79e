"""Which game of an evaluation a stored game is, and which of its moves the fallback of a chat player has chosen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

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
        game: its number in its pairing, as transcripts have it.
        fallback_turns: the numbers of the turns, from 0, in which a fallback has chosen the move.
        is_whole: whether these are all; evaluations of earlier versions have none of them.
    """

    evaluation: str | None
    game: int
    fallback_turns: frozenset[int]
    is_whole: bool


class Origins:
    """The origins of the games of a file.

    Args:
        metadata: of the file, which is one of an evaluation.

    Raises:
        StarmineError: they are damaged.
    """

    def __init__(self, metadata: Metadata) -> None:
        self._rows = {str(player.get("name")): row for row, player in enumerate(metadata.players)}
        self._turns: dict[tuple[int, int, int], list[int]] = {}
        self._partly: set[tuple[int, int]] = set()  # pairings of which turns are missing
        try:
            self._evaluation = metadata.extra[KEY].get(ID)
            for told in metadata.extra["pairings"]:
                player, partner = told["cell"]
                for calls in told.get("calls", {}).values():
                    turns = calls.get(TURNS, [])
                    for game, turn in turns:
                        self._turns.setdefault((player, partner, game), []).append(turn)
                    if len(turns) < calls["fallbacks"]:
                        self._partly.add((player, partner))
        except FORGED as error:
            raise StarmineError(
                f"the metadata of an evaluation are damaged ({type(error).__name__}: {error})"
            ) from error

    def of(self, names: Sequence[str], game: int) -> Origin:
        """The origin of a game, given the names of its players by seat and its number in its pairing."""
        (player,), (partner,) = pairings_of(np.array([[self._rows[name] for name in names]], np.int16))
        cell = int(player), int(partner)
        turns = frozenset(self._turns.get((*cell, game), ()))
        return Origin(self._evaluation, game, turns, cell not in self._partly)


def origins_of(data: Dataset) -> list[Origin | None]:
    """The origin of each game of a data set; None for those of no evaluation.

    Raises:
        StarmineError: the metadata of a file are damaged.
    """
    known = [Origins(metadata) if KEY in metadata.extra else None for metadata in data.metadata]
    if not any(known):
        return [None] * len(data)
    groups = data.row_groups()
    firsts, found = [group.first for group in groups], []
    for number, game in enumerate(data):
        origins, index = known[groups[bisect_right(firsts, number) - 1].file], game.table.index
        names = [str(player["name"]) for player in game.players]
        found.append(None if origins is None or index is None else origins.of(names, int(index[0])))
    return found
