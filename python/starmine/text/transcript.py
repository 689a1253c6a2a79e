"""The file of a chat player's exchanges."""

from __future__ import annotations

import os
from pathlib import Path

from starmine._core import StarmineError
from starmine._util.durable import AppendedFile, given_path


def new_transcript(path: str | os.PathLike[str]) -> Path:
    """A new file for a transcript.

    Raises:
        StarmineError: the path is empty, or the file exists or cannot be made.
    """
    target = given_path("transcript", path)
    if target.exists():
        raise StarmineError(f"transcript={str(target)!r} is not allowed: expected a file that does not exist")
    try:
        AppendedFile(target).close()
    except OSError as error:
        raise StarmineError(f"transcript={str(target)!r} cannot be written ({error.strerror})") from error
    return target
