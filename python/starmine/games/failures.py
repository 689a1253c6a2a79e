"""Games in which a player failed."""

from __future__ import annotations

import sysconfig
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starmine._core import StarmineError
from starmine._util.equality import equal_by_value

if TYPE_CHECKING:
    from starmine.games.games import Games

OURS = Path(__file__).parents[1]  # this package
# The standard library and installed packages. A virtual environment keeps them in different folders.
LIBRARIES = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platlib", "purelib"))


@equal_by_value
@dataclass(frozen=True)
class Failure:
    """A game that was given up because a bot or a policy failed.

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


class BotError(StarmineError):
    """A bot or a policy raised an exception or chose an illegal move. All other games were played.

    Attributes:
        failures: a list of a `Failure` for each game that was given up.
        games: all games; those that were given up have the turns that were played, and a text in `failures`.
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
