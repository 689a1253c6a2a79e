"""Conditions on stored games, which need few of their columns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, _unknown_name, endings

ANY_SCORE = (0, 255)  # the lowest and the highest one that a column can hold
Column = Callable[[str], NDArray[Any]]  # the values of a row group's games by the column's name


def score_range(score: int | None, lowest: int | None, highest: int | None) -> tuple[int, int]:
    """The lowest and the highest score that conditions allow; None for no condition."""
    for name, value in (("score", score), ("min_score", lowest), ("max_score", highest)):
        if value is not None and not isinstance(value, SupportsIndex):
            raise TypeError(f"{name}={value!r} is not allowed: expected an integer or None")
    wanted = [ANY_SCORE, (score, score), (lowest, None), (None, highest)]
    least = max(operator.index(least) for least, _ in wanted if least is not None)
    most = min(operator.index(most) for _, most in wanted if most is not None)
    return least, most


@dataclass(frozen=True)
class Conditions:
    """Conditions that a game must meet, all of them.

    Attributes:
        scores: the lowest and the highest score.
        endings: codes of endings; None for any.
        ended_by: codes of `ENDED_BY`; None for any.
        seats: for each seat the rows of the players' table that may sit there, or None for any.
    """

    scores: tuple[int, int]
    endings: list[int] | None
    ended_by: list[int] | None
    seats: list[NDArray[np.int16] | None]

    def kept(self, games: int, column: Column) -> NDArray[np.bool_]:
        """Which of the games meet the conditions: bool (games,).

        Args:
            games: their number.
            column: reads a column; only those that are needed are read.
        """
        keep = np.ones(games, np.bool_)
        if self.scores != ANY_SCORE:
            scores, (least, most) = column("score").astype(np.int64), self.scores
            keep &= (scores >= least) & (scores <= most)
        if self.endings is not None:
            keep &= np.isin(column("ending"), self.endings)
        if self.ended_by is not None:
            keep &= np.isin(column("ended_by"), self.ended_by)
        if any(rows is not None for rows in self.seats):
            seated = column("players")
            for seat, rows in enumerate(self.seats):
                if rows is not None:
                    keep &= np.isin(seated[:, seat], rows)
        return keep


def ending_codes(names: str | Sequence[str]) -> list[int]:
    """The codes of endings."""
    for name in _several(names):
        if name not in endings():
            raise _unknown_name("ending", name, endings())
    return [endings().index(name) + 1 for name in _several(names)]


def seat_rows(
    table: Sequence[Mapping[str, Any]],
    players: str | Sequence[str] | None,
    seats: Sequence[str | None] | None,
    num_seats: int,
) -> list[NDArray[np.int16] | None]:
    """The rows of the players' table that may sit at each seat."""
    if seats is not None and len(seats) != num_seats:
        raise StarmineError(f"seats has {len(seats)} entries: expected {num_seats}")
    known = [str(row["name"]) for row in table]
    asked = [*([] if players is None else _several(players)), *(name for name in seats or [] if name is not None)]
    for name in asked:
        if name not in known:
            raise _unknown_name("player", name, sorted(set(known)))
    allowed: list[NDArray[np.int16] | None] = []
    for at_seat in [None] * num_seats if seats is None else seats:
        if players is None and at_seat is None:
            allowed.append(None)
            continue
        names = known if players is None else _several(players)
        rows = [row for row, name in enumerate(known) if name in names and at_seat in (None, name)]
        allowed.append(np.array(rows, np.int16))
    return allowed


def _several(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
