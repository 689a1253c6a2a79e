"""Verifies stored games: plays each again by the rules, and compares its outcome and the checksums of its file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, endings
from starmine._util.durable import given_path
from starmine._util.equality import equal_by_value
from starmine._util.numbers import check_threads
from starmine._util.progress import counted, progress_of
from starmine.data.decks import dealt
from starmine.data.files import GamesFile, files_of, missing_shards, refuse_other_format
from starmine.data.metadata import FORGED
from starmine.data.schema import shard_name
from starmine.games.games import Games
from starmine.games.outcomes import LEGAL, outcomes

KEPT = 1000  # problems that are kept; all are counted
SHOWN = 20
REMADE = "`starmine generate` with the same options makes {} again"


@dataclass(frozen=True)
class Problem:
    """A difference between what a file says and what `verify` finds, for a game or a file.

    Attributes:
        file: the name of the file.
        row: the game's row in the file, from 0; None for the file as a whole.
        game: the stored number of the game; None for the file as a whole.
        what: the difference in words.
    """

    file: str
    row: int | None
    game: int | None
    what: str

    def __str__(self) -> str:
        """File, row, game and what does not hold."""
        place = "" if self.row is None else f", row {self.row}, game {self.game}"
        return f"{self.file}{place}: {self.what}"


@equal_by_value
@dataclass
class Verification:
    """The result of `verify`.

    Attributes:
        path: the folder or file.
        files: number of files.
        games: number of games that were played again.
        turns: number of their turns.
        problems: the first 1,000 problems.
        count: number of all problems.
    """

    path: Path
    files: int = 0
    games: int = 0
    turns: int = 0
    problems: list[Problem] = field(default_factory=list)
    count: int = 0

    @property
    def holds(self) -> bool:
        """Whether there is no problem."""
        return self.count == 0

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        self.count += 1
        if len(self.problems) < KEPT:
            self.problems.append(problem)

    def __str__(self) -> str:
        """A line for each of the first problems, and one for the whole."""
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        if self.count > len(lines):
            lines.append(f"and {self.count - len(lines):,} more")
        held = "all hold" if self.holds else counted(self.count, "problem")
        whole = ", ".join([counted(self.files, "file"), counted(self.games, "game"), counted(self.turns, "turn")])
        return "\n".join([*lines, f"{self.path}: {whole}: {held}"])


def verify(
    path: str | os.PathLike[str], *, deal: bool = False, num_threads: int | None = None, progress: bool = False
) -> Verification:
    """Play stored games again and compare what is stored of them.

    Of each game: that it keeps the rules, and its score, fireworks and ending. Of each file: its checksum. Of a
    folder: that no shard is missing.

    Args:
        path: a folder of shards, or one file.
        deal: also deal the games anew from seed and index, and compare decks and first players. A game without these,
            or of an episode other than 0, is a problem then.
        num_threads: for the games; None for one for each core.
        progress: show the progress on standard error.

    Returns:
        What was found, with the first 1,000 problems and the number of all. A problem raises no error.

    Raises:
        FileNotFoundError: there is no such file or folder.
        StarmineError: there is no file of games.
        ImportError: pyarrow is not installed.
    """
    path = given_path("path", path)
    num_threads = check_threads(num_threads)
    paths = game_files(path)
    verification = Verification(path, len(paths))
    files = dict(_opened(paths, verification))
    missing = missing_shards([file.metadata for file in files.values()]) - (len(paths) - len(files))
    if path.is_dir() and missing > 0:
        known = {file.name for file in paths}
        first = next(name for name in map(shard_name, range(len(paths) + 1)) if name not in known)
        verification.add(
            Problem(path.name or str(path), None, None, f"{counted(missing, 'shard')} missing, the first {first}")
        )
    with progress_of(sum(sum(file.sizes) for file in files.values()), 0, shown=progress) as shown:
        for name, file in files.items():
            for problem in _problems_of_file(file, verification, deal, num_threads):
                verification.add(problem)
            shown(sum(file.sizes), name)
    return verification


def game_files(path: Path) -> list[Path]:
    """The files of games of a folder, or the file itself."""
    path.stat()  # raises where there is none
    refuse_other_format(path)
    files = files_of(path)
    if not files:
        raise StarmineError(f"{str(path)!r} holds no games: expected a folder of Parquet files, or one")
    return files


def _opened(paths: list[Path], verification: Verification) -> Iterator[tuple[str, GamesFile]]:
    """The files that can be opened, by name; the others are problems."""
    for path in paths:
        try:
            yield path.name, GamesFile.open(path)
        except (StarmineError, OSError) as error:
            verification.add(_unreadable(path, error))


def _unreadable(path: Path, error: Exception) -> Problem:
    """The problem of a file that cannot be read."""
    said = " ".join(str(error).split()).removeprefix(f"{path}: ")
    return Problem(path.name, None, None, f"it cannot be read ({said})")


def _problems_of_file(file: GamesFile, verification: Verification, deal: bool, num_threads: int) -> Iterator[Problem]:
    """What does not hold in a file. Its games are counted."""
    first = 0
    try:
        for games in file.pieces():
            for row, what in _problems_of_games(games, deal, num_threads):
                yield Problem(file.path.name, first + row, int(games.number[row]), what)
            first += len(games)
            verification.games += len(games)
            verification.turns += len(games.actions)
    except (StarmineError, OSError, *FORGED) as error:
        yield _unreadable(file.path, error)


def _problems_of_games(games: Games, deal: bool, num_threads: int) -> Iterator[tuple[int, str]]:
    """What does not hold in some games: row and words."""
    played = outcomes(games, num_threads)
    broken = played.problems != LEGAL
    for row in np.flatnonzero(broken).tolist():
        yield row, str(played.error(row, games))
    yield from _different("score", games.scores, played.scores, ~broken)
    yield from _different("fireworks", games.fireworks, played.fireworks, ~broken)
    yield from _different("ending", _endings(games.endings), _endings(played.endings), ~broken)
    if deal:
        yield from _dealt_otherwise(games, num_threads)


def _dealt_otherwise(games: Games, num_threads: int) -> Iterator[tuple[int, str]]:
    """The games whose decks or first players are not those of their seeds."""
    if games.seed is None or games.index is None or games.episode is None:
        yield from ((row, "seed, index or episode is missing: it cannot be dealt") for row in range(len(games)))
        return
    can_deal = games.episode == 0
    for row in np.flatnonzero(~can_deal).tolist():
        yield row, f"episode is {games.episode[row]}: only episode 0 can be dealt here"
    decks, first = games.decks.copy(), games.start_players.copy()
    for seed in np.unique(games.seed[can_deal]).tolist():
        rows = can_deal & (games.seed == seed)
        index, place = np.unique(games.index[rows], return_inverse=True)
        decks[rows], first[rows] = (column[place] for column in dealt(games.variant, seed, index, num_threads))
    yield from _different("deck", games.decks, decks, can_deal)
    yield from _different("first player", games.start_players, first, can_deal)


def _different(
    name: str, stored: NDArray[Any], expected: NDArray[Any], where: NDArray[np.bool_]
) -> Iterator[tuple[int, str]]:
    """The rows, of those in a mask, in which a column is not as expected."""
    wrong = (stored != expected) if stored.ndim == 1 else (stored != expected).any(axis=1)
    for row in np.flatnonzero(wrong & where).tolist():
        was, is_now = np.asarray(stored[row]).tolist(), np.asarray(expected[row]).tolist()
        yield row, f"{name} is {was!r}: expected {is_now!r}"


def _endings(codes: NDArray[np.uint8]) -> NDArray[np.object_]:
    """Codes of endings by name, None for a game that has not ended; an unknown code stays a number."""
    names: NDArray[np.object_] = np.arange(256).astype(object)
    names[: len(endings()) + 1] = [None, *endings()]
    return names[codes]
