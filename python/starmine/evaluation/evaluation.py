"""An evaluation: the outcome of every game, and statistics of pairings and players."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import _unknown_name
from starmine._util.durable import given_path
from starmine._util.equality import equal_by_value
from starmine._util.numbers import without_nan
from starmine.evaluation import figure
from starmine.evaluation.matrix import Method, ScoreMatrix, methods_of, table_of
from starmine.evaluation.report import report
from starmine.evaluation.settings import Cell, Settings
from starmine.games.endings import defeats, ending_code
from starmine.games.games import Games
from starmine.games.scores import mean_and_error

FAILURES_KEPT = 3  # messages of a pairing; all failures are counted
# The rows of the outcomes of a pairing's games.
SCORE, FIREWORKS, LENGTH, ENDING = range(4)
FAILED, NOT_PLAYED = 0, -1  # in place of the code of an ending
PERFECT = ending_code("perfect")


@equal_by_value
@dataclass(frozen=True)
class Pairing:
    """The games of one player with another: one cell of the matrix.

    With two players, `player` sits in seat 0 and `partner` in seat 1. With more, `player` holds one seat and `partner`
    all others; `player` holds each seat in an equal share of the games, up to one game. A player with itself is
    self-play.

    Attributes:
        player: the player in one seat.
        partner: the player in all other seats.
        games: games played, failed ones included.
        failed: games abandoned because a Python bot or a policy failed; the statistics below exclude them.
        score, standard_error: the mean by the variant's rules and its standard error.
        fireworks, fireworks_standard_error: the mean sum of the fireworks, also of lost games, and its standard error.
            A standard error takes two games; it is None where there are fewer. A mean is nan where there is no game.
        perfect: the share of perfect games.
        lost: the share of lost games; see `starmine.defeats()`.
        length: the mean number of turns.
        seconds: time spent.
        cheats: whether a player sees its own hand.
        seats: with three players or more, but not in self-play, for each seat of `player` its "seat", "games", "score"
            and "standard_error", which are None where there are too few games.
        failures: messages of the first few failures.
        fallbacks: number of moves that the fallbacks of chat players chose.
    """

    player: str
    partner: str
    games: int
    failed: int
    score: float
    standard_error: float | None
    fireworks: float
    fireworks_standard_error: float | None
    perfect: float
    lost: float
    length: float
    seconds: float
    cheats: bool = False
    seats: list[dict[str, float | None]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    fallbacks: int = 0

    @property
    def games_per_second(self) -> float:
        """Games played per second."""
        return self.games / self.seconds if self.seconds > 0 else float("nan")

    def row(self) -> dict[str, Any]:
        """The statistics by name, without seats and failures."""
        values = asdict(self)
        del values["seats"], values["failures"]
        return {**values, "games_per_second": self.games_per_second}


@equal_by_value
@dataclass(repr=False)
class Evaluation:
    """Self-play and cross-play of some players, or their play with partners; see `evaluate`. `print` shows the tables.

    All pairings play the same decks, so that two of them can be compared game by game (`difference`).

    Attributes:
        settings: what was played.
        outcomes: by pairing, int16 (4, games): score, sum of the fireworks, length and ending of each game (k for
            `starmine.endings()[k - 1]`, 0 where a player failed, -1 for a game that has not been played). A pairing is
            a player and its partner, by their indices in `names`.
        seconds: by pairing, time spent on its games.
        failures: by pairing, messages of the first few failures.
        fallbacks: by pairing, number of moves that the fallbacks of chat players chose.
        stored: number of games that an earlier call played and left in the folder.
    """

    settings: Settings
    outcomes: dict[Cell, NDArray[np.int16]] = field(default_factory=dict)
    seconds: dict[Cell, float] = field(default_factory=dict)
    failures: dict[Cell, list[str]] = field(default_factory=dict)
    fallbacks: dict[Cell, int] = field(default_factory=dict)
    stored: int = field(default=0, compare=False)
    _known: dict[Cell, Pairing] = field(default_factory=dict, compare=False)

    # --- What was played -----------------------------------------------------------------------------------------

    def add(self, games: Games) -> None:
        """Add games of any pairings; a game that is there already is replaced."""
        self._known.clear()
        cells = self.settings.cells_of(games)
        columns = np.array([games.scores, games.fireworks, games.lengths, games.endings], np.int16)
        if games.failures is not None:
            columns[ENDING, games.failures != ""] = FAILED
        assert games.index is not None
        numbers = cells[:, 0] * len(self.settings.players) + cells[:, 1]
        for number in np.flatnonzero(np.bincount(numbers)).tolist():
            cell, chosen = divmod(number, len(self.settings.players)), np.flatnonzero(numbers == number)
            if cell not in self.outcomes:
                self.outcomes[cell] = np.full((4, self.settings.games), NOT_PLAYED, np.int16)
            self.outcomes[cell][:, games.index[chosen].astype(np.int64)] = columns[:, chosen]
            texts = [] if games.failures is None else [text for text in games.failures[chosen].tolist() if text]
            if texts:
                self.failures[cell] = [*self.failures.get(cell, []), *texts][:FAILURES_KEPT]

    def add_effort(self, cell: Cell, seconds: float, fallbacks: int) -> None:
        """Add the time that games of a pairing took, and the moves that fallbacks chose in them."""
        self._known.clear()
        self.seconds[cell] = self.seconds.get(cell, 0.0) + seconds
        if fallbacks:
            self.fallbacks[cell] = self.fallbacks.get(cell, 0) + fallbacks

    def played(self, cell: Cell) -> NDArray[np.bool_]:
        """Which games of a pairing have been played: bool (games,)."""
        if cell not in self.outcomes:
            return np.zeros(self.settings.games, np.bool_)
        mask: NDArray[np.bool_] = self.outcomes[cell][ENDING] != NOT_PLAYED
        return mask

    # --- Statistics ----------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """The players in their order."""
        return list(self.settings.players)

    @property
    def pairings(self) -> list[Pairing]:
        """All pairings, row by row: the first player with each partner, then the second, ..."""
        names = self.names
        return [self.pairing(names[row], names[column]) for row, column in sorted(self.settings.cells)]

    @property
    def scores(self) -> NDArray[np.float64]:
        """The mean scores (players, players), by player and partner; nan where they do not play."""
        return np.array([[self.pairing(player, partner).score for partner in self.names] for player in self.names])

    @property
    def table(self) -> ScoreMatrix:
        """The means as rows and columns, as the files show them."""
        return table_of(self)

    @property
    def methods(self) -> list[Method]:
        """Self-play and cross-play of the seeds of each method."""
        return methods_of(self)

    def pairing(self, player: str, partner: str) -> Pairing:
        """The statistics of one player with another; of 0 games, with means of nan, if they have not met.

        Raises:
            UnknownNameError: there is no such player.
        """
        cell = self.cell_of(player, partner)
        if cell not in self._known:
            self._known[cell] = self._summarise(cell)
        return self._known[cell]

    def _summarise(self, cell: Cell) -> Pairing:
        settings = self.settings
        played = np.flatnonzero(self.played(cell))
        outcomes = self.outcomes[cell][:, played] if len(played) else np.zeros((4, 0), np.int16)
        there = outcomes[ENDING] != FAILED
        kept = outcomes[:, there]
        score, standard_error = mean_and_error(kept[SCORE])
        fireworks, fireworks_standard_error = mean_and_error(kept[FIREWORKS])
        seats: list[dict[str, float | None]] = []
        if settings.variant.players > 2 and cell[0] != cell[1]:
            seat_of = settings.seat(cell, played.astype(np.uint64))
            for seat in range(settings.variant.players):
                scores = outcomes[SCORE, (seat_of == seat) & there]
                mean, error = mean_and_error(scores) if len(scores) else (None, None)
                games = int((seat_of == seat).sum())
                seats.append({"seat": seat, "games": games, "score": mean, "standard_error": error})
        player, partner = (self.names[index] for index in cell)
        return Pairing(
            player,
            partner,
            games=len(played),
            failed=int((~there).sum()),
            score=score,
            standard_error=standard_error,
            fireworks=fireworks,
            fireworks_standard_error=fireworks_standard_error,
            perfect=mean_and_error(kept[ENDING] == PERFECT)[0],
            lost=mean_and_error(np.isin(kept[ENDING], defeats()))[0],
            length=mean_and_error(kept[LENGTH])[0],
            seconds=self.seconds.get(cell, 0.0),
            cheats=not {player, partner}.isdisjoint(settings.cheaters),
            seats=seats,
            failures=list(self.failures.get(cell, [])),
            fallbacks=self.fallbacks.get(cell, 0),
        )

    def includes(self, cell: Cell) -> bool:
        """Whether the evaluation has the pairing of a player and a partner, given by index."""
        return cell in self.settings.cells

    def as_player(self, name: str) -> tuple[float, float | None]:
        """Mean score of a player in one seat with each other player as its partner (its row), and the error.

        The mean is nan where there are no others or no games, and the error None where there are fewer than two decks.

        Raises:
            UnknownNameError: there is no such player.
        """
        return self.mean_of([self.cell_of(name, other) for other in self.names if other != name])

    def as_partner(self, name: str) -> tuple[float, float | None]:
        """Mean score of a player as the partner of each other player (its column), and the error, as `as_player`.

        Raises:
            UnknownNameError: there is no such player.
        """
        return self.mean_of([self.cell_of(other, name) for other in self.names if other != name])

    def seatings(self, player: str, partner: str) -> list[Cell]:
        """The pairings, by index, of a player with a partner: with two players both seat orders, else a single pairing.

        Raises:
            UnknownNameError: there is no such player.
        """
        cell = self.cell_of(player, partner)
        return [cell, cell[::-1]] if self.settings.variant.players == 2 and player != partner else [cell]

    def mean_of(self, cells: Sequence[Cell]) -> tuple[float, float | None]:
        """Mean score of some pairings, given by index, and its standard error.

        The pairings share their decks, so the error is computed over the decks' means.
        """
        cells = [cell for cell in cells if self.includes(cell)]
        if not cells:
            return float("nan"), None
        scores = self._deck_scores(cells)
        there = ~np.isnan(scores)
        decks = there.any(axis=0)
        return mean_and_error(np.nansum(scores[:, decks], axis=0) / there[:, decks].sum(axis=0))

    def difference(self, one: Sequence[str], other: Sequence[str]) -> tuple[float, float | None]:
        """The difference of the scores of two pairings on the same decks.

        Args:
            one: player and partner.
            other: player and partner of the pairing that is subtracted.

        Returns:
            The mean difference and its standard error, over the games that failed in neither pairing. The mean of no
            games is nan, and the error of fewer than two None.

        Raises:
            UnknownNameError: there is no such player.
        """
        scores = self._deck_scores([self.cell_of(*one), self.cell_of(*other)])
        differences = scores[0] - scores[1]
        return mean_and_error(differences[~np.isnan(differences)])

    def cell_of(self, player: str, partner: str) -> Cell:
        """The pairing of a player with a partner, by index.

        Raises:
            UnknownNameError: there is no such player.
        """
        names = self.names
        for name in (player, partner):
            if name not in names:
                raise _unknown_name("player", name, names)
        return names.index(player), names.index(partner)

    def _deck_scores(self, cells: Sequence[Cell]) -> NDArray[np.float64]:
        """Scores (cells, games); nan where a game failed or was not played."""
        scores = np.full((len(cells), self.settings.games), np.nan)
        for row, cell in zip(scores, cells, strict=True):
            if cell in self.outcomes:
                outcomes = self.outcomes[cell]
                row[outcomes[ENDING] > FAILED] = outcomes[SCORE, outcomes[ENDING] > FAILED]
        return scores

    # --- Text and files ------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Settings, players and pairings without the single games, as JSON can represent them: None for nan."""
        players = []
        for name in self.names:
            as_player, as_partner = self.as_player(name), self.as_partner(name)
            own = self.pairing(name, name)
            player = {"name": name, "cheats": own.cheats, "self_play": own.score}
            player |= {"as_player": as_player[0], "as_player_error": as_player[1]}
            player |= {"as_partner": as_partner[0], "as_partner_error": as_partner[1]}
            players.append(player)
        pairings = [
            {**pairing.row(), "seats": pairing.seats, "failures": pairing.failures} for pairing in self.pairings
        ]
        parts = {"settings": self.settings.to_dict(), "players": players, "pairings": pairings}
        parts["table"] = [asdict(mean) for row in self.table.means for mean in row]
        parts["methods"] = [asdict(method) | {"seeds": list(method.seeds)} for method in self.methods]
        return {name: without_nan(part) for name, part in parts.items()}

    def draw(self, path: str | Path) -> None:
        """Write the table as a heat map.

        Args:
            path: of the PNG file.

        Raises:
            StarmineError: the path does not end in ".png".
            ImportError: matplotlib is missing.
            OSError: the file cannot be written; the earlier one is still there.
        """
        figure.draw(self, given_path("path", path))

    def __str__(self) -> str:
        """The table, and a line for each player, at most 80 columns wide; wider with many players."""
        return report(self)

    def __repr__(self) -> str:
        return f"<Evaluation of {', '.join(self.names)}: {self.settings.games} games a pairing>"
