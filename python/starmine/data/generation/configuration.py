"""What determines every game of a data set that is generated: who plays which game, their number, and the seed.

Game i belongs to one table, to one of several tables, or to players that are drawn for each seat.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, _Player, _Tables
from starmine._util.equality import equal_by_value
from starmine._util.keywords import check_names, wrong_type
from starmine._util.numbers import check_integer, is_number
from starmine.data.metadata import Metadata
from starmine.games.draws import SEAT, TABLE, choose, draw
from starmine.games.identity import Identity, identity, parameters_hash
from starmine.games.play import resolve_table
from starmine.games.player_texts import Noisy
from starmine.games.players import Player, resolve_player, type_name
from starmine.games.variants import resolve_variant

MOST_GAMES = 2**32 - 1  # games of a seed
MOST_SHARDS = 10**6
NOISY = "noisy:"  # begins the text of a bot that sometimes plays a legal move by chance


@equal_by_value
@dataclass(frozen=True)
class Mixture:
    """Players that are drawn for each game and seat.

    Attributes:
        weights: for each player its weight, at least 0: with {"smart": 3, "iggi": 1}, each seat of each game gets
            `smart` with probability 3/4. Keys are texts that `play_games` takes, or keys of `players`.
        seats: number of seats; None for the variant's own.
        players: by name, the players that are objects.
    """

    weights: Mapping[str, float]
    seats: int | None = None
    players: Mapping[str, Player] = field(default_factory=dict)


Players: TypeAlias = Sequence[Player] | Mapping[str, Sequence[Player]] | Mixture


@dataclass(frozen=True)
class CastMember:
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
class Cast:
    """All players of a data set, and which of them play in a game.

    Attributes:
        variant: the rules.
        members: the players' table.
        tables: by name the players of each seat, as rows of the players' table; empty for a mixture.
        weights: of the tables, or of the players of a mixture; None for the tables in turn.
    """

    variant: Variant
    members: list[CastMember]
    tables: dict[str, tuple[int, ...]]
    weights: tuple[float, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """The players and tables as JSON can represent them."""
        return {
            "players": [player.to_dict() for player in self.members],
            # A list, since their order matters, and JSON objects have none.
            "tables": [{"name": name, "players": list(seats)} for name, seats in self.tables.items()],
            "weights": None if self.weights is None else list(self.weights),
        }


def players_of(
    tables: Sequence[Sequence[int]],
    weights: Sequence[float] | None,
    seats: int,
    seed: int,
    games: NDArray[np.uint64],
) -> NDArray[np.int16]:
    """The players of games by seat, as rows of the players' table: int16 (G, seats); see `Cast`.

    They are a function of the seed and the game's index.
    """
    if (weights is not None and not sum(weights) > 0) or (not tables and weights is None):
        raise ValueError("there are neither tables nor weights")
    if not tables:
        assert weights is not None
        return choose(draw(seed, SEAT, games[:, None], np.arange(seats)), weights).astype(np.int16)
    rows = np.array(tables, dtype=np.int16)
    if weights is None:
        return rows[(games % np.uint64(len(rows))).astype(np.int64)]
    return rows[choose(draw(seed, TABLE, games), weights)]


def cast(
    players: Players,
    variant: str | Variant,
    epsilon: float | Mapping[str, float] = 0.0,
    weights: Mapping[str, float] | None = None,
) -> Cast:
    """Check the players of a data set."""
    if isinstance(players, Mixture):
        if weights is not None:
            raise StarmineError("weights are not allowed with a mixture, which has its own: expected None")
        return _mixed_cast(players, variant, epsilon)
    tables = dict(players) if isinstance(players, Mapping) else {"": players}
    if isinstance(players, Mapping) and any(isinstance(seats, int | float | np.number) for seats in tables.values()):
        shown = f"starmine.data.Mixture({dict(players)!r})"
        raise StarmineError(f"players={dict(players)!r} is not allowed: for bots with weights, expected {shown}")
    if not tables or not all(isinstance(name, str) for name in tables):
        raise StarmineError(f"players={players!r} is not allowed: expected tables by name")
    if weights is not None and not isinstance(players, Mapping):
        raise StarmineError("weights are not allowed for one table: expected None")
    rules = [resolve_table(seats, variant) for seats in tables.values()]
    if any(other != rules[0] for other in rules):
        raise StarmineError("players is not allowed: expected tables with the same number of seats")
    table = _PlayersTable(rules[0], epsilon)
    rows = {
        name: tuple(table.row(player, _place(players, name, seat)) for seat, player in enumerate(seats))
        for name, seats in tables.items()
    }
    names = list(rows)
    for index, (name, seats) in enumerate(rows.items()):
        if seats in list(rows.values())[:index]:
            other = names[list(rows.values()).index(seats)]
            raise StarmineError(f"table {name!r} is not allowed: expected other players than those of {other!r}")
    return table.finish(rows, _weights("weights", weights, names) if weights is not None else None)


def _place(players: Players, name: str, seat: int) -> str:
    """Where a player stands in the argument."""
    return f"players[{name!r}][{seat}]" if isinstance(players, Mapping) else f"players[{seat}]"


def _mixed_cast(mixture: Mixture, variant: str | Variant, epsilon: float | Mapping[str, float]) -> Cast:
    seats = None if mixture.seats is None else check_integer("seats", mixture.seats)
    rules = resolve_variant(variant, {} if seats is None or isinstance(variant, Variant) else {"players": seats})
    if seats is not None and seats != rules.players:
        raise StarmineError(f"seats={seats} is not allowed: expected {rules.players}, those of the variant")
    for argument in ("weights", "players"):
        if not isinstance(by_name := getattr(mixture, argument), Mapping):
            raise wrong_type(argument, by_name, "a mapping by player")
    names = list(mixture.weights)
    check_names("player", mixture.players, map(str, names))
    table = _PlayersTable(rules, epsilon)
    for index, name in enumerate(names):
        given, place = name in mixture.players, f"players[{name!r}]"
        row = table.row(mixture.players[name] if given else name, place, name if given else None)
        if row < index:
            raise StarmineError(f"{place} is not allowed: expected another player than that of {names[row]!r}")
    return table.finish({}, _weights("weights", mixture.weights, names))


class _PlayersTable:
    """The players' table while it grows."""

    def __init__(self, rules: Variant, epsilon: float | Mapping[str, float]) -> None:
        self.rules = rules
        self.epsilon = epsilon
        self.given: list[Any] = []
        self.names: list[str] = []  # without the noise
        self.members: list[CastMember] = []
        if not isinstance(epsilon, Mapping):
            _check_epsilon("epsilon", epsilon)

    def row(self, given: Any, place: str, name: str | None = None) -> int:
        """The row of a player, which is added where it is new."""
        player = resolve_player(given, place)
        is_bot = isinstance(player, _Player)
        for row, known in enumerate(self.given):
            if known is given or (is_bot and known == player):
                return row
        if is_bot:
            self._check_plays(player)
        name = name or (player.text if is_bot else given if isinstance(given, str) else self._type_name(given))
        self.given.append(player if is_bot else given)
        self.names.append(name)
        self.members.append(self._noisy(player, name))
        return len(self.members) - 1

    def _check_plays(self, bot: _Player) -> None:
        """Refuse a bot that is not known or does not play the variant, such as one that takes no noise."""
        _Tables(self.rules, [bot] + [None] * (self.rules.players - 1), 1, 0, 0)

    def finish(self, tables: dict[str, tuple[int, ...]], weights: tuple[float, ...] | None) -> Cast:
        """The cast; an error where `epsilon` names a player that is not there."""
        if isinstance(self.epsilon, Mapping):
            check_names("player", self.epsilon, self.names)
        return Cast(self.rules, self.members, tables, weights)

    def _noisy(self, player: Any, name: str) -> CastMember:
        known, parameters = identity(player), parameters_hash(player)
        epsilon = self.epsilon.get(name, 0.0) if isinstance(self.epsilon, Mapping) else self.epsilon
        epsilon = _check_epsilon("epsilon", epsilon)
        if epsilon:
            name = f"{NOISY} {epsilon!r}; {name}"
        if epsilon and isinstance(player, _Player):
            player = player.noisy(epsilon)
            self._check_plays(player)
        elif epsilon:
            player = Noisy(player, epsilon)
        return CastMember(player, name, known, epsilon, parameters)

    def _type_name(self, given: Any) -> str:
        """The name of an object's type, with a number from 2 on where another player has the name."""
        name = type_name(given)
        numbered = chain([name], (f"{name} ({number})" for number in count(2)))
        return next(name for name in numbered if name not in self.names)


def _weights(place: str, weights: Mapping[str, float], names: Sequence[str]) -> tuple[float, ...]:
    """The weights in the order of the names."""
    check_names("table", weights, names)
    given = [weights.get(name, 0.0) for name in names]
    if not all(is_number(weight, 0) for weight in given) or not 0 < sum(given) < math.inf:
        raise StarmineError(f"{place}={dict(weights)!r} is not allowed: expected numbers of at least 0, one above 0")
    return tuple(map(float, given))


def _check_epsilon(place: str, value: Any) -> float:
    if not is_number(value, 0, 1):
        raise StarmineError(f"{place}={value!r} is not allowed: expected a probability, 0 to 1")
    return float(value)


# --- The configuration ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Configuration:
    """A data set to generate. A shard is a function of this and its number alone.

    Attributes:
        cast: the players, and who plays when.
        games: number of games.
        seed: of the decks and of all that is drawn by chance.
        shard_size: games of a shard; the last one may have fewer.
    """

    cast: Cast
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
            "variant": json.loads(self.cast.variant.to_json()),
            **self.cast.to_dict(),
            "games": self.games,
            "seed": self.seed,
            "shard_size": self.shard_size,
        }

    def metadata(self, shard: int) -> Metadata:
        """The metadata of a shard."""
        return Metadata(
            variant=self.cast.variant,
            players=[player.to_dict() for player in self.cast.members],
            seed=self.seed,
            shard=shard,
            shards=self.shards,
            extra={"configuration": self.to_dict()},
        )

    def check_weights(self) -> None:
        """Check that the torch modules still have the parameters that they had when the games began."""
        for player in self.cast.members:
            if parameters_hash(player.player) != player.parameters:
                raise StarmineError(f"the weights of {player.name!r} changed while games were played: start again")


def another_configuration(output: Path, file: str, different: list[str]) -> StarmineError:
    """The error for a folder that holds another data set."""
    return StarmineError(
        f"output={str(output)!r} holds other games ({file}), with {'; '.join(different[:3])}: choose another folder"
    )
