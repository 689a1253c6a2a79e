"""Conditions on stored games, which need few of their columns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, endings
from starmine._util.keywords import check_names
from starmine.games.endings import ending_code
from starmine.games.roster import Roster

MOST_SCORE = 255  # that a column can hold
# The name of a column, and which games meet the condition by its values: bool (G,).
Condition: TypeAlias = tuple[str, Callable[[NDArray[Any]], NDArray[np.bool_]]]


def of_scores(lowest: int | None, highest: int | None) -> list[Condition]:
    """The condition on the scores; None for no bound."""
    if lowest is None and highest is None:
        return []
    least = 0 if lowest is None else operator.index(lowest)
    most = MOST_SCORE if highest is None else operator.index(highest)
    return [("score", lambda scores: (scores.astype(np.int64) >= least) & (scores.astype(np.int64) <= most))]


def of_codes(column: str, codes: list[int]) -> list[Condition]:
    """The condition that a column has one of these codes."""
    return [(column, lambda column_codes: np.isin(column_codes, codes))]


def ending_codes(names: str | Sequence[str]) -> list[int]:
    """The codes of endings."""
    listed = as_list(names)
    check_names("ending", listed, endings())
    return [ending_code(name) for name in listed]


def of_players(
    roster: Roster,
    players: str | Sequence[str] | None,
    seats: Sequence[str | None] | None,
    num_seats: int,
) -> list[Condition]:
    """The condition on the players, who are rows of `roster`."""
    if seats is not None and len(seats) != num_seats:
        raise StarmineError(f"seats has {len(seats)} entries: expected {num_seats}")
    if players is None and seats is None:
        return []
    known = [player.name for player in roster]
    allowed = set(known if players is None else as_list(players))
    at_seats = [None] * num_seats if seats is None else list(seats)
    given = [] if players is None else allowed
    check_names("player", [*given, *(name for name in at_seats if name is not None)], sorted(set(known)))
    rows = [
        [row for row, name in enumerate(known) if name in allowed and at_seat in (None, name)] for at_seat in at_seats
    ]
    return [("players", lambda seated: np.all([np.isin(seated[:, seat], rows[seat]) for seat in range(num_seats)], 0))]


def as_list(names: str | Sequence[str]) -> list[str]:
    """The names, also of a single one."""
    return [names] if isinstance(names, str) else list(names)
