"""What a file of games says about all of them: the rules, the players, and how they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version as package_version
from typing import Any

from starmine._core import StarmineError, Variant

FORMAT = 1  # version of the schema; a reader refuses any other
KEY = b"starmine"  # of the JSON text in a Parquet file's key-value metadata
CONTENT = b"starmine.content"  # of the checksum of a file's games, `ContentHash`, there
# What reading raises where the entries are not those that were written.
FORGED = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
FIELDS = ("format", "variant", "players", "seed", "shard", "shards", "version", "extra")


@dataclass(frozen=True)
class Metadata:
    """What holds for all games of a file.

    Attributes:
        variant: the rules.
        players: the players' table: for each player a JSON object with its "name", and what else the writer knows, such
            as the "hash" of its weights. The column `players` of a game has for each seat an index of this list.
        seed: of the deals, or None for games that were not dealt here.
        shard: the number of the file among those of its data set, from 0, or None.
        shards: the number of files of the data set, or None.
        version: of the package that wrote the file.
        format: version of the schema.
        extra: a JSON object of the writer's own.
    """

    variant: Variant
    players: list[dict[str, Any]]
    seed: int | None = None
    shard: int | None = None
    shards: int | None = None
    version: str = field(default_factory=lambda: package_version("starmine"))
    format: int = FORMAT
    extra: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """The metadata as a JSON object: one line, the same for equal metadata."""
        values = {name: getattr(self, name) for name in FIELDS}
        values["variant"] = json.loads(self.variant.to_json())
        return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @staticmethod
    def from_json(text: str | bytes) -> Metadata:
        """The metadata of a JSON object.

        Raises:
            StarmineError: it is not one that `to_json` returned, or has an unknown format.
            VariantError: the rules are not allowed.
        """
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise StarmineError(f"the metadata are not JSON: {error}") from error
        if not isinstance(values, dict) or "format" not in values:
            raise StarmineError("the metadata are not a JSON object with a 'format'")
        if values["format"] != FORMAT:
            raise StarmineError(f"format={values['format']!r} is not known: this version reads format {FORMAT}")
        missing = [name for name in FIELDS if name not in values]
        if missing:
            raise StarmineError(f"the metadata have no {', '.join(missing)}")
        values["variant"] = Variant.from_json(json.dumps(values["variant"]))
        _check(values)
        return Metadata(**{name: values[name] for name in FIELDS})

    @staticmethod
    def of(schema_metadata: Mapping[bytes, bytes] | None) -> Metadata:
        """The `Metadata` that an Arrow schema's metadata contain.

        Raises:
            StarmineError: there are none, or they are not allowed.
        """
        if not schema_metadata or KEY not in schema_metadata:
            raise StarmineError("there are no games: the metadata have no entry 'starmine'")
        return Metadata.from_json(schema_metadata[KEY])


def _check(values: Mapping[str, Any]) -> None:
    """Refuse values of another type than `to_json` writes."""
    players = values["players"]
    if not isinstance(players, list) or not all(isinstance(row, dict) and "name" in row for row in players):
        raise StarmineError("players is not allowed: expected a list of objects with a 'name'")
    for name in ("seed", "shard", "shards"):
        if not (values[name] is None or type(values[name]) is int):
            raise StarmineError(f"{name}={values[name]!r} is not allowed: expected a whole number or null")
    if not isinstance(values["version"], str) or not isinstance(values["extra"], dict):
        raise StarmineError("version or extra is not allowed: expected a text and an object")
