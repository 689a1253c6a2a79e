"""The file of a chat player's exchanges, a line of JSON each."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from starmine._core import StarmineError
from starmine._util.durable import AppendedFile, given_path
from starmine.text.exchange import Exchange

BEGIN = b'{"player": "'  # of each line


def writable_transcript(path: str | os.PathLike[str]) -> Path:
    """The path of a file to which lines can be added; it is created where it does not exist.

    Raises:
        StarmineError: the path is empty, the file cannot be written, or it has other lines than a transcript.
    """
    given = given_path("transcript", path)
    try:
        _check_transcript(given)
        with closing(AppendedFile(given)) as file:
            if given.stat().st_size and not given.read_bytes().endswith(b"\n"):
                file.write(b"\n")  # a killed process left half a line
    except OSError as error:
        raise StarmineError(f"transcript={str(given)!r} cannot be written ({error.strerror})") from error
    return given


def _check_transcript(path: Path) -> None:
    """Refuse a file that does not begin as the line of an exchange."""
    if path.is_file():
        with path.open("rb") as file:
            begin = file.read(len(BEGIN))
        if begin not in (b"", BEGIN):
            raise StarmineError(f"transcript={str(path)!r} is not allowed: it is a file that is no transcript")


def add_line(path: Path, exchange: Exchange) -> None:
    """Add the line of an exchange.

    Raises:
        OSError: it cannot be written; the file has its earlier length.
    """
    line = json.dumps(asdict(exchange)) + "\n"  # ASCII: no character of a reply can end the line
    with closing(AppendedFile(path)) as file:
        file.write(line.encode())
