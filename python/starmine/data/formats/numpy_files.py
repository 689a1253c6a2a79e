"""Plain numpy: one `.npz` with the arrays of `Trajectories`.

| key | array | content |
|---|---|---|
| `variant` | text () | the rules as `Variant.to_json` writes them |
| `decks` | uint8 (G, deck_size) | suit * ranks + rank, the top card first |
| `start_players` | uint8 (G,) | the seats that started |
| `actions` | uint8 (T,) | action ids, game after game |
| `offsets` | int64 (G + 1,) | game g has the actions `actions[offsets[g]:offsets[g + 1]]` |
| `scores` | uint8 (G,) | final scores; other integers are read, and none |
| `names` | text (G,) | what the games are called; may be missing |

`numpy.load(path, allow_pickle=False)` reads it.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant
from starmine._util.durable import replace_file
from starmine.data.formats.records import ImportedGames, ReadGames
from starmine.games.trajectories import Trajectories

# Kind and number of axes of each array.
ARRAYS = {"decks": (np.uint8, 2), "start_players": (np.uint8, 1), "actions": (np.uint8, 1), "offsets": (np.int64, 1)}
OPTIONAL = {"scores": (np.integer, 1), "names": (np.str_, 1)}


def read(path: Path, variant: Variant | None = None) -> ReadGames:
    """Read a file."""
    arrays = _load(path)
    if "variant" not in arrays:
        raise StarmineError(f"{path}: it has no array 'variant'")
    try:
        named = Variant.from_json(str(arrays["variant"]))
    except StarmineError as error:
        raise StarmineError(f"{path}: {error}") from error
    for name, (kind, axes) in {**ARRAYS, **OPTIONAL}.items():
        found = arrays.get(name)
        if found is None and name in OPTIONAL:
            continue
        if found is None or not np.issubdtype(found.dtype, kind) or found.ndim != axes:
            held = "missing" if found is None else f"{found.dtype} {found.shape}"
            raise StarmineError(f"{path}: {name!r} is {held}: expected {kind.__name__} with {axes} axes")
    _check_sizes(arrays, named, path)
    if variant is not None and variant != named:
        return ReadGames.of_other_rules(variant, named, len(arrays["decks"]))
    played = Trajectories(named, *(arrays[name] for name in ARRAYS))
    scores = arrays["scores"].astype(np.int64) if "scores" in arrays else None
    return ReadGames.of(played, scores, arrays["names"].tolist() if "names" in arrays else None)


def _load(path: Path) -> dict[str, NDArray[Any]]:
    data = path.read_bytes()
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # numpy and zipfile raise a dozen kinds for bytes that they did not write
        raise StarmineError(f"{path}: it is no .npz file without pickled objects ({error})") from error


def _check_sizes(arrays: dict[str, NDArray[Any]], variant: Variant, path: Path) -> None:
    """Refuse arrays that do not belong to each other."""
    count, offsets = len(arrays["decks"]), arrays["offsets"]
    sizes = {name: len(arrays[name]) for name in ("start_players", "scores", "names") if name in arrays}
    if arrays["decks"].shape[1] != variant.deck_size:
        raise StarmineError(f"{path}: 'decks' has {arrays['decks'].shape[1]} columns: expected {variant.deck_size}")
    for name, size in sizes.items():
        if size != count:
            raise StarmineError(f"{path}: {name!r} has {size} games: expected {count}, as 'decks'")
    ends = (0, len(arrays["actions"]))
    if len(offsets) != count + 1 or (offsets[0], offsets[-1]) != ends or (np.diff(offsets) < 0).any():
        raise StarmineError(f"{path}: 'offsets' does not divide {ends[1]} actions among {count} games")


def write(games: ImportedGames, path: Path) -> None:
    """Write a file, compressed."""
    buffer = io.BytesIO()
    played: dict[str, Any] = games.trajectories.to_dict()
    rules = np.array(games.variant.to_json())
    np.savez_compressed(buffer, variant=rules, scores=games.scores, names=np.array(games.names, np.str_), **played)
    replace_file(path, buffer.getbuffer())
