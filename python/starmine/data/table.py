"""Games with their decks, actions and other stored columns, in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import ArrayError, StarmineError, State, Variant
from starmine._util.equality import equal_by_value
from starmine._util.keywords import wrong_type
from starmine.data.arrow import pyarrow, to_arrow
from starmine.games.trajectories import Trajectories

# Columns with one number a game and their dtypes. Those of the deal may be missing.
NUMBERS: dict[str, type[np.generic]] = {
    "game": np.uint64,
    "seed": np.uint64,
    "index": np.uint64,
    "episode": np.uint64,
    "scores": np.uint8,
    "fireworks": np.uint8,
    "endings": np.uint8,
}
DEAL = ("seed", "index", "episode")
OF_TURNS = ("search_values", "search_errors")  # optional columns of float32, with a number for each turn and action


@equal_by_value
@dataclass(frozen=True, repr=False)
class GameTable:
    """G games of T turns in all with the columns that are stored of them, in memory.

    Attributes:
        trajectories: decks, start players and actions.
        game: uint64 (G,), the stored numbers of the games: their indices in the data set as it was generated or
            written.
        seed, index, episode: uint64 (G,), with which `variant.new_game(seed, game=index, episode=episode)` deals the
            game. None for games that this package did not deal.
        scores: uint8 (G,), by the variant's rules: the sum of a game's rewards.
        fireworks: uint8 (G,), the sum of the fireworks, whatever the ending.
        endings: uint8 (G,), code k stands for `starmine.endings()[k - 1]`; 0 for a game that was not finished.
        players: int16 (G, P), for each of the P seats an index of the players' table, `Dataset.players` or
            `Metadata.players`.
        search_values: float32 (T, A), for each action the mean score of its roll-outs, if a search chose the move of
            this turn; `nan` for an action that was not searched. `generate` stores it if a player is a search, such as
            "search: smart". Else None.
        search_errors: float32 (T, A), the standard errors of these means, or None.
        names: texts (G,), the names of imported games in their source; "" for none. None if no game was imported.

    Raises:
        ArrayError: a column has another dtype or shape.
    """

    trajectories: Trajectories
    game: NDArray[np.uint64]
    seed: NDArray[np.uint64] | None
    index: NDArray[np.uint64] | None
    episode: NDArray[np.uint64] | None
    scores: NDArray[np.uint8]
    fireworks: NDArray[np.uint8]
    endings: NDArray[np.uint8]
    players: NDArray[np.int16]
    search_values: NDArray[np.float32] | None = None
    search_errors: NDArray[np.float32] | None = None
    names: NDArray[np.object_] | None = None

    def __post_init__(self) -> None:
        """Check dtypes and shapes."""
        games, turns = len(self.trajectories), len(self.trajectories.actions)
        for name, dtype in NUMBERS.items():
            if name not in DEAL or getattr(self, name) is not None:
                _check(name, getattr(self, name), dtype, (games,))
        _check("players", self.players, np.int16, (games, self.variant.players))
        for name, column in self.of_turns().items():
            _check(name, column, np.float32, (turns, self.variant.num_actions))
        if self.names is not None:
            _check("names", self.names, np.object_, (games,))

    @property
    def variant(self) -> Variant:
        """The rules."""
        return self.trajectories.variant

    def of_turns(self) -> dict[str, NDArray[np.float32]]:
        """The columns `search_values` and `search_errors` by name, without those that are None."""
        return {name: getattr(self, name) for name in OF_TURNS if getattr(self, name) is not None}

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of turns of each game: int64 (G,)."""
        return self.trajectories.lengths

    def __len__(self) -> int:
        """Number of games."""
        return len(self.game)

    def __getitem__(self, games: int | slice | Sequence[int] | NDArray[Any]) -> GameTable:
        """Some of the games: one, a slice, or those of indices or a mask, as numpy selects them.

        Raises:
            IndexError: there is no such game.
        """
        offsets, of_turns = self.trajectories.offsets, self.of_turns()
        if isinstance(games, slice) and games.step in (None, 1):
            chosen: Any = games
            trajectories = self.trajectories[games]
            first, stop, _ = games.indices(len(self))
            turns = slice(offsets[first], offsets[max(first, stop)])
            of_turns = {name: column[turns] for name, column in of_turns.items()}
        else:
            chosen = chosen_indices(games, len(self))
            actions, lengths = ragged_take(self.trajectories.actions, offsets, chosen)
            decks, starts = self.trajectories.decks[chosen], self.trajectories.start_players[chosen]
            trajectories = Trajectories(self.variant, decks, starts, actions, lengths)
            of_turns = {name: _take_turns(column, offsets, chosen) for name, column in of_turns.items()}
        held = {name: getattr(self, name) for name in NUMBERS}
        columns: dict[str, Any] = {name: None if held[name] is None else held[name][chosen] for name in NUMBERS}
        columns |= of_turns | {"names": None if self.names is None else self.names[chosen]}
        return GameTable(trajectories, **columns, players=self.players[chosen])

    def state(self, game: int, turn: int | None = None) -> State:
        """A game after some of its turns, as `Trajectories.state` gives it."""
        return self.trajectories.state(game, turn)

    @staticmethod
    def concatenate(tables: Sequence[GameTable]) -> GameTable:
        """The games of several tables, in their order.

        A column that is None in one of the tables is None in the result. But `names` are kept if one of the tables has
        them; games of the other tables get "".

        Raises:
            StarmineError: there is no table, or their rules differ.
        """
        if not tables:
            raise StarmineError("there is no table of games")
        if len(tables) == 1:
            return tables[0]
        if any(table.variant != tables[0].variant for table in tables):
            raise StarmineError("games of different rules cannot stand in one table")
        columns = {name: _joined([getattr(table, name) for table in tables]) for name in (*NUMBERS, *OF_TURNS)}
        if any(table.names is not None for table in tables):
            columns["names"] = np.concatenate(
                [np.full(len(table), "", np.object_) if table.names is None else table.names for table in tables]
            )
        return GameTable(
            Trajectories.concatenate([table.trajectories for table in tables]),
            **columns,
            players=np.concatenate([table.players for table in tables]),
        )

    def __repr__(self) -> str:
        """Number of games and turns."""
        return f"<GameTable of {len(self)} games, {len(self.trajectories.actions)} turns: {self.variant}>"


class ContentHash:
    """A SHA-256 checksum of decoded columns, which does not depend on how they are stored.

    Each column has its own checksum, over its numbers as little-endian bytes; the checksum of the games is that
    of all these. Games may come in pieces of any size.
    """

    def __init__(self) -> None:
        # No file has the column log_prob; with it, the checksums that version 0.4 wrote stay valid.
        names = ("deck", "first_player", "length", "actions", *NUMBERS, "players", "log_prob")
        self._columns = {name: hashlib.sha256() for name in names}

    def update(self, games: GameTable) -> None:
        """Add games."""
        played = games.trajectories
        values = {name: getattr(games, name) for name in (*NUMBERS, "players", *OF_TURNS)}
        values |= {"deck": played.decks, "first_player": played.start_players, "actions": played.actions}
        values |= {"length": played.lengths, "names": games.names}
        for name, column in values.items():
            if column is None:
                continue
            if column.dtype == np.object_:
                texts = [str(text).encode("utf-8", "surrogatepass") for text in column]
                column = np.frombuffer(b"".join(len(text).to_bytes(8, "little") + text for text in texts), np.uint8)
            little = column.astype(column.dtype.newbyteorder("<"), copy=False)
            # Optional columns count only where there are some, so that all other games keep their checksums.
            checksum = self._columns.setdefault(name, hashlib.sha256())
            checksum.update(np.ascontiguousarray(little).reshape(-1).view(np.uint8).data)

    def hexdigest(self) -> str:
        """The checksum of the games so far: 64 hexadecimal digits."""
        parts = [f"{name} {column.hexdigest()}\n" for name, column in self._columns.items()]
        return hashlib.sha256("".join(parts).encode()).hexdigest()


def content_hash(games: GameTable | Iterable[GameTable]) -> str:
    """The SHA-256 checksum of the columns of games, as 64 hexadecimal digits.

    It does not depend on how the games are stored. `Dataset.content` is another checksum, which covers files too.

    Args:
        games: a table, or consecutive tables; where one ends and the next begins does not matter.
    """
    checksum = ContentHash()
    if not isinstance(games, GameTable | Iterable):
        raise wrong_type("games", games, "a GameTable or several")
    for piece in [games] if isinstance(games, GameTable) else games:
        if not isinstance(piece, GameTable):
            raise wrong_type("games", games, "a GameTable or several")
        checksum.update(piece)
    return checksum.hexdigest()


def chosen_indices(games: int | slice | Sequence[int] | NDArray[Any], count: int) -> NDArray[np.int64]:
    """The indices of the games that numpy would select among `count`, by an index, a slice, indices or a mask.

    They are int64 (K,).
    """
    if isinstance(games, slice):
        return np.arange(*games.indices(count))
    given = np.asanyarray(games)
    if isinstance(given, np.ma.MaskedArray):
        raise IndexError("games is a masked array: expected one without a mask")
    if given.dtype == np.bool_:
        if given.shape != (count,):
            raise IndexError(f"games is a mask of shape {given.shape}: expected {(count,)}")
        return np.flatnonzero(given)
    if given.size == 0:
        return np.empty(0, np.int64)
    if given.ndim > 1 or not np.issubdtype(given.dtype, np.integer):
        raise IndexError(f"games has shape {given.shape} and dtype {given.dtype}: expected indices, a slice or a mask")
    wrong = (given < -count) | (given >= count)
    if wrong.any():
        raise IndexError(f"there is no game {given[wrong].flat[0] if given.ndim else given}: there are {count}")
    chosen: NDArray[np.int64] = np.atleast_1d(np.where(given < 0, given + count, given)).astype(np.int64)
    return chosen


def ragged_take(
    values: NDArray[Any], offsets: NDArray[np.int64], games: NDArray[np.integer[Any]]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The numbers of some games, which Arrow copies game by game, and where each of them begins.

    Args:
        values: (T,), game after game.
        offsets: int64 (G + 1,), where each game begins.
        games: integers (K,), indices of games.

    Returns:
        The numbers of these games, and their offsets, int64 (K + 1,).
    """
    pa, size = pyarrow(), values.itemsize
    buffers = [None, pa.py_buffer(offsets * size), pa.py_buffer(np.ascontiguousarray(values))]
    taken = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers).take(to_arrow(games))
    bounds = np.frombuffer(taken.buffers()[1], np.int64, len(games) + 1) // size
    if bounds[-1] == 0:
        return values[:0], bounds
    return np.frombuffer(taken.buffers()[2], values.dtype, bounds[-1]), bounds


def _check(name: str, array: Any, dtype: type[np.generic], shape: tuple[int, ...]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise ArrayError(f"{name} has dtype {getattr(array, 'dtype', type(array))}: expected {np.dtype(dtype)}")
    if array.shape != shape:
        raise ArrayError(f"{name} has shape {array.shape}: expected {shape}")


def _take_turns(
    column: NDArray[np.float32], offsets: NDArray[np.int64], games: NDArray[np.integer[Any]]
) -> NDArray[np.float32]:
    width = int(np.prod(column.shape[1:]))
    taken, _ = ragged_take(column.ravel(), offsets * width, games)
    return taken.reshape(-1, *column.shape[1:])


def _joined(columns: list[NDArray[Any] | None]) -> Any:
    held = [column for column in columns if column is not None]
    return np.concatenate(held) if len(held) == len(columns) else None
