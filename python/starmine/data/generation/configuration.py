"""What determines every game of a data set that is generated: who plays which game, their number, and the seed.

Game i belongs to one table, or to one of several tables. The player of a seat may be drawn for each game.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, _Player
from starmine._util.keywords import check_names
from starmine._util.numbers import is_number
from starmine._util.rules import check_plays
from starmine.data.metadata import Metadata
from starmine.games.draws import SEAT, TABLE, choose, draw
from starmine.games.identity import Identity, identity, parameters_hash
from starmine.games.mixtures import check_weights, mixture
from starmine.games.play import resolve_table
from starmine.games.player_texts import Noisy
from starmine.games.players import Player, resolve_player, type_name

MOST_GAMES = 2**32 - 1  # games of a seed
MOST_SHARDS = 10**6
NOISY = "noisy:"  # begins the text of a bot that sometimes plays a legal move by chance


Seat: TypeAlias = Player | Sequence[Player | tuple[Player, float]]
"""A player, or players that are drawn for each game, by their weights; see `starmine.games.mixtures`."""
Players: TypeAlias = Sequence[Seat] | Mapping[str, Sequence[Seat] | tuple[Sequence[Seat], float]]
"""A seat for each place of a table; or by name several tables, perhaps with weights."""

SeatRows: TypeAlias = tuple[tuple[int, float], ...]
"""The players who may hold a seat, as rows of the players' table, with their weights."""


@dataclass(frozen=True)
class RosterPlayer:
    """A player in the players' table.

    Attributes:
        player: as `resolve_player` returns it, with noise if there is some.
        name: a bot's text; of an object its type, or the name that it was given.
        identity: what tells it from other players.
        epsilon: the probability of a legal move by chance, other than that in a bot's own text.
        parameters: the SHA-256 checksum of a torch module's parameters, else None.
    """

    player: Any
    name: str
    identity: Identity
    epsilon: float
    parameters: str | None

    def to_dict(self) -> dict[str, Any]:
        """The player's row in the players' table.

        The hash of a bot's policy is that of its weights, and the bot's text is its name. The hash of another player is
        that of all that its identity tells, such as weights and settings.
        """
        known = self.identity.hash
        if not isinstance(self.player, _Player) and self.identity.text is not None:
            known = sha256(self.identity.text.encode()).hexdigest()
        return {"name": self.name, "hash": known, "epsilon": self.epsilon}


@dataclass(frozen=True)
class Roster:
    """All players of a data set, and which of them play in a game.

    Attributes:
        variant: the rules.
        members: the players' table.
        tables: by name the players of each seat.
        weights: of the tables; None for the tables in turn.
    """

    variant: Variant
    members: list[RosterPlayer]
    tables: dict[str, tuple[SeatRows, ...]]
    weights: tuple[float, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """The players and tables as JSON can represent them."""
        return {
            "players": [player.to_dict() for player in self.members],
            # A list, since their order matters, and JSON objects have none. A seat with one player has its row alone.
            "tables": [
                {"name": name, "players": [rows[0][0] if len(rows) == 1 else [*map(list, rows)] for rows in seats]}
                for name, seats in self.tables.items()
            ],
            "weights": None if self.weights is None else list(self.weights),
        }


def players_of(roster: Roster, seed: int, games: NDArray[np.uint64]) -> NDArray[np.int16]:
    """The players of games by seat, as rows of the players' table: int16 (G, seats).

    They are a function of the seed and the game's index.
    """
    tables = list(roster.tables.values())
    if roster.weights is None:
        table = (games % np.uint64(len(tables))).astype(np.int64)
    else:
        table = choose(draw(seed, TABLE, games), roster.weights)
    players = np.array([[rows[0][0] for rows in seats] for seats in tables], np.int16)[table]
    for number, seats in enumerate(tables):
        for seat, rows in enumerate(seats):
            if len(rows) > 1:
                chosen = np.flatnonzero(table == number)
                drawn = choose(draw(seed, SEAT, games[chosen], seat), [weight for _, weight in rows])
                players[chosen, seat] = np.array([row for row, _ in rows], np.int16)[drawn]
    return players


def resolve_players(players: Players, variant: str | Variant, epsilon: float | Mapping[str, float] = 0.0) -> Roster:
    """The players of a data set, which are checked; `generate` has the arguments."""
    tables: dict[str, Any] = dict(players) if isinstance(players, Mapping) else {"": players}
    if isinstance(players, Mapping) and any(_is_weight(seats) for seats in tables.values()):
        seat = [*players.items()]
        raise StarmineError(
            f"players={dict(players)!r} is not allowed: for players with weights, expected {seat!r} in the place of "
            "each seat"
        )
    if not tables or not all(isinstance(name, str) for name in tables):
        raise StarmineError(f"players={players!r} is not allowed: expected tables by name")
    drawn = {
        name: seats[1]
        for name, seats in tables.items()
        if isinstance(players, Mapping) and isinstance(seats, tuple) and len(seats) == 2 and _is_weight(seats[1])
    }
    weights = check_weights("players", [drawn.get(name, 1.0) for name in tables]) if drawn else None
    tables = {name: seats[0] if name in drawn else seats for name, seats in tables.items()}
    rules = [resolve_table(seats, variant) for seats in tables.values()]
    if any(other != rules[0] for other in rules):
        raise StarmineError("players is not allowed: expected tables with the same number of seats")
    table = _PlayersTable(rules[0], epsilon)
    rows = {
        name: tuple(table.seat(given, _place(players, name, seat)) for seat, given in enumerate(seats))
        for name, seats in tables.items()
    }
    names = list(rows)
    for index, (name, seats) in enumerate(rows.items()):
        if seats in list(rows.values())[:index]:
            other = names[list(rows.values()).index(seats)]
            raise StarmineError(f"table {name!r} is not allowed: expected other players than those of {other!r}")
    return table.finish(rows, None if weights is None else tuple(weights))


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float | np.number)


def _place(players: Players, name: str, seat: int) -> str:
    """Where a player stands in the argument."""
    return f"players[{name!r}][{seat}]" if isinstance(players, Mapping) else f"players[{seat}]"


class _PlayersTable:
    """The players' table while it grows."""

    def __init__(self, rules: Variant, epsilon: float | Mapping[str, float]) -> None:
        self.rules = rules
        self.epsilon = epsilon
        self.given: list[Any] = []
        self.names: list[str] = []  # without the noise
        self.members: list[RosterPlayer] = []
        if not isinstance(epsilon, Mapping):
            _check_epsilon("epsilon", epsilon)

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
        self.names.append(name)
        self.members.append(self._noisy(player, name))
        return len(self.members) - 1

    def finish(self, tables: dict[str, tuple[SeatRows, ...]], weights: tuple[float, ...] | None) -> Roster:
        """The roster; an error where `epsilon` names a player that is not there."""
        if isinstance(self.epsilon, Mapping):
            check_names("player", self.epsilon, self.names)
        return Roster(self.rules, self.members, tables, weights)

    def _noisy(self, player: Any, name: str) -> RosterPlayer:
        known, parameters = identity(player), parameters_hash(player)
        epsilon = self.epsilon.get(name, 0.0) if isinstance(self.epsilon, Mapping) else self.epsilon
        epsilon = _check_epsilon("epsilon", epsilon)
        if epsilon:
            name = f"{NOISY} {epsilon!r}; {name}"
        if epsilon and isinstance(player, _Player):
            player = player.noisy(epsilon)
            check_plays(self.rules, player)
        elif epsilon:
            player = Noisy(player, epsilon)
        return RosterPlayer(player, name, known, epsilon, parameters)

    def _type_name(self, given: Any) -> str:
        """The name of an object's type, with a number from 2 on where another player has the name."""
        name = type_name(given)
        numbered = chain([name], (f"{name} ({number})" for number in count(2)))
        return next(name for name in numbered if name not in self.names)


def _check_epsilon(place: str, value: Any) -> float:
    if not is_number(value, 0, 1):
        raise StarmineError(f"{place}={value!r} is not allowed: expected a probability, 0 to 1")
    return float(value)


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
