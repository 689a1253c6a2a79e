"""The folder that stores an evaluation, and from which an interrupted one is resumed."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from starmine._core import StarmineError
from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.results import Settings

FILES = RESULTS, ROWS, FIGURE, GAMES = "eval.json", "eval.csv", "eval.png", "eval-games.npy"
START_OVER = "choose another folder, or start over with --fresh (fresh=True)"


def shape_of(settings: Settings) -> tuple[int, int, int, int]:
    """The shape of `Evaluation.outcomes`."""
    return len(settings.entrants), len(settings.entrants), 4, settings.games


def new_evaluation(settings: Settings, outcomes: Any) -> Evaluation:
    """An evaluation without any games yet, which will be stored in `outcomes`."""
    cells = shape_of(settings)[:2]
    return Evaluation(settings, outcomes, np.zeros(cells, dtype=np.int64), np.zeros(cells))


class Folder:
    """The files of an evaluation: statistics as JSON and CSV, single games, and a picture.

    The JSON says how many games were played. It is replaced, as a whole, after these games have been written, so that
    the folder can be resumed from at any moment.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self, settings: Settings, fresh: bool) -> Evaluation:
        """The stored evaluation, or a new one.

        Raises:
            StarmineError: the folder holds an evaluation with other settings, or cannot be written.
        """
        with self._writable():
            self.path.mkdir(parents=True, exist_ok=True)
            if not fresh and any((self.path / name).exists() for name in FILES):
                return self._resume(settings)
            for name in FILES:
                (self.path / name).unlink(missing_ok=True)
            shape = shape_of(settings)
            outcomes = np.lib.format.open_memmap(self.path / GAMES, mode="w+", dtype=np.int16, shape=shape)
        evaluation = new_evaluation(settings, outcomes)
        self.save(evaluation)
        return evaluation

    def _resume(self, settings: Settings) -> Evaluation:
        try:
            found = json.loads((self.path / RESULTS).read_text(encoding="utf-8"))
            expected = json.loads(json.dumps(settings.to_dict()))
            differences = list(differing(found["settings"], expected))
            if not differences:
                # Opening for writing would extend a truncated file; opening for reading refuses it.
                np.lib.format.open_memmap(self.path / GAMES, mode="r")
                outcomes = np.lib.format.open_memmap(self.path / GAMES, mode="r+")
                return self._read(found["pairings"], settings, outcomes)
        except (ValueError, KeyError, TypeError, AttributeError, FileNotFoundError, EOFError) as error:
            raise StarmineError(
                f"output={str(self.path)!r} holds no evaluation that can go on "
                f"({type(error).__name__}: {error}): {START_OVER}"
            ) from error
        raise StarmineError(
            f"output={str(self.path)!r} holds another evaluation, with {'; '.join(differences[:3])}: {START_OVER}"
        )

    def _read(self, pairings: list[dict[str, Any]], settings: Settings, outcomes: Any) -> Evaluation:
        shape = shape_of(settings)
        if outcomes.shape != shape or outcomes.dtype != np.int16 or len(pairings) != shape[0] * shape[1]:
            raise ValueError(f"{GAMES} has shape {outcomes.shape}, expected {shape}")
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
            StarmineError: the folder cannot be written.
        """
        evaluation.outcomes.flush()  # type: ignore[attr-defined]
        text = json.dumps(without_nan(evaluation.to_dict()), indent=1, allow_nan=False)
        self._replace(RESULTS, lambda path: path.write_text(text + "\n", encoding="utf-8"))

    def finish(self, evaluation: Evaluation, figure: bool) -> None:
        """Write the CSV file and the picture.

        Raises:
            StarmineError: the folder cannot be written.
        """
        self._replace(ROWS, lambda path: write_rows(evaluation, path))
        if figure:
            self._replace(FIGURE, evaluation.draw)

    def _replace(self, name: str, write: Callable[[Path], Any]) -> None:
        """Write a file under another name and rename it."""
        aside = self.path / f"{name}.part"
        with self._writable():
            try:
                write(aside)
                os.replace(aside, self.path / name)
            finally:
                aside.unlink(missing_ok=True)

    @contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StarmineError(
                f"output={str(self.path)!r} cannot be written ({error.strerror or error}): "
                "expected a folder that can be, or none to print only"
            ) from error


def write_rows(evaluation: Evaluation, path: Path) -> None:
    """Write a CSV line for each pairing; nan is an empty field."""
    rows = [without_nan(pairing.row()) for pairing in evaluation.pairings]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def without_nan(value: Any) -> Any:
    """The value with None for nan and infinity, which JSON cannot represent."""
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def differing(found: Any, expected: Any, name: str = "") -> Iterator[str]:
    """The differences between stored and expected settings, as text."""
    if isinstance(found, dict) and isinstance(expected, dict) and name != "entrants":
        for key in expected:
            yield from differing(found.get(key), expected[key], key)
    elif name == "entrants" and found != expected:
        yield f"entrants {listed(found)} instead of {listed(expected)}"
    elif found != expected:
        yield f"{name} {found!r} instead of {expected!r}"
    elif name == "entrants" and list(found) != list(expected):
        yield f"entrants in the order {listed(found)}"


def listed(entrants: dict[str, str]) -> str:
    """The entrants' names, each with its bot or type if that differs."""
    shown = [name if name == kind else f"{name} ({kind})" for name, kind in entrants.items()]
    return ", ".join(shown)
