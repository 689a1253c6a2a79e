"""Sums up stored games: numbers, mean scores by table, and the histogram of the scores."""

from __future__ import annotations

import math
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from starmine._core import Variant
from starmine._util.durable import DamagedFileError, given_path
from starmine._util.equality import equal_by_value
from starmine._util.progress import counted
from starmine.data.dataset import Dataset
from starmine.data.files import missing_shards
from starmine.data.verification import REMADE
from starmine.games.playable import whole_games
from starmine.games.variants import variant_text

WIDTH = 48  # of the longest bar, in characters
COLUMNS = ("score", "length", "ending", "players")
MOST_SCORES = 256  # a score is a byte in a file
NAME = 36  # characters of a name on the line of its numbers
MOST_TABLES = 20  # that are shown
MEND = f"restore or remove this file; {REMADE.format('a shard')}"


@equal_by_value
@dataclass
class TableScores:
    """The scores of the games that the same players played in the same seats, or of all games.

    `games`, `mean` and `standard_error` are the number of games, the mean score and its standard error.

    Attributes:
        name: the players' names by seat.
        counts: int64 (256,), the number of games by score.
        turns: number of turns of these games.
        stopped: number of games that stopped before their end.
        failed: number of games in which a player failed; `counts` leaves them out.
    """

    name: str
    counts: NDArray[np.int64]
    turns: int
    stopped: int
    failed: int

    @property
    def games(self) -> int:
        """Number of games that did not fail."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean score; nan without games."""
        return float(self.counts @ np.arange(MOST_SCORES)) / self.games if self.games else math.nan

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean score; None for fewer than two games."""
        if self.games < 2:
            return None
        squares = float(self.counts @ (np.arange(MOST_SCORES) - self.mean) ** 2)
        return math.sqrt(squares / (self.games - 1) / self.games)


@equal_by_value
@dataclass(frozen=True)
class Info:
    """What a data set holds. `print` shows it, with the histogram of the scores.

    Attributes:
        path: the folder or file.
        variant: the rules.
        files: number of files.
        missing: number of shards that the data set lacks.
        bytes: size of the files.
        total: the scores of all games: an object with `games`, `mean`, `standard_error`, `turns`, `stopped`, the number
            of games that stopped before their end, `failed`, the number of games in which a player failed, and
            `counts`, int64 (256,), the number of the other games by score.
        tables: objects like `total` that also have a `name`, one for each list of players by seat; most games first.
    """

    path: Path
    variant: Variant
    files: int
    missing: int
    bytes: int
    total: TableScores
    tables: list[TableScores]

    def __str__(self) -> str:
        """Numbers, tables and histogram, in 80 columns; only a name longer than that takes more."""
        games, turns = self.total.games, self.total.turns
        files = counted(self.files, "file")
        if self.missing:
            files += f" ({counted(self.missing, 'shard')} missing)"
        lines = [
            f"{self.path}: {variant_text(self.variant)}",
            f"{counted(games, 'game')}, {counted(turns, 'turn')}, {turns / max(games, 1):.1f} a game",
            f"{files}, {self.bytes:,} bytes, {self.bytes / max(games + self.total.failed, 1):.1f} a game",
            "",
            *self._table_lines(),
            *self._notes(),
            "",
            *histogram(self.total.counts),
        ]
        return "\n".join(lines)

    def _notes(self) -> Iterator[str]:
        """Sentences about games without an ending."""
        total = self.total
        if total.stopped:
            scores = "its score" if total.stopped == 1 else "their scores"
            yield f"{counted(total.stopped, 'game')} stopped before the end; the means include {scores}"
        if total.failed:
            yield f"{counted(total.failed, 'game')} in which a player failed; the means leave them out"

    def _table_lines(self) -> list[str]:
        rows = self.tables[:MOST_TABLES] if len(self.tables) > 1 else []
        shown = [(table.name, table) for table in rows]
        if len(self.tables) == 1:
            shown.append((self.tables[0].name, self.total))
        else:
            more = len(self.tables) - len(rows)
            shown.append((f"all, {more} more tables too" if more > 0 else "all", self.total))
        width = min(max(len(name) for name, _ in shown), NAME)
        lines = [f"{'':{width}}  {'games':>13}  mean score  standard error"]
        for name, table in shown:
            if len(name) > width:  # it has its own line
                lines.append(name)
                name = ""
            error = "-" if table.standard_error is None else f"{table.standard_error:.3f}"
            lines.append(f"{name:{width}}  {table.games:>13,}  {table.mean:>10.3f}  {error:>14}")
        return lines


def info(path: str | os.PathLike[str]) -> Info:
    """Sum up stored games. One row group of the files is in memory at a time.

    Args:
        path: a folder of shards, or one file.

    Raises:
        ImportError: pyarrow is missing.
        FileNotFoundError: there is no such file or folder.
        DamagedFileError: a file is damaged or has the name of another shard; the message says what to do.
        PermissionError: a file cannot be read.
        StarmineError: there are no games, or their rules differ.
    """
    path = given_path("path", path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about missing shards, of which the result tells
            data = Dataset(path)
        sums = _sums_by_table(data)
    except DamagedFileError as error:
        raise DamagedFileError(f"{error}; {MEND}") from error
    names = _told_apart([player.name for player in data.roster])
    tables = [_scores(" + ".join(names[row] for row in rows), numbers) for rows, numbers in sums.items()]
    total = _scores("all", sum(sums.values(), np.zeros(MOST_SCORES + 3, np.int64)))
    return Info(
        path,
        data.variant,
        len(data.files),
        missing_shards(data.metadata) if path.is_dir() else 0,
        sum(file.path.stat().st_size for file in data.files),
        total,
        sorted(tables, key=lambda table: -table.games),
    )


def _sums_by_table(data: Dataset) -> dict[tuple[int, ...], NDArray[np.int64]]:
    """By the players of each table, rows of the roster: the games by score, and the turns, stopped and failed games."""
    sums: dict[tuple[int, ...], NDArray[np.int64]] = defaultdict(lambda: np.zeros(MOST_SCORES + 3, np.int64))
    for place in range(len(data.row_groups())):
        scores, lengths, endings, players = (data._column(place, name) for name in COLUMNS)
        failures = data._failures(place)
        failed = np.zeros(len(scores), np.bool_) if failures is None else failures != ""
        stopped = (endings == 0) & ~failed
        if stopped.any():
            stopped[stopped] = ~whole_games(data.read(place, optional=False)[stopped])
        seats, inverse = np.unique(players, axis=0, return_inverse=True)
        table = inverse.reshape(-1)
        scored = np.bincount(table[~failed] * MOST_SCORES + scores[~failed], minlength=len(seats) * MOST_SCORES)
        others = [np.bincount(table, column, len(seats)) for column in (lengths * ~failed, stopped, failed)]
        numbers = np.column_stack([scored.reshape(-1, MOST_SCORES), *others]).astype(np.int64)
        for rows, of_table in zip(seats.tolist(), numbers, strict=True):
            sums[tuple(rows)] += of_table
    return sums


def _scores(name: str, numbers: NDArray[np.int64]) -> TableScores:
    turns, stopped, failed = numbers[MOST_SCORES:].tolist()
    return TableScores(name, numbers[:MOST_SCORES], turns, stopped, failed)


def _told_apart(names: list[str]) -> list[str]:
    """The names; one that several players have gets the place of each among these behind it."""
    several, seen = Counter(names), Counter[str]()
    told = []
    for name in names:
        seen[name] += 1
        told.append(f"{name} ({seen[name]})" if several[name] > 1 else name)
    return told


def histogram(counts: NDArray[np.int64]) -> list[str]:
    """The numbers of games by score as bars, from the lowest score to the highest one."""
    scores = np.flatnonzero(counts)
    if len(scores) == 0:
        return []
    lines = []
    for score in range(int(scores[0]), int(scores[-1]) + 1):
        length = max(round(WIDTH * counts[score] / counts.max()), 1) if counts[score] else 0
        lines.append(f"{score:>5} {'#' * length:{WIDTH}} {counts[score] / counts.sum():>6.2%} {counts[score]:>13,}")
    return lines
