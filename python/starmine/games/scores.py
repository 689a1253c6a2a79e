"""Means of scores, their standard errors, and the score statistics that `Games` and `Dataset` share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import endings
from starmine._util.arrays import Array
from starmine._util.keywords import check_names
from starmine.games.endings import defeats, ending_code

FALLBACK = "§"  # behind a mean of games in which the fallback of a chat player chose moves


def mean_and_error(values: Array) -> tuple[float, float | None]:
    """The mean and its standard error; the mean of no values is nan, the error of fewer than two None."""
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return float(np.mean(values)) if len(values) else float("nan"), error


def with_error(mean: float, error: float | None, digits: int) -> str:
    """A mean and its standard error as text. Without an error, the mean alone; for nan, a dash."""
    if np.isnan(mean):
        return "-"
    return f"{mean:.{digits}f}" if error is None else f"{mean:.{digits}f} ± {error:.{digits}f}"


class ScoredGames:
    """What `Games` and `starmine.data.Dataset` tell of their scores. Games in which a player failed do not count."""

    def _columns(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.object_] | None]:
        """The columns `scores`, `endings` and `failures`."""
        raise NotImplementedError

    def _counted(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Scores and endings of the games in which no player failed."""
        scores, ended, failures = self._columns()
        if failures is None:
            return scores, ended
        counts = failures == ""
        return scores[counts], ended[counts]

    @property
    def mean(self) -> float:
        """The mean score; `nan` without games.

        Games that stopped before their end count. Games in which a player failed do not.
        """
        return mean_and_error(self._counted()[0])[0]

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean score; None for fewer than two games."""
        return mean_and_error(self._counted()[0])[1]

    def share(self, ending: str) -> float:
        """The share of the games with this ending, one of `starmine.endings()`; `nan` without games.

        Raises:
            UnknownNameError: there is no such ending.
        """
        check_names("ending", [ending], endings())
        ended = self._counted()[1]
        return mean_and_error(ended == ending_code(ending))[0]

    def summary(self) -> dict[str, Any]:
        """A dict of the games in which no player failed.

        "games" is their number; "score" and "standard_error" (None for fewer than two games) have 3 digits, the shares
        "perfect" and "lost" have 4.

        >>> import starmine
        >>> starmine.play_games(["random", "random"], games=100).summary()["perfect"]
        0.0
        """
        scores, ended = self._counted()
        mean, error = mean_and_error(scores)
        return {
            "games": len(scores),
            "score": round(mean, 3),
            "standard_error": None if error is None else round(error, 3),
            "perfect": round(mean_and_error(ended == ending_code("perfect"))[0], 4),
            "lost": round(mean_and_error(np.isin(ended, defeats()))[0], 4),
        }
