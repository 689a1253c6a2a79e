"""The results of games."""

from __future__ import annotations

import sysconfig
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, endings
from starmine._util.arrays import Array
from starmine._util.equality import equal_by_value
from starmine._util.keywords import check_names
from starmine.games.endings import defeats
from starmine.games.trajectories import Trajectories

OURS = Path(__file__).parents[1]  # this package
# The standard library and installed packages. A virtual environment keeps them in different folders.
LIBRARIES = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platlib", "purelib"))

FALLBACK = "§"  # behind a mean of games in which the fallback of a chat player chose moves


@equal_by_value
@dataclass(frozen=True)
class Failure:
    """A game that was abandoned because a bot or a policy failed.

    Attributes:
        game: the index of the game.
        seat: the seat of the player that failed.
        move: the move that the player chose, or None if it raised an exception.
        message: what was wrong.
        turn: the turn of the failure, from 0; of a bot's `end`, the last turn.
    """

    game: int
    seat: int
    move: Any
    message: str
    turn: int

    def __str__(self) -> str:
        """Game, seat, turn, move and what was wrong."""
        chose = "" if self.move is None else f" chose {self.move!r}"
        return f"game {self.game}, seat {self.seat}, turn {self.turn}:{chose} {self.message}"


@equal_by_value
@dataclass(frozen=True)
class Games:
    """The results of G games, in their order.

    An abandoned game has -1 in `scores`, `fireworks` and `lengths`, and 0 in `endings`.

    Attributes:
        variant: the rules that were played.
        scores: int32 (G,), by the variant's rules.
        fireworks: int32 (G,), the sum of the fireworks, whatever the ending.
        lengths: int32 (G,), numbers of turns.
        endings: int8 (G,), how the games ended: code k stands for `starmine.endings()[k - 1]`.
        failures: the abandoned games.
    """

    variant: Variant
    scores: NDArray[np.int32]
    fireworks: NDArray[np.int32]
    lengths: NDArray[np.int32]
    endings: NDArray[np.int8]
    failures: list[Failure] = field(default_factory=list)
    _trajectories: Trajectories | None = None

    def __len__(self) -> int:
        """Number of games."""
        return len(self.scores)

    @property
    def trajectories(self) -> Trajectories:
        """The games' decks and actions. An abandoned game has the turns that were played.

        Raises:
            StarmineError: they were not recorded.
        """
        if self._trajectories is None:
            raise StarmineError("the games were not recorded: expected those of play_games(..., record=True)")
        return self._trajectories

    @property
    def mean(self) -> float:
        """The mean score of the games that were played; abandoned ones do not count. `nan` if there is none."""
        return self._mean_and_error[0]

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean score; None for fewer than two games."""
        return self._mean_and_error[1]

    @property
    def _mean_and_error(self) -> tuple[float, float | None]:
        return mean_and_error(self.scores[self.endings > 0])

    def share(self, ending: str) -> float:
        """The share of the played games with this ending, one of `starmine.endings()`; `nan` without games.

        Raises:
            UnknownNameError: there is no such ending.
        """
        check_names("ending", [ending], endings())
        played = self.endings[self.endings > 0]
        return float(np.mean(played == endings().index(ending) + 1)) if len(played) else float("nan")

    def summary(self) -> dict[str, Any]:
        """The number of played games, the mean score and its standard error, the shares of perfect and of lost games.

        >>> import starmine
        >>> starmine.play_games(["random", "random"], games=100).summary()["perfect"]
        0.0
        """
        mean, error = self._mean_and_error
        return {
            "games": int((self.endings > 0).sum()),
            "score": round(mean, 3),
            "standard_error": None if error is None else round(error, 3),
            "perfect": round(self.share("perfect"), 4),
            "lost": round(sum(self.share(endings()[code - 1]) for code in defeats()), 4),
        }

    def __repr__(self) -> str:
        """Number of games, mean score and its standard error."""
        games = "1 game" if len(self) == 1 else f"{len(self)} games"
        return f"<{games}: mean score {with_error(self.mean, self.standard_error, digits=3)}>"


class BotError(StarmineError):
    """A bot or a policy raised an exception or chose an illegal move. All other games were played.

    Attributes:
        failures: the abandoned games.
        games: the results of all games, in which the abandoned games have the ending 0.
    """

    def __init__(self, failures: list[Failure], games: Games) -> None:
        """Made by `play_games`; the message names the first failures."""
        self.failures, self.games = failures, games
        shown = "; ".join(str(failure) for failure in failures[:3])
        more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
        super().__init__(f"{len(failures)} of {len(games)} games were given up: {shown}{more}")

    def __reduce__(self) -> tuple[Any, ...]:
        """So that the error of another process can be raised here."""
        return BotError, (self.failures, self.games)


def error_text(error: BaseException) -> str:
    """The type and the text of an exception that a player raised, and where, "TYPE: TEXT at FILE:LINE".

    The place is the innermost frame of the user, or of a library if there are no others. It is left out if this package
    raised the exception and no frame is the user's.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not _below(frame.filename, (OURS, *LIBRARIES))]
    of_library = [frame for frame in frames[-1:] if not _below(frame.filename, (OURS,))]
    place = "".join(f" at {frame.filename}:{frame.lineno}" for frame in (own or of_library)[-1:])
    return f"{type(error).__name__}: {error}{place}"


def _below(file: str, folders: tuple[Path, ...]) -> bool:
    return any(Path(file).is_relative_to(folder) for folder in folders)


def mean_and_error(values: Array) -> tuple[float, float | None]:
    """The mean and its standard error; the mean of no values is nan, the error of fewer than two None."""
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return float(np.mean(values)) if len(values) else float("nan"), error


def with_error(mean: float, error: float | None, digits: int) -> str:
    """A mean and its standard error as text. Without an error, the mean alone; for nan, a dash."""
    if np.isnan(mean):
        return "-"
    return f"{mean:.{digits}f}" if error is None else f"{mean:.{digits}f} ± {error:.{digits}f}"
