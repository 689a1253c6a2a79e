"""What games reward, and what a lost game costs. `Rewards` counts for environments, `TrainingGames` and examples alike.

With `reward="fireworks"` a turn is rewarded with the points that it adds to the fireworks. The turn that loses a game
also costs points:

    lost_game_penalty + lost_points_share * (points of the game)

`lost_points_share` is 0 at first, and a training loop may raise it as it goes on. With `reward="score"` a turn is
rewarded with the change of the score: under `lost_game_score="zero"` the turn that loses a game takes all its points,
and costs `lost_game_penalty`, too.
"""

from __future__ import annotations

import numpy as np

from starmine._core import StarmineError, Variant, endings
from starmine._util.arrays import Array
from starmine._util.keywords import check_names
from starmine._util.numbers import is_number
from starmine.games.endings import defeats

REWARDS = ("score", "fireworks")
_IS_DEFEAT = np.isin(np.arange(len(endings()) + 1), defeats())  # by the code of an ending


class Rewards:
    """Changes the outputs of batches to what their games reward.

    A batch rewards the change of the score by its own rules. With "fireworks" the batch has to play `rules`, under
    which a lost game keeps its points. The scores in the outputs are put back to those of the variant.

    Args:
        variant: whose scores are shown.
        reward: "score" or "fireworks".
        lost_game_penalty: points that are subtracted from the last reward of a lost game, at least 0.

    Attributes:
        rules: the variant that the batch plays.

    Raises:
        UnknownNameError: there is no such reward.
        StarmineError: the penalty is not a number of at least 0.
    """

    __slots__ = ("_hides", "_lost", "_penalty", "_reward", "_share", "rules")  # no misspelt attribute is set

    def __init__(self, variant: Variant, reward: str = "score", lost_game_penalty: float = 0.0) -> None:
        check_names("reward", [reward], REWARDS)
        if not is_number(lost_game_penalty, 0):
            raise StarmineError(
                f"lost_game_penalty={lost_game_penalty!r} is not allowed: expected a number of at least 0, such as 1.0"
            )
        self._reward, self._penalty, self._share = reward, float(lost_game_penalty), 0.0
        self._hides = reward == "fireworks" and variant.lost_game_score == "zero"
        self.rules = variant
        if self._hides:
            self.rules = Variant(**{**variant.parameters(), "lost_game_score": "fireworks"})
        self._lost: Array | None = None  # bool (N,), the games that are shown as lost

    @property
    def lost_points_share(self) -> float:
        """The share of its points that a lost game also loses, 0 to 1. It counts from the next step on.

        Raises:
            StarmineError: on a change, the share is not 0 to 1, or the reward is not "fireworks".
        """
        return self._share

    @lost_points_share.setter
    def lost_points_share(self, share: float) -> None:
        if not is_number(share, 0, 1):
            raise StarmineError(f"lost_points_share={share!r} is not allowed: expected a number from 0 to 1")
        if self._reward != "fireworks":
            raise StarmineError(
                f"lost_points_share is not allowed with reward={self._reward!r}: expected reward='fireworks'"
            )
        self._share = float(share)

    def step(self, out: dict[str, Array], shows_lost: bool = False) -> None:
        """Change the outputs of a step: "reward", "final_score" and "score", by "final_ending".

        Args:
            out: arrays (N,), which are written to.
            shows_lost: whether a game that ended is still shown, because it is not dealt anew in the same step.
        """
        if not self._hides and not self._penalty and not self._share:
            return
        lost = _IS_DEFEAT[out["final_ending"]]
        out["reward"] -= lost * (self._penalty + self._share * out["final_score"])
        if self._hides:
            out["final_score"][lost] = 0
            if shows_lost:
                # The new flags replace the old ones: a game that was lost before has been dealt anew since.
                self._lost = lost
                out["score"][lost] = 0

    def reset(self, out: dict[str, Array], dealt: Array | None) -> None:
        """Change the outputs of a reset, in which the games of `dealt`, bool (N,), were dealt; None for all."""
        if self._lost is None:
            return
        self._lost = self._lost & ~dealt if dealt is not None else np.zeros_like(self._lost)
        out["score"][self._lost] = 0
