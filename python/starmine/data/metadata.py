"""What a file of games says about all of them: the rules, the players, and how they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version as package_version
from typing import Any

from starmine._core import StarmineError, Variant
from starmine._util.durable import DamagedFileError, seal_json, unseal_json
from starmine.games.roster import Roster, RosterPlayer

FORMAT = 1  # version of the schema; a reader refuses any other
EVALUATION = "evaluation"  # key in `extra` of the settings of an evaluation
KEY = b"starmine"  # of the JSON text in a Parquet file's key-value metadata
CONTENT = b"starmine.content"  # of the checksum of a file's games, `Checksum`, there
# Exceptions that malformed entries may cause.
FORGED = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
FIELDS = ("format", "variant", "players", "seed", "shard", "shards", "version", "extra")


@dataclass(frozen=True)
class Metadata:
    """What holds for all games of a file.

    Attributes:
        variant: the rules.
        roster: the players; the column `players` of a game has for each seat a row of it. A file has for each player
            an object with its "name", and what else the writer knows, such as the "hash" of its weights.
        seed: of the deals, or None for games that were not dealt here.
        shard: the number of the file among those of its data set, from 0, or None.
        shards: the number of files of the data set, or None.
        version: of the package that wrote the file.
        format: version of the schema.
        extra: a JSON object of the writer's own.
    """

    variant: Variant
    roster: Roster
    seed: int | None = None
    shard: int | None = None
    shards: int | None = None
    version: str = field(default_factory=lambda: package_version("starmine"))
    format: int = FORMAT
    extra: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """The metadata as a JSON object with a "checksum" of the rest: one line, the same for equal metadata."""
        values = {name: getattr(self, name) for name in FIELDS if name != "players"}
        values["players"] = [player.to_dict() for player in self.roster]
        values["variant"] = json.loads(self.variant.to_json())
        return seal_json(json.loads(json.dumps(values, allow_nan=False)))  # as a reader has them

    @property
    def is_evaluation(self) -> bool:
        """Whether an evaluation wrote the file."""
        return EVALUATION in self.extra

    @property
    def suits(self) -> tuple[str, ...]:
        """What the source of imported games called the suits; empty where it has our names."""
        told = self.extra.get("suits")
        return tuple(map(str, told)) if isinstance(told, list) else ()

    @staticmethod
    def from_json(text: str | bytes) -> Metadata:
        """The metadata of a JSON object.

        Raises:
            DamagedFileError: it is not one that `to_json` returned.
            StarmineError: it has an unknown format.
            VariantError: the rules are not allowed.
        """
        try:
            values = unseal_json(text)
        except DamagedFileError as error:
            raise DamagedFileError(f"metadata: {error}") from error
        if values.get("format") != FORMAT:
            raise StarmineError(f"format={values.get('format')!r} is not known: this version reads format {FORMAT}")
        missing = [name for name in FIELDS if name not in values]
        if missing:
            raise DamagedFileError(f"the metadata have no {', '.join(missing)}")
        values["variant"] = Variant.from_json(json.dumps(values["variant"]))
        _check(values)
        roster = tuple(map(RosterPlayer.from_dict, values["players"]))
        return Metadata(roster=roster, **{name: values[name] for name in FIELDS if name != "players"})

    @staticmethod
    def of(schema_metadata: Mapping[bytes, bytes] | None) -> Metadata:
        """The `Metadata` that an Arrow schema's metadata contain.

        Raises:
            StarmineError: there are none.
            DamagedFileError, StarmineError, VariantError: as `from_json`.
        """
        if not schema_metadata or KEY not in schema_metadata:
            raise StarmineError("there are no games: the metadata have no entry 'starmine'")
        return Metadata.from_json(schema_metadata[KEY])

    @staticmethod
    def of_file(file: Any) -> Metadata:
        """The `Metadata` of an open `pyarrow.parquet.ParquetFile`: of its key-value metadata.

        Arrow's schema in the file has a second copy, which other readers of Parquet hand out.

        Raises:
            DamagedFileError: the two copies differ.
            DamagedFileError, StarmineError, VariantError: as `of`.
        """
        stored, copy = file.metadata.metadata or {}, (file.schema_arrow.metadata or {}).get(KEY)
        if copy is not None and copy != stored.get(KEY):
            raise DamagedFileError("the two copies of its metadata differ: one of them was changed")
        return Metadata.of(stored)


def _check(values: Mapping[str, Any]) -> None:
    """Refuse values of another type than `to_json` writes."""
    players = values["players"]
    if not isinstance(players, list) or not all(isinstance(row, dict) and "name" in row for row in players):
        raise DamagedFileError("players is not allowed: expected a list of objects with a 'name'")
    for name in ("seed", "shard", "shards"):
        if not (values[name] is None or type(values[name]) is int):
            raise DamagedFileError(f"{name}={values[name]!r} is not allowed: expected a whole number or null")
    if not isinstance(values["version"], str) or not isinstance(values["extra"], dict):
        raise DamagedFileError("version or extra is not allowed: expected a text and an object")


def differences(stored: Any, expected: Mapping[str, Any]) -> list[str]:
    """The entries, as text, in which a stored configuration differs from the expected one."""
    if not isinstance(stored, dict):
        return ["no configuration"]
    plain = json.loads(json.dumps(expected))
    names = dict.fromkeys([*plain, *stored])
    return [
        f"{name}={_short(stored.get(name))} instead of {_short(plain.get(name))}"
        for name in names
        if stored.get(name) != plain.get(name)
    ]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
