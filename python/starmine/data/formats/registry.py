"""The formats of games that can be read and written: one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant, _unknown_name
from starmine.data.formats import (
    ah2ac2,
    hanab_live,
    hanab_live_link,
    hle,
    jaxmarl,
    minari,
    numpy_files,
    parquet,
)
from starmine.data.formats.records import ImportedGames, ReadGames


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        name: by which it is chosen.
        summary: one line about it.
        suffix: of its files, which chooses it where no format is named; "" for a format without one.
        read: the reader, or None. It gets a path, or `StandardInput`, and the rules that are wanted; None for the rules
            that the file tells, of its first game where each game tells its own, or for the base game. It raises
            `StarmineError` if the source is not of the format, OSError if it cannot be read, and ImportError if a
            library is missing.
        write: the writer, or None. It gets games, a path and options, and replaces a file as a whole. It raises
            `StarmineError` if the format cannot express the variant, and the other errors of `read`.
        is_text: whether a file is text, which can be read from standard input.
        unwritable: finds the games that the format cannot express, with the reasons; None where there are none.
    """

    name: str
    summary: str
    suffix: str
    read: Callable[[Any, Variant | None], ReadGames] | None
    write: Callable[..., None] | None
    is_text: bool = False
    unwritable: Callable[[ImportedGames], dict[int, str]] | None = None


FORMATS = (
    Format("parquet", "Starmine's own: a file or a folder of shards", ".parquet", parquet.read, parquet.write),
    Format("ah2ac2", "AH2AC2's safetensors, games of people", ".safetensors", ah2ac2.read, ah2ac2.write),
    Format("hanab-live", "hanab.live's JSON", ".json", hanab_live.read, hanab_live.write, True,
           hanab_live.unwritable),
    Format("hanab-live-link", "hanab.live's share links, one a line", ".links", hanab_live_link.read,
           hanab_live_link.write, True, hanab_live_link.unwritable),
    Format("jaxmarl", "a folder with JaxMARL's decks.json, actions.json, scores.txt", "", jaxmarl.read, jaxmarl.write),
    Format("hle", "deals and moves of the Hanabi Learning Environment, JSON", ".jsonl", hle.read, hle.write, True),
    Format("numpy", "plain numpy arrays", ".npz", numpy_files.read, numpy_files.write),
    Format("minari", "a Minari data set of observations and actions", "", None, minari.write),
)  # fmt: skip


def format_names() -> list[str]:
    """The names of the formats."""
    return [row.name for row in FORMATS]


def named(name: str) -> Format:
    """The format of a name."""
    for row in FORMATS:
        if row.name == name:
            return row
    raise _unknown_name("format", str(name), format_names())


def of_suffix(path: Path) -> Format | None:
    """The format of a file's suffix, or None."""
    return next((row for row in FORMATS if row.suffix and path.suffix.lower() == row.suffix), None)


def told_by_suffix(path: Path) -> Format:
    """The format of a file's suffix."""
    found = of_suffix(path)
    if found is None:
        suffixes = ", ".join(row.suffix for row in FORMATS if row.suffix)
        raise StarmineError(
            f"the format of {str(path)!r} cannot be told: expected a format, one of {', '.join(format_names())}, or "
            f"one of the suffixes {suffixes}"
        )
    return found
