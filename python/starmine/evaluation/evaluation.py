"""An evaluation: its results, and their tables as text, JSON and a picture."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from starmine._util.durable import given_path
from starmine._util.equality import equal_by_value
from starmine._util.numbers import without_nan
from starmine.evaluation import figure
from starmine.evaluation.matrix import Method, ScoreMatrix, methods_of, table_of
from starmine.evaluation.report import report
from starmine.evaluation.results import Results


@equal_by_value
@dataclass(repr=False)
class Evaluation(Results):
    """Results with their tables; see `evaluate`. `print` shows the tables.

    The attributes are those of `starmine.evaluation.results.Results`.
    """

    @property
    def table(self) -> ScoreMatrix:
        """The means as rows and columns, as the files show them."""
        return table_of(self)

    @property
    def methods(self) -> list[Method]:
        """Self-play and cross-play of the seeds of each method."""
        return methods_of(self)

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
        """The table, and a line for each player, at most 100 columns wide."""
        return report(self)

    def __repr__(self) -> str:
        return f"<Evaluation of {', '.join(self.names)}: {self.settings.games} games a pairing>"
