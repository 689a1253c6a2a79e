"""HLE's observations and their encoder."""

from __future__ import annotations

import enum
from typing import Any

from starmine._core import StarmineError, View
from starmine._util.numbers import check_integer, check_number
from starmine.hle.cards import HanabiCard, HanabiCardKnowledge
from starmine.hle.moves import HanabiHistoryItem, HanabiMove
from starmine.hle.position import (
    NOT_HINTED,
    CardEntry,
    Pair,
    Source,
    board_text,
    dictionaries,
    knowledge_of,
    moves_after_the_end,
    no_knowledge,
    played_items,
    relative_items,
)
from starmine.hle.rules import AgentObservationType, Rules


class HanabiObservation:
    """What one seat sees of a position, which never changes. Seats are offsets: 0 is the observer."""

    __slots__ = ("_observer", "_source")

    def __init__(self, source: Source, observer: int) -> None:
        """Made by `HanabiState.observation`.

        Raises:
            StarmineError: there is no such seat.
            TypeError: it is not an integer.
        """
        players = source.rules.variant.players
        if type(observer) is not int or not 0 <= observer < players:
            observer = check_number("player", observer, 0, players - 1)
        self._source = source
        self._observer = observer

    def observation(self) -> HanabiObservation:
        """The observation itself: there is no C++ object behind it."""
        return self

    def cur_player_offset(self) -> int:
        """The offset of the seat to act; -1 while a card is to be dealt."""
        seat = self._source.current_player
        return seat if seat < 0 else (seat - self._observer) % self.num_players()

    def num_players(self) -> int:
        """The number of seats."""
        return self._source.rules.variant.players

    def observed_hands(self) -> list[list[HanabiCard]]:
        """The hands, the oldest card first; the observer's cards are not valid."""
        return [[HanabiCard(*card) for card in hand] for hand in self._source.hands(self._observer)]

    def card_knowledge(self) -> list[list[HanabiCardKnowledge]]:
        """What hints say about each card of each hand."""
        return self._source.knowledge(self._observer)

    def discard_pile(self) -> list[HanabiCard]:
        """The discarded and misplayed cards, the oldest first."""
        return [HanabiCard(*card) for card in self._source.discards]

    def fireworks(self) -> list[int]:
        """The height of each colour's stack."""
        return list(self._source.fireworks)

    def deck_size(self) -> int:
        """The cards left in the deck."""
        return self._source.deck_size

    def last_moves(self) -> list[HanabiHistoryItem]:
        """The moves since the observer's last one, that one included, the newest first; without the first deals."""
        return self._source.last_moves(self._observer)

    def information_tokens(self) -> int:
        """The information tokens left."""
        return self._source.information_tokens

    def life_tokens(self) -> int:
        """The life tokens left."""
        return self._source.life_tokens

    def legal_moves(self) -> list[HanabiMove]:
        """The legal moves; none when another seat is to act. After the end HLE goes on listing moves."""
        moves = self._source.rules.moves
        return [moves[action] for action in self._source.legal(self._observer)]

    def card_playable_on_fireworks(self, color: int, rank: int) -> bool:
        """Whether a card would be added to the fireworks.

        Raises:
            TypeError: the colour or the rank is not an integer.
        """
        heights, color, rank = self._source.fireworks, check_integer("color", color), check_integer("rank", rank)
        return 0 <= color < len(heights) and heights[color] == rank

    def __str__(self) -> str:
        """HLE's text of what the seat sees."""
        source = self._source
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
            StarmineError: no game, or there is no such type.
        """
        if not isinstance(game, Rules) and not hasattr(game, "_rules"):
            raise StarmineError(f"game={game!r} is not allowed: expected a HanabiGame")
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
        return self._checked(observation).encode(observation._observer)

    def _checked(self, observation: HanabiObservation) -> Source:
        """What an observation is read from, if its rules are those of the encoder."""
        if not isinstance(observation, HanabiObservation):
            raise StarmineError(f"observation is a {type(observation).__name__}: expected a HanabiObservation")
        found, rules = observation._source.rules, self._rules
        if found is not rules and found.encoded != rules.encoded:
            raise StarmineError(
                f"the observation is of {found.variant}, {found.observation_type.name}: expected {rules.variant}, "
                f"{rules.observation_type.name}"
            )
        return observation._source

    def ownhandshape(self) -> list[int]:
        """The shape of `encodeownhand`, a method of copies of HLE in training repositories."""
        variant = self._rules.variant
        return [variant.hand_size * variant.colors * variant.ranks]

    def encodeownhand(self, observation: HanabiObservation) -> list[int]:
        """The observer's own cards as zeros and ones, a card's place for each slot: for critics that see all.

        Raises:
            StarmineError: the observation is made of a `View`, which hides them, or as `encode`.
        """
        source, variant = self._checked(observation), self._rules.variant
        if isinstance(source, SeenByView):
            raise StarmineError("a view hides the own hand: expected an observation of a HanabiState")
        encoding = [0] * self.ownhandshape()[0]
        for slot, (color, rank) in enumerate(source.open_hands()[observation._observer]):  # type: ignore[attr-defined]
            encoding[(slot * variant.colors + color) * variant.ranks + rank] = 1
        return encoding


class SeenByView:
    """What observations are read from where there is only a `View` of one seat."""

    def __init__(self, view: View, rules: Rules) -> None:
        """The source of a view.

        Args:
            view: of the observer.
            rules: of its variant; their observation type is not that of a seer.
        """
        self.rules = rules
        self._view = view
        history = view.history
        players = rules.variant.players
        self.current_player = (history[-1].seat + 1) % players if history else view.current_player
        self.deck_size = view.deck_size
        self.fireworks = view.fireworks
        self.information_tokens = view.information_tokens
        self.life_tokens = view.life_tokens
        self.discards = [(card.suit, card.rank) for card in view.discard_pile]

    def hands(self, observer: int) -> list[list[Pair]]:
        """The hands by offset."""
        return [[(-1, -1) if card is None else (card.suit, card.rank) for card in hand] for hand in self._view.hands]

    @property
    def discard_dictionaries(self) -> list[CardEntry]:
        """The dictionaries of the discarded cards."""
        return dictionaries(self.discards, self.rules)

    def hand_dictionaries(self, observer: int) -> list[list[CardEntry]]:
        """The dictionaries of the hands by offset."""
        return [dictionaries(hand, self.rules) for hand in self.hands(observer)]

    def hinted(self, observer: int) -> list[list[CardEntry]]:
        """What hints named."""
        sizes = [len(hand) for hand in self._view.hands]
        if self.rules.observation_type == AgentObservationType.MINIMAL:
            return [[NOT_HINTED] * size for size in sizes]
        known = [[self._view.knowledge(offset, slot) for slot in range(size)] for offset, size in enumerate(sizes)]
        letters = self.rules.letters
        return [
            [{"color": None if card.color is None else letters[card.color], "rank": card.rank} for card in hand]
            for hand in known
        ]

    def knowledge(self, observer: int) -> list[list[HanabiCardKnowledge]]:
        """What hints say."""
        if self.rules.observation_type == AgentObservationType.MINIMAL:
            return [[no_knowledge(self.rules)] * len(hand) for hand in self._view.hands]
        return [
            [knowledge_of(self._view.knowledge(offset, slot), self.rules) for slot in range(len(hand))]
            for offset, hand in enumerate(self._view.hands)
        ]

    def legal(self, observer: int) -> list[int]:
        """The legal actions, also after the end."""
        legal = self._view.legal_actions()
        return legal if legal or observer != self.current_player else moves_after_the_end(self, observer)

    def last_moves(self, observer: int) -> list[HanabiHistoryItem]:
        """The moves since the observer's last one."""
        return relative_items(played_items(self._view.history, self.rules), observer, self.rules)

    def encode(self, observer: int) -> list[int]:
        """The encoded observation, zeros and ones: a new list."""
        return [*self._view.encode(self.rules.encoder).tobytes()]
