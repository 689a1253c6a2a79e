"""A position of an HLE game, chance nodes included: what states, observations and dictionaries are read from.

HLE deals each card as a move of its own. Here a state of Starmine, which deals at once, comes with the number of its
last cards that count as not dealt yet.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from starmine._core import Card, Event, State, View
from starmine.games.hands import Hands
from starmine.hle.cards import CHANCE_PLAYER_ID, HanabiCard, HanabiCardKnowledge, card_text, whole
from starmine.hle.moves import HanabiHistoryItem, HanabiMove, HanabiMoveType
from starmine.hle.rules import AgentObservationType, Rules

Pair = tuple[int, int]  # colour and rank of a card from 0, -1 where it is hidden
CardEntry = dict[str, Any]  # the letter of a card's colour and its rank, as "color" and "rank"; None or -1 where hidden


class Source(ABC):
    """What observations are read from: a `Position`, or the view of one seat.

    Attributes:
        rules: of the game.
        current_player: the seat to act, or `CHANCE_PLAYER_ID` while there are cards to deal.
        deck_size: the cards left in the deck.
        fireworks: the height of each colour's stack.
        information_tokens: those left.
        life_tokens: those left.
    """

    __slots__ = ("current_player", "deck_size", "fireworks", "information_tokens", "life_tokens", "rules")

    def __init__(self, rules: Rules, shown: State | View, current_player: int, undealt: int = 0) -> None:
        """The source of a state or a view, `undealt` of whose cards count as not dealt yet."""
        self.rules = rules
        self.current_player = current_player
        self.deck_size = shown.deck_size + undealt
        self.fireworks = shown.fireworks
        self.information_tokens = shown.information_tokens
        self.life_tokens = shown.life_tokens

    @abstractmethod
    def hand_numbers(self, observer: int) -> list[Sequence[int]]:
        """The numbers of the cards by offset from the observer; -1 for cards that it does not see."""

    @abstractmethod
    def discard_numbers(self) -> Sequence[int]:
        """The numbers of the discarded and misplayed cards, the oldest first."""

    @abstractmethod
    def view(self, observer: int) -> View:
        """What the observer sees of the state, all cards dealt."""

    @abstractmethod
    def played(self) -> list[HanabiHistoryItem]:
        """The turns and the deals after them."""

    @abstractmethod
    def legal(self, observer: int) -> list[int]:
        """The legal actions of the observer, not to be changed; also after the end, where HLE goes on listing moves."""

    @abstractmethod
    def encode(self, observer: int) -> list[int]:
        """The encoded observation, zeros and ones: a new list."""

    @property
    def discards(self) -> list[Pair]:
        """The discarded and misplayed cards, the oldest first."""
        return [self.rules.pairs[number] for number in self.discard_numbers()]

    def hands(self, observer: int) -> list[list[Pair]]:
        """The hands by offset from the observer, whose own cards are hidden, but to a seer."""
        return [[self.rules.pairs[number] for number in hand] for hand in self.hand_numbers(observer)]

    def hinted(self, observer: int) -> list[list[CardEntry]]:
        """What hints named of the cards by offset and slot: dictionaries, to be copied."""
        return [[card.to_dict() for card in hand] for hand in self.knowledge(observer)]

    def knowledge(self, observer: int) -> list[list[HanabiCardKnowledge]]:
        """What hints say about the cards by offset and slot: nothing in minimal observations."""
        if self.rules.observation_type == AgentObservationType.MINIMAL:
            nothing = knowledge_of(self.rules, None, None, self.rules.cards)
            return [[nothing] * len(hand) for hand in self.hand_numbers(observer)]
        return self.true_knowledge(observer)

    def true_knowledge(self, observer: int) -> list[list[HanabiCardKnowledge]]:
        """What hints say about the cards by offset and slot, also in minimal observations. A seer knows its cards."""
        rules, hands = self.rules, self.hand_numbers(observer)
        if rules.observation_type == AgentObservationType.SEER:
            seen = [[rules.cards[number] for number in hand] for hand in hands]
            return [[knowledge_of(rules, card.suit, card.rank, [card]) for card in hand] for hand in seen]
        view = self.view(observer)
        known = [[view.knowledge(offset, slot) for slot in range(len(hand))] for offset, hand in enumerate(hands)]
        return [[knowledge_of(rules, card.color, card.rank, card.plausible) for card in hand] for hand in known]

    def last_moves(self, observer: int) -> list[HanabiHistoryItem]:
        """The moves since the observer's last one, the newest first, as the observer sees them."""
        items = []
        show_cards = self.rules.observation_type == AgentObservationType.SEER
        for item in reversed(self.played()):
            items.append(item.relative_to(observer, self.rules.variant.players, show_cards))
            if item.player() == observer:
                break
        return items

    def moves_after_the_end(self, observer: int) -> list[int]:
        """The actions that HLE lists for the seat whose turn would be next, although the game is over."""
        hands, variant = self.hands(observer), self.rules.variant
        actions = []
        for action, move in enumerate(self.rules.moves):
            if action < 2 * variant.hand_size:
                is_discard = action < variant.hand_size
                allowed = not is_discard or self.information_tokens < variant.max_information_tokens
                if allowed and move.card_index() < len(hands[0]):
                    actions.append(action)
            elif self.information_tokens > 0:
                target = hands[move.target_offset()]
                if any(move.color() == color or move.rank() == rank for color, rank in target):
                    actions.append(action)
        return actions


class Position(Source):
    """A position of a state, which never changes.

    Attributes:
        core: the state, all cards dealt.
        undealt: how many of its last cards are not dealt yet.
    """

    __slots__ = ("_hinted", "_legal", "_numbers", "core", "undealt")

    def __init__(self, rules: Rules, core: State, undealt: int) -> None:
        to_act = (core.start_player + core.length) % rules.variant.players
        super().__init__(rules, core, CHANCE_PLAYER_ID if undealt else to_act, undealt)
        self.core = core
        self.undealt = undealt
        self._hinted: list[list[CardEntry]] | None = None
        self._legal: list[int] | None = None
        self._numbers: tuple[list[bytes], bytes] | None = None

    def _cards(self) -> tuple[list[bytes], bytes]:
        """The numbers of the cards in the hands of all seats, and of the discarded and misplayed ones."""
        if self._numbers is None:
            hands, discards = self.core._card_numbers()
            if self.undealt:
                hands = [hand[: self.size(seat)] for seat, hand in enumerate(hands)]
            self._numbers = hands, discards
        return self._numbers

    def size(self, seat: int) -> int:
        """The number of cards in a seat's hand."""
        variant = self.rules.variant
        if self.core.length == 0:
            dealt = variant.players * variant.hand_size - self.undealt
            return min(max(dealt - seat * variant.hand_size, 0), variant.hand_size)
        cards = len(self.core.hands[seat])
        actor = (self.core.start_player + self.core.length - 1) % variant.players
        return cards - self.undealt if seat == actor else cards

    def open_hands(self) -> list[list[Pair]]:
        """The hands of all seats, open."""
        return [[self.rules.pairs[number] for number in hand] for hand in self._cards()[0]]

    def hand_numbers(self, observer: int) -> list[Sequence[int]]:
        hands = self._cards()[0]
        is_seer = self.rules.observation_type == AgentObservationType.SEER
        own: Sequence[int] = hands[observer] if is_seer else [-1] * len(hands[observer])
        return [own, *hands[observer + 1 :], *hands[:observer]]

    def discard_numbers(self) -> Sequence[int]:
        return self._cards()[1]

    def view(self, observer: int) -> View:
        return self.core.view(observer)

    def played(self) -> list[HanabiHistoryItem]:
        played = played_items(self.core.history, self.rules)
        return played[:-1] if self.undealt else played

    def hinted(self, observer: int) -> list[list[CardEntry]]:
        if self._hinted is None:
            rules, hands = self.rules, self._cards()[0]
            kind = rules.observation_type
            table = (rules.shown if kind == AgentObservationType.SEER else rules.named).__getitem__
            known: Sequence[Sequence[int]] = hands  # of a seer
            if kind == AgentObservationType.MINIMAL:
                known = [[-1] * len(hand) for hand in hands]
            elif kind == AgentObservationType.CARD_KNOWLEDGE:
                known = self.core._named_by_hints()
            self._hinted = [[*map(table, named[: len(hand)])] for named, hand in zip(known, hands, strict=True)]
        return self._hinted[observer:] + self._hinted[:observer]

    def legal(self, observer: int) -> list[int]:
        if observer != self.current_player:
            return []
        if self._legal is None:
            legal = self.core.legal_actions()
            self._legal = legal if legal or not self.core.is_terminal else self.moves_after_the_end(observer)
        return self._legal

    def history(self) -> list[HanabiHistoryItem]:
        """All moves and deals, the oldest first."""
        variant = self.rules.variant
        total = variant.players * variant.hand_size
        dealt = total - self.undealt if self.core.length == 0 else total
        items = [
            deal_item((card.suit, card.rank), index // variant.hand_size)
            for index, card in enumerate(self.core.deck[:dealt])
        ]
        return items + self.played()

    def encode(self, observer: int) -> list[int]:
        if not self.undealt:
            return self.core._encode_list(observer, self.rules.encoder)
        encoding = self.core.encode(observer, self.rules.encoder)
        self._hide_undealt(encoding, observer)
        return [*encoding.tobytes()]

    def _hide_undealt(self, encoding: Any, observer: int) -> None:
        """Take the cards that are not dealt yet out of an encoding."""
        variant = self.rules.variant
        layout = variant.layout(self.rules.encoder)
        has_knowledge = self.rules.observation_type != AgentObservationType.MINIMAL
        for offset in range(variant.players):
            size = self.size((observer + offset) % variant.players)
            if size < variant.hand_size:
                encoding[layout["short_hands"].start + offset] = 1
            if offset > 0:
                section = layout["hands"]
                encoding[section.slice].reshape(section.shape)[offset - 1, size:] = 0
            if has_knowledge:
                section = layout["knowledge"]
                encoding[section.slice].reshape(section.shape)[offset, size:] = 0
        # While the first hands are dealt, HLE writes the deck's size beyond its section.
        start = layout["deck_size"].start
        encoding[start : start + self.deck_size] = 1


class Public:
    """What every seat sees of a position: the methods that states and observations share."""

    __slots__ = ()
    _position: Source

    def num_players(self) -> int:
        """The number of seats."""
        return self._position.rules.variant.players

    def deck_size(self) -> int:
        """The cards left in the deck."""
        return self._position.deck_size

    def discard_pile(self) -> list[HanabiCard]:
        """The discarded and misplayed cards, the oldest first."""
        return [HanabiCard(*card) for card in self._position.discards]

    def fireworks(self) -> list[int]:
        """The height of each colour's stack."""
        return list(self._position.fireworks)

    def information_tokens(self) -> int:
        """The information tokens left."""
        return self._position.information_tokens

    def life_tokens(self) -> int:
        """The life tokens left."""
        return self._position.life_tokens

    def card_playable_on_fireworks(self, color: int, rank: int) -> bool:
        """Whether a card would be added to the fireworks."""
        heights, color, rank = self._position.fireworks, whole("color", color), whole("rank", rank)
        return 0 <= color < len(heights) and heights[color] == rank


class SeenByView(Source):
    """The source of the view of one seat, for rules whose observation type is not that of a seer."""

    def __init__(self, view: View, rules: Rules) -> None:
        history = view.history
        after = (history[-1].seat + 1) % rules.variant.players if history else view.current_player
        super().__init__(rules, view, after)
        self._view = view

    def hand_numbers(self, observer: int) -> list[Sequence[int]]:
        return [[-1 if card is None else self.rules.number(card) for card in hand] for hand in self._view.hands]

    def discard_numbers(self) -> Sequence[int]:
        return [self.rules.number(card) for card in self._view.discard_pile]

    def view(self, observer: int) -> View:
        return self._view

    def played(self) -> list[HanabiHistoryItem]:
        return played_items(self._view.history, self.rules)

    def legal(self, observer: int) -> list[int]:
        legal = self._view.legal_actions()
        return legal if legal or observer != self.current_player else self.moves_after_the_end(observer)

    def encode(self, observer: int) -> list[int]:
        return [*self._view.encode(self.rules.encoder).tobytes()]


def knowledge_of(rules: Rules, color: int | None, rank: int | None, plausible: list[Card]) -> HanabiCardKnowledge:
    """What is known of a card: the hinted colour and rank, and the cards that it may be."""
    colors, ranks = {card.suit for card in plausible}, {card.rank for card in plausible}
    return HanabiCardKnowledge(
        color,
        rank,
        tuple(suit in colors for suit in range(rules.variant.colors)),
        tuple(number in ranks for number in range(rules.variant.ranks)),
    )


def deal_item(card: Pair, seat: int) -> HanabiHistoryItem:
    """The deal of a card to a seat."""
    color, rank = card
    return HanabiHistoryItem(
        HanabiMove(HanabiMoveType.DEAL, _color=color, _rank=rank), CHANCE_PLAYER_ID, _dealt_to=seat
    )


def played_items(events: list[Event], rules: Rules) -> list[HanabiHistoryItem]:
    """The turns and the deals after them; a card that the events hide is dealt as (-1, -1)."""
    variant, hands = rules.variant, Hands(rules.variant)
    # The aspects of cards that were hinted, by card number; a seer knows both from the start.
    named: set[tuple[int, int]] = set()
    if rules.observation_type == AgentObservationType.SEER:
        named = {(number, aspect) for number in range(variant.deck_size) for aspect in (0, 1)}
    items = []
    for event in events:
        move = rules.moves[event.action]
        if event.target is not None:
            aspect = 0 if event.color is not None else 1
            touched = {slot: (hands.numbers[event.target][slot], aspect) for slot in event.touched}
            newly = tuple(slot for slot, hinted in touched.items() if hinted not in named)
            named.update(touched.values())
            items.append(HanabiHistoryItem(move, event.seat, _touched=tuple(touched), _newly=newly))
            continue
        card = (-1, -1) if event.card is None else (event.card.suit, event.card.rank)
        token = event.regained > 0
        items.append(HanabiHistoryItem(move, event.seat, _card=card, _scored=event.added, _token=token))
        if hands.follow(event):
            drawn = (-1, -1) if event.drawn is None else (event.drawn.suit, event.drawn.rank)
            items.append(deal_item(drawn, event.seat))
    return items


def board_text(
    source: Source, hands: list[list[Pair]], knowledge: list[list[HanabiCardKnowledge]], current: int
) -> str:
    """HLE's text of a state or an observation, with the hands in the given order, of which one is to act."""
    lines = [f"Life tokens: {source.life_tokens}", f"Info tokens: {source.information_tokens}"]
    letters = source.rules.letters
    heights = [f"{letter}{height} " for letter, height in zip(letters, source.fireworks, strict=True)]
    lines += [f"Fireworks: {''.join(heights)}", "Hands:"]
    for index, (hand, known) in enumerate(zip(hands, knowledge, strict=True)):
        lines += ["-----"] * (index > 0) + ["Cur player"] * (index == current)
        lines += [f"{card_text(*card)} || {what}" for card, what in zip(hand, known, strict=True)]
    lines.append(f"Deck size: {source.deck_size}")
    lines.append("Discards:" + "".join(f" {card_text(*card)}" for card in source.discards))
    return "\n".join(lines)
