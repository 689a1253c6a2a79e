"""The formats of games that can be read and written: one row each."""

from __future__ import annotations

import errno
import os
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
from starmine.data.formats.held import Held, imported
from starmine.data.formats.recorded import ImportedGames, ReadGames, check
from starmine.vector import resolve_variant

ON_ERROR = ("raise", "skip")


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        name: by which it is chosen.
        summary: one line about it.
        suffix: of its files, which chooses it where no format is named; "" for a format without one.
        read: the reader, or None.
        write: the writer, or None.
    """

    name: str
    summary: str
    suffix: str
    read: Callable[[Path, Variant | None], ReadGames] | None
    write: Callable[..., None] | None


FORMATS = (
    Format("parquet", "Starmine's own: a file or a folder of shards", ".parquet", parquet.read, parquet.write),
    Format("ah2ac2", "AH2AC2's safetensors, games of people", ".safetensors", ah2ac2.read, ah2ac2.write),
    Format("hanab-live", "hanab.live's JSON", ".json", hanab_live.read, hanab_live.write),
    Format("hanab-live-link", "hanab.live's share links, one a line", ".links", hanab_live_link.read,
           hanab_live_link.write),
    Format("jaxmarl", "a folder with JaxMARL's decks.json, actions.json, scores.txt", "", jaxmarl.read, jaxmarl.write),
    Format("hle", "deals and moves of the Hanabi Learning Environment, JSON lines", ".jsonl", hle.read, hle.write),
    Format("numpy", "plain numpy arrays", ".npz", numpy_files.read, numpy_files.write),
    Format("minari", "a Minari data set of observations and actions", "", None, minari.write),
)  # fmt: skip


def format_names() -> list[str]:
    """The names of the formats."""
    return [row.name for row in FORMATS]


def _named(name: str) -> Format:
    """The format of a name."""
    for row in FORMATS:
        if row.name == name:
            return row
    raise _unknown_name("format", str(name), format_names())


def _of_path(path: Path) -> Format:
    """The format of a path: that of its suffix, or of the files in a folder."""
    if path.is_dir():
        return _named("jaxmarl" if (path / jaxmarl.DECKS).exists() else "parquet")
    for row in FORMATS:
        if row.suffix and path.suffix.lower() == row.suffix:
            return row
    suffixes = ", ".join(row.suffix for row in FORMATS if row.suffix)
    raise StarmineError(
        f"the format of {str(path)!r} cannot be told: expected a format, one of {', '.join(format_names())}, or "
        f"one of the suffixes {suffixes}"
    )


def read_games(
    source: str | Path,
    format: str | None = None,
    *,
    variant: str | Variant | None = None,
    on_error: str = "raise",
) -> ImportedGames:
    """Read games that others, or Starmine, have stored, and play each of them by the rules.

    Args:
        source: path of a file or folder, or one share link of hanab.live.
        format: one of `starmine.data.format_names()`; None to tell it from the source.
        variant: the rules: a `Variant`, or the name of a preset, for two players. None for those that the format names;
            a format that names none holds the base game. A game of other rules does not hold.
        on_error: what becomes of a game that does not hold: it cannot be read, has a deck that is not the variant's, an
            illegal action, actions after its end, or a recorded score that the rules do not give it. "raise", or "skip"
            to leave it out and name it in `skipped`.

    Returns:
        The games, in the order of the source. A game may stop before its end.

    Raises:
        StarmineError: the source is not of the format, or a game does not hold and may not be skipped.
        UnknownNameError: there is no such format or preset.
        VariantError: `variant` is something else.
        ImportError: a library that the format needs is not installed.
        OSError: the source cannot be read.
    """
    if on_error not in ON_ERROR:
        raise _unknown_name("on_error", str(on_error), list(ON_ERROR))
    rules = None if variant is None else resolve_variant(variant, {})
    if format in (None, "hanab-live-link") and isinstance(source, str) and hanab_live_link.is_link(source):
        return check(hanab_live_link.read_links([source], rules), on_error, "the link")
    if isinstance(source, str) and "://" in source:
        raise StarmineError(f"{source} is no link that holds a game: expected a share link of hanab.live, or a file")
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    row = _of_path(path) if format is None else _named(format)
    if row.read is None:
        raise StarmineError(f"format={row.name!r} is not allowed: it can be written, not read")
    return check(row.read(path, rules), on_error, str(path))


def write_games(games: Held, path: str | Path, format: str | None = None, **options: Any) -> None:
    """Write games in a format of others, or in Starmine's own.

    Args:
        games: what is written: `Trajectories`, the result of `play_games` with `record=True`, `ImportedGames`, a
            `Dataset` or a view of one, a `GameTable` such as `data[:20]`, a `Game` such as `data[3]`, or a list of
            these. Names, ids and players' names are kept where there are some and the format has a place for them.
        path: of the file or folder.
        format: one of `starmine.data.format_names()`; None to tell it from the path's suffix.
        **options: of the format, as `starmine.data.formats.minari.write` has them.

    Raises:
        StarmineError: these are no games, a game does not hold, or the format cannot express the variant.
        UnknownNameError: there is no such format.
        ImportError: a library that the format needs is not installed.
        OSError: the files cannot be written.
    """
    path = Path(path)
    row = _of_path(path) if format is None else _named(format)
    if row.write is None:
        raise StarmineError(f"format={row.name!r} is not allowed: it can be read, not written")
    row.write(imported(games), path, **options)
