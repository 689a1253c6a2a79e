"""The folder that stores an evaluation, and from which an interrupted one is resumed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from starmine._core import StarmineError
from starmine._util.durable import (
    DamagedFileError,
    FolderBusyError,
    FolderLock,
    new_run_id,
    replace_file,
    seal_json,
    unseal_json,
)
from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.games_file import EMPTY, GamesFile
from starmine.evaluation.results import Settings, without_nan
from starmine.games.identity import Identity

FILES = RESULTS, ROWS, FIGURE, GAMES = "eval.json", "eval.csv", "eval.png", "eval-games.npy"
START_OVER = "choose another folder, or start over with --fresh (fresh=True)"


def shape_of(settings: Settings) -> tuple[int, int, int, int]:
    """The shape of `Evaluation.outcomes`."""
    return len(settings.entrants), len(settings.entrants), 4, settings.games


def new_evaluation(settings: Settings, outcomes: Any) -> Evaluation:
    """An evaluation without any games yet, which will be stored in `outcomes`."""
    cells = shape_of(settings)[:2]
    return Evaluation(settings, outcomes, np.zeros(cells, dtype=np.int64), np.zeros(cells))


def allocate_outcomes(settings: Settings) -> Any:
    """An array in memory for the single games."""
    shape = shape_of(settings)
    try:
        return np.zeros(shape, dtype=np.int16)
    except (MemoryError, ValueError, OverflowError) as error:
        raise StarmineError(
            f"games={settings.games} among {shape[0]} entrants is not allowed: expected as many as memory holds"
        ) from error


class Folder:
    """The files of an evaluation: statistics as JSON and CSV, single games, and a picture.

    The folder is locked while it is open. The JSON is replaced, as a whole, after the games that it counts have reached
    the disk, so that the folder can be resumed from at any moment. It holds the run id that also ends the file of
    games, a checksum of the games that it counts, and a checksum of itself.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: FolderLock | None = None
        self._games: GamesFile | None = None
        self._run = ""

    def open(self, settings: Settings, fresh: bool) -> Evaluation:
        """Lock the folder; the stored evaluation, or a new one.

        Raises:
            StarmineError: the folder is in use or holds an evaluation with other settings, or it cannot be written.
        """
        with self._writable():
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(self.path)
        try:
            if not fresh and any((self.path / name).exists() for name in FILES):
                return self._resume(settings)
            return self._begin(settings)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the files and release the lock."""
        if self._games is not None:
            self._games.close()
        if self._lock is not None:
            self._lock.release()

    def _begin(self, settings: Settings) -> Evaluation:
        """A new evaluation; the JSON without games, which comes first, makes the games of an earlier one void."""
        evaluation = new_evaluation(settings, allocate_outcomes(settings))
        self._run = new_run_id()
        self._save_json(evaluation)
        with self._writable():
            self._games = GamesFile.create(self.path / GAMES, evaluation.outcomes, self._run)
            for name in (ROWS, FIGURE):
                (self.path / name).unlink(missing_ok=True)
        return evaluation

    def _resume(self, settings: Settings) -> Evaluation:
        try:
            found = unseal_json((self.path / RESULTS).read_text(encoding="utf-8"))
            expected = json.loads(json.dumps(settings.to_dict()))
            differences = list(differing(found["settings"], expected, settings.identities))
            if not differences and not any(pairing["games"] for pairing in found["pairings"]):
                return self._begin(settings)
            if not differences:
                outcomes = allocate_outcomes(settings)
                evaluation = self._read(found["pairings"], settings, outcomes)
                self._run = found["run"]
                self._games = GamesFile.open(self.path / GAMES, outcomes, evaluation.played, self._run)
                if self._games.checksums != [pairing["checksum"] for pairing in found["pairings"]]:
                    raise DamagedFileError(f"{GAMES} does not hold the games that {RESULTS} counts")
                return evaluation
        except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError) as error:
            if isinstance(error, StarmineError):
                raise
            raise StarmineError(
                f"output={str(self.path)!r} holds no evaluation that can go on "
                f"({type(error).__name__}: {error}): {START_OVER}"
            ) from error
        raise StarmineError(
            f"output={str(self.path)!r} holds another evaluation, with {'; '.join(differences[:3])}: {START_OVER}"
        )

    def _read(self, pairings: list[dict[str, Any]], settings: Settings, outcomes: Any) -> Evaluation:
        shape = shape_of(settings)
        if len(pairings) != shape[0] * shape[1]:
            raise ValueError(f"{RESULTS} has {len(pairings)} pairings, expected {shape[0] * shape[1]}")
        evaluation = new_evaluation(settings, outcomes)
        evaluation.played[:] = np.array([pairing["games"] for pairing in pairings]).reshape(shape[:2])
        evaluation.seconds[:] = np.array([pairing["seconds"] for pairing in pairings]).reshape(shape[:2])
        if evaluation.played.min() < 0 or evaluation.played.max() > settings.games:
            raise ValueError(f"{RESULTS} counts more games than the {settings.games} of a pairing")
        for index, pairing in enumerate(pairings):
            if pairing["failures"]:
                evaluation.failures[divmod(index, shape[0])] = list(pairing["failures"])
        return evaluation

    def save(self, evaluation: Evaluation) -> None:
        """Write the games played so far.

        Raises:
            StarmineError: the folder cannot be written. What was saved before is still there.
        """
        assert self._games is not None
        with self._writable():
            self._games.save(evaluation.played)
        self._save_json(evaluation)

    def _save_json(self, evaluation: Evaluation) -> None:
        found = evaluation.to_dict()
        checksums = self._games.checksums if self._games else [EMPTY] * len(found["pairings"])
        for pairing, checksum in zip(found["pairings"], checksums, strict=True):
            pairing["checksum"] = checksum
        data = seal_json({"run": self._run, **found}).encode()
        with self._writable():
            replace_file(self.path / RESULTS, data)

    def finish(self, evaluation: Evaluation, figure: bool) -> None:
        """Write the CSV file and the picture.

        Raises:
            StarmineError: the folder cannot be written.
        """
        with self._writable():
            replace_file(self.path / ROWS, rows(evaluation).encode())
            if figure:
                evaluation.draw(self.path / FIGURE)

    @contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except FolderBusyError as error:
            raise StarmineError(f"output={error}: expected another folder, or the end of that process") from error
        except OSError as error:
            raise StarmineError(
                f"output={str(self.path)!r} cannot be written ({error.strerror or error}): "
                "expected a folder that can be, or none to print only"
            ) from error


def rows(evaluation: Evaluation) -> str:
    """A CSV line for each pairing; nan is an empty field."""
    found = [without_nan(pairing.row()) for pairing in evaluation.pairings]
    text = io.StringIO()
    writer = csv.DictWriter(text, found[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue()


def differing(found: dict[str, Any], expected: dict[str, Any], identities: dict[str, Identity]) -> Iterator[str]:
    """The differences between stored and expected settings, as text."""
    for key, value in expected.items():
        if key == "entrants":
            yield from other_names(found[key], value)
        elif key == "identities":
            yield from other_players(found, expected, identities)
        elif key == "variant":
            was = found[key]
            yield from (
                f"{name} {was.get(name)!r} instead of {now!r}" for name, now in value.items() if was.get(name) != now
            )
        elif found.get(key) != value:
            yield f"{key} {found.get(key)!r} instead of {value!r}"


def other_names(found: dict[str, str], expected: dict[str, str]) -> Iterator[str]:
    """The difference between the names of stored and expected entrants, as text."""
    if found.keys() != expected.keys():
        yield f"entrants {listed(found)} instead of {listed(expected)}"
    elif list(found) != list(expected):
        yield f"entrants in the order {listed(found)}"


def other_players(found: dict[str, Any], expected: dict[str, Any], identities: dict[str, Identity]) -> Iterator[str]:
    """The entrants that are or may be other players than those that were stored, as text."""
    for name, identity in identities.items():
        was = found.get("identities", {}).get(name)
        if name not in found["entrants"] or (was == identity.text and was is not None):
            continue
        kind, now = found["entrants"][name], expected["entrants"][name]
        if kind != now:
            yield f"entrants {listed(found['entrants'])} instead of {listed(expected['entrants'])}"
            return
        elif was is None or identity.text is None:
            yield f"{listed({name: now})}, which may be another player now: {identity.problem or 'it was unknown'}"
        else:
            yield f"another {listed({name: now})}: its weights, its source or its state have changed"


def listed(entrants: dict[str, str]) -> str:
    """The entrants' names, each with its bot or type if that differs."""
    shown = [name if name == kind else f"{name} ({kind})" for name, kind in entrants.items()]
    return ", ".join(shown)
