"""The checksum of games, which does not depend on how they are stored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from starmine.games.games import OF_TURNS, Games

# The columns that every file has, as they are stored. Files of earlier versions may have had the column log_prob: an
# empty one keeps their checksums valid.
STORED = {
    "deck": np.uint8,
    "first_player": np.uint8,
    "length": np.int64,
    "actions": np.uint8,
    "game": np.uint64,
    "seed": np.uint64,
    "index": np.uint64,
    "episode": np.uint64,
    "scores": np.uint8,
    "fireworks": np.uint8,
    "endings": np.uint8,
    "players": np.int16,
    "log_prob": np.float32,
}
ALSO_CALLED = {"deck": "decks", "first_player": "start_players", "length": "lengths", "game": "number"}
OF_SOME = (*OF_TURNS, "names", "failures")  # columns that only some files have


def utf_8(text: object) -> bytes:
    """A text as files hold it: UTF-8, with "?" in the place of half a surrogate pair, which UTF-8 does not have."""
    return str(text).encode("utf-8", "replace")


class Checksum:
    """A SHA-256 checksum of games.

    Each column has its own checksum, over its numbers as little-endian bytes; the checksum of the games is that
    of all these. Games may come in pieces of any size.
    """

    def __init__(self) -> None:
        self._columns = {name: hashlib.sha256() for name in STORED}

    def update(self, games: Games) -> None:
        """Add games."""
        for name in (*STORED, *OF_SOME):
            column = getattr(games, ALSO_CALLED.get(name, name), None)
            if column is None:
                continue
            if column.dtype == np.object_:
                texts = list(map(utf_8, column))
                column = np.frombuffer(b"".join(len(text).to_bytes(8, "little") + text for text in texts), np.uint8)
            column = column.astype(STORED.get(name, column.dtype), copy=False)
            little = column.astype(column.dtype.newbyteorder("<"), copy=False)
            # Optional columns count only where there are some, so that all other games keep their checksums.
            checksum = self._columns.setdefault(name, hashlib.sha256())
            checksum.update(np.ascontiguousarray(little).reshape(-1).view(np.uint8).data)

    def hexdigest(self) -> str:
        """The checksum of the games so far: 64 hexadecimal digits."""
        parts = [f"{name} {column.hexdigest()}\n" for name, column in self._columns.items()]
        return hashlib.sha256("".join(parts).encode()).hexdigest()


def checksum_of(games: Games | Iterable[Games]) -> str:
    """The SHA-256 checksum of the columns of games, as 64 hexadecimal digits.

    It does not depend on how the games are stored. `Dataset.fingerprint` covers files too.

    Args:
        games: games, or consecutive parts of them; where one ends and the next begins does not matter, if
            all have the same columns.
    """
    checksum = Checksum()
    for part in [games] if isinstance(games, Games) else games:
        checksum.update(part)
    return checksum.hexdigest()
