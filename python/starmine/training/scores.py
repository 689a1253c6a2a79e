"""Scores of finished games, in evaluation and during training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._util.equality import equal_by_value
from starmine.games.endings import defeats
from starmine.games.results import mean_and_error, with_error


@equal_by_value
@dataclass(frozen=True)
class Scores:
    """The scores of evaluated games.

    Attributes:
        kept: float64 (games,), the sum of the fireworks at the end, also of lost games.
        lost: bool (games,).
        perfect: bool (games,).
    """

    kept: NDArray[np.float64]
    lost: NDArray[np.bool_]
    perfect: NDArray[np.bool_]

    @property
    def score(self) -> NDArray[np.float64]:
        """float64 (games,), where a lost game counts 0."""
        return np.where(self.lost, 0.0, self.kept)

    def summary(self) -> dict[str, float | None]:
        """The number of games, the mean score and its standard error, and the shares of perfect and lost games.

        A single game has no standard error: None.
        """
        mean, error = mean_and_error(self.score)
        return {
            "games": len(self.score),
            "score": round(mean, 3),
            "standard_error": None if error is None else round(error, 3),
            "perfect": round(float(self.perfect.mean()), 4),
            "lost": round(float(self.lost.mean()), 4),
        }

    def __str__(self) -> str:
        """The means in one line."""
        return (
            f"score {with_error(*mean_and_error(self.score), digits=2)}, perfect {self.perfect.mean():.1%}, "
            f"lost {self.lost.mean():.1%} (points of lost games kept: {self.kept.mean():.2f})"
        )


class FinishedGames:
    """The games that end during a rollout, for the log."""

    def __init__(self) -> None:
        self._scores: list[NDArray[np.int32]] = []
        self._endings: list[NDArray[np.int8]] = []

    def add(self, outputs: dict[str, NDArray[Any]]) -> None:
        """Add the games that a step of a `Batch` ended, given the step's outputs."""
        ended = outputs["terminated"]
        self._scores.append(outputs["final_score"][ended])
        self._endings.append(outputs["final_ending"][ended])

    def means(self, lost_game_score: str) -> dict[str, float]:
        """Mean scores and the share of lost games; empty when no game ended.

        Args:
            lost_game_score: of the variant that was played, "zero" or "fireworks".

        Returns:
            "score", where a lost game counts 0; "lost"; and with "fireworks" also "kept", where a lost game keeps its
            points.
        """
        kept = np.concatenate(self._scores) if self._scores else np.empty(0)
        if not len(kept):
            return {}
        lost = np.isin(np.concatenate(self._endings), defeats())
        if lost_game_score == "zero":
            return {"score": float(kept.mean()), "lost": float(lost.mean())}
        score = np.where(lost, 0, kept)
        return {"score": float(score.mean()), "kept": float(kept.mean()), "lost": float(lost.mean())}
