"""HLE's dictionary of an observation, whose entries are made when they are first read.

HLE makes all entries of all seats in each turn, most of which nobody reads. This dictionary behaves as one that has
them all: it has HLE's keys in HLE's order, and equals, prints, copies, merges and pickles as a plain one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from starmine.hle.observations import HanabiObservation, ObservationEncoder

Maker = Callable[[HanabiObservation], Any]


def _legal_moves(seen: HanabiObservation) -> list[dict[str, Any]]:
    dictionaries = seen._position.rules.move_dictionaries
    return [*map(dict.copy, map(dictionaries.__getitem__, seen._position.legal(seen._observer)))]


def _copied(hands: list[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    return [[*map(dict.copy, hand)] for hand in hands]


MAKERS: dict[str, Maker] = {
    "current_player": lambda seen: seen._position.current_player,
    "current_player_offset": HanabiObservation.cur_player_offset,
    "life_tokens": HanabiObservation.life_tokens,
    "information_tokens": HanabiObservation.information_tokens,
    "num_players": HanabiObservation.num_players,
    "deck_size": HanabiObservation.deck_size,
    "fireworks": lambda seen: dict(zip(seen._position.rules.letters, seen._position.fireworks, strict=True)),
    "legal_moves": _legal_moves,
    "legal_moves_as_int": lambda seen: [*seen._position.legal(seen._observer)],
    "observed_hands": lambda seen: _copied(seen._position.hand_dictionaries(seen._observer)),
    "discard_pile": lambda seen: [*map(dict.copy, seen._position.discard_dictionaries)],
    "card_knowledge": lambda seen: _copied(seen._position.hinted(seen._observer)),
    "vectorized": lambda seen: None,  # by the encoder
    "pyhanabi": lambda seen: seen,
}


class ObservationDict(dict[str, Any]):
    """The dictionary of one seat. `dict(observation)` makes a plain one."""

    __slots__ = ("_encoder", "_seen")

    def __init__(self, seen: HanabiObservation, encoder: ObservationEncoder) -> None:
        """The dictionary of an observation, "vectorized" by an encoder."""
        self._seen: HanabiObservation | None = seen  # None once all entries are made
        self._encoder = encoder
        # One entry is there from the start: C code may take a dictionary without entries for an empty one.
        self["current_player"] = seen._position.current_player

    def __missing__(self, key: str) -> Any:
        seen = self._seen
        if seen is None or key not in MAKERS:
            raise KeyError(key)
        self[key] = value = self._encoder.encode(seen) if key == "vectorized" else MAKERS[key](seen)
        return value

    def _complete(self) -> None:
        """Make all entries, in HLE's order; what the user added comes last."""
        seen = self._seen
        if seen is None:
            return
        read = dict(super().items())
        made = {key: read[key] if key in read else make(seen) for key, make in MAKERS.items()}
        if "vectorized" not in read:
            made["vectorized"] = self._encoder.encode(seen)
        self._seen = None
        super().clear()
        super().update(made | read)

    def __eq__(self, other: object) -> bool:
        self._complete()
        if isinstance(other, ObservationDict):
            other._complete()
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Copies and pickles are plain dictionaries."""
        return dict, (dict(self),)

    def get(self, key: str, default: Any = None) -> Any:
        """An entry, or the default."""
        try:
            return self[key]
        except KeyError:
            return default

    def clear(self) -> None:
        """Remove all entries."""
        self._seen = None
        super().clear()


def _of_whole(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of `dict` that needs all entries."""

    @functools.wraps(method)
    def of_whole(self: ObservationDict, *args: Any) -> Any:
        self._complete()
        return method(self, *args)

    return of_whole


# `__iter__` and `keys` also make `dict(...)`, `{**...}` and C code see all entries.
for _name in (
    *("__contains__", "__delitem__", "__iter__", "__len__", "__or__", "__repr__", "__reversed__", "__ror__"),
    *("copy", "items", "keys", "pop", "popitem", "setdefault", "values"),
):
    setattr(ObservationDict, _name, _of_whole(getattr(dict, _name)))
