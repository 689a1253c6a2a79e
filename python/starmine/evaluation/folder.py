"""The folder of an evaluation: a data set of its games, and what is computed from them as JSON, CSV and a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from starmine._core import StarmineError
from starmine._util.durable import DamagedFileError, FolderLock, remove_parts, replace_file
from starmine.data.files import GamesFile, files_of, writable, write_file
from starmine.data.metadata import EVALUATION, FORGED, Metadata, differences
from starmine.data.schema import SHARD, shard_name
from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.report import csv_of_table, csv_text
from starmine.evaluation.settings import Cell, Settings
from starmine.games.games import Games
from starmine.games.identity import UNKNOWN, Identity

EFFORT = "pairings"  # key in `Metadata.extra` of the seconds and fallbacks of a file's games
RESULTS, ROWS, TABLE, FIGURE = "eval.json", "eval.csv", "table.csv", "eval.png"
REPORTED = ("hold_out", "methods", "assumed")  # settings that change what is reported of the games
GROWING = ("evaluated", "partners")  # settings whose players may become more
START_OVER = "choose another folder, or start over with --fresh (fresh=True)"


class Folder:
    """The folder, which is locked while it is open.

    Each `save` writes the games since the previous one as one complete file. After an interruption, the evaluation goes
    on from these files. The metadata of a file hold the settings, and the time and the moves of fallbacks of its games.

    Args:
        path: of the folder.
        settings: of the evaluation.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path, self.settings = path, settings
        self._lock: FolderLock | None = None
        # The number of the next file, the number of its first game, and its games with their effort. These change
        # together: an interruption between two assignments would store games twice.
        self._next: tuple[int, int, list[tuple[Games, Cell, float, int]]] = (0, 0, [])

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
                for path in files_of(self.path) if fresh else ():
                    path.unlink()
            return self._read()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.release()

    def _refuse_other_games(self) -> None:
        """Refuse a folder that holds games of anything but an evaluation. Such files are never overwritten."""
        for path in files_of(self.path):
            try:
                is_other = not GamesFile.open(path).metadata.is_evaluation
            except DamagedFileError:
                is_other = not path.name.startswith("shard-")
            except StarmineError:
                is_other = True
            if is_other:
                raise StarmineError(f"output={str(self.path)!r} holds other games ({path.name}): choose another folder")

    def _read(self) -> Evaluation:
        """The evaluation with the stored games. The files may have fewer players than the settings."""
        evaluation, paths = Evaluation(self.settings), files_of(self.path)
        try:
            files = [GamesFile.open(path) for path in paths]
            for file in files[-1:]:  # the files before it may have fewer players
                stored = file.metadata.extra[EVALUATION]
                if different := list(differing(stored, self.settings.to_dict(), self.settings.identities)):
                    raise StarmineError(
                        f"output={str(self.path)!r} holds another evaluation, with {'; '.join(different[:3])}: "
                        f"{START_OVER}"
                    )
            for file in files:
                for games in file.pieces():
                    evaluation.add(games)
                names = [evaluation.names.index(player.name) for player in file.metadata.roster]
                for told in file.metadata.extra[EFFORT]:
                    player, partner = (names[row] for row in told["cell"])
                    evaluation.add_effort((player, partner), told["seconds"], told.get("fallbacks", 0))
        except (*FORGED, OSError, EOFError) as error:
            if type(error) is StarmineError:
                raise
            raise StarmineError(
                f"output={str(self.path)!r} holds no evaluation that can go on "
                f"({type(error).__name__}: {error}): {START_OVER}"
            ) from error
        if files:
            number = 1 + max(file.metadata.shard or 0 for file in files)
            self._next = number, sum(sum(file.sizes) for file in files), []
        evaluation.stored = sum(int(evaluation.played(cell).sum()) for cell in self.settings.cells)
        return evaluation

    @property
    def is_full(self) -> bool:
        """Whether the unsaved games fill a file."""
        return sum(len(games) for games, *_ in self._next[2]) >= SHARD

    def add(self, games: Games, cell: Cell, seconds: float, fallbacks: int) -> None:
        """Add games of a pairing, which are in memory until they are saved.

        Args:
            games: the games.
            cell: the pairing.
            seconds: that they took.
            fallbacks: number of their moves that fallbacks of chat players chose.
        """
        self._next[2].append((games, cell, seconds, fallbacks))

    def save(self) -> None:
        """Write the games that are not saved yet.

        Raises:
            StarmineError: the folder cannot be written. What was saved before is still there.
        """
        shard, first, parts = self._next
        if not parts:
            return
        games = Games.concatenate([part for part, *_ in parts])
        games = replace(games, number=np.arange(first, first + len(games), dtype=np.uint64))
        effort: dict[Cell, dict[str, Any]] = {}
        for _, cell, seconds, fallbacks in parts:
            of_cell = effort.setdefault(cell, {"cell": list(cell), "seconds": 0.0, "fallbacks": 0})
            of_cell["seconds"] += seconds
            of_cell["fallbacks"] += fallbacks
        extra = {EVALUATION: self.settings.to_dict(), EFFORT: list(effort.values())}
        metadata = Metadata(self.settings.variant, self.settings.roster, self.settings.seed, shard, extra=extra)
        with writable(self.path):
            write_file(self.path / shard_name(shard), metadata, games)
        self._next = shard + 1, first + len(games), []

    def finish(self, evaluation: Evaluation, figure: bool) -> None:
        """Write the statistics, the tables and the picture.

        Raises:
            StarmineError: the folder cannot be written.
        """
        with writable(self.path):
            text = json.dumps(evaluation.to_dict(), indent=1, allow_nan=False) + "\n"
            replace_file(self.path / RESULTS, text.encode())
            rows = csv_text([pairing.row() for pairing in evaluation.pairings])
            replace_file(self.path / ROWS, rows.encode())
            replace_file(self.path / TABLE, csv_of_table(evaluation).encode())
            if figure:
                evaluation.draw(self.path / FIGURE)
            else:
                (self.path / FIGURE).unlink(missing_ok=True)  # it may be of other players


def differing(before: dict[str, Any], expected: dict[str, Any], identities: dict[str, Identity]) -> Iterator[str]:
    """The differences between stored and expected settings, as text. Players may be added."""
    stored, players = before["players"], expected["players"]
    if not stored.keys() <= players.keys():
        yield f"players {', '.join(stored)} instead of {', '.join(players)}: players can be added, not left out"
    same = {key: value for key, value in expected.items() if key not in ("players", "identities", *REPORTED)}
    same["cheaters"] = [name for name in expected["cheaters"] if name in stored]
    for key in GROWING:
        if before[key] and set(before[key]) <= set(expected[key]):
            same[key] = before[key]
    yield from differences({key: before.get(key) for key in same}, same)
    for name in [name for name in players if name in stored]:
        was, identity = before["identities"].get(name), identities[name]
        if was is None or identity.text is None:
            yield f"{name}, which may be another player now: {identity.problem or UNKNOWN}"
        elif was != identity.text:
            yield f"another {name}: its text, its weights, its file or its version have changed"
