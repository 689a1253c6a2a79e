"""Scores of finished games, in evaluation and during training."""

from __future__ import annotations

from collections.abc import Sequence
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
        kept: float64 (games,), the sum of the fireworks at the end, also of lost games. With several games of each deck
            float64 (decks, games of a deck); standard errors are over decks.
        lost: bool, of the same shape.
        perfect: bool, of the same shape.
    """

    kept: NDArray[np.float64]
    lost: NDArray[np.bool_]
    perfect: NDArray[np.bool_]

    @property
    def score(self) -> NDArray[np.float64]:
        """float64, of the same shape, where a lost game counts 0."""
        return np.where(self.lost, 0.0, self.kept)

    @staticmethod
    def joined(parts: Sequence[Scores]) -> Scores:
        """The scores of several sets of games with the same decks: (decks, games of a deck in all parts)."""
        shape = (len(parts[0].kept), -1)
        columns = ([getattr(part, name).reshape(shape) for part in parts] for name in ("kept", "lost", "perfect"))
        return Scores(*(np.concatenate(column, axis=1) for column in columns))

    def _mean_and_error(self) -> tuple[float, float | None]:
        return mean_and_error(self.score.reshape(len(self.score), -1).mean(1))

    def summary(self) -> dict[str, float | None]:
        """The number of games, the mean score and its standard error, and the shares of perfect and lost games.

        A single game has no standard error: None.
        """
        mean, error = self._mean_and_error()
        return {
            "games": self.score.size,
            "score": round(mean, 3),
            "standard_error": None if error is None else round(error, 3),
            "perfect": round(float(self.perfect.mean()), 4),
            "lost": round(float(self.lost.mean()), 4),
        }

    def __str__(self) -> str:
        """The means in one line."""
        return (
            f"score {with_error(*self._mean_and_error(), digits=2)}, perfect {self.perfect.mean():.1%}, "
            f"lost {self.lost.mean():.1%} (points of lost games kept: {self.kept.mean():.2f})"
        )


class FinishedGames:
    """The games that end during a rollout, for the log."""

    def __init__(self) -> None:
        self._ended: list[tuple[NDArray[Any], ...]] = []

    def add(self, outputs: dict[str, NDArray[Any]]) -> None:
        """Add the games that a step of a `Batch` or of `TrainingGames` ended, given the step's outputs."""
        ended = outputs["terminated"]
        partners = outputs.get("final_partner", np.empty((len(ended), 0), np.int32))
        self._ended.append((outputs["final_score"][ended], outputs["final_ending"][ended], partners[ended]))

    def means(self, lost_game_score: str, partners: Sequence[str] = ()) -> dict[str, float]:
        """Mean scores and the share of lost games; empty when no game ended.

        Args:
            lost_game_score: of the variant that was played, "zero" or "fireworks".
            partners: names, in the order of "final_partner".

        Returns:
            "score", where a lost game counts 0; "lost"; with "fireworks" also "kept", where a lost game keeps its
            points; and "score with NAME" of the games in which this partner had a seat.
        """
        if not any(len(scores) for scores, _, _ in self._ended):
            return {}
        kept, endings, held = (np.concatenate(column) for column in zip(*self._ended, strict=True))
        lost = np.isin(endings, defeats())
        score = kept if lost_game_score == "zero" else np.where(lost, 0, kept)
        means = {"score": float(score.mean())}
        if lost_game_score != "zero":
            means["kept"] = float(kept.mean())
        means["lost"] = float(lost.mean())
        for index, name in enumerate(partners):
            if (played := (held == index).any(1)).any():
                means[f"score with {name}"] = float(score[played].mean())
        return means
