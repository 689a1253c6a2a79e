"""What a model was asked and what it answered, also as a file with a line of JSON for each call."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

from starmine._core import StarmineError
from starmine._util.durable import AppendedFile, given_path
from starmine.text.prompt import PROMPT_VERSION

BEGIN = b'{"player": "'  # of each line

Messages: TypeAlias = list[dict[str, str]]


@dataclass(frozen=True)
class Exchange:
    """One reply of a model, or one call that failed.

    Attributes:
        player: the name of the `ChatPlayer`.
        game: index of the game in its call of `play_games`, or in its pairing of an evaluation; None if `act` was
            called. In `generate` it begins again with each part of a shard, and names no game.
        seat: the seat that was asked.
        turn: number of turns that the game has had before.
        attempt: number of unusable replies that the model has given in this turn before.
        messages: the messages that the model got.
        reply: the text of the reply, or its tool call as JSON; None if the call failed.
        outcome: "move" if the reply names one legal move, "illegal" if the move is not legal or its slot, seat or rank
            does not exist, "unreadable" if the reply names no move or several; "failed" if the call raised an
            exception.
        action: the action id of the legal move; None for other outcomes.
        problem: what was wrong, with the place where an exception was raised; None for the outcome "move".
        seconds: duration of the call.
        players: in an evaluation the names of the game's players, by seat; else None.
        prompt_version: `PROMPT_VERSION`, which changes with the texts of prompts.
    """

    player: str
    game: int | None
    seat: int
    turn: int
    attempt: int
    messages: Messages
    reply: str | None
    outcome: str
    action: int | None
    problem: str | None
    seconds: float
    players: list[str] | None = None
    prompt_version: int = PROMPT_VERSION


def writable_transcript(path: str | os.PathLike[str]) -> Path:
    """The path of a file to which lines can be added; it is created where it does not exist.

    Raises:
        StarmineError: the path is empty, the file cannot be written, or it has other lines than a transcript.
    """
    given = given_path("transcript", path).absolute()
    try:
        with closing(AppendedFile(given)) as file:
            data = given.read_bytes()
            if data[: len(BEGIN)] not in (b"", BEGIN):
                raise StarmineError(f"transcript={str(given)!r} is not allowed: it is a file that is no transcript")
            if data and not data.endswith(b"\n"):
                file.write(b"\n")  # a killed process left half a line
    except OSError as error:
        raise StarmineError(f"transcript={str(given)!r} cannot be written ({error.strerror})") from error
    return given


def add_line(path: Path, exchange: Exchange) -> None:
    """Add the line of an exchange.

    Raises:
        OSError: it cannot be written; the file has its earlier length.
    """
    line = json.dumps(asdict(exchange)) + "\n"  # ASCII: no character of a reply can end the line
    with closing(AppendedFile(path)) as file:
        file.write(line.encode())
