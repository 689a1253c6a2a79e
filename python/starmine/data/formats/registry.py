"""The formats of games that can be read and written: one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant
from starmine._util.keywords import check_names
from starmine.data.formats import ah2ac2, hanab_live, parquet
from starmine.data.formats.records import ImportedGames, ReadGames


@dataclass(frozen=True)
class Format:
    """A file format of games, an entry of `FORMATS`. Others cannot be registered.

    Attributes:
        name: the text that `read_games` and `write_games` take as `format`.
        summary: one line about it.
        suffixes: the suffixes of its files, such as ".json". A file with one of them is of this format if the argument
            `format` is None.
        read: `read(path, variant)` reads games. `variant` is the wanted rules;
            None for those of the file's first game, or of the base game if the format stores no rules. It returns a
            `starmine.data.formats.records.ReadGames`, whose games have not been played yet. It raises `StarmineError`
            if the source is not of the format, OSError if it cannot be read, and ImportError if a library is missing.
        write: `write(games, path)` writes `ImportedGames`. It replaces a file as a whole. It raises `StarmineError` if
            the format cannot express the variant, and the other errors of `read`.
        unwritable: `unwritable(games)` returns by position the reasons why the format cannot express some of the
            games; None for a format that can express every game.
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]
    read: Callable[[Any, Variant | None], ReadGames]
    write: Callable[[ImportedGames, Path], None]
    unwritable: Callable[[ImportedGames], dict[int, str]] | None = None


#: The formats that `read_games` and `write_games` know, by name.
FORMATS = {row.name: row for row in (
    Format("parquet", "Starmine's own: a file or a folder of shards", (".parquet",), parquet.read, parquet.write),
    Format("ah2ac2", "AH2AC2's safetensors, games of people", (".safetensors",), ah2ac2.read, ah2ac2.write),
    Format("hanab-live", "hanab.live's JSON", (".json", ".jsonl"), hanab_live.read, hanab_live.write,
           hanab_live.unwritable),
)}  # fmt: skip


def named(name: str) -> Format:
    """The format of a name."""
    check_names("format", [name], FORMATS)
    return FORMATS[name]


def told_by_suffix(path: Path) -> Format:
    """The format of a file's suffix."""
    for row in FORMATS.values():
        if path.suffix.lower() in row.suffixes:
            return row
    suffixes = ", ".join(suffix for row in FORMATS.values() for suffix in row.suffixes)
    raise StarmineError(
        f"the format of {str(path)!r} cannot be told: expected a format, one of {', '.join(FORMATS)}, or "
        f"one of the suffixes {suffixes}"
    )
