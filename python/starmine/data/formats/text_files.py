"""Text and JSON from files, with errors that name the file and the line."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starmine._core import StarmineError

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SPACE = re.compile(r"\s*")
FIRST_OBJECT = re.compile(r"^([ \t]*)\{", re.MULTILINE)


def read_text(path: Path) -> str:
    """The text of a file, without its byte order mark."""
    data = path.read_bytes()
    encoding, name = ("utf-16", "UTF-16") if data.startswith(UTF_16) else ("utf-8-sig", "UTF-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise StarmineError(f"{path}: it is not text in {name} ({error.reason} at byte {error.start})") from error


def json_values(text: str) -> list[Any]:
    """The JSON values of a text: one value, or several after each other, each on one line or on several.

    A part that is not JSON becomes a `StarmineError` that says where it begins and what is wrong. The values after it
    are found where a line begins with an object, indented as the first object of the text. A list stands for its items.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return list(_values(text))
    return value if isinstance(value, list) else [value]


def _values(text: str) -> Iterator[Any]:
    """The values of a text that is not one JSON value."""
    decode = json.JSONDecoder().raw_decode
    first = FIRST_OBJECT.search(text)
    next_object = re.compile(rf"\n{first[1] if first else '[ ]*'}(?=\{{)")
    place, depth, line, counted = 0, 0, 1, 0  # `line` is the line of the character `counted`
    while (place := _after_space(text, place)) < len(text):
        line, counted = line + text.count("\n", counted, place), place
        character = text[place]
        if character == "[":
            depth, place = depth + 1, place + 1
        elif depth and character in "],":
            depth, place = depth - (character == "]"), place + 1
        else:
            try:
                value, place = decode(text, place)
            except (ValueError, RecursionError) as error:
                yield StarmineError(f"line {line}: it is not JSON ({error})")
                following = next_object.search(text, place)
                if following is None:
                    return
                place = following.end()
            else:
                yield value
    if depth:
        yield StarmineError(f"line {line}: it is not JSON (the list is cut off)")


def _after_space(text: str, place: int) -> int:
    """The place of the next character that is no space."""
    match = SPACE.match(text, place)
    return place if match is None else match.end()
