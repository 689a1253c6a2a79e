"""Why games ended: what a source tells, compared with what the rules say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import State
from starmine.data.end_reasons import ENDED_BY, NOTHING_PLAYABLE, RULES, UNKNOWN, ended_by_name, record_of
from starmine.games.trajectories import Trajectories

SPEEDRUN_FAIL = ENDED_BY.index("speedrun_fail") + 1
BY_POSITION = (RULES, NOTHING_PLAYABLE)  # reasons that the position must confirm


def ended_by_of(
    games: Trajectories, endings: NDArray[np.uint8], told: NDArray[np.uint8], records: tuple[str, ...]
) -> NDArray[np.uint8]:
    """Why games ended.

    Args:
        games: G games that hold by the rules.
        endings: uint8 (G,), codes of `starmine.endings()`; 0 for a game that stopped before its end.
        told: uint8 (G,), codes of `ENDED_BY` that the source tells; UNKNOWN or a code that does not exist for none.
            RULES also stands for an end because nothing more could be played.
        records: what the source tells of each game beyond its moves, as `site_records`; "" for nothing.

    Returns:
        uint8 (G,), codes of `ENDED_BY`: what the source tells, elsewhere what the position tells.
    """
    found = np.where(np.isin(told, BY_POSITION) | (told > len(ENDED_BY)), UNKNOWN, told)
    found[(found == UNKNOWN) & (endings != 0)] = RULES
    for game in np.flatnonzero(found == UNKNOWN).tolist():
        found[game] = _of_position(games.state(game), record_of(records[game]) or {})
    return found.astype(np.uint8)


def contradicted(told: int, found: int) -> str | None:
    """What is said of a game whose source tells an end that the position does not confirm, or None."""
    if told not in BY_POSITION or found in BY_POSITION[BY_POSITION.index(told) :]:
        return None
    return f"its source says that it ended by {ended_by_name(told)!r}: by the rules it goes on"


def _of_position(state: State, record: dict[str, Any]) -> int:
    """Why a game stopped in a position in which it goes on by our rules."""
    ranks = state.variant.ranks
    goes_on = any(_is_left(state, suit, rank) for suit, rank in enumerate(state.fireworks) if rank < ranks)
    options = record.get("options")
    if isinstance(options, dict) and options.get("speedrun") is True and _is_spoilt(state):
        return SPEEDRUN_FAIL
    return UNKNOWN if goes_on else NOTHING_PLAYABLE


def _is_spoilt(state: State) -> bool:
    """Whether a card that is still needed has no copy left."""
    ranks = range(state.variant.ranks)
    return not all(_is_left(state, suit, rank) for suit, top in enumerate(state.fireworks) for rank in ranks[top:])


def _is_left(state: State, suit: int, rank: int) -> bool:
    """Whether a copy of a card, counted from 0, has not been discarded."""
    gone = sum(card.suit == suit and card.rank == rank for card in state.discard_pile)
    return gone < state.variant.copies[suit][rank]
