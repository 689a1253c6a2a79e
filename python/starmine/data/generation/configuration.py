"""What determines every game of a data set that is generated: who plays which game, their number, and the seed.

The player of a seat may be drawn for each game.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant
from starmine.data.metadata import Metadata
from starmine.games.draws import SEAT, choose, draw
from starmine.games.identity import weights_checksum
from starmine.games.mixtures import check_weights, weigh
from starmine.games.play import resolve_table
from starmine.games.players import Player, resolve_player
from starmine.games.roster import Roster, distinct_players
from starmine.policies.variant_check import check_variant

MOST_SHARDS = 10**6


Seat: TypeAlias = Player | Sequence[Player | tuple[Player, float]]
"""A player, or players that are drawn for each game, by their weights; see `starmine.games.mixtures`."""

SeatRows: TypeAlias = tuple[tuple[int, float], ...]
"""The players who may hold a seat, as rows of the roster, with their weights."""


@dataclass(frozen=True)
class Configuration:
    """A data set to generate. A shard is a function of this and its number alone.

    Attributes:
        variant: the rules.
        players: the distinct players, as `resolve_player` returns them.
        roster: their entries in the files.
        parameters: of each the SHA-256 checksum of its torch modules' parameters, else None.
        seats: for each seat the players who may hold it.
        games: number of games.
        seed: of the decks and of all that is drawn by chance.
        shard_size: games of a shard; the last one may have fewer.
    """

    variant: Variant
    players: tuple[Any, ...]
    roster: Roster
    parameters: tuple[str | None, ...]
    seats: tuple[SeatRows, ...]
    games: int
    seed: int
    shard_size: int

    @staticmethod
    def of(seats: Sequence[Seat], variant: str | Variant, games: int, seed: int, shard_size: int) -> Configuration:
        """A configuration whose players are checked; `generate` has the arguments."""
        rules = resolve_table(seats, variant)
        given, resolved, weights = [], [], []
        for seat, choices in enumerate(map(weigh, seats)):
            weights.append(check_weights(f"players[{seat}]", [weight for _, weight in choices]))
            for player, _ in choices:
                given.append(player)
                resolved.append(resolve_player(player, f"players[{seat}]"))
        rows, first, roster = distinct_players(given, resolved)
        players = tuple(resolved[place] for place in first)
        for player in players:
            check_variant(player, rules)
        of_seats, numbers = [], iter(rows)
        for of_seat in weights:
            of_seats.append(tuple((next(numbers), weight) for weight in of_seat))
        parameters = tuple(map(weights_checksum, players))
        return Configuration(rules, players, roster, parameters, tuple(of_seats), games, seed, shard_size)

    @property
    def shards(self) -> int:
        """Number of shards."""
        return -(-self.games // self.shard_size)

    def games_of(self, shard: int) -> NDArray[np.uint64]:
        """The indices of the games of a shard."""
        first = shard * self.shard_size
        return np.arange(first, min(first + self.shard_size, self.games), dtype=np.uint64)

    def to_dict(self) -> dict[str, Any]:
        """The configuration as JSON can represent it. The version is in it, since bots may change between versions.

        A seat with one player has its row alone.
        """
        return {
            "version": version("starmine"),
            "variant": json.loads(self.variant.to_json()),
            "players": [player.to_dict() for player in self.roster],
            "seats": [rows[0][0] if len(rows) == 1 else [*map(list, rows)] for rows in self.seats],
            "games": self.games,
            "seed": self.seed,
            "shard_size": self.shard_size,
        }

    def metadata(self, shard: int) -> Metadata:
        """The metadata of a shard."""
        extra = {"configuration": self.to_dict()}
        return Metadata(self.variant, self.roster, self.seed, shard, self.shards, extra=extra)

    def players_of(self, games: NDArray[np.uint64]) -> NDArray[np.int16]:
        """The players of games by seat, as rows of the roster: int16 (G, seats).

        They are a function of the seed and the game's index.
        """
        players = np.empty((len(games), len(self.seats)), np.int16)
        for seat, rows in enumerate(self.seats):
            drawn = choose(draw(self.seed, SEAT, games, seat), [weight for _, weight in rows])
            players[:, seat] = np.array([row for row, _ in rows], np.int16)[drawn]
        return players

    def check_weights(self) -> None:
        """Check that the torch modules still have the parameters that they had when the games began."""
        for player, known, parameters in zip(self.players, self.roster, self.parameters, strict=True):
            if weights_checksum(player) != parameters:
                raise StarmineError(f"the weights of {known.name!r} changed while games were played: start again")


def another_configuration(output: Path, file: str, different: list[str]) -> StarmineError:
    """The error for a folder that holds another data set."""
    return StarmineError(
        f"output={str(output)!r} holds other games ({file}), with {'; '.join(different[:3])}: choose another folder"
    )
