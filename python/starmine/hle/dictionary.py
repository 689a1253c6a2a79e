"""HLE's dictionary of an observation, whose entries are made when they are first read.

HLE makes all entries of all seats in each turn, most of which nobody reads. This dictionary behaves as one that has
them all: it has HLE's keys in HLE's order, and equals, prints, copies, merges and pickles as a plain one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from starmine.hle.observation import HanabiObservation, ObservationEncoder

Maker = Callable[[HanabiObservation], Any]


def _legal_moves(seen: HanabiObservation) -> list[dict[str, Any]]:
    dictionaries = seen._source.rules.move_dictionaries
    return [*map(dict.copy, map(dictionaries.__getitem__, seen._source.legal(seen._observer)))]


def _observed_hands(seen: HanabiObservation) -> list[list[dict[str, Any]]]:
    return [[*map(dict.copy, hand)] for hand in seen._source.hand_dictionaries(seen._observer)]


def _discard_pile(seen: HanabiObservation) -> list[dict[str, Any]]:
    return [*map(dict.copy, seen._source.discard_dictionaries)]


def _card_knowledge(seen: HanabiObservation) -> list[list[dict[str, Any]]]:
    return [[*map(dict.copy, hand)] for hand in seen._source.hinted(seen._observer)]


MAKERS: dict[str, Maker] = {
    "current_player": lambda seen: seen._source.current_player,
    "current_player_offset": HanabiObservation.cur_player_offset,
    "life_tokens": HanabiObservation.life_tokens,
    "information_tokens": HanabiObservation.information_tokens,
    "num_players": HanabiObservation.num_players,
    "deck_size": HanabiObservation.deck_size,
    "fireworks": lambda seen: dict(zip(seen._source.rules.letters, seen._source.fireworks, strict=True)),
    "legal_moves": _legal_moves,
    "legal_moves_as_int": lambda seen: [*seen._source.legal(seen._observer)],
    "observed_hands": _observed_hands,
    "discard_pile": _discard_pile,
    "card_knowledge": _card_knowledge,
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
        self["current_player"] = seen._source.current_player

    def __missing__(self, key: str) -> Any:
        """Make an entry that is read for the first time."""
        seen = self._seen
        if seen is None or key not in MAKERS:
            raise KeyError(key)
        value = self._encoder.encode(seen) if key == "vectorized" else MAKERS[key](seen)
        self[key] = value
        return value

    def _complete(self) -> None:
        """Make all entries, in HLE's order; what the user added comes last."""
        seen = self._seen
        if seen is None:
            return
        self._seen = None
        if super().__len__() == 1:  # nothing was read yet, which is usual
            super().update({key: make(seen) for key, make in MAKERS.items() if key != "current_player"})
            self["vectorized"] = self._encoder.encode(seen)
            return
        read = dict(super().items())
        made = {key: read[key] if key in read else make(seen) for key, make in MAKERS.items()}
        if "vectorized" not in read:
            made["vectorized"] = self._encoder.encode(seen)
        made.update(read)  # entries of the user's may be among them, and the order is to be HLE's
        super().clear()
        super().update(made)

    def __iter__(self) -> Iterator[str]:
        """The keys; also what makes `dict(...)`, `{**...}` and C code see all entries."""
        self._complete()
        return super().__iter__()

    def __reversed__(self) -> Iterator[str]:
        """The keys, the last one first."""
        self._complete()
        return super().__reversed__()

    def __len__(self) -> int:
        """Number of entries."""
        self._complete()
        return super().__len__()

    def __contains__(self, key: object) -> bool:
        """Whether there is such an entry."""
        self._complete()
        return super().__contains__(key)

    def __delitem__(self, key: str) -> None:
        """Remove an entry."""
        self._complete()
        super().__delitem__(key)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same entries."""
        self._complete()
        if isinstance(other, ObservationDict):
            other._complete()
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        """Whether the entries differ."""
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        """As a plain dictionary."""
        self._complete()
        return super().__repr__()

    def __or__(self, other: Any) -> Any:
        """A plain dictionary of both."""
        return dict(self) | other

    def __ror__(self, other: Any) -> Any:
        """A plain dictionary of both."""
        return other | dict(self)

    def __ior__(self, other: Any) -> Any:
        """Add the entries of another."""
        self.update(other)
        return self

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Copies and pickles are plain dictionaries."""
        return dict, (dict(self),)

    def keys(self) -> Any:
        """The keys."""
        self._complete()
        return super().keys()

    def values(self) -> Any:
        """The values."""
        self._complete()
        return super().values()

    def items(self) -> Any:
        """Keys and values."""
        self._complete()
        return super().items()

    def get(self, key: str, default: Any = None) -> Any:
        """An entry, or the default."""
        try:
            return self[key]
        except KeyError:
            return default

    def copy(self) -> dict[str, Any]:
        """A plain dictionary."""
        return dict(self)

    def clear(self) -> None:
        """Remove all entries."""
        self._seen = None
        super().clear()

    def pop(self, key: str, *default: Any) -> Any:
        """Remove an entry and return it."""
        self._complete()
        return super().pop(key, *default)

    def popitem(self) -> tuple[str, Any]:
        """Remove the last entry and return it."""
        self._complete()
        return super().popitem()

    def setdefault(self, key: str, default: Any = None) -> Any:
        """An entry, which is added if it is missing."""
        self._complete()
        return super().setdefault(key, default)
