"""Rows of turns: what a learner sees of games, made by playing them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import Batch, StarmineError, Variant, _extra_outputs, _Replay
from starmine._util.keywords import check_names
from starmine.games.outcomes import outcomes

if TYPE_CHECKING:
    from starmine.games.games import Games

Rows: TypeAlias = dict[str, NDArray[Any]]

AT_ONCE = 2048  # games that are replayed side by side: few enough for the cache, many enough for numpy
EXTRA = tuple(_extra_outputs())  # outputs that depend on the observers, but not on the encoder
DEFAULT = ("obs", "action_mask", "action", "current_player", "reward", "return_to_go", "game", "turn")
OUTPUTS = (*DEFAULT, "score", "terminated", "number", "player", *EXTRA)
USERS = {"encoder": ("obs",), "dtype": ("obs",), "observers": ("obs", *EXTRA)}  # outputs that a setting is for
USUAL = {"encoder": "canonical", "dtype": "float32", "observers": "current", "num_threads": None}
MOST_NUMBER = 2**63 - 1

_OF_TURN = ("reward", "terminated")  # outputs of a turn; the others describe the position before it
_OF_CORE = ("obs", "action_mask", "current_player", "reward", "score", "terminated", *EXTRA)
_NEEDS = {"return_to_go": "score", "player": "current_player"}  # what the core replays for other outputs
# The dtypes of numbers in the rows that users get, and the smaller ones in which rows wait for this.
_DTYPES: dict[str, tuple[type[np.generic], type[np.generic]]] = {
    "action": (np.int64, np.uint8),
    "current_player": (np.int32, np.uint8),
    "game": (np.int64, np.int32),
    "reward": (np.float32, np.int8),
    "score": (np.int32, np.uint8),
    "turn": (np.int32, np.int16),
}


@dataclass(frozen=True)
class ReplaySettings:
    """How games become rows.

    Attributes:
        outputs: names of `OUTPUTS`.
        batch: arguments of the batch that replays: `encoder`, `dtype`, `observers` and `num_threads`.
    """

    outputs: tuple[str, ...]
    batch: dict[str, Any]

    @staticmethod
    def of(outputs: Sequence[str] | None, **batch: Any) -> ReplaySettings:
        """Settings whose outputs are checked; None for `DEFAULT`.

        Raises:
            UnknownNameError: there is no such output.
            StarmineError: `outputs` is empty, or a setting of observations has no output that depends on it.
        """
        wanted = DEFAULT if outputs is None else outputs
        names = wanted if isinstance(wanted, str) else tuple(wanted)
        check_names("output", names, OUTPUTS)
        if not names:
            raise StarmineError("outputs is empty: expected at least one name")
        for name, users in USERS.items():
            if batch.get(name, USUAL[name]) != USUAL[name] and not set(users) & set(names):
                needed = " or ".join(f'"{user}"' for user in users)
                raise StarmineError(
                    f"{name}={batch[name]!r} without {needed} in outputs is not allowed: it would do nothing"
                )
        return ReplaySettings(tuple(names), USUAL | batch)

    def check(self, variant: Variant) -> None:
        """Check, before anything is read, that games can be replayed so.

        Raises:
            UnknownNameError: there is no such encoder, dtype or observer.
            StarmineError: `num_threads` is out of its range.
        """
        Batch(variant, 1, **self.batch)

    def pieces(self, games: Games, size: int = AT_ONCE, first: int = 0) -> Iterator[Rows]:
        """All turns of games, up to `size` games side by side.

        Args:
            games: the games.
            size: number of games at once.
            first: what the output "game" says of the first game.

        Yields:
            For each output an array of up to `size` rows, one turn of each game.
        """
        index = np.arange(first, first + len(games))
        for replayed in self._replayed(games, size):
            yield self._finished(replayed, games, index)

    def rows(self, games: Games) -> Rows:
        """All turns of games, game after game: for each output an array (T, ...)."""
        index, collected = np.arange(len(games)), Rows()
        for replayed in self._replayed(games, AT_ONCE):
            places = games.offsets[replayed["game"]] + replayed["turn"]
            for name, array in self._finished(replayed, games, index).items():
                if name not in collected:
                    collected[name] = np.empty((len(games.actions), *array.shape[1:]), array.dtype)
                collected[name][places] = array
        return collected or self._finished(self._nothing(games), games, index)

    def _nothing(self, games: Games) -> Rows:
        """What the core gives, without any turn."""
        names = self._of_core()
        extra = [name for name in EXTRA if name in names]
        buffers = Batch(games.variant, 1, extra_outputs=extra, **self._used()).allocate()
        numbers = {name: np.empty(0, _DTYPES[name][1]) for name in ("action", "game", "turn")}
        return {name: buffers[name][:0] for name in names} | numbers

    def _replayed(self, games: Games, size: int) -> Iterator[Rows]:
        """What the core gives of each turn: up to `size` games are played side by side.

        Row i of n plays the games i, i + n, i + 2n and so on. Later rows are written to other memory. The core gives
        the outputs of a turn with those of the next position.

        Yields:
            The outputs (R, ...) of R <= n games, with `action` (R,), the action that was played, `game` (R,), its
            index, and `turn` (R,), from 0. The last arrays are shorter: some rows end before others.
        """
        names = self._of_core()
        settings = USUAL | self._used()
        replay = _Replay(games.variant, *games.played(), size, names, *(settings[name] for name in USUAL))
        before, live = replay.step()
        while live:
            try:
                after, live_after = replay.step()
            except StarmineError:
                outcomes(games, 1).refuse(games)  # raises the error of a single game
                raise
            rows = {name: (after if name in _OF_TURN else before)[name] for name in names}
            rows |= {name: before[name] for name in ("action", "game", "turn")}
            if live < len(before["game"]):
                kept = np.flatnonzero(before["game"] >= 0)
                rows = {name: array[kept] for name, array in rows.items()}
            yield rows
            before, live = after, live_after

    def _of_core(self) -> list[str]:
        """The names of what the core replays."""
        needed = {_NEEDS.get(name, name) for name in self.outputs}
        return [name for name in _OF_CORE if name in needed]

    def _used(self) -> dict[str, Any]:
        """The settings of the replay that an output depends on."""
        used = [name for name, users in USERS.items() if set(users) & set(self.outputs)]
        return {name: self.batch[name] for name in (*used, "num_threads")}

    def _finished(self, replayed: Rows, games: Games, index: NDArray[np.int64]) -> Rows:
        """The outputs, made of what the core gave of some turns and of the games' columns."""
        made: Rows = {}
        game = replayed["game"]
        for name in self.outputs:
            if name == "game":
                made[name] = _at(index, game)
            elif name == "number":
                if games.number.max(initial=0) > MOST_NUMBER:
                    raise StarmineError(f"number={games.number.max()} is not allowed: expected at most {MOST_NUMBER}")
                made[name] = _at(games.number.astype(np.int64), game)
            elif name == "return_to_go":
                made[name] = _at(games.scores, game).astype(np.float32) - replayed["score"].astype(np.float32)
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

    replay: ReplaySettings
    games: Games
    index: NDArray[np.int64]
    replayed: Rows

    @staticmethod
    def of(replay: ReplaySettings, games: Games, index: NDArray[np.int64], room: Rows) -> ReplayedTurns:
        """Replay games.

        `room` has arrays of earlier turns that are not used any more: they are written where they are large enough, and
        replaced in this dictionary where they are not.

        Raises:
            As `ReplaySettings.pieces`.
        """
        count, first = len(games.actions), 0
        if count == 0:
            return ReplayedTurns(replay, games, index, replay._nothing(games))
        for rows in replay._replayed(games, AT_ONCE):
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
        return len(self.games.actions)

    def in_order(self) -> NDArray[np.int64]:
        """Where the turns are, game after game: int64 (T,)."""
        order = np.empty(len(self), np.int64)
        order[self.games.offsets[self.replayed["game"]] + self.replayed["turn"]] = np.arange(len(self))
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
