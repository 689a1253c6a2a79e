"""Published logs of language models at Hanabi, whose lines hold a prompt and ratings of the moves that it lists."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from typing import Any

from starmine._core import StarmineError
from starmine._util.durable import given_path
from starmine._util.numbers import is_number


def rated_prompts(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The prompts of HanabiLogs and HanabiRewards (Sparks, arXiv 2601.18077) as training examples.

    A line of such a file is an object with `system_prompt`, `user_prompt`, `model_name`, and `move_ratings`: for each
    move in the list of the prompt a number from -1 to 1. A reply is a move's place in this list, from 0.

    Args:
        path: a file of JSON lines.

    Yields:
        `messages` (system, user, and as assistant the move with the highest rating), `move` (its place as text),
        `model` (whose turn was logged), and `values`: for each move its `move` and `value`, the highest first.
        `preferences` takes these examples.

    Raises:
        StarmineError: a line does not have this form.
        OSError: the file cannot be read.
    """
    with open(given_path("path", path), encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _example(line, f"line {number} of {os.fspath(path)!r}")


def _example(line: str, place: str) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StarmineError(f"{place} is no JSON: {error}") from error
    prompt = said.get("user_prompt") if isinstance(said, dict) else None
    ratings = said.get("move_ratings") if isinstance(said, dict) else None
    if not isinstance(prompt, str) or not isinstance(ratings, list) or not ratings:
        raise StarmineError(f"{place} is no rated prompt: expected an object with user_prompt and move_ratings")
    if not all(is_number(rating, -math.inf) for rating in ratings):
        raise StarmineError(f"{place} has move_ratings={ratings!r:.200}: expected numbers")
    places = sorted(range(len(ratings)), key=lambda move: -ratings[move])
    values = [{"move": str(move), "value": float(ratings[move])} for move in places]
    system, best = said.get("system_prompt"), str(places[0])
    messages = [{"role": "user", "content": prompt}, {"role": "assistant", "content": best}]
    if isinstance(system, str) and system:
        messages.insert(0, {"role": "system", "content": system})
    return {"messages": messages, "move": best, "model": said.get("model_name"), "values": values}
