"""AH2AC2's safetensors: games of people in the arrays of JaxMARL.

The keys of a file with G games of P players:

| key | array | content |
|---|---|---|
| `game_ids` | (G,) | ids |
| `scores` | (G,) | final scores |
| `decks` | (G, 50, 2) | colour and rank of each card from 0, the top card first |
| `actions` | (G, T, P) | a column for each seat; seats that do not act hold the no-op, and so do turns after the end |
| `num_actions` | (G,) | the numbers of turns |
| `num_players` | () | P |

The ids are HLE's, colour hints of all teammates before rank hints, and the no-op follows the last one. The games are
those of the base game.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant
from starmine._util.durable import replace_file
from starmine._util.imports import library
from starmine.data.formats.records import (
    GameRecord,
    SkippedGame,
    game_names,
    is_game_number,
    read_each,
    starting_at_seat_0,
)
from starmine.games.games import Games

SUFFIXES = (".safetensors",)
TURNS = 89  # rows of the published files; no game of the base game is longer
AXES = {"game_ids": 1, "scores": 1, "decks": 3, "actions": 3, "num_actions": 1}


def read(path: Path) -> list[GameRecord | SkippedGame]:
    """Read a file."""
    arrays = _arrays(path)
    variant = Variant(players=int(arrays["num_players"].item()))
    if arrays["actions"].shape[2] != variant.players or arrays["decks"].shape[1:] != (variant.deck_size, 2):
        shapes = arrays["actions"].shape, arrays["decks"].shape
        raise StarmineError(f"{path}: actions and decks have the shapes {shapes}, which are not those of {variant}")
    ids = list(map(str, arrays["game_ids"].tolist()))

    def record_of(game: int) -> GameRecord:
        return _record(
            variant, ids[game], *(arrays[name][game] for name in ("decks", "actions", "num_actions", "scores"))
        )

    return read_each(path, range(len(ids)), record_of, lambda game: ids[game])


def _safetensors() -> Any:
    """The package safetensors, with its module for numpy."""
    for name in ("safetensors.numpy", "safetensors"):
        module = library(name, "the format ah2ac2 needs safetensors", "data")
    return module


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file, which belong to each other."""
    safetensors = _safetensors()
    data = path.read_bytes()
    try:
        arrays: dict[str, NDArray[Any]] = safetensors.numpy.load(data)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise StarmineError(f"{path}: it is no safetensors file ({error})") from error
    for name, axes in AXES.items():
        array = arrays.get(name)
        if array is None or array.ndim != axes or not np.issubdtype(array.dtype, np.integer):
            held = "nothing" if array is None else f"{array.dtype} {array.shape}"
            raise StarmineError(f"{path}: {name!r} is {held}: expected integers with {axes} axes")
        if len(array) != len(arrays["game_ids"]):
            raise StarmineError(f"{path}: {name!r} has {len(array)} games: expected {len(arrays['game_ids'])}")
    players = arrays.get("num_players")
    if players is None or players.size != 1 or not np.issubdtype(players.dtype, np.integer):
        raise StarmineError(f"{path}: 'num_players' is not one number")
    return arrays


def _record(variant: Variant, name: str, deck: Any, rows: Any, num_actions: Any, score: Any) -> GameRecord:
    players, no_op, length = variant.players, variant.num_actions, int(num_actions)
    if not 0 <= length <= len(rows):
        raise StarmineError(f"num_actions={length} is not allowed: expected 0 to {len(rows)}")
    turns = np.arange(len(rows))
    acts = (turns[:, None] % players == np.arange(players)) & (turns < length)[:, None]
    wrong = np.argwhere(np.where(acts, (rows < 0) | (rows >= no_op), rows != no_op))
    if len(wrong):
        turn, seat = wrong[0].tolist()
        expected = "an action" if acts[turn, seat] else f"the no-op {no_op}"
        raise StarmineError(f"turn {turn}: seat {seat} has {rows[turn, seat]}: expected {expected}")
    outside = np.flatnonzero((deck < 0).any(axis=1) | (deck >= [variant.colors, variant.ranks]).any(axis=1))
    if len(outside):
        raise StarmineError(f"card {outside[0]} is {deck[outside[0]].tolist()}: no such card")
    cards = (deck[:, 0].astype(np.int64) * variant.ranks + deck[:, 1]).tolist()
    return GameRecord(variant, cards, rows[acts].tolist(), score=int(score), name=name)


def write(games: Games, path: Path) -> None:
    """Write a file. Seats are numbered from the one that started; ids are the names that are numbers, or positions.

    Raises:
        StarmineError: the rules are not those of the base game, the only ones that the format has.
    """
    safetensors = _safetensors()
    played, variant = starting_at_seat_0(games), games.variant
    if variant != (base := Variant(players=variant.players)):
        raise StarmineError(f"{variant} is not allowed: the format ah2ac2 tells no rules. Expected games of {base}")
    lengths = played.lengths
    actions = np.full((len(played), TURNS, variant.players), variant.num_actions, np.int32)
    game = np.repeat(np.arange(len(played)), lengths)
    turn = np.arange(len(played.actions)) - np.repeat(played.offsets[:-1], lengths)
    actions[game, turn, turn % variant.players] = played.actions
    names = game_names(games)
    ids = names if all(map(is_game_number, names)) else range(len(games))
    replace_file(
        path,
        safetensors.numpy.save(
            {
                "game_ids": np.array(list(map(int, ids)), np.int32),
                "scores": games.scores.astype(np.int32),
                "decks": np.stack(np.divmod(played.decks, variant.ranks), axis=2).astype(np.int32),
                "actions": actions,
                "num_actions": lengths.astype(np.int32),
                "num_players": np.array(variant.players, np.int32),
            }
        ),
    )
