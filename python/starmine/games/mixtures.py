"""Players that are drawn by weights: `[("smart", 2), "info"]` in Python, `smart=2,info` on a command line.

A weight is 1 where none is given. With these two examples `smart` is drawn twice as often as `info`. In Python a weight
may be 0 if another is above 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from starmine._core import StarmineError
from starmine._util.numbers import is_number
from starmine.games.player_texts import names_player, player_of_text


def mixture(players: Any) -> list[tuple[Any, Any]]:
    """The players who may hold a seat, with their weights as they were given.

    Args:
        players: a player, or a sequence of players and of pairs (player, weight).
    """
    if isinstance(players, str | bytes) or not isinstance(players, Sequence):
        return [(players, 1.0)]
    return [player if isinstance(player, tuple) and len(player) == 2 else (player, 1.0) for player in players]


def check_weights(place: str, weights: Sequence[Any]) -> list[float]:
    """The weights as floats.

    Raises:
        StarmineError: one is not a number of at least 0, or their sum is 0 or not finite.
    """
    if not all(is_number(weight, 0) for weight in weights) or not 0 < sum(weights) < math.inf:
        given = ", ".join(map(repr, weights)) or "none"
        raise StarmineError(f"{place} has the weights {given}: expected numbers of at least 0, one above 0")
    return [float(weight) for weight in weights]


def mixture_of_text(text: str, place: str) -> list[tuple[str, float]]:
    """The players' texts and weights in a text such as "smart=2,info".

    Args:
        text: players' texts, as `play_games` takes them, with commas between them. A number after "=" is a weight.
        place: of the argument, for messages.

    Raises:
        StarmineError: a weight is not a number above 0, or a text with "=" names no player.
    """
    return [_weighted(entry.strip(), place) for entry in text.split(",")]


def _weighted(entry: str, place: str) -> tuple[str, float]:
    """The player and the weight of a text such as "smart=2". A text that names a player with its "=" has no weight."""
    text, equals, number = entry.rpartition("=")
    has_option = entry.startswith("search:") and re.search(r";\s*\w+\s*$", text) is not None
    if not equals or has_option:
        return entry, 1.0
    problem = None
    if names_player(entry):
        try:
            player_of_text(entry, place)
        except StarmineError as error:
            problem = error
        else:
            return entry, 1.0
    try:
        weight = float(number)
    except ValueError:
        weight = 0.0
    if not 0 < weight < math.inf:
        raise problem or StarmineError(
            f"{place}={entry!r} has the weight {number!r}: expected a number above 0, as in smart=2"
        )
    return text.strip(), weight
