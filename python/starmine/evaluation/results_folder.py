"""The folder of an evaluation: a data set of its games, and the statistics that are derived from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError
from starmine._util.durable import (
    DamagedFileError,
    FolderLock,
    remove_parts,
    replace_file,
)
from starmine.data.files import Entry, GamesFile, file_hash, files_of, write_file
from starmine.data.manifest import MANIFEST, differences, read_manifest, writable, write_manifest
from starmine.data.metadata import FORGED, Metadata
from starmine.data.outcomes import outcomes
from starmine.data.schema import SHARD, shard_name
from starmine.data.table import GameTable
from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.pairings import Cell, Settings, pairings_of
from starmine.evaluation.report import csv_of_table, csv_text
from starmine.evaluation.results import FAILURES_KEPT
from starmine.evaluation.statistics import FAILED
from starmine.games.identity import Identity
from starmine.games.results import Games

KEY = "evaluation"  # of the settings in the metadata of a file of games
RESULTS, ROWS, TABLE, FIGURE = "eval.json", "eval.csv", "table.csv", "eval.png"
REPORTED = ("hold_out", "methods")  # settings that change what is reported of the games
GROWING = ("evaluated", "partners")  # settings whose players may become more
START_OVER = "choose another folder, or start over with --fresh (fresh=True)"


class Folder:
    """A data set of the games of an evaluation, with statistics as JSON and CSV, and a picture.

    The folder is locked while it is open. Each call of `save` adds a file of games, as a whole, and then the manifest
    that names it with its checksum, so that the folder can be resumed from at any moment. A file's metadata hold the
    settings, and the time, the failures and the moves of fallbacks of its games, of which the statistics are made.

    Args:
        path: of the folder.
        settings: of the evaluation.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path, self.settings = path, settings
        self._configuration = settings.to_dict()
        self._lock: FolderLock | None = None
        self._entries: dict[str, Entry] = {}
        self._unsaved: list[GameTable] = []
        self._told: dict[Cell, dict[str, Any]] = {}  # seconds, failures and fallbacks of the unsaved games
        self._games = 0  # number of games in the files and unsaved

    def open(self, fresh: bool) -> Evaluation:
        """Lock the folder; the stored evaluation, or a new one.

        Raises:
            StarmineError: the folder is in use or holds other games, or it cannot be written.
        """
        with writable(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(self.path)
        try:
            with writable(self.path):
                self._refuse_other_games()
                remove_parts(self.path)
            is_new = not any((self.path / name).exists() for name in (RESULTS, MANIFEST)) and not files_of(self.path)
            return self._begin() if fresh or is_new else self._resume()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.release()

    def _refuse_other_games(self) -> None:
        """Refuse a folder with files that are not those of an evaluation, which nothing may replace."""
        manifest = read_manifest(self.path) or {}
        ours = manifest.get("shards", {}) if "evaluated" in manifest.get("configuration", {}) else {}
        for path in files_of(self.path):
            if path.name in ours:
                continue
            try:
                is_other = KEY not in GamesFile.open(path).metadata.extra
            except DamagedFileError:
                is_other = not path.name.startswith("shard-")
            except StarmineError:
                is_other = True
            if is_other:
                raise StarmineError(f"output={str(self.path)!r} holds other games ({path.name}): choose another folder")

    def _begin(self) -> Evaluation:
        """A new evaluation; the manifest without files, which comes first, makes those of an earlier one void."""
        evaluation = Evaluation.begin(self.settings)
        with writable(self.path):
            write_manifest(self.path, self._configuration, {})
            written = (RESULTS, ROWS, TABLE, FIGURE)
            self._remove([*files_of(self.path), *(self.path / name for name in written)])
        return evaluation

    def _resume(self) -> Evaluation:
        try:
            manifest = read_manifest(self.path)
            if manifest is None:
                raise DamagedFileError(f"{MANIFEST} is missing or damaged")
            differences = list(differing(manifest["configuration"], self._configuration, self.settings.identities))
            if not differences:
                self._entries = dict(manifest["shards"])
                if not self._entries:
                    return self._begin()
                evaluation = evaluation_of(self.path, self._entries, self.settings)
                with writable(self.path):  # files of a process that was killed before it wrote the manifest
                    self._remove([path for path in files_of(self.path) if path.name not in self._entries])
                self._games = int(evaluation.played.sum())
                return evaluation
        except (*FORGED, OSError, EOFError) as error:
            if type(error) is StarmineError:
                raise
            raise StarmineError(
                f"output={str(self.path)!r} holds no evaluation that can go on "
                f"({type(error).__name__}: {error}): {START_OVER}"
            ) from error
        raise StarmineError(
            f"output={str(self.path)!r} holds another evaluation, with {'; '.join(differences[:3])}: {START_OVER}"
        )

    def _remove(self, paths: list[Path]) -> None:
        for path in paths:
            path.unlink(missing_ok=True)

    @property
    def is_full(self) -> bool:
        """Whether the unsaved games fill a file."""
        return sum(map(len, self._unsaved)) >= SHARD

    def add(self, cell: Cell, seat: int, start: int, games: Games, seconds: float, fallbacks: int) -> None:
        """Add the next games of a pairing, which are in memory until they are saved.

        Args:
            cell: of the pairing.
            seat: of the player; its partner holds the others.
            start: index of the first game.
            games: the games, with their trajectories.
            seconds: that they took.
            fallbacks: number of their moves that fallbacks of chat players chose.
        """
        players, count = self.settings.variant.players, len(games)
        scores: NDArray[Any] = games.scores
        fireworks: NDArray[Any] = games.fireworks
        if games.failures:  # a game that was given up has the score of its last turn
            known = outcomes(games.trajectories, 1)
            scores, fireworks = known.scores, known.fireworks
        index = np.arange(start, start + count, dtype=np.uint64)
        seats = [cell[0] if place == seat else cell[1] for place in range(players)]
        table = GameTable(
            games.trajectories,
            game=np.arange(self._games, self._games + count, dtype=np.uint64),
            seed=np.full(count, self.settings.seed, np.uint64),
            index=index,
            episode=np.zeros(count, np.uint64),
            scores=scores.astype(np.uint8),
            fireworks=fireworks.astype(np.uint8),
            endings=games.endings.astype(np.uint8),
            players=np.tile(np.array(seats, np.int16), (count, 1)),
        )
        told = self._told.setdefault(cell, {"cell": list(cell), "seconds": 0.0, "failures": [], "fallbacks": 0})
        told["seconds"] += seconds
        told["failures"] = [*told["failures"], *map(str, games.failures)][:FAILURES_KEPT]
        told["fallbacks"] += fallbacks
        self._games += count
        self._unsaved.append(table)

    def save(self, evaluation: Evaluation) -> None:
        """Write the games that are not saved yet, and the statistics of all.

        Raises:
            StarmineError: the folder cannot be written. What was saved before is still there.
        """
        with writable(self.path):
            if self._unsaved:
                number = len(self._entries)
                players = [{"name": name, "hash": who.hash} for name, who in self.settings.identities.items()]
                extra = {KEY: self._configuration, "pairings": list(self._told.values())}
                metadata = Metadata(self.settings.variant, players, self.settings.seed, number, extra=extra)
                path = self.path / shard_name(number)
                tally = write_file(path, metadata, [GameTable.concatenate(self._unsaved)])
                self._entries[path.name] = tally.entry(path)
                self._unsaved, self._told = [], {}
                write_manifest(self.path, self._configuration, self._entries)
            text = json.dumps(evaluation.to_dict(), indent=1, allow_nan=False) + "\n"
            replace_file(self.path / RESULTS, text.encode())

    def finish(self, evaluation: Evaluation, figure: bool) -> None:
        """Write the pairings, the tables and the picture, and the manifest, since other settings may be reported.

        Raises:
            StarmineError: the folder cannot be written.
        """
        with writable(self.path):
            write_manifest(self.path, self._configuration, self._entries)
            rows = csv_text([pairing.row() for pairing in evaluation.pairings])
            replace_file(self.path / ROWS, rows.encode())
            replace_file(self.path / TABLE, csv_of_table(evaluation).encode())
            if figure:
                evaluation.draw(self.path / FIGURE)
            else:
                (self.path / FIGURE).unlink(missing_ok=True)  # it may be of other players


# --- Reading ----------------------------------------------------------------------------------------------


def evaluation_of(folder: Path, entries: dict[str, Entry], settings: Settings) -> Evaluation:
    """The evaluation of the games in some files, which may be of fewer players.

    Args:
        folder: of the files.
        entries: of the files in the manifest, by name.
        settings: of the evaluation.

    Raises:
        DamagedFileError: a file does not have the checksum of its entry.
        OSError: a file cannot be read.
    """
    evaluation = Evaluation.begin(settings)
    for name, entry in entries.items():
        path = folder / name
        if file_hash(path) != (entry["bytes"], entry["sha256"]):
            raise DamagedFileError(f"the bytes of {name} do not have the checksum in {MANIFEST}")
        file = GamesFile.open(path)
        rows = np.array([evaluation.names.index(player["name"]) for player in file.metadata.players], np.int16)
        for group in range(len(file.sizes)):
            games = file.games(group)
            assert games.index is not None
            player, partner = pairings_of(rows[games.players])
            columns = np.array([games.scores, games.fireworks, games.lengths, games.endings], np.int16)
            columns[:3, games.endings == FAILED] = -1  # as `Games` has them
            evaluation.outcomes[player, partner, :, games.index.astype(np.int64)] = columns.T
            np.add.at(evaluation.played, (player, partner), 1)
        for told in file.metadata.extra["pairings"]:
            one, other = rows[told["cell"]].tolist()
            if "calls" in told:  # of version 0.4, totals by chat player
                told["fallbacks"] = sum(totals["fallbacks"] for totals in told["calls"].values())
            evaluation.tell((one, other), told["seconds"], told["failures"], told["fallbacks"])
    return evaluation


# --- Texts ------------------------------------------------------------------------------------------------


def differing(before: dict[str, Any], expected: dict[str, Any], identities: dict[str, Identity]) -> Iterator[str]:
    """The differences between stored and expected settings, as text. Players may be added."""
    stored, players = before["players"], expected["players"]
    if not stored.keys() <= players.keys():
        yield f"players {listed(stored)} instead of {listed(players)}; players can be added, not left out"
    elif list(stored) != [name for name in players if name in stored]:
        yield f"players in the order {listed(stored)}"
    same = {key: value for key, value in expected.items() if key not in ("players", "identities", *REPORTED)}
    same["cheaters"] = [name for name in expected["cheaters"] if name in stored]
    for key in GROWING:
        if before[key] and set(before[key]) <= set(expected[key]):
            same[key] = before[key]
    yield from differences({key: before.get(key) for key in same}, same)
    yield from other_players(before, expected, identities)


def other_players(stored: dict[str, Any], expected: dict[str, Any], identities: dict[str, Identity]) -> Iterator[str]:
    """The players that differ, or may differ, from the stored players, as text."""
    for name, identity in identities.items():
        was = stored["identities"].get(name)
        if name not in stored["players"] or (was == identity.text and was is not None):
            continue
        kind, now = stored["players"][name], expected["players"][name]
        if kind != now:
            yield f"players {listed(stored['players'])} instead of {listed(expected['players'])}"
            return
        elif was is None or identity.text is None:
            yield f"{listed({name: now})}, which may be another player now: {identity.problem or 'it was unknown'}"
        else:
            yield f"another {listed({name: now})}: its weights, its file or its version have changed"


def listed(players: dict[str, str]) -> str:
    """The players' names, each with its bot or type if that differs."""
    shown = [name if name == kind else f"{name} ({kind})" for name, kind in players.items()]
    return ", ".join(shown)
