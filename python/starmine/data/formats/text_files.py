"""JSON from files, with errors that name the file and the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeGuard

from starmine._core import StarmineError, Variant
from starmine.trajectories import LETTERS


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        StarmineError: it is not UTF-8.
        OSError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StarmineError(f"{path}: it is not text in UTF-8 ({error.reason} at byte {error.start})") from error


def parse_json(text: str, source: str) -> Any:
    """A JSON value.

    Raises:
        StarmineError: the text is none.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StarmineError(f"{source}: it is not JSON ({error})") from error


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a JSON value is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)


def card_of(text: object, variant: Variant) -> int:
    """The number of a card such as "R1".

    Raises:
        StarmineError: the variant has no such card.
    """
    letters = LETTERS[: variant.colors]
    is_card = isinstance(text, str) and len(text) == 2 and text[0] in letters and text[1] in "123456789"
    if not isinstance(text, str) or not is_card or int(text[1]) > variant.ranks:
        raise StarmineError(f"{text!r} is no card: expected one of {letters} and a rank from 1 to {variant.ranks}")
    return letters.index(text[0]) * variant.ranks + int(text[1]) - 1


def text_of(card: int, variant: Variant) -> str:
    """The text of a card's number, such as "R1"."""
    return f"{LETTERS[card // variant.ranks]}{card % variant.ranks + 1}"
