"""The file of a chat player's exchanges: a line of JSON each, and for a stored evaluation each game once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, fields
from typing import Any

from starmine._core import StarmineError
from starmine._util.durable import AppendedFile, given_path, replacing
from starmine.text.exchange import Exchange

KEYS = {field.name for field in fields(Exchange)}


class Transcript:
    """The file to which one chat player adds its exchanges.

    The file must be new or empty, or that of a stored evaluation, with which the same evaluation goes on (`go_on`).

    Args:
        path: of the file.

    Raises:
        StarmineError: the path is empty, the file holds anything but lines of a stored evaluation, or it cannot be made
            or read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = given_path("transcript", path)
        self._is_own = False  # whether this player has begun the file, or goes on with it
        try:
            if self.path.exists() and not self.path.is_file():
                raise self._refusal()
            AppendedFile(self.path).close()
            first = next(self._lines(), None)
            if first is not None and first["evaluation"] is None:
                raise self._refusal()
            self._is_own = first is None
        except OSError as error:
            raise self._unwritable(error) from error

    def add(self, exchange: Exchange) -> None:
        """Add a line.

        Raises:
            OSError: it cannot be written; the file has its earlier length.
        """
        line = json.dumps(asdict(exchange)) + "\n"  # ASCII: no character of a reply can end the line
        with closing(AppendedFile(self.path)) as file:
            file.write(line.encode())

    def check(self, evaluation: str | None) -> None:
        """Check that the player may add lines of an evaluation.

        Args:
            evaluation: the id of a stored evaluation; None for other games.

        Raises:
            StarmineError: the file existed, and has a line of something else.
        """
        if not self._is_own and not (evaluation and all(row["evaluation"] == evaluation for row in self._lines())):
            raise self._refusal()

    def go_on(self, evaluation: str, holds: Callable[[list[str], int], bool]) -> None:
        """Go on with the lines of a stored evaluation. Those of games that will be played again are removed.

        Args:
            evaluation: its id.
            holds: whether it holds a game, given the names of the players by seat and the number of the game.

        Raises:
            StarmineError: as `check`, or the file cannot be written; the earlier one is still there.
        """
        try:
            self.check(evaluation)
            with replacing(self.path) as file:
                for row in self._lines():
                    if row["evaluation"] != evaluation or holds(row["players"], row["game"]):
                        file.write(json.dumps(row).encode() + b"\n")
        except OSError as error:
            raise self._unwritable(error) from error
        self._is_own = True

    def _lines(self) -> Iterator[dict[str, Any]]:
        """The lines. One that a killed process has not ended is left out, unless it is the first."""
        with self.path.open("rb") as file:
            for number, line in enumerate(file):
                if number and not line.endswith(b"\n"):
                    return
                yield self._parsed(line)

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise self._refusal() from None
        if not isinstance(row, dict) or row.keys() != KEYS:
            raise self._refusal()
        return row

    def _unwritable(self, error: OSError) -> StarmineError:
        return StarmineError(f"transcript={str(self.path)!r} cannot be written ({error.strerror})")

    def _refusal(self) -> StarmineError:
        return StarmineError(
            f"transcript={str(self.path)!r} is not allowed: expected a file that does not exist, or that of an "
            "evaluation which goes on in its folder"
        )
