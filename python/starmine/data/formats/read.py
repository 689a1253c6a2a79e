"""Games are read from files and folders, whatever their format."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from starmine._core import StarmineError, Variant
from starmine._util.durable import given_path
from starmine._util.keywords import check_names
from starmine.data.files import check_paths, files_of, refuse_twice
from starmine.data.formats.records import ImportedGames, ReadGames, check_all
from starmine.data.formats.registry import FORMATS, named, told_by_suffix
from starmine.data.manifest import MANIFEST
from starmine.games.variants import resolve_variant

ON_ERROR = ("raise", "skip")
Source: TypeAlias = str | PathLike[str]
Reader: TypeAlias = Callable[[Variant | None], ReadGames]
OF_A_DATA_SET = (MANIFEST, "eval.json")  # files of a folder whose games are its Parquet files alone


def read_games(
    source: Source | Sequence[Source],
    format: str | None = None,
    *,
    variant: str | Variant | None = None,
    on_error: str = "raise",
) -> ImportedGames:
    """Read games that others, or Starmine, have stored, and play each of them by the rules.

    Args:
        source: path of a file or folder, or several paths. In a folder, without its subfolders, all files are read
            whose suffix is that of a format. A folder with Parquet files and files of other formats is refused, since
            they may be the same games.
        format: one of `starmine.data.FORMATS`; None to tell it from the source.
        variant: the rules: a `Variant`, or the name of a preset (two players). Games of other rules are left out and
            counted in `other_rules`. None for the rules of the first readable game; then a game of other rules is
            invalid. Games of a format without rules are those of the base game.
        on_error: "raise" for an error about invalid games, or "skip" to leave them out and list them in `skipped`. A
            game is invalid if it cannot be read, or has a deck that is not the variant's, an illegal action, actions
            after its end, or a recorded score that the rules do not give it. With several files, "skip" also leaves
            out files that cannot be read.

    Returns:
        The games, in the order of the source. A game may stop before its end.

    Raises:
        StarmineError: the source is damaged or not of the format, or a game is invalid and may not be skipped; all
            games are of other rules than `variant`; no file can be read.
        UnknownNameError: there is no such format or preset.
        VariantError: `variant` is neither text nor a `Variant`.
        ImportError: a library that the format needs is not installed.
        OSError: the source cannot be read.
    """
    check_names("on_error", [on_error], ON_ERROR)
    rules = None if variant is None else resolve_variant(variant, {})
    given = check_paths("source", source)
    sources = [one_source for one in given for one_source in _sources(one, format)]
    if not sources:
        raise StarmineError("source is empty: expected a file or a folder")
    refuse_twice(file for file in (Path(place) for place, _ in sources) if file.exists())
    parts: list[tuple[str, ReadGames]] = []
    errors: list[Exception] = []
    expected = rules
    for place, read in sources:
        try:
            games = read(expected)
        except (StarmineError, OSError) as error:
            errors.append(error)
            games = ReadGames.unreadable(str(error).removeprefix(f"{place}: "), expected)
        if expected is None and len(games.indices):
            expected = games.table.variant
        parts.append((place if len(sources) > 1 else "", games))
    if len(errors) == len(sources):
        raise errors[0]
    shown = sources[0][0] if len(sources) == 1 else ", ".join(map(str, given[:3])) + (", ..." if len(given) > 3 else "")
    return check_all(parts, on_error, shown, one_variant=rules is not None)


def _sources(source: Source, format: str | None) -> list[tuple[str, Reader]]:
    """The files of a source, each with what messages call it and its reader."""
    path = given_path("source", source)
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    files = _files(path, format) if path.is_dir() else [path]
    rows = [told_by_suffix(file) if format is None else named(format) for file in files]
    return [(str(file), partial(row.read, file)) for file, row in zip(files, rows, strict=True)]


def _files(folder: Path, format: str | None) -> list[Path]:
    """The files of a folder that are read, by name."""
    suffixes = [suffix for row in (FORMATS.values() if format is None else [named(format)]) for suffix in row.suffixes]
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name[0] not in "._")
    chosen = [file for file in files if file.suffix.lower() in suffixes]
    parquet = [] if format is not None else files_of(folder)
    others = [file for file in chosen if file not in parquet]
    if parquet and others and not any((folder / name).exists() for name in OF_A_DATA_SET):
        raise StarmineError(
            f"{folder}: it holds {parquet[0].name} and games of other formats, such as {others[0].name}, which may be "
            "the same games: expected format=, or files"
        )
    chosen = parquet or chosen
    if not chosen:
        raise StarmineError(f"{folder}: it holds no games: expected files *{', *'.join(suffixes)}")
    return chosen
