"""Scores of the games that end during training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine.games.endings import defeats


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
