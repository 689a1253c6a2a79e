"""Verifies stored games: every game is played again by the rules, and every checksum is computed anew."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, endings
from starmine._util.durable import given_path
from starmine._util.equality import equal_by_value
from starmine._util.numbers import check_flags, check_threads
from starmine._util.progress import Progress, counted, progress_of
from starmine.data.arrow import pyarrow, pyarrow_compute, pyarrow_parquet, to_numpy
from starmine.data.end_reasons import ENDED_BY, ended_by_name, ended_by_of, site_scores_of, taken_back_of
from starmine.data.files import file_hash, files_of, refuse_other_format
from starmine.data.generation.configuration import MOST_SHARDS, players_of
from starmine.data.manifest import MANIFEST, read_manifest
from starmine.data.metadata import CONTENT, FORGED, Metadata
from starmine.data.outcomes import LEGAL, dealt, outcomes
from starmine.data.prefetch import ahead
from starmine.data.schema import as_schema, read_table, schema, shard_name
from starmine.data.table import ContentHash, GameTable

KEPT = 1000  # problems that are kept; all are counted
SHOWN = 20
REMADE = "`starmine generate` with the same options makes {} again"


@dataclass(frozen=True)
class Problem:
    """A difference between what a file says and what `verify` finds, for a game or a file.

    Attributes:
        file: the name of the file.
        row: the game's row in the file, from 0; None for the file as a whole.
        game: the stored number of the game; None for the file as a whole.
        what: the difference in words.
    """

    file: str
    row: int | None
    game: int | None
    what: str

    def __str__(self) -> str:
        """File, row, game and what does not hold."""
        place = "" if self.row is None else f", row {self.row}, game {self.game}"
        return f"{self.file}{place}: {self.what}"


@equal_by_value
@dataclass
class Verification:
    """The result of `verify`.

    Attributes:
        path: the folder or file.
        files: number of files.
        games: number of games that were played again.
        turns: number of their turns.
        problems: the first 1,000 problems.
        count: number of all problems.
    """

    path: Path
    files: int = 0
    games: int = 0
    turns: int = 0
    problems: list[Problem] = field(default_factory=list)
    count: int = 0

    @property
    def holds(self) -> bool:
        """Whether there is no problem."""
        return self.count == 0

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        self.count += 1
        if len(self.problems) < KEPT:
            self.problems.append(problem)

    def __str__(self) -> str:
        """A line for each of the first problems, and one for the whole."""
        lines = [str(problem) for problem in self.problems[:SHOWN]]
        if self.count > len(lines):
            lines.append(f"and {self.count - len(lines):,} more")
        held = "all hold" if self.holds else counted(self.count, "problem")
        whole = ", ".join([counted(self.files, "file"), counted(self.games, "game"), counted(self.turns, "turn")])
        return "\n".join([*lines, f"{self.path}: {whole}: {held}"])


def verify(
    path: str | os.PathLike[str], *, deal: bool = False, num_threads: int | None = None, progress: bool = False
) -> Verification:
    """Play stored games again and compare all that is stored of them.

    Of each game: its number, its deck, who starts, the actions, its length, score, fireworks and ending, and who
    plays. Of each file: its metadata, the number of its games, and its checksums; of a folder: that no shard is
    missing. Games that were not generated here, but converted, lack some of these.

    Args:
        path: a folder of shards, or one file.
        deal: also deal the games anew from seed, index and episode.
        num_threads: for the games; None for one for each core.
        progress: show the progress on standard error.

    Raises:
        ImportError: pyarrow is missing.
        TypeError: `num_threads` is not an integer, or `deal` neither True nor False.
        StarmineError: there are no games, or `num_threads` is not allowed.
    """
    pyarrow()
    path = given_path("path", path)
    check_flags(deal=deal)
    num_threads = check_threads(num_threads)
    files = game_files(path)
    found = Verification(path, len(files))
    footers = {file.name: _footer(file) for file in files}
    with progress_of(sum(rows for rows, _ in footers.values()), 0, shown=progress) as shown:
        manifest = _entries(path) if path.is_dir() else None
        entries = {} if manifest is None else manifest
        last: int | None = None
        for file in files:
            last = _File(file, found, deal, num_threads, shown).check(entries.get(file.name), last)
    if path.is_dir():
        known = {name: metadata for name, (_, metadata) in footers.items()}
        _check_names(known, entries, found)
        _check_manifest(path, known, manifest, found)
    return found


def game_files(path: Path) -> list[Path]:
    """The files of games of a folder, or the file itself."""
    try:
        if not path.exists():
            raise StarmineError(f"there is no file or folder {str(path)!r}")
        refuse_other_format(path)
        files = files_of(path)
    except OSError as error:
        raise StarmineError(f"{str(path)!r} cannot be read ({error.strerror})") from error
    if not files:
        raise StarmineError(f"{str(path)!r} holds no games: expected a folder of Parquet files, or one")
    return files


class _File:
    """The check of one file."""

    def __init__(self, path: Path, found: Verification, deal: bool, num_threads: int, shown: Progress) -> None:
        self.path, self.found, self.deal, self.num_threads, self.shown = path, found, deal, num_threads, shown
        self.contents = ContentHash()
        self.games = 0

    def check(self, entry: dict[str, Any] | None, last: int | None) -> int | None:
        """Check the file, given its entry in the manifest and the number of the last game of the file before.

        Returns the number of its last game.
        """
        try:
            if entry is not None and file_hash(self.path) != (entry.get("bytes"), entry.get("sha256")):
                self._tell(f"its bytes do not have the checksum in {MANIFEST}")
            with pyarrow_parquet().ParquetFile(self.path, page_checksum_verification=True) as file:
                stored = file.metadata.metadata or {}
                metadata = Metadata.of_file(file)
                last = self._check_first(metadata, last)
                rules, groups = metadata.variant, range(file.num_row_groups)
                names = schema(rules, file.schema_arrow.names).names
                tables = (as_schema(file.read_row_group(group, names), rules) for group in groups)
                for table in ahead(tables):
                    games = read_table(self._with_lengths(table), rules)
                    last = self._check_games(games, metadata, last)
            self._check_whole(metadata, stored.get(CONTENT), entry)
        except (pyarrow().ArrowException, StarmineError, OSError, *FORGED) as error:
            self._tell(f"it cannot be read ({' '.join(str(error).split())})")
        return last

    def _check_first(self, metadata: Metadata, last: int | None) -> int | None:
        """Check the metadata; the number of the game before the file's first one."""
        configuration = metadata.extra.get("configuration")
        if metadata.shard is None:
            return None  # a file of its own, whose games are numbered on their own
        if configuration is None:
            return last
        if self.path.name.startswith("shard-") and self.path.name != shard_name(metadata.shard):
            self._tell(f"it is shard {metadata.shard} by its metadata")
        return int(metadata.shard * configuration["shard_size"]) - 1

    def _with_lengths(self, table: Any) -> Any:
        """A row group with the lengths that its actions have; games with others are named."""
        names = table.schema.names
        if not {"game", "actions", "length"} <= set(names):
            return table  # which is refused
        lengths = pyarrow_compute().binary_length(table["actions"])
        wrong = np.flatnonzero(to_numpy(table["length"].combine_chunks()) != to_numpy(lengths.combine_chunks()))
        for row in wrong.tolist():
            what = f"length is {table['length'][row]}: expected {lengths[row]}, the number of actions"
            self.found.add(Problem(self.path.name, self.games + row, table["game"][row].as_py(), what))
        if len(wrong) == 0:
            return table
        return table.set_column(names.index("length"), table.schema.field("length"), lengths.cast("uint16"))

    def _check_games(self, games: GameTable, metadata: Metadata, last: int | None) -> int | None:
        """Check the games of a row group; the number of the last one."""
        self.contents.update(games)
        if len(games) == 0:
            return last
        expected = np.arange(len(games), dtype=np.uint64) + (games.game[0] if last is None else np.uint64(last + 1))
        self._compare("game number", games, games.game, expected)
        played = outcomes(games.trajectories, self.num_threads)
        broken = played.problems != LEGAL
        for row in np.flatnonzero(broken).tolist():
            self._tell(played.describe(row, games.trajectories), row, games)
        for name, stored, replayed in (
            ("score", games.scores, played.scores),
            ("fireworks", games.fireworks, played.fireworks),
        ):
            self._compare(name, games, stored, replayed, ~broken)
        self._compare("ending", games, games.endings, played.endings, ~broken, _ending)
        self._check_told(games, ~broken)
        self._check_taken_back(games, ~broken)
        self._check_players(games, metadata)
        if self.deal:
            self._check_deal(games)
        self.games += len(games)
        self.found.games += len(games)
        self.found.turns += len(games.trajectories.actions)
        self.shown(len(games), self.path.name)
        return int(games.game[-1])

    def _check_told(self, games: GameTable, legal: NDArray[np.bool_]) -> None:
        """Compare why the games ended, and the site's scores, with what the rules say."""
        if games.ended_by is None:
            return
        some, expected = games[legal], games.ended_by.copy()
        records = ("",) * len(some) if some.site_records is None else tuple(some.site_records.tolist())
        expected[legal] = ended_by_of(some.trajectories, some.endings, expected[legal], records)
        self._compare("ended_by", games, games.ended_by, expected, show=_reason)
        if games.site_scores is not None:
            scores = site_scores_of(games.scores, games.endings, expected)
            self._compare("site score", games, games.site_scores, scores, legal)

    def _check_taken_back(self, games: GameTable, legal: NDArray[np.bool_]) -> None:
        """Play the moves that were taken back: before each was taken back, the game was legal too."""
        if games.taken_back is None:
            return
        for row in np.flatnonzero(legal & (games.taken_back != "")).tolist():
            try:
                _play_taken_back(games, row)
            except StarmineError as error:
                self._tell(f"its moves that were taken back do not hold ({error})", row, games)

    def _check_players(self, games: GameTable, metadata: Metadata) -> None:
        """Check who plays, and of generated games where they come from and that they have ended."""
        table = len(metadata.players)
        for row in np.flatnonzero(((games.players < 0) | (games.players >= table)).any(axis=1)).tolist():
            self._tell(f"players are {games.players[row].tolist()}: expected rows of a table of {table}", row, games)
        configuration = metadata.extra.get("configuration")
        if configuration is None:
            return
        weights, seed = configuration["weights"], configuration["seed"]
        tables = [table["players"] for table in configuration["tables"]]
        expected = players_of(tables, weights, metadata.variant.players, seed, games.game)
        self._compare("players", games, games.players, expected)
        rows = np.arange(len(games))
        for name, value in (("seed", seed), ("index", games.game), ("episode", 0)):
            column = getattr(games, name)
            if column is None:
                self._tell(f"there is no {name}")
            else:
                self._compare(name, games, column, np.broadcast_to(np.asarray(value, np.uint64), rows.shape))
        for row in np.flatnonzero(games.endings == 0).tolist():
            self._tell("the game has not ended", row, games)

    def _check_deal(self, games: GameTable) -> None:
        """Compare decks and first players with those of the seeds."""
        if games.seed is None or games.index is None or games.episode is None:
            self._tell("seed, index or episode is missing: its games cannot be dealt")
            return
        for row in np.flatnonzero(games.episode != 0).tolist():
            self._tell(f"episode is {games.episode[row]}: only episode 0 can be dealt here", row, games)
        played, first_episode = games.trajectories, games.episode == 0
        decks, first = played.decks.copy(), played.start_players.copy()
        for seed in np.unique(games.seed[first_episode]).tolist():
            rows = first_episode & (games.seed == seed)
            index, place = np.unique(games.index[rows], return_inverse=True)
            decks[rows], first[rows] = (column[place] for column in dealt(games.variant, seed, index, self.num_threads))
        self._compare("deck", games, played.decks, decks)
        self._compare("first player", games, played.start_players, first)

    def _check_whole(self, metadata: Metadata, written: bytes | None, entry: dict[str, Any] | None) -> None:
        """Check the number of games and the checksum of all of them."""
        contents = self.contents.hexdigest()
        if written is not None and written.decode(errors="replace") != contents:
            self._tell("its games do not have the checksum in its metadata")
        if entry is not None and entry.get("content") != contents:
            self._tell(f"its games do not have the checksum in {MANIFEST}")
        configuration = metadata.extra.get("configuration")
        if configuration is not None and metadata.shard is not None:
            size, games = configuration["shard_size"], configuration["games"]
            expected = max(0, min(size, games - metadata.shard * size))
            if self.games != expected:
                self._tell(f"it holds {self.games} games: expected {expected}")

    def _compare(
        self,
        name: str,
        games: GameTable,
        stored: NDArray[Any],
        expected: NDArray[Any],
        where: NDArray[np.bool_] | None = None,
        show: Any = None,
    ) -> None:
        """Name the games of which a column is not as expected."""
        wrong = (stored != expected).reshape(len(games), -1).any(axis=1)
        for row in np.flatnonzero(wrong if where is None else wrong & where).tolist():
            text = show or (lambda value: str(value.tolist()))
            what = f"{name} is {text(stored[row])}: expected {text(expected[row])}"
            self._tell(what, row, games)

    def _tell(self, what: str, row: int | None = None, games: GameTable | None = None) -> None:
        if row is None or games is None:
            self.found.add(Problem(self.path.name, None, None, what))
        else:
            self.found.add(Problem(self.path.name, self.games + row, int(games.game[row]), what))


def _play_taken_back(games: GameTable, row: int) -> None:
    """Play a game as it was before each time that moves were taken back.

    The last time left the first turns of the game that is stored, the time before it those of the game before, and so
    on.
    """
    assert games.taken_back is not None
    played = games.trajectories
    line = played.actions[played.offsets[row] : played.offsets[row + 1]].tolist()
    for entry in reversed(taken_back_of(str(games.taken_back[row]))):
        if entry["turn"] > len(line):
            raise StarmineError(f"after turn {entry['turn']} of {len(line)}")
        line = [*line[: entry["turn"]], *entry["actions"]]
        state = games.state(row, 0)
        for action in line:
            state.apply(action)


def _reason(code: Any) -> str:
    return repr(ended_by_name(int(code))) if code <= len(ENDED_BY) else f"none (code {code})"


def _ending(code: Any) -> str:
    known = endings()
    return repr(known[code - 1]) if 1 <= code <= len(known) else f"none (code {code})"


def _entries(folder: Path) -> dict[str, Any] | None:
    """The entries of the manifest; None where it is missing or damaged."""
    try:
        found = read_manifest(folder)
    except OSError as error:
        raise StarmineError(f"{str(folder / MANIFEST)!r} cannot be read ({error.strerror})") from error
    return None if found is None else dict(found["shards"])


def _check_names(known: dict[str, Metadata | None], manifest: dict[str, Any], found: Verification) -> None:
    """Name the shards that are missing, given the metadata of the files that are not."""
    most = max(map(_shards, known.values()))
    expected = set(manifest).union(shard_name(shard) for shard in range(most))
    for name in sorted(expected - known.keys()):
        found.add(Problem(name, None, None, "the file is missing"))


def _check_manifest(
    folder: Path, known: dict[str, Metadata | None], manifest: dict[str, Any] | None, found: Verification
) -> None:
    """Tell if the bytes of files could not be compared, where a manifest was written with them."""
    extras = [metadata.extra for name, metadata in known.items() if metadata and name not in (manifest or {})]
    generated = sum("configuration" in extra for extra in extras)
    if (folder / MANIFEST).exists() and manifest is None:
        what = "it is damaged"
    elif generated or any("evaluation" in extra for extra in extras):
        what = "it is missing" if manifest is None else f"it lacks {counted(len(extras), 'file')}"
    else:
        return
    again = f"; {REMADE.format('it')}" if generated else ""
    found.add(Problem(MANIFEST, None, None, f"{what}: the checksums of bytes were not compared{again}"))


def _shards(metadata: Metadata | None) -> int:
    """The number of shards of a file's data set; 0 where that is not known."""
    shards = 0 if metadata is None else metadata.shards or 0
    return shards if metadata and "configuration" in metadata.extra and shards <= MOST_SHARDS else 0


def _footer(path: Path) -> tuple[int, Metadata | None]:
    """The number of a file's games and its metadata; 0 and None where they cannot be read."""
    try:
        footer = pyarrow_parquet().read_metadata(path)
        return footer.num_rows, Metadata.of(footer.metadata)
    except (pyarrow().ArrowException, StarmineError, ValueError, OSError):
        return 0, None
