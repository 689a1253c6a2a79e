"""HLE's observations and their encoder."""

from __future__ import annotations

import enum
import operator
from typing import Any

from starmine._core import StarmineError
from starmine.hle.cards import HanabiCard, HanabiCardKnowledge
from starmine.hle.moves import HanabiHistoryItem, HanabiMove
from starmine.hle.position import Public, Source, board_text
from starmine.hle.rules import Rules


class HanabiObservation(Public):
    """What one seat sees of a position, which never changes. Seats are offsets: 0 is the observer."""

    __slots__ = ("_observer", "_position")

    def __init__(self, source: Source, observer: int) -> None:
        """Made by `HanabiState.observation`."""
        players = source.rules.variant.players
        observer = operator.index(observer)
        if not 0 <= observer < players:
            raise StarmineError(f"player={observer} is not allowed: expected 0 to {players - 1}")
        self._position = source
        self._observer = observer

    def observation(self) -> HanabiObservation:
        """The observation itself: there is no C++ object behind it."""
        return self

    def cur_player_offset(self) -> int:
        """The offset of the seat to act; -1 while a card is to be dealt."""
        seat = self._position.current_player
        return seat if seat < 0 else (seat - self._observer) % self.num_players()

    def observed_hands(self) -> list[list[HanabiCard]]:
        """The hands by offset, the oldest card first. The observer's cards are not valid, except with SEER."""
        return [[HanabiCard(*card) for card in hand] for hand in self._position.hands(self._observer)]

    def card_knowledge(self) -> list[list[HanabiCardKnowledge]]:
        """What hints say about each card of each hand: nothing with MINIMAL, the card itself with SEER."""
        return self._position.knowledge(self._observer)

    def last_moves(self) -> list[HanabiHistoryItem]:
        """The moves since the observer's last one, that one included, the newest first; without the first deals."""
        return self._position.last_moves(self._observer)

    def legal_moves(self) -> list[HanabiMove]:
        """The legal moves; none when another seat is to act. After the end HLE goes on listing moves."""
        moves = self._position.rules.moves
        return [moves[action] for action in self._position.legal(self._observer)]

    def __str__(self) -> str:
        """HLE's text of what the seat sees."""
        source = self._position
        hands, knowledge = source.hands(self._observer), source.knowledge(self._observer)
        return board_text(source, hands, knowledge, self.cur_player_offset())

    __repr__ = __str__


class ObservationEncoderType(enum.IntEnum):
    """The encoders: there is one."""

    CANONICAL = 0


class ObservationEncoder:
    """Encodes observations as HLE does. An encoder of your own overrides `shape` and `encode`."""

    def __init__(self, game: Any, enc_type: int = ObservationEncoderType.CANONICAL) -> None:
        """The encoder of the observations of a `HanabiGame`, or of `Rules`.

        Raises:
            StarmineError: there is no such type.
        """
        if enc_type != ObservationEncoderType.CANONICAL:
            raise StarmineError(f"enc_type={enc_type!r} is not allowed: expected ObservationEncoderType.CANONICAL")
        self._rules: Rules = game if isinstance(game, Rules) else game._rules

    def shape(self) -> list[int]:
        """The shape of an encoding: a list of one number."""
        return [len(self._rules.variant.layout(self._rules.encoder))]

    def encode(self, observation: HanabiObservation) -> list[int]:
        """The observation as zeros and ones.

        Raises:
            StarmineError: no observation, or one of a game with other rules or another observation type. For other
                rules HLE's numbers mean nothing, or the process ends.
        """
        if not isinstance(observation, HanabiObservation):
            raise StarmineError(f"observation is a {type(observation).__name__}: expected a HanabiObservation")
        given, rules = observation._position.rules, self._rules
        if given is not rules and given.encoded != rules.encoded:
            raise StarmineError(
                f"the observation is of {given.variant}, {given.observation_type.name}: expected {rules.variant}, "
                f"{rules.observation_type.name}"
            )
        return observation._position.encode(observation._observer)
