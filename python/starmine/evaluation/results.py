"""The results of an evaluation: the outcome of every game, and statistics of pairings and players."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from starmine._core import _unknown_name
from starmine._util.equality import equal_by_value
from starmine.evaluation.pairings import Cell, Settings
from starmine.evaluation.statistics import ENDING, FAILED, SCORE, Pairing, summarise
from starmine.games.results import Games, mean_and_error

FAILURES_KEPT = 3  # messages stored for a pairing; all failures are counted


@equal_by_value
@dataclass(repr=False)
class Results:
    """Self-play and cross-play of some players, or their play with partners.

    All pairings play the same decks, so that two of them can be compared game by game (`difference`).

    Attributes:
        settings: what was played.
        outcomes: int16 (players, players, 4, games): score, sum of the fireworks, length and ending (k for
            `starmine.endings()[k - 1]`, 0 where a player failed) of each game, by player and partner.
        played: int64 (players, players), number of games played so far.
        seconds: float64 (players, players), time spent on them.
        failures: by pairing, messages of the first few failures.
        fallbacks: by pairing, number of moves that the fallbacks of chat players chose.
        stored: number of games that an earlier call played and left in the folder.
    """

    settings: Settings
    outcomes: NDArray[np.int16]
    played: NDArray[np.int64]
    seconds: NDArray[np.float64]
    failures: dict[Cell, list[str]] = field(default_factory=dict)
    fallbacks: dict[Cell, int] = field(default_factory=dict)
    stored: int = field(default=0, compare=False)
    _pairings: dict[Cell, Pairing] = field(default_factory=dict)

    @classmethod
    def begin(cls, settings: Settings) -> Self:
        """Results without any games yet."""
        count = len(settings.players)
        outcomes = np.zeros((count, count, 4, settings.games), dtype=np.int16)
        return cls(settings, outcomes, np.zeros((count, count), np.int64), np.zeros((count, count)))

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

    def pairing(self, player: str, partner: str) -> Pairing:
        """The statistics of one player with another.

        Raises:
            UnknownNameError: there is no such player.
        """
        cell = self.cell_of(player, partner)
        played = int(self.played[cell])
        known = self._pairings.get(cell)
        if known is None or known.games != played:
            players = self.settings.variant.players
            seconds, failures = float(self.seconds[cell]), self.failures.get(cell, [])
            known = summarise(player, partner, players, self.outcomes[cell], played, seconds, failures)
            cheats = not {player, partner}.isdisjoint(self.settings.cheaters)
            known = replace(known, cheats=cheats, fallbacks=self.fallbacks.get(cell, 0))
            self._pairings[cell] = known
        return known

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

    def with_partners(self, player: str, partners: Sequence[str]) -> tuple[float, float | None]:
        """Mean score of a player with some partners, in all seatings that were played, and the standard error.

        The games of a deck count as one value. The mean of no games is nan, and the error of fewer than two decks None.

        Raises:
            UnknownNameError: there is no such player.
        """
        return self.mean_of([cell for partner in partners for cell in self.seatings(player, partner)])

    def seatings(self, player: str, partner: str) -> list[Cell]:
        """The pairings, by index, of a player with a partner: in both orders of two seats, or in each of more seats.

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

    def _deck_scores(self, cells: list[Cell]) -> NDArray[np.float64]:
        """Scores (cells, games) of the games that all of these pairings have played; nan where a game failed."""
        played = min(int(self.played[cell]) for cell in cells)
        outcomes = np.array([self.outcomes[cell][:, :played] for cell in cells])
        return np.where(outcomes[:, ENDING] == FAILED, np.nan, outcomes[:, SCORE])

    def add(self, cell: Cell, start: int, games: Games, seconds: float, fallbacks: int) -> None:
        """Add the next games of a pairing."""
        columns = [games.scores, games.fireworks, games.lengths, games.endings]
        self.outcomes[cell][:, start : start + len(games)] = columns
        self.tell(cell, seconds, [str(failure) for failure in games.failures], fallbacks)
        # Counted last: games of an interrupted call are played again.
        self.played[cell] = start + len(games)

    def tell(self, cell: Cell, seconds: float, failures: Sequence[str], fallbacks: int) -> None:
        """Add the time that games of a pairing took, the messages of the first failures, and moves of fallbacks."""
        self.seconds[cell] += seconds
        kept = [*self.failures.get(cell, []), *failures][:FAILURES_KEPT]
        if kept:
            self.failures[cell] = kept
        if fallbacks:
            self.fallbacks[cell] = self.fallbacks.get(cell, 0) + fallbacks
