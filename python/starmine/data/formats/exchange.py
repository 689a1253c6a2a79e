"""Games in files of all formats: `read_games` and `write_games`."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from starmine._core import StarmineError, Variant
from starmine._util.durable import given_path
from starmine._util.keywords import check_names
from starmine.data.dataset import Dataset
from starmine.data.files import list_paths, refuse_twice
from starmine.data.formats import ah2ac2, hanab_live, parquet
from starmine.data.formats.records import THREADS, SkippedGame, play, refuse_failures
from starmine.games.games import Games
from starmine.games.outcomes import outcomes
from starmine.games.variants import resolve_variant

# By name, the module of each format, with `SUFFIXES` of its files and the functions `read(path)` and
# `write(games, path)`. What `read` returns is `Games`, or for each game a `GameRecord` or a `SkippedGame`.
FORMATS: dict[str, Any] = {"parquet": parquet, "ah2ac2": ah2ac2, "hanab-live": hanab_live}
OF_A_DATA_SET = ("eval.json",)  # files of a folder whose games are its Parquet files alone


def read_games(
    source: str | PathLike[str] | Sequence[str | PathLike[str]],
    format: str | None = None,
    *,
    variant: str | Variant | None = None,
    on_skip: Callable[[SkippedGame], object] | None = None,
) -> Games:
    """Read games that other programs, or Starmine, have stored. Those of other programs are played by the rules.

    Args:
        source: path of a file or folder, or several paths. In a folder, without its subfolders, all files are read
            whose suffix is that of a format. A folder with Parquet files and files of other formats is refused, since
            they may be the same games.
        format: "parquet", "ah2ac2" or "hanab-live"; None for what the suffix tells.
        variant: the rules: a `Variant`, or text such as "avalanche, players=3". Games of other rules are left out.
            None for the rules of the first readable game; then a game of other rules is invalid.
        on_skip: a function that is called with the `SkippedGame` of each invalid game and of each unreadable file,
            which are left out. A game is invalid if it cannot be read, or has a deck that is not the variant's, an
            illegal action, actions after its end, or a recorded score that the rules do not give it; 0 is allowed for a
            game that was lost or stopped. None for an error about the first of them.

    Returns:
        The games, in the order of the source, in which their `number` counts from 0; several files are one source. A
        game may stop before its end.

    Raises:
        StarmineError: a file is damaged or not of the format, or a game is invalid, and there is no `on_skip`; there is
            no game.
        UnknownNameError: there is no such format or preset.
        VariantError: `variant` is neither text nor a `Variant`.
        ImportError: a library that the format needs is not installed.
        OSError: the source cannot be read.
    """
    rules = chosen = None if variant is None else resolve_variant(variant, {})
    given = list_paths(source)
    files = [file for one in given for file in _files(given_path("source", one), format)]
    refuse_twice(path for path, _ in files)

    def skip(skipped: SkippedGame) -> None:
        if on_skip is None:
            raise StarmineError(f"{skipped}; on_skip=... leaves such games out")
        on_skip(skipped)

    parts: list[Games] = []
    others: list[Variant] = []
    first = 0  # the number of a file's first game
    for path, module in files:
        try:
            found = module.read(path)
        except (StarmineError, OSError) as error:
            if on_skip is None:
                raise
            on_skip(SkippedGame(path, None, "", str(error).removeprefix(f"{path}: ")))
            first += 1
            continue
        is_data_set = isinstance(found, Games)
        if is_data_set and not len(found):
            continue  # its rules are those of no game
        fitting: dict[int, Any] = {}
        for place, entry in enumerate([found] if is_data_set else found):
            if isinstance(entry, SkippedGame):
                skip(entry)
            elif entry.variant == (rules := rules or entry.variant):
                fitting[first + place] = entry
            elif chosen is None:
                reason = f"it is a game of {entry.variant}: expected {rules}; variant=... chooses the rules"
                skip(SkippedGame(path, None if is_data_set else place, "", reason))
            else:
                others.append(entry.variant)
        if is_data_set:
            numbers = np.arange(first, first + len(found), dtype=np.uint64)
            parts += [replace(games, number=numbers) for games in fitting.values()]
        elif fitting:
            games, reasons = play(fitting)
            for number, reason in reasons.items():
                skip(SkippedGame(path, number - first, fitting[number].name, reason))
            parts.append(games)
        first += len(found)
    if not any(map(len, parts)):
        told = f" of {chosen}: it has games of {'; '.join(dict.fromkeys(map(str, others)))}" if others else ""
        raise StarmineError(f"{', '.join(map(str, given))}: there is no game{told}")
    return Games.concatenate([part for part in parts if len(part)])


def write_games(games: Games | Dataset, path: str | PathLike[str], format: str | None = None) -> None:
    """Write games in a format of another program, or in Starmine's own.

    Names of games and players are kept where there are some and the format has a place for them. In the files of other
    programs seat 0 is the seat that starts.

    Args:
        games: the games, in memory or on disk.
        path: of the file or folder.
        format: "parquet", "ah2ac2" or "hanab-live"; None for what the suffix tells.

    Raises:
        StarmineError: a game breaks the rules or has another outcome than they give it, or the format cannot express
            it, as one in which a player failed.
        UnknownNameError: there is no such format.
        ImportError: a library that the format needs is not installed.
        OSError: the files cannot be written.
    """
    path = given_path("path", path)
    module = parquet if format is None and path.is_dir() else _format_of(path, format)
    held = games[:] if isinstance(games, Dataset) else games
    by_rules = outcomes(held, THREADS)
    by_rules.refuse(held)
    for name in ("scores", "fireworks", "endings"):
        told, expected = getattr(held, name), getattr(by_rules, name)
        is_wrong = (told != expected) & (True if held.failures is None else held.failures == "")
        for game in np.flatnonzero(is_wrong)[:1].tolist():
            raise StarmineError(f"game {game}: {name} has {told[game]}: the rules give it {expected[game]}")
    if module is not parquet:
        refuse_failures(held)
    module.write(held, path)


def _format_of(path: Path, format: str | None) -> Any:
    """The module of a format, given its name or the suffix of a file."""
    if format is not None:
        check_names("format", [format], FORMATS)
        return FORMATS[format]
    for module in FORMATS.values():
        if path.suffix.lower() in module.SUFFIXES:
            return module
    suffixes = ", ".join(suffix for module in FORMATS.values() for suffix in module.SUFFIXES)
    raise StarmineError(
        f"the format of {str(path)!r} cannot be told: expected a format, one of {', '.join(FORMATS)}, or one of the "
        f"suffixes {suffixes}"
    )


def _files(path: Path, format: str | None) -> list[tuple[Path, Any]]:
    """A file, or the files of a folder that are read, by name, each with the module of its format."""
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if not path.is_dir():
        return [(path, _format_of(path, format))]
    modules = FORMATS.values() if format is None else [_format_of(path, format)]
    files = sorted(file for file in path.iterdir() if file.is_file() and file.name[0] not in "._")
    chosen = [(file, module) for file in files for module in modules if file.suffix.lower() in module.SUFFIXES]
    stored = [file for file in chosen if file[1] is parquet]
    others = [file for file, module in chosen if module is not parquet]
    if stored and others and not any((path / name).exists() for name in OF_A_DATA_SET):
        raise StarmineError(
            f"{path}: it holds {stored[0][0].name} and games of other formats, such as {others[0].name}, which may be "
            "the same games: expected format=, or files"
        )
    if not chosen:
        raise StarmineError(f"{path}: it holds no games")
    return stored or chosen
