"""The names of HLE's module `pyhanabi`: games, states, observations and moves.

`from starmine.hle import pyhanabi` stands for `from hanabi_learning_environment import pyhanabi`. The functions that
load HLE's library do nothing: there is none to load.
"""

from __future__ import annotations

from typing import Any

from starmine.hle.cards import (
    CHANCE_PLAYER_ID,
    COLOR_CHAR,
    HanabiCard,
    HanabiCardKnowledge,
    color_char_to_idx,
    color_idx_to_char,
)
from starmine.hle.game import HanabiGame
from starmine.hle.moves import HanabiHistoryItem, HanabiMove, HanabiMoveType, IllegalMoveError
from starmine.hle.observations import HanabiObservation, ObservationEncoder, ObservationEncoderType
from starmine.hle.rules import AgentObservationType
from starmine.hle.state import HanabiEndOfGameType, HanabiState


def try_cdef(header: Any = None, prefixes: Any = None) -> bool:
    """True: there is no header to read."""
    return True


def try_load(library: Any = None, prefixes: Any = None) -> bool:
    """True: there is no library to load."""
    return True


def cdef_loaded() -> bool:
    """True: there is no header to read."""
    return True


def lib_loaded() -> bool:
    """True: there is no library to load."""
    return True


__all__ = [
    "CHANCE_PLAYER_ID",
    "COLOR_CHAR",
    "AgentObservationType",
    "HanabiCard",
    "HanabiCardKnowledge",
    "HanabiEndOfGameType",
    "HanabiGame",
    "HanabiHistoryItem",
    "HanabiMove",
    "HanabiMoveType",
    "HanabiObservation",
    "HanabiState",
    "IllegalMoveError",
    "ObservationEncoder",
    "ObservationEncoderType",
    "cdef_loaded",
    "color_char_to_idx",
    "color_idx_to_char",
    "lib_loaded",
    "try_cdef",
    "try_load",
]
