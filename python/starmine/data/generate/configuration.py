"""What determines every game of a data set that is generated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError
from starmine.data.generate.players import Cast
from starmine.data.metadata import Metadata
from starmine.games.identity import parameters_hash

MOST_GAMES = 2**32 - 1  # games of a seed
MOST_SHARDS = 10**6


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
        """Check that the torch modules still have the parameters that they had when the games began.

        Raises:
            StarmineError: the parameters of one have changed.
        """
        for player in self.cast.members:
            if parameters_hash(player.player) != player.parameters:
                raise StarmineError(f"the weights of {player.name!r} changed while games were played: start again")


def differences(found: Any, expected: dict[str, Any]) -> list[str]:
    """In which entries a configuration differs from the expected one, as text; empty where they are the same."""
    if not isinstance(found, dict):
        return ["no configuration"]
    return list(_differing(found, json.loads(json.dumps(expected))))


def _differing(found: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    for name in [*expected, *(name for name in found if name not in expected)]:
        one, other = found.get(name), expected.get(name)
        if one != other:
            if name == "players" and (changed := _changed(one, other)):
                yield from changed
            elif isinstance(one, dict) and isinstance(other, dict):
                yield from (f"{name}.{text}" for text in _differing(one, other))
            else:
                yield f"{name}={_short(one)} instead of {_short(other)}"


def _changed(found: Any, expected: Any) -> list[str]:
    """The players, as text, in which tables of players that are otherwise equal differ."""
    try:
        pairs = list(zip(found, expected, strict=True))
        if all(one | {"hash": None} == other | {"hash": None} for one, other in pairs):
            names = [other["name"] for one, other in pairs if one["hash"] != other["hash"]]
            return [f"another {name!r}: its weights, its source or its state have changed" for name in names]
    except (TypeError, ValueError, KeyError):
        pass
    return []


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def another_configuration(output: Path, file: str, different: list[str]) -> StarmineError:
    """The error for a folder that holds another data set."""
    return StarmineError(
        f"output={str(output)!r} holds other games ({file}), with {'; '.join(different[:3])}: choose another folder"
    )
