"""What determines every game of a data set that is generated: who plays which game, their number, and the seed.

The player of a seat may be drawn for each game.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, _Player, bots
from starmine._util.rules import check_plays
from starmine.data.metadata import Metadata
from starmine.games.draws import SEAT, choose, draw
from starmine.games.identity import Identity, identity, parameters_hash
from starmine.games.mixtures import check_weights, mixture
from starmine.games.play import resolve_table
from starmine.games.players import Player, resolve_player, type_name
from starmine.policies.load import shipped

MOST_GAMES = 2**32 - 1  # games of a seed
MOST_SHARDS = 10**6


Seat: TypeAlias = Player | Sequence[Player | tuple[Player, float]]
"""A player, or players that are drawn for each game, by their weights; see `starmine.games.mixtures`."""

SeatRows: TypeAlias = tuple[tuple[int, float], ...]
"""The players who may hold a seat, as rows of the players' table, with their weights."""


@dataclass(frozen=True)
class RosterPlayer:
    """A player in the players' table.

    Attributes:
        player: as `resolve_player` returns it, with noise if there is some.
        name: a bot's text; of a chat player its name, of another object its type.
        identity: what tells it from other players.
        parameters: the SHA-256 checksum of a torch module's parameters, else None.
    """

    player: Any
    name: str
    identity: Identity
    parameters: str | None

    def to_dict(self) -> dict[str, Any]:
        """The player's row in the players' table.

        The hash of a bot's policy is that of its weights, and the bot's text is its name. The hash of another player is
        that of all that its identity tells, such as weights and settings.
        """
        known = self.identity.hash
        if not isinstance(self.player, _Player) and self.identity.text is not None:
            known = sha256(self.identity.text.encode()).hexdigest()
        return {"name": self.name, "hash": known}


@dataclass(frozen=True)
class Roster:
    """All players of a data set, and which of them play in a game.

    Attributes:
        variant: the rules.
        members: the players' table.
        seats: the players of each seat.
    """

    variant: Variant
    members: list[RosterPlayer]
    seats: tuple[SeatRows, ...]

    def to_dict(self) -> dict[str, Any]:
        """The players and seats as JSON can represent them. A seat with one player has its row alone."""
        return {
            "players": [player.to_dict() for player in self.members],
            "seats": [rows[0][0] if len(rows) == 1 else [*map(list, rows)] for rows in self.seats],
        }


def players_of(roster: Roster, seed: int, games: NDArray[np.uint64]) -> NDArray[np.int16]:
    """The players of games by seat, as rows of the players' table: int16 (G, seats).

    They are a function of the seed and the game's index.
    """
    players = np.empty((len(games), len(roster.seats)), np.int16)
    for seat, rows in enumerate(roster.seats):
        drawn = choose(draw(seed, SEAT, games, seat), [weight for _, weight in rows])
        players[:, seat] = np.array([row for row, _ in rows], np.int16)[drawn]
    return players


def resolve_players(players: Sequence[Seat], variant: str | Variant) -> Roster:
    """The players of a data set, which are checked; `generate` has the arguments."""
    table = _PlayersTable(resolve_table(players, variant))
    seats = tuple(table.seat(given, f"players[{seat}]") for seat, given in enumerate(players))
    return Roster(table.rules, table.members, seats)


class _PlayersTable:
    """The players' table while it grows."""

    def __init__(self, rules: Variant) -> None:
        self.rules = rules
        self.given: list[Any] = []
        self.members: list[RosterPlayer] = []

    def seat(self, given: Any, place: str) -> SeatRows:
        """The rows of the players who may hold a seat, with their weights."""
        players = mixture(given)
        weights = check_weights(place, [weight for _, weight in players])
        return tuple(zip((self.row(player, place) for player, _ in players), weights, strict=True))

    def row(self, given: Any, place: str) -> int:
        """The row of a player, which is added where it is new."""
        player = resolve_player(given, place)
        is_bot = isinstance(player, _Player)
        for row, known in enumerate(self.given):
            if known is given or (is_bot and known == player):
                return row
        if is_bot:
            check_plays(self.rules, player)
        name = player.text if is_bot else given if isinstance(given, str) else self._type_name(given)
        self.given.append(player if is_bot else given)
        self.members.append(RosterPlayer(player, name, identity(player), parameters_hash(player)))
        return len(self.members) - 1

    def _type_name(self, given: Any) -> str:
        """The name of a chat player, else of an object's type, with a number from 2 on where a player has the name."""
        name = str(given.name) if hasattr(given, "fallbacks") and hasattr(given, "name") else type_name(given)
        numbered = chain([name], (f"{name} ({number})" for number in count(2)))
        names = {*bots(), *shipped(), *(member.name for member in self.members)}
        return next(name for name in numbered if name not in names)


# --- The configuration ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Configuration:
    """A data set to generate. A shard is a function of this and its number alone.

    Attributes:
        roster: the players, and who plays when.
        games: number of games.
        seed: of the decks and of all that is drawn by chance.
        shard_size: games of a shard; the last one may have fewer.
    """

    roster: Roster
    games: int
    seed: int
    shard_size: int

    @property
    def shards(self) -> int:
        """Number of shards."""
        return -(-self.games // self.shard_size)

    def games_of(self, shard: int) -> NDArray[np.uint64]:
        """The indices of the games of a shard."""
        first = shard * self.shard_size
        return np.arange(first, min(first + self.shard_size, self.games), dtype=np.uint64)

    def to_dict(self) -> dict[str, Any]:
        """The configuration as JSON can represent it. The version is in it, since bots may change between versions."""
        return {
            "version": version("starmine"),
            "variant": json.loads(self.roster.variant.to_json()),
            **self.roster.to_dict(),
            "games": self.games,
            "seed": self.seed,
            "shard_size": self.shard_size,
        }

    def metadata(self, shard: int) -> Metadata:
        """The metadata of a shard."""
        return Metadata(
            variant=self.roster.variant,
            players=[player.to_dict() for player in self.roster.members],
            seed=self.seed,
            shard=shard,
            shards=self.shards,
            extra={"configuration": self.to_dict()},
        )

    def check_weights(self) -> None:
        """Check that the torch modules still have the parameters that they had when the games began."""
        for player in self.roster.members:
            if parameters_hash(player.player) != player.parameters:
                raise StarmineError(f"the weights of {player.name!r} changed while games were played: start again")


def another_configuration(output: Path, file: str, different: list[str]) -> StarmineError:
    """The error for a folder that holds another data set."""
    return StarmineError(
        f"output={str(output)!r} holds other games ({file}), with {'; '.join(different[:3])}: choose another folder"
    )
