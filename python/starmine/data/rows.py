"""Rows of turns: what a learner sees of stored games, made by playing them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Batch, StarmineError, Variant
from starmine._util.keywords import check_names
from starmine.data.table import GameTable
from starmine.games.trajectories import DEFAULT, EXTRA, return_to_go

Rows = dict[str, NDArray[Any]]

OUTPUTS = (*DEFAULT, "score", "terminated", "number", "player", *EXTRA)
SIDE_BY_SIDE = 2048  # games that are replayed together: few enough for the cache, many enough for numpy
MOST_NUMBER = 2**63 - 1
_REPLAYED = ("obs", "action_mask", "current_player", "reward", "score", "terminated", *EXTRA)
_NEEDS = {"return_to_go": "score", "player": "current_player"}  # what is replayed for other outputs
# The dtypes of numbers in rows that are handed out, and of those that wait for it, which are gathered faster.
_DTYPES: dict[str, tuple[type[np.generic], type[np.generic]]] = {
    "action": (np.int64, np.uint8),
    "current_player": (np.int32, np.uint8),
    "game": (np.int64, np.int32),
    "reward": (np.float32, np.int8),
    "score": (np.int32, np.uint8),
    "turn": (np.int32, np.int16),
}


@dataclass(frozen=True)
class RowSettings:
    """How games become rows.

    Attributes:
        outputs: names of `OUTPUTS`.
        batch: arguments of the batch that replays: `encoder`, `dtype`, `observers` and `num_threads`.
    """

    outputs: tuple[str, ...]
    batch: dict[str, Any]

    @staticmethod
    def of(outputs: Sequence[str] | None, **batch: Any) -> RowSettings:
        """Settings whose outputs are checked; None for `DEFAULT`."""
        names = DEFAULT if outputs is None else tuple(outputs)
        if not names:
            raise StarmineError("outputs is empty: expected at least one name")
        check_names("output", names, OUTPUTS)
        return RowSettings(names, batch)

    def check(self, variant: Variant) -> None:
        """Check, before anything is read, that the games of files can be replayed so.

        Raises:
            UnknownNameError: there is no such encoder, dtype or observer.
            TypeError: `num_threads` is not an integer.
            StarmineError: `num_threads` is out of its range.
        """
        Batch(variant, 1, **self.batch)

    def pieces(self, games: GameTable, size: int = SIDE_BY_SIDE, first: int = 0) -> Iterator[Rows]:
        """All turns of games, up to `size` games side by side: a dictionary has a turn of each.

        Yields:
            For each output an array of up to `size` rows.
        """
        index = np.arange(first, first + len(games))
        for replayed in self._replayed(games, size):
            yield self._finished(replayed, games, index)

    def rows(self, games: GameTable) -> Rows:
        """All turns of games, game after game: for each output an array (T, ...)."""
        turns = ReplayedTurns.of(self, games, np.arange(len(games)))
        return turns.rows(turns.in_order())

    def _replayed(self, games: GameTable, size: int) -> Iterator[Rows]:
        """What the core gives of each turn, side by side."""
        return games.trajectories._rows(self._asked(), batch_size=size, **self._settings())

    def _asked(self) -> list[str]:
        """The names of what the core replays."""
        needed = {_NEEDS.get(name, name) for name in self.outputs}
        return [name for name in _REPLAYED if name in needed]

    def _settings(self) -> dict[str, Any]:
        """The settings of the replay, without those that no output depends on."""
        if "obs" in self.outputs:
            return self.batch
        used = ("observers", "num_threads") if set(EXTRA) & set(self.outputs) else ("num_threads",)
        return {name: self.batch[name] for name in used}

    def _finished(self, replayed: Rows, games: GameTable, index: NDArray[np.int64]) -> Rows:
        """The outputs, made of what the core gave of some turns and of the games' columns."""
        made: Rows = {}
        game = replayed["game"]
        for name in self.outputs:
            if name == "game":
                made[name] = _at(index, game)
            elif name == "number":
                if games.game.max(initial=0) > MOST_NUMBER:
                    raise StarmineError(f"number={games.game.max()} is not allowed: expected at most {MOST_NUMBER}")
                made[name] = _at(games.game.astype(np.int64), game)
            elif name == "return_to_go":
                made[name] = return_to_go(games.scores, game, replayed["score"])
            elif name == "player":
                made[name] = games.players[game, replayed["current_player"]]
            elif name in _DTYPES:
                made[name] = replayed[name].astype(_DTYPES[name][0], copy=False)
            else:
                made[name] = replayed[name]
        return made


@dataclass(frozen=True)
class ReplayedTurns:
    """All turns of some games, replayed, from which rows are gathered in any order.

    Attributes:
        replay: how they were replayed.
        games: the games.
        index: int64 (G,), what the output "game" says of each.
        replayed: arrays (T, ...) of what the core gave, in the order in which it played.
    """

    replay: RowSettings
    games: GameTable
    index: NDArray[np.int64]
    replayed: Rows

    @staticmethod
    def of(replay: RowSettings, games: GameTable, index: NDArray[np.int64], room: Rows | None = None) -> ReplayedTurns:
        """Replay games.

        `room` has arrays of earlier turns that are not used any more: they are written where they are large enough, and
        replaced in this dictionary where they are not.

        Raises:
            As `RowSettings.pieces`.
        """
        count, first = len(games.trajectories.actions), 0
        room = {} if room is None else room
        if count == 0:
            numbers = {name: np.empty(0, _DTYPES[name][1]) for name in ("action", "game", "turn")}
            nothing = games.trajectories.replay(replay._asked(), **replay._settings())
            return ReplayedTurns(replay, games, index, nothing | numbers)
        for rows in replay._replayed(games, SIDE_BY_SIDE):
            if first == 0:
                for name, array in rows.items():
                    if len(room.get(name, ())) < count:
                        dtype = _DTYPES[name][1] if name in _DTYPES else array.dtype
                        room[name] = np.empty((count + count // 8, *array.shape[1:]), dtype)
            stop = first + len(rows["game"])
            for name, array in rows.items():
                room[name][first:stop] = array
            first = stop
        return ReplayedTurns(replay, games, index, {name: array[:count] for name, array in room.items()})

    def __len__(self) -> int:
        """Number of turns."""
        return len(self.games.trajectories.actions)

    def in_order(self) -> NDArray[np.int64]:
        """Where the turns are, game after game: int64 (T,)."""
        order = np.empty(len(self), np.int64)
        order[self.games.trajectories.offsets[self.replayed["game"]] + self.replayed["turn"]] = np.arange(len(self))
        return order

    def rows(self, chosen: NDArray[np.int64]) -> Rows:
        """The rows of some turns: for each output an array (n, ...).

        Args:
            chosen: int64 (n,), where they are, from 0 to T - 1. Other numbers are not noticed.
        """
        taken = {name: _at(array, chosen) for name, array in self.replayed.items()}
        return self.replay._finished(taken, self.games, self.index)


def _at(array: NDArray[Any], places: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """The rows of an array at some places, gathered faster than by indexing since the places are not checked."""
    return np.take(array, places, axis=0, mode="clip")
