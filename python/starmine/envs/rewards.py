"""What an environment rewards."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from starmine._core import StarmineError, Variant, endings
from starmine._util.arrays import Array
from starmine._util.keywords import check_names
from starmine._util.numbers import is_number
from starmine.games.endings import defeats

REWARDS = ("score", "fireworks")
_IS_DEFEAT = np.isin(np.arange(len(endings()) + 1), defeats())  # by the code of an ending


def points_lost(outputs: Mapping[str, Array], penalty: float, lost_points_share: float = 0.0) -> Array:
    """The points to subtract from the last reward of each lost game.

    Args:
        outputs: of a step of a batch: "final_ending" and "final_score" (N,).
        penalty: points for losing.
        lost_points_share: the share of its final score that a lost game loses as well; with 1 its return is minus the
            penalty, whatever it scored.

    Returns:
        Floats (N,), 0 where no game was lost.
    """
    lost = _IS_DEFEAT[outputs["final_ending"]]
    return lost * (penalty + lost_points_share * outputs["final_score"])


class Rewards:
    """The rewards of N games, and their scores where these count otherwise.

    With "fireworks" the games are played by rules under which a lost game keeps its points, so that they stay in the
    rewards; the scores in the outputs are put back to those of the variant.

    Args:
        variant: of the environment.
        reward: "score" or "fireworks".
        lost_game_penalty: points taken from the last reward of a lost game, at least 0.

    Attributes:
        rules: the variant that the batch plays.

    Raises:
        UnknownNameError: there is no such reward.
        StarmineError: the penalty is no number of at least 0.
    """

    def __init__(self, variant: Variant, reward: str, lost_game_penalty: float) -> None:
        check_names("reward", [reward], REWARDS)
        if not is_number(lost_game_penalty, 0):
            raise StarmineError(
                f"lost_game_penalty={lost_game_penalty!r} is not allowed: expected a number of at least 0, such as 1.0"
            )
        self.penalty = np.float32(lost_game_penalty)
        self.hides = reward == "fireworks" and variant.lost_game_score == "zero"
        self.rules = variant
        if self.hides:
            self.rules = Variant(**{**variant.parameters(), "lost_game_score": "fireworks"})
        self._lost: Array | None = None  # bool (N,), the games that are shown as lost

    def step(self, out: dict[str, Array], shows_lost: bool) -> None:
        """Change the outputs of a step.

        `shows_lost` says whether a game that ended is still shown, because it is not dealt anew in the same step.
        """
        if not self.hides and not self.penalty:
            return
        out["reward"] -= points_lost(out, float(self.penalty))
        lost = _IS_DEFEAT[out["final_ending"]]
        if self.hides:
            out["final_score"][lost] = 0
            if shows_lost:
                # A game that was lost before has been dealt anew: one that is over is not stepped.
                self._lost = lost
                out["score"][lost] = 0

    def reset(self, out: dict[str, Array], dealt: Array | None) -> None:
        """Change the outputs of a reset, in which the games of `dealt`, bool (N,), were dealt; None for all."""
        if self._lost is None:
            return
        self._lost = self._lost & ~dealt if dealt is not None else np.zeros_like(self._lost)
        out["score"][self._lost] = 0
