"""JaxMARL's golden files: a folder with `decks.json`, `actions.json` and `scores.txt`.

`decks.json` is a list of `{"seed_idx": i, "jax_rng": [a, b], "deck": ["R1", ...]}`, the top card first; `actions.json`
a list of lists of action ids, which are HLE's; `scores.txt` has the lines `i,score`. Seat 0 starts.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant
from starmine._util.durable import replace_file
from starmine._util.numbers import is_integer
from starmine.data.formats.records import ImportedGames, ReadGames, RecordedGame, read_each, starting_at_seat_0
from starmine.data.formats.text_files import card_of, parse_json, read_text, text_of

DECKS, ACTIONS, SCORES = "decks.json", "actions.json", "scores.txt"
DIGITS = 9  # of a score, at most


def read(path: Path, variant: Variant | None = None) -> ReadGames:
    """Read a folder."""
    rules = Variant() if variant is None else variant
    decks = _list(path / DECKS)
    actions = _list(path / ACTIONS)
    scores = _scores(path / SCORES)
    if not len(decks) == len(actions) == len(scores):
        raise StarmineError(f"{path}: it has {len(decks)} decks, {len(actions)} lists of actions, {len(scores)} scores")
    return read_each(zip(decks, actions, scores, strict=True), partial(_game, rules), rules)


def _list(path: Path) -> list[Any]:
    found = parse_json(read_text(path), str(path))
    if not isinstance(found, list):
        raise StarmineError(f"{path}: it is no list")
    return found


def _scores(path: Path) -> list[int]:
    """The scores, whose lines are numbered from 0."""
    scores = []
    for number, line in enumerate(read_text(path).splitlines()):
        index, _, score = line.partition(",")
        told = score.strip()
        if index.strip() != str(number) or not told.isdecimal() or len(told) > DIGITS:
            raise StarmineError(f"{path}, line {number + 1}: {line[:99]!r} is not allowed: expected '{number},SCORE'")
        scores.append(int(told))
    return scores


def _game(variant: Variant, told: tuple[Any, Any, int]) -> RecordedGame:
    """A game from its entries in the three files."""
    entry, played, score = told
    if not isinstance(entry, dict) or not isinstance(entry.get("deck"), list):
        raise StarmineError("its entry has no list 'deck'")
    if not isinstance(played, list) or not all(map(is_integer, played)):
        raise StarmineError("its actions are no list of integers")
    return RecordedGame("", variant, [card_of(card, variant) for card in entry["deck"]], played, score=score)


def write(games: ImportedGames, path: Path) -> None:
    """Write a folder, which is created where it does not exist. Seats are numbered from the one that started.

    `jax_rng` is null: no key of JAX has dealt these decks.
    """
    played, variant = starting_at_seat_0(games.trajectories), games.variant
    if variant.colors > 5 or variant.timed_display:
        raise StarmineError(f"{variant} is not allowed: JaxMARL has up to five suits and no announced plays")
    path.mkdir(parents=True, exist_ok=True)
    decks = [
        {"seed_idx": index, "jax_rng": None, "deck": [text_of(card, variant) for card in deck]}
        for index, deck in enumerate(played.decks.tolist())
    ]
    actions = [
        played.actions[first:end].tolist() for first, end in zip(played.offsets, played.offsets[1:], strict=False)
    ]
    scores = "".join(f"{index},{score}\n" for index, score in enumerate(games.scores.tolist()))
    for name, text in ((DECKS, json.dumps(decks)), (ACTIONS, json.dumps(actions)), (SCORES, scores)):
        replace_file(path / name, text.encode())
