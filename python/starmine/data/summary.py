"""Sums up stored games: numbers, mean scores by table, and the histogram of the scores."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant
from starmine._util.durable import DamagedFileError, given_path
from starmine._util.equality import equal_by_value
from starmine._util.progress import counted
from starmine.data.arrow import pyarrow
from starmine.data.files import GamesFile, missing_shards
from starmine.data.metadata import FORGED, Metadata
from starmine.data.schema import failures_by_ending
from starmine.data.verification import REMADE, game_files
from starmine.games.playable import whole_games
from starmine.games.roster import Roster, merge_rosters
from starmine.games.variants import variant_text

WIDTH = 48  # of the longest bar, in characters
COLUMNS = ["score", "length", "ending", "players"]
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
        turns: number of turns.
        stopped: number of games that stopped before their end.
        failed: number of games that a player gave up; `counts` leaves them out.
    """

    name: str
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(256, np.int64))
    turns: int = 0
    stopped: int = 0
    failed: int = 0

    def add(
        self,
        scores: NDArray[np.uint8],
        lengths: NDArray[np.uint16],
        stopped: NDArray[np.bool_],
        failed: NDArray[np.bool_],
    ) -> None:
        """Add games."""
        self.counts += np.bincount(scores[~failed], minlength=256)
        self.turns += int(lengths.sum(dtype=np.int64))
        self.stopped += int(stopped.sum())
        self.failed += int(failed.sum())

    @property
    def games(self) -> int:
        """Number of games that did not fail."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean score; nan without games."""
        return float(self.counts @ np.arange(256)) / self.games if self.games else math.nan

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean score; None for fewer than two games."""
        if self.games < 2:
            return None
        squares = float(self.counts @ (np.arange(256) - self.mean) ** 2)
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
            of games that stopped before their end, `failed`, the number of games that a player gave up, and
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
            f"{files}, {self.bytes:,} bytes, {self.bytes / max(games, 1):.1f} a game",
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
    """Sum up stored games.

    Args:
        path: a folder of shards, or one file.

    Raises:
        ImportError: pyarrow is missing.
        DamagedFileError: a file is damaged; the message says what to do.
        PermissionError: a file cannot be read.
        StarmineError: there are no games, their rules differ, or a file has the name of another shard.
    """
    pyarrow()
    path = given_path("path", path)
    files = game_files(path)
    rules: Variant | None = None
    total, tables, held = TableScores("all"), Tables(), list[Metadata]()
    for file in files:
        try:
            metadata = _add(GamesFile.open(file), total, tables)
        except DamagedFileError as error:
            raise DamagedFileError(f"{error}; {MEND}") from error
        except StarmineError:
            raise
        except FORGED as error:
            said = f"{file}: it is damaged: its metadata are not those of games ({type(error).__name__}: {error})"
            raise DamagedFileError(f"{said}; {MEND}") from error
        if rules is not None and metadata.variant != rules:
            raise StarmineError(f"{str(file)!r} holds games of {metadata.variant}: expected {rules}")
        rules = metadata.variant
        held.append(metadata)
    assert rules is not None
    ordered = sorted(tables.named(), key=lambda table: -table.games)
    missing = missing_shards(held) if path.is_dir() else 0
    size = sum(file.stat().st_size for file in files)
    return Info(path, rules, len(files), missing, size, total, ordered)


class Tables:
    """The scores by table. Players are told apart as in one roster of all files.

    Attributes:
        roster: the players of all files so far.
        scores: by the rows of the players of each table.
    """

    def __init__(self) -> None:
        self.roster: Roster = ()
        self.scores: dict[tuple[int, ...], TableScores] = {}

    def rows(self, roster: Roster) -> list[int]:
        """Take up the players of a file. Returns the row of each."""
        self.roster, (_, rows) = merge_rosters([self.roster, roster])
        return [int(row) for row in rows]

    def of(self, players: Sequence[int]) -> TableScores:
        """The table of players, given by their rows."""
        return self.scores.setdefault(tuple(players), TableScores(""))

    def named(self) -> list[TableScores]:
        """All tables. A name that several players have gets the place of each among these behind it."""
        seen = Counter[str]()
        several = {name for name, times in Counter(player.name for player in self.roster).items() if times > 1}
        names = []
        for player in self.roster:
            seen[player.name] += 1
            names.append(f"{player.name} ({seen[player.name]})" if player.name in several else player.name)
        for players, table in self.scores.items():
            table.name = " + ".join(names[player] for player in players)
        return list(self.scores.values())


def _add(file: GamesFile, total: TableScores, tables: Tables) -> Metadata:
    metadata = file.metadata
    rows = tables.rows(metadata.roster)
    for group in range(len(file.sizes)):
        has_failures = "failure" in file.columns
        columns = file.read(group, [*COLUMNS, *["failure"] * has_failures])
        if len(columns) == 0:
            continue
        score = columns["score"].to_numpy()
        length, ending = columns["length"].to_numpy(), columns["ending"].to_numpy()
        texts = np.array(columns["failure"].to_pylist(), np.object_) if has_failures else None
        if metadata.is_evaluation and not has_failures:
            texts = failures_by_ending(ending)
        failed = np.zeros(len(score), np.bool_) if texts is None else texts != ""
        stopped = (ending == 0) & ~failed
        if stopped.any():
            stopped[stopped] = ~whole_games(file.games(group, optional=False)[stopped])
        players = columns["players"].combine_chunks().flatten().to_numpy().reshape(-1, metadata.variant.players)
        seats, table_of = np.unique(players, axis=0, return_inverse=True)
        order = np.argsort(table_of.reshape(-1), kind="stable")  # table after table, since there may be thousands
        stops = np.cumsum(np.bincount(table_of.reshape(-1), minlength=len(seats)))[:-1]
        parts = zip(*(np.split(column[order], stops) for column in (score, length, stopped, failed)), strict=True)
        for chosen, part in zip(seats.tolist(), parts, strict=True):
            tables.of([rows[player] for player in chosen]).add(*part)
        total.add(score, length, stopped, failed)
    return metadata


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
