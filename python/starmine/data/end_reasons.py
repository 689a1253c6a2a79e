"""Why games ended, also beyond the rules: people surrender, run out of time, or stop when nothing can be played.

What a source tells is compared with what the rules say.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import State, endings
from starmine._util.keywords import check_names
from starmine.games.trajectories import Trajectories

#: The reasons why a game ended, by name. "rules" means by our rules; "nothing_playable" when no card could be played
#: any more; "speedrun_fail" when a perfect score had become impossible; "timeout" and "terminated" when a player ran
#: out of time or surrendered; "idle" when all players were away; "vote" when they voted for the end. In arrays code k
#: stands for `ENDED_BY[k - 1]`, and 0 for a game whose source does not say why it stopped.
ENDED_BY = ("rules", "nothing_playable", "speedrun_fail", "timeout", "terminated", "idle", "vote")
UNKNOWN, RULES, NOTHING_PLAYABLE = range(3)
NO_SEAT = NO_SCORE = -1
SPEEDRUN_FAIL = ENDED_BY.index("speedrun_fail") + 1
BY_POSITION = (RULES, NOTHING_PLAYABLE)  # reasons that the position must confirm


def ended_by_codes(names: str | Sequence[str]) -> list[int]:
    """The codes of reasons; "unknown" is 0."""
    listed, known = [names] if isinstance(names, str) else list(names), ["unknown", *ENDED_BY]
    check_names("ended_by", listed, known)
    return [known.index(name) for name in listed]


def ended_by_name(code: int) -> str | None:
    """The reason of a code, or None where nobody tells it."""
    return ENDED_BY[code - 1] if 1 <= code <= len(ENDED_BY) else None


def site_scores_of(
    scores: NDArray[np.uint8], ended: NDArray[np.uint8], ended_by: NDArray[np.uint8]
) -> NDArray[np.int16]:
    """What hanab.live counts: 0, unless a game ended by the rules or since nothing more could be played.

    Args:
        scores: uint8 (G,), by the rules.
        ended: uint8 (G,), codes of `starmine.endings()`; 0 for a game that stopped before its end.
        ended_by: uint8 (G,), codes of `ENDED_BY`.

    Returns:
        int16 (G,); NO_SCORE where nobody tells why a game stopped.
    """
    lost = ended == endings().index("lost") + 1
    counts = np.isin(ended_by, (RULES, NOTHING_PLAYABLE)) & ~lost
    counted = np.where(counts, scores.astype(np.int16), np.int16(0))
    counted[ended_by == UNKNOWN] = NO_SCORE
    return counted


def record_of(text: object) -> dict[str, Any] | None:
    """The JSON object of a site's record; None where there is none."""
    try:
        record = json.loads(str(text))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


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
    codes = np.where(np.isin(told, BY_POSITION) | (told > len(ENDED_BY)), UNKNOWN, told)
    for game in np.flatnonzero((told == SPEEDRUN_FAIL) & (endings == 0)).tolist():
        codes[game] = SPEEDRUN_FAIL if _is_spoilt(games.state(game)) else UNKNOWN
    codes[(codes == UNKNOWN) & (endings != 0)] = RULES
    for game in np.flatnonzero(codes == UNKNOWN).tolist():
        codes[game] = _of_position(games.state(game), record_of(records[game]) or {})
    return codes.astype(np.uint8)


def contradicted(told: int, by_rules: int) -> str | None:
    """What is said of a game whose source tells an end that the position does not confirm, or None."""
    if told == SPEEDRUN_FAIL and by_rules != SPEEDRUN_FAIL:
        return "its source says that it ended by 'speedrun_fail': a perfect score is still possible"
    if told not in BY_POSITION or by_rules in BY_POSITION[BY_POSITION.index(told) :]:
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
