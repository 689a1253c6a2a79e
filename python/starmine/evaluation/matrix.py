"""The table of an evaluation: mean scores with their standard errors, and the seeds of methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from starmine._util.equality import equal_by_value
from starmine.evaluation.settings import Cell
from starmine.games.scores import FALLBACK, mean_and_error

if TYPE_CHECKING:
    from starmine.evaluation.evaluation import Evaluation

MEAN, HELD_OUT_MEAN, SELF_PLAY = "mean", "mean (held out)", "self-play"
FAILURES = "*"  # behind a mean that leaves out failed games


@equal_by_value
@dataclass(frozen=True)
class TableCell:
    """One cell of a table, a mean score.

    Attributes:
        row: a player or a method.
        column: a partner, or "mean" over the partners, "mean (held out)" over those that are held out, or "self-play".
        games: games played, failed ones included.
        failed: games in which a player failed; the statistics exclude them.
        score: the mean score; nan without games.
        standard_error: of the mean over decks: all games of a deck count as one value. None for fewer than two decks.
        seeds: number of the method's seeds; 1 for a player.
        seeds_standard_error: of the mean over seeds; None for a player.
        fallbacks: number of moves that the fallbacks of chat players chose.
    """

    row: str
    column: str
    games: int
    failed: int
    score: float
    standard_error: float | None
    seeds: int = 1
    seeds_standard_error: float | None = None
    fallbacks: int = 0

    @property
    def shown_error(self) -> float | None:
        """The error that texts and pictures show: of a method over seeds, of a player over decks."""
        return self.standard_error if self.seeds == 1 else self.seeds_standard_error

    @property
    def marks(self) -> str:
        """A star if games failed, and "§" if a fallback chose moves."""
        return FAILURES * bool(self.failed) + FALLBACK * bool(self.fallbacks)


@equal_by_value
@dataclass(frozen=True)
class ScoreMatrix:
    """The means of an evaluation.

    In the square matrix, the player of the row holds one seat and that of the column all others. If `partners` were
    given, the rows are players, methods, and the partners' self-play; the columns are partners, their mean, held-out
    partners, their mean, and self-play. Games of both seat orders count there, and means leave self-play out.

    Attributes:
        rows, columns: names.
        means: a list for each row.
    """

    rows: list[str]
    columns: list[str]
    means: list[list[TableCell]]


@equal_by_value
@dataclass(frozen=True)
class Method:
    """Training seeds of one method, with themselves and with each other.

    Attributes:
        name: of the method.
        seeds: names of the players.
        self_play, self_play_error: the mean over seeds, and its standard error over seeds.
        cross_play, cross_play_error: the mean over disjoint pairs of seeds: the first with the second, the third with
            the fourth, and so on, each in both seatings; and its standard error over these pairs, None for one pair.
            This is the estimate of high-entropy IPPO (arXiv 2511.22581).
        pairs: number of these pairs.
        all_pairs, lowest, highest: mean and range over all pairs of different seeds.
    """

    name: str
    seeds: tuple[str, ...]
    self_play: float
    self_play_error: float | None
    cross_play: float
    cross_play_error: float | None
    pairs: int
    all_pairs: float
    lowest: float
    highest: float


def table_of(results: Evaluation) -> ScoreMatrix:
    """The table of an evaluation."""
    settings = results.settings
    if not settings.partners:
        names = results.names
        means = [[_mean(results, one, other, [results.cell_of(one, other)]) for other in names] for one in names]
        return ScoreMatrix(names, names, means)
    rows: dict[str, tuple[str, ...]] = {name: (name,) for name in settings.evaluated}
    for name, members in settings.methods.items():
        seeds = tuple(member for member in members if member in settings.evaluated)
        rows |= {name: seeds} if seeds else {}
    columns = columns_of(results)
    means = [[_of_members(results, row, column, rows[row], columns[column]) for column in columns] for row in rows]
    own = {column: [results.cell_of(name, name) for name in partners] for column, partners in columns.items()}
    means.append([_mean(results, SELF_PLAY, column, cells) for column, cells in own.items()])
    return ScoreMatrix([*rows, SELF_PLAY], list(columns), means)


def columns_of(results: Evaluation) -> dict[str, tuple[str, ...]]:
    """The columns of a table with partners, by name with the partners that each takes; none for self-play."""
    settings = results.settings
    met = [name for name in settings.partners if name not in settings.hold_out]
    columns: dict[str, tuple[str, ...]] = {}
    for names, mean in ((met, MEAN), (list(settings.hold_out), HELD_OUT_MEAN)):
        columns |= {name: (name,) for name in names}
        columns |= {mean: tuple(names)} if names else {}
    return columns | {SELF_PLAY: ()}


def _of_members(
    results: Evaluation, row: str, column: str, members: tuple[str, ...], partners: tuple[str, ...]
) -> TableCell:
    """The games of a player, or of the seeds of a method, with the partners of a column."""
    one_pairing = len(members) == 1 and column not in (MEAN, HELD_OUT_MEAN)
    each = [_cells(results, member, partners, with_itself=one_pairing) for member in members]
    mean_of_all = _mean(results, row, column, [cell for cells in each for cell in cells])
    if len(members) == 1:
        return mean_of_all
    means = [_mean(results, row, column, cells).score for cells in each if cells]
    error = mean_and_error(np.array([mean for mean in means if not np.isnan(mean)]))[1]
    return replace(mean_of_all, seeds=len(members), seeds_standard_error=error)


def _cells(results: Evaluation, player: str, partners: tuple[str, ...], with_itself: bool) -> list[Cell]:
    """The pairings of a player with some partners, in all seatings; without partners its self-play.

    Where it is one of the partners, `with_itself` says whether its self-play counts.
    """
    if not partners:
        return [results.cell_of(player, player)]
    cells = []
    for partner in partners:
        if partner != player:
            cells += results.seatings(player, partner)
        elif with_itself:
            cells.append(results.cell_of(player, player))
    return cells


def _mean(results: Evaluation, row: str, column: str, cells: Sequence[Cell]) -> TableCell:
    score, error = results.mean_of(cells)
    played = [cell for cell in cells if results.includes(cell)]
    pairings = [results.pairing(*(results.names[index] for index in cell)) for cell in played]
    games, failed, fallbacks = (
        sum(getattr(pairing, name) for pairing in pairings) for name in ("games", "failed", "fallbacks")
    )
    return TableCell(row, column, games, failed, score, error, fallbacks=fallbacks)


def methods_of(results: Evaluation) -> list[Method]:
    """Self-play and cross-play of the seeds of each method."""
    return [_method(results, name, seeds) for name, seeds in results.settings.methods.items()]


def _method(results: Evaluation, name: str, seeds: tuple[str, ...]) -> Method:
    """A method, with the scores of its seeds."""
    own = [results.mean_of([results.cell_of(seed, seed)])[0] for seed in seeds]
    crossed = {
        (one, other): results.mean_of([results.cell_of(one, other), results.cell_of(other, one)])[0]
        for index, one in enumerate(seeds)
        for other in seeds[index + 1 :]
    }
    disjoint = [crossed[pair] for pair in zip(seeds[::2], seeds[1::2], strict=False)]
    scores = list(crossed.values())
    return Method(
        name,
        seeds,
        *mean_and_error(np.array(own)),
        *mean_and_error(np.array(disjoint)),
        pairs=len(disjoint),
        all_pairs=float(np.mean(scores)),
        lowest=min(scores),
        highest=max(scores),
    )
