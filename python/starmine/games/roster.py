"""Who played in games: a row for each distinct player, to which games refer by its index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, _Player, bots
from starmine.games.identity import Identity, identity
from starmine.games.players import player_name
from starmine.policies.load import shipped

MOST_PLAYERS = 2**15  # that a column of int16 can number


@dataclass(frozen=True)
class RosterPlayer:
    """A player of a roster.

    Attributes:
        name: of `player_name`, or the name that an evaluation gave it.
        checksum: SHA-256 of a policy's file or of a network's weights, or of the identity of another player in Python;
            None if neither is known.
        identity: text that tells the player from every other, see `starmine.games.identity`; None if it is unknown.
    """

    name: str
    checksum: str | None = None
    identity: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The player as an entry of a file's metadata."""
        values = {"name": self.name, "hash": self.checksum}
        return values if self.identity is None else values | {"identity": self.identity}

    @staticmethod
    def of(name: str, known: Identity) -> RosterPlayer:
        """The player of an identity."""
        return RosterPlayer(name, known.checksum, known.text)

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> RosterPlayer:
        """The player of an entry, of which only the name is required."""
        return RosterPlayer(str(values["name"]), values.get("hash"), values.get("identity"))


Roster: TypeAlias = tuple[RosterPlayer, ...]
UNKNOWN: Roster = (RosterPlayer("unknown"),)  # of games whose source does not name its players


def distinct_players(given: Sequence[Any], resolved: Sequence[Any]) -> tuple[list[int], list[int], Roster]:
    """The roster of some players.

    Args:
        given: the players, as a user gave them.
        resolved: the same players, as `resolve_player` returns them.

    Returns:
        For each of the players its row; for each row the index of its first player; and the roster. A player that is
        given several times has one row.
    """
    rows: list[int] = []
    first: list[int] = []
    roster: list[RosterPlayer] = []
    for place, (player, own) in enumerate(zip(resolved, given, strict=True)):
        is_bot = isinstance(player, _Player)
        is_text = isinstance(own, str)
        same = [
            row
            for row, one in enumerate(first)
            if given[one] is own or (is_text and given[one] == own) or (is_bot and resolved[one] == player)
        ]
        row = same[0] if same else len(roster)
        if not same:
            text = player.text if is_bot else own if is_text else _free_name(player_name(own), roster)
            first.append(place)
            roster.append(RosterPlayer.of(text, identity(player)))
        rows.append(row)
    return rows, first, tuple(roster)


def _free_name(name: str, roster: Sequence[RosterPlayer]) -> str:
    """The name of an object, with a number from 2 on where another player has the name."""
    numbered = chain([name], (f"{name} ({number})" for number in count(2)))
    names = {*bots(), *shipped(), *(known.name for known in roster)}
    return next(name for name in numbered if name not in names)


def merge_rosters(rosters: Sequence[Roster]) -> tuple[Roster, list[NDArray[np.int16]]]:
    """Merge several rosters: the merged roster and, for each given roster, the merged row of each of its players.

    Two players are the same if their names and checksums are equal. If both have identities, these must be equal, too.

    Raises:
        StarmineError: there are more players than a column can number.
    """
    merged: list[RosterPlayer] = []
    known: dict[tuple[str, str | None], list[int]] = {}
    rows: list[list[int]] = []
    for roster in rosters:
        of_roster: list[int] = []
        for player in roster:
            same = known.setdefault((player.name, player.checksum), [])
            for row in same:
                if player.identity is None or merged[row].identity in (None, player.identity):
                    break
            else:
                row = len(merged)
                same.append(row)
                merged.append(player)
            if merged[row].identity is None:
                merged[row] = player
            of_roster.append(row)
        rows.append(of_roster)
    if len(merged) > MOST_PLAYERS:
        raise StarmineError(f"{len(merged)} players are not allowed: expected at most {MOST_PLAYERS}")
    return tuple(merged), [np.array(of_roster, np.int16) for of_roster in rows]


def names_by_seat(roster: Roster, players: NDArray[np.int16]) -> list[list[str]]:
    """For each game the names of its players by seat, given their rows (G, P)."""
    names = [player.name for player in roster]
    return [[names[row] for row in seats] for seats in players.tolist()]
