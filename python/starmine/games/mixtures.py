"""Players that are drawn by weights: `[("smart", 2), "iggi"]` in Python, `smart=2,iggi` on a command line.

A weight is 1 where none is given. With these two examples `smart` is drawn twice as often as `iggi`. In Python a weight
may be 0 if another is above 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from starmine._core import StarmineError
from starmine._util.numbers import is_number
from starmine.games.player_texts import has_path

WEIGHT = re.compile(r"(.*?)\s*=\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
# An "=" after one of these belongs to the player's text: an option of a search, a condition of a rule.
OPTION, CONDITION = re.compile(r";\s*\w+$"), re.compile(r"\b(?:if|and)\s+\w+\s*[<>]?$")


def weigh(players: Any) -> list[tuple[Any, Any]]:
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


def parse_mixture(text: str, place: str) -> list[tuple[str, float]]:
    """The players' texts and weights in a text such as "smart=2,iggi".

    A comma or an "=" in the path of a file that exists belongs to the path.

    Args:
        text: players' texts, as `play_games` takes them, with commas between them. A number after "=" is a weight.
        place: of the argument, for messages.

    Raises:
        StarmineError: a weight is 0 or not finite.
    """
    entries, parts = [], text.split(",")
    while parts:
        lengths = range(len(parts), 1, -1)
        length = next((length for length in lengths if _is_path(",".join(parts[:length]))), 1)
        player, weight = _weight_of(",".join(parts[:length]))
        if not 0 < weight < math.inf:
            raise StarmineError(f"{place}={text!r} has the weight {weight}: expected a number above 0, as in smart=2")
        entries.append((player, weight))
        del parts[:length]
    return entries


def _is_path(entry: str) -> bool:
    """Whether an entry, perhaps with a weight, has the path of a file or folder that exists."""
    return has_path(entry) or has_path(_weight_of(entry)[0])


def _weight_of(entry: str) -> tuple[str, float]:
    """The player and the weight of a text such as "smart=2"."""
    found = WEIGHT.fullmatch(entry.strip())
    if found is None or has_path(entry):
        return entry.strip(), 1.0
    player, number = found.groups()
    is_option = player.startswith("search:") and OPTION.search(player)
    return (entry.strip(), 1.0) if is_option or CONDITION.search(player) else (player, float(number))
