"""Games on disk. One row group of the files is in memory at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, State, Variant
from starmine._util.keywords import check_names
from starmine._util.numbers import check_number
from starmine.data.arrow import pyarrow
from starmine.data.files import Paths, open_files
from starmine.data.filter import ending_codes, of_codes, of_players, of_scores
from starmine.data.metadata import Metadata
from starmine.data.prefetch import ahead
from starmine.data.schema import as_schema, failures_by_ending, read_table, schema
from starmine.games.games import Choice, Games, chosen_indices
from starmine.games.replay import ReplaySettings, Rows
from starmine.games.roster import Roster, merge_rosters
from starmine.games.scores import ScoredGames

MOST_ROWS = 2**32 - 1  # of a batch
_Chosen = NDArray[np.int32] | None  # rows of a row group in their order; None for all


@dataclass(frozen=True)
class RowGroup:
    """A part of a file whose games a data set reads at once.

    Attributes:
        file: the index of the file in `Dataset.files`.
        group: the number of the row group in the file, from 0.
        first: the index in the data set of the row group's first game.
        games: number of the row group's games that belong to the data set.
    """

    file: int
    group: int
    first: int
    games: int


class Dataset(ScoredGames):
    """Games of one or several Parquet files.

    Of the columns of `starmine.Games` it has `scores`, `fireworks`, `endings`, `lengths`, `players`, `number` and
    `failures`, which it reads when they are needed; it also has the means, and `state`. `data[3]`, `data[:20]` and
    `data[data.scores == 25]` read games: they are `Games`, with all columns. Iterating gives each game
    as a `Games` of one. `filter` and `select` return views, which are data sets too.

    A data set reads one row group at a time, and the next one in a thread. Its memory therefore does not grow with the
    number of games, except that a view keeps 4 bytes for each of its games, and that a column such as `data.scores` is
    in memory as a whole. A data set can be pickled: it holds paths, not open files.

    Args:
        path: path of a folder, path of a file, or a list of several paths. Of a folder the files `*.parquet` are taken
            in the order of their names. Other files of a folder are ignored, such as those that are still being
            written.

    Attributes:
        files: the files.
        metadata: a list with the `Metadata` of each file.
        variant: the rules of all games.
        roster: a tuple of the distinct players of all files, who have a `name`. The column `players` of a game has for
            each seat a row of it.

    Raises:
        FileNotFoundError: there is no such file or folder.
        DamagedFileError: a file is cut short or no Parquet file; the message names it.
        StarmineError: there is no file, a file holds no games or games of an unknown format, rules differ, or there are
            more players than a column can number.
        ImportError: pyarrow is not installed.
    """

    def __init__(self, path: Paths) -> None:
        self.files = open_files(path)
        self.metadata: list[Metadata] = [file.metadata for file in self.files]
        self.variant: Variant = self.metadata[0].variant
        merged, self._rows = merge_rosters([metadata.roster for metadata in self.metadata])
        self.roster: Roster = merged
        groups = [range(len(file.sizes)) for file in self.files]
        self._choose([(file, group, None) for file, of_file in enumerate(groups) for group in of_file])
        self._latest: tuple[int, Games] | None = None
        self._fingerprint: str | None = None

    def _choose(self, groups: Sequence[tuple[int, int, _Chosen]]) -> None:
        """Let the data set consist of these games, given as file, row group and rows."""
        self._groups: list[RowGroup] = []
        self._chosen: list[_Chosen] = []
        first = 0
        for file, group, chosen in groups:
            games = self.files[file].sizes[group] if chosen is None else len(chosen)
            if games:
                self._groups.append(RowGroup(file, group, first, games))
                self._chosen.append(chosen)
                first += games

    def __len__(self) -> int:
        """Number of games."""
        return sum(group.games for group in self._groups)

    @property
    def turns(self) -> int:
        """Number of turns of all games. Each access reads the lengths of all games from the files."""
        return int(self.lengths.sum())

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the rules, the players, the games, and their division into files and row groups.

        It does not depend on the paths. Files of this package contain the checksums of their games. Files of other
        writers are read once to compute them.

        Raises:
            FileNotFoundError, DamagedFileError: as `read`.
        """
        if self._fingerprint is None:
            files = [(file.checksum(), file.sizes) for file in self.files]
            groups = [(group.file, group.group) for group in self._groups]
            players = [player.to_dict() for player in self.roster]
            told = json.dumps([self.variant.to_json(), players, files, groups], sort_keys=True)
            digest = hashlib.sha256(told.encode())
            for numbers in [*self._rows, *self._chosen]:
                digest.update(b"all" if numbers is None else b"%d " % len(numbers) + numbers.astype("<i4").tobytes())
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def row_groups(self) -> list[RowGroup]:
        """The row groups with games of the data set, in order."""
        return list(self._groups)

    def read(self, place: int, optional: bool = True) -> Games:
        """The games of `row_groups()[place]` that belong to the data set.

        Args:
            place: index of the row group.
            optional: whether to read the optional columns of the file too: `search_values`, `search_errors` and
                `names`. Otherwise these are None. `failures` is always read.

        Raises:
            TypeError: `place` is not an integer.
            StarmineError: there is no such row group.
            FileNotFoundError: the file has been removed.
            DamagedFileError: it has been changed, or its bytes are not those that were written.
            StarmineError: its columns contradict the schema or each other.
        """
        place = check_number("place", place, 0, len(self._groups) - 1)
        group, chosen = self._groups[place], self._chosen[place]
        file = self.files[group.file]
        games = file.games(group.group, optional)
        games = games if chosen is None else games[chosen]
        return replace(games, players=self._rows[group.file][games.players], roster=self.roster)

    def tables(self, optional: bool = True) -> Iterator[Games]:
        """The games of each row group, one after the other; the next one is read in a thread.

        Args:
            optional: as in `read`.

        Raises:
            FileNotFoundError, DamagedFileError, StarmineError: as `read`.
        """
        return ahead(self.read(place, optional) for place in range(len(self._groups)))

    # --- Games ---------------------------------------------------------------------------------------------

    def __getitem__(self, games: Choice) -> Games:
        """Some of the games: one, a slice, or those of indices or a mask, as numpy selects them.

        Raises:
            IndexError: there is no such game.
            FileNotFoundError, DamagedFileError, StarmineError: as `read`.
        """
        return self._gather(chosen_indices(games, len(self)))

    def __iter__(self) -> Iterator[Games]:
        """The games in their order, each a `Games` of one."""
        for table in self.tables():
            for game in range(len(table)):
                yield table[game : game + 1]

    def state(self, game: int, turn: int | None = None) -> State:
        """A game after some of its turns, as `Games.state` gives it.

        Raises:
            As `Games.state` and `read`.
        """
        check_number("game", game, 0, len(self) - 1)
        return self[game].state(0, turn)

    def _gather(self, games: NDArray[np.integer[Any]]) -> Games:
        """The games of indices; the row group that was used last stays in memory."""
        order = np.argsort(games, kind="stable")
        firsts = np.array([group.first for group in self._groups], np.int64)
        owners = np.searchsorted(firsts, games[order], side="right") - 1
        tables, latest = [], self._latest  # other threads may change it
        for place in np.unique(owners).tolist():
            if latest is None or latest[0] != place:
                self._latest = latest = (place, self.read(place))
            tables.append(latest[1][games[order][owners == place] - firsts[place]])
        if not tables:
            with_groups = [file for file in self.files if file.sizes]
            nothing = schema(self.variant).empty_table()
            none = with_groups[0].games(0)[:0] if with_groups else read_table(nothing, self.metadata[0])
            return replace(none, roster=self.roster)
        return Games.concatenate(tables)[np.argsort(order, kind="stable")]

    # --- Views ---------------------------------------------------------------------------------------------

    def filter(
        self,
        *,
        min_score: int | None = None,
        max_score: int | None = None,
        ending: str | Sequence[str] | None = None,
        players: str | Sequence[str] | None = None,
        seats: Sequence[str | None] | None = None,
    ) -> Dataset:
        """The games that meet all conditions, as a view. Only the columns of the conditions are read.

        Args:
            min_score: the lowest score at the end.
            max_score: the highest score at the end.
            ending: one or several of `starmine.endings()`. With all of them, games that stopped before their end are
                left out.
            players: one or several names of players (of `data.roster`). Kept are the games in which every seat's player
                has one of these names.
            seats: for each seat the name of its player, or None for any.

        Raises:
            UnknownNameError: there is no such ending or player.
            StarmineError: `seats` has another length.
            TypeError: a score is not an integer, or there is no such condition.
            FileNotFoundError, DamagedFileError: as `read`.
        """
        conditions = of_scores(min_score, max_score)
        conditions += [] if ending is None else of_codes("ending", ending_codes(ending))
        conditions += of_players(self.roster, players, seats, self.variant.players)

        def kept(place: int) -> NDArray[np.bool_]:
            keep = np.ones(self._groups[place].games, np.bool_)
            for column, holds in conditions:
                keep &= holds(self._column(place, column))
            return keep

        return self._view(kept)

    def select(self, games: Sequence[int] | slice | NDArray[Any]) -> Dataset:
        """The games of a slice, of distinct indices or of a bool mask as a view, in the order of the data set.

        Raises:
            IndexError: there is no such game.
            StarmineError: an index is given twice.
        """
        chosen = np.sort(chosen_indices(games, len(self)))
        if (np.diff(chosen) == 0).any():
            raise StarmineError("a game is selected twice")

        def kept(place: int) -> NDArray[np.bool_]:
            group = self._groups[place]
            first, stop = np.searchsorted(chosen, [group.first, group.first + group.games])
            keep = np.zeros(group.games, np.bool_)
            keep[chosen[first:stop] - group.first] = True
            return keep

        return self._view(kept)

    def _view(self, kept: Callable[[int], NDArray[np.bool_]]) -> Dataset:
        """The games of each row group that a function from its place to a mask keeps."""
        view = copy(self)
        view._fingerprint = None
        groups: list[tuple[int, int, _Chosen]] = []
        for place, group in enumerate(self._groups):
            keep, chosen = kept(place), self._chosen[place]
            if not keep.all():
                rows = np.arange(len(keep), dtype=np.int32) if chosen is None else chosen
                chosen = rows[keep]
            groups.append((group.file, group.group, chosen))
        view._choose(groups)
        return view

    # --- Columns and rows ------------------------------------------------------------------------------------

    @property
    def scores(self) -> NDArray[np.int32]:
        """As `Games.scores`: int32 (G,). Each access reads the column from the files, as for the other columns."""
        return self._of_all("score", np.int32)

    @property
    def fireworks(self) -> NDArray[np.int32]:
        """As `Games.fireworks`: int32 (G,)."""
        return self._of_all("fireworks", np.int32)

    @property
    def endings(self) -> NDArray[np.uint8]:
        """As `Games.endings`: uint8 (G,)."""
        return self._of_all("ending", np.uint8)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of turns of each game: int64 (G,)."""
        return self._of_all("length", np.int64)

    @property
    def players(self) -> NDArray[np.int16]:
        """As `Games.players`: int16 (G, P), rows of `roster`."""
        return self._of_all("players", np.int16).reshape(-1, self.variant.players)

    @property
    def number(self) -> NDArray[np.uint64]:
        """As `Games.number`: uint64 (G,)."""
        return self._of_all("game", np.uint64)

    @property
    def failures(self) -> NDArray[np.object_] | None:
        """As `Games.failures`: texts (G,), or None if no player failed."""
        parts = [self._failures(place) for place in range(len(self._groups))]
        if all(part is None for part in parts):
            return None
        empty = [np.full(group.games, "", np.object_) for group in self._groups]
        return np.concatenate([other if part is None else part for part, other in zip(parts, empty, strict=True)])

    def _failures(self, place: int) -> NDArray[np.object_] | None:
        """The failures of a row group's games; None if there are none."""
        file = self.files[self._groups[place].file]
        if "failure" in file.columns:
            texts = self._table(place, ["failure"]).column("failure").to_pylist()
            return np.array(texts, np.object_)
        return failures_by_ending(self._column(place, "ending")) if file.metadata.is_evaluation else None

    def _columns(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.object_] | None]:
        return self.scores, self.endings, self.failures

    def _of_all(self, name: str, dtype: Any) -> NDArray[Any]:
        """A column of all games."""
        parts = [self._column(place, name) for place in range(len(self._groups))]
        return np.concatenate(parts).astype(dtype, copy=False) if parts else np.empty(0, dtype)

    def table(self, columns: Sequence[str] | None = None) -> Any:
        """Columns of all games as a `pyarrow.Table`, which is in memory as a whole.

        Args:
            columns: names; None for all that every file has. `players` has for each seat a row of `data.roster`.

        Raises:
            UnknownNameError: a file has no such column.
            FileNotFoundError, DamagedFileError: as `read`.
        """
        common = [name for name in self.files[0].columns if all(name in file.columns for file in self.files)]
        names = common if columns is None else columns if isinstance(columns, str) else list(columns)
        check_names("column", names, common)
        parts = [self._table(place, names) for place in range(len(self._groups))]
        if not parts:
            parts = [self.files[0].read(0, names)[:0]] if self.files[0].sizes else []
        return pyarrow().concat_tables(parts) if parts else pyarrow().table({name: [] for name in names})

    def _table(self, place: int, names: Sequence[str]) -> Any:
        """Columns of a row group's games."""
        pa, group, chosen = pyarrow(), self._groups[place], self._chosen[place]
        file = self.files[group.file]
        stored = file.read(group.group, names).replace_schema_metadata(None)
        try:
            table = as_schema(stored, self.variant)
        except StarmineError as error:
            raise StarmineError(f"{file.path}: {error}") from error
        table = table if chosen is None else table.take(pa.array(chosen))
        rows = self._rows[group.file]
        if "players" in names and not np.array_equal(rows, np.arange(len(rows))):
            field = table.schema.field("players")
            lists = table.column("players").combine_chunks()
            seated = pa.array(rows[lists.flatten().to_numpy()]).cast(field.type.value_type)
            merged = pa.ListArray.from_arrays(lists.offsets, seated, type=field.type)
            table = table.set_column(table.schema.get_field_index("players"), field, merged)
        return table

    def _column(self, place: int, name: str) -> NDArray[Any]:
        """A column of a row group's games; players as a row a game."""
        column = self._table(place, [name]).column(name).combine_chunks()
        if name == "players":
            return column.flatten().to_numpy().reshape(len(column), -1)  # type: ignore[no-any-return]
        return column.to_numpy()  # type: ignore[no-any-return]

    def replay(
        self,
        batch_size: int = 4096,
        encoder: str = "canonical",
        dtype: str = "float32",
        observers: str = "current",
        outputs: Sequence[str] | None = None,
        num_threads: int | None = None,
    ) -> Iterator[Rows]:
        """Play the games again and yield all their turns, each once, as dictionaries of arrays.

        Args:
            batch_size: number of games that are replayed side by side; a dictionary has one turn of each of them, so
                this is also the most rows of a dictionary.
            encoder: of the observations, one of `starmine.encoders()`.
            dtype: of the observations: "float32", "float16", "uint8" or "bits".
            observers: "current" for the seat to act, "all" for every seat.
            outputs: names among those below; None for the first eight.
            num_threads: of the replay; None for all processors.

        Yields:
            Dictionaries of arrays with n rows, one row for each turn: `obs` (n, D) or (n, players, D); `action_mask`
            bool (n, A); `action` int64; `current_player` int32; `reward` float32; `return_to_go` float32, the sum of
            the game's rewards from this turn on; `game` int64, the game's index in this data set (`data[game]`); `turn`
            int32, from 0; and, only if requested, `score` int32, before the turn; `terminated` bool; `number` int64,
            the stored number of the game; `player` int16, the row in `data.roster` of the player who acts;
            `card_features`, `public_marginals` and `own_hand`, as the extra outputs of `Batch`.

        Raises:
            UnknownNameError: there is no such output, encoder, dtype or observer.
            TypeError: a number is not an integer.
            FileNotFoundError, DamagedFileError: as `read`.
            StarmineError: a number is out of its range; an encoder, dtype or observers without an output that they are
                for; or a game breaks the rules. The message names its file.
        """
        check_number("batch_size", batch_size, 1, MOST_ROWS)
        settings = {"encoder": encoder, "dtype": dtype, "observers": observers, "num_threads": num_threads}
        replay = ReplaySettings.of(outputs, **settings)
        replay.check(self.variant)
        return self._replayed(replay, batch_size)

    def _replayed(self, replay: ReplaySettings, batch_size: int) -> Iterator[Rows]:
        for group, games in zip(self._groups, self.tables(optional=False), strict=True):
            try:
                yield from replay.pieces(games, batch_size, group.first)
            except StarmineError as error:
                raise StarmineError(f"{self.files[group.file].path}, row group {group.group}: {error}") from error

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: not the games that are in memory."""
        return vars(self) | {"_latest": None}

    def __eq__(self, other: object) -> bool:
        """Whether both have the same fingerprint: equal games of equal files, wherever these are."""
        return self.fingerprint == other.fingerprint if isinstance(other, Dataset) else NotImplemented

    def __hash__(self) -> int:
        """Of the fingerprint."""
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        """Number of games and files."""
        return f"<Dataset of {len(self)} games in {len(self.files)} files: {self.variant}>"
