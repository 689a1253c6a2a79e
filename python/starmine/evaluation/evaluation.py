"""An evaluation: results with their table and picture."""

from __future__ import annotations

from pathlib import Path

from starmine._util.durable import given_path
from starmine.evaluation import figure
from starmine.evaluation.report import report
from starmine.evaluation.results import Results


class Evaluation(Results):
    """Self-play and cross-play of some entrants; see `evaluate`. `print` shows it as tables.

    All pairings play the same decks, so that two of them can be compared game by game (`difference`).

    Attributes:
        settings: what was played.
        outcomes: int16 (entrants, entrants, 4, games): score, sum of the fireworks, length and ending (k for
            `starmine.endings()[k - 1]`, 0 where a player failed) of each game, by player and partner.
        played: int64 (entrants, entrants), number of games played so far.
        seconds: float64 (entrants, entrants), time spent on them.
        failures: by pairing, messages of the first few failures.
    """

    def draw(self, path: str | Path) -> None:
        """Write the matrix of mean scores as a heat map (PNG).

        Args:
            path: of the picture.

        Raises:
            StarmineError: matplotlib is missing, or the path is empty.
            OSError: the file cannot be written; the earlier one is still there.
        """
        figure.draw(self, given_path("path", path))

    def __str__(self) -> str:
        """The matrix, and a line for each entrant, at most 100 columns wide."""
        return report(self)

    def __repr__(self) -> str:
        """The entrants and the number of games."""
        return f"<Evaluation of {', '.join(self.names)}: {self.settings.games} games a pairing>"
