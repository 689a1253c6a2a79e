"""A position of an HLE game, chance nodes included: what states, observations and dictionaries are read from.

HLE deals each card as a move of its own. Here a state of Starmine, which deals at once, comes with the number of its
last cards that count as not dealt yet.
"""

from __future__ import annotations

from typing import Any, Protocol

from starmine._core import Event, Knowledge, State, Variant
from starmine.hle.cards import CHANCE_PLAYER_ID, HanabiCardKnowledge, card_text
from starmine.hle.moves import HanabiHistoryItem, HanabiMove
from starmine.hle.rules import AgentObservationType, Rules

Pair = tuple[int, int]  # colour and rank of a card from 0, -1 where it is hidden
CardEntry = dict[str, Any]  # the letter of a card's colour and its rank, as "color" and "rank"; None or -1 where hidden


HIDDEN: CardEntry = {"color": None, "rank": -1}
NOT_HINTED: CardEntry = {"color": None, "rank": None}


class Source(Protocol):
    """What observations are read from: a `Position`, or a view of one seat."""

    rules: Rules
    current_player: int
    deck_size: int
    fireworks: list[int]
    information_tokens: int
    life_tokens: int

    @property
    def discards(self) -> list[Pair]:
        """The discarded and misplayed cards, the oldest first."""

    def hands(self, observer: int) -> list[list[Pair]]:
        """The hands by offset from the observer, whose own cards are hidden."""

    @property
    def discard_dictionaries(self) -> list[CardEntry]:
        """The dictionaries of `discards`, to be copied."""

    def hand_dictionaries(self, observer: int) -> list[list[CardEntry]]:
        """The dictionaries of `hands`, to be copied."""

    def hinted(self, observer: int) -> list[list[CardEntry]]:
        """What hints named of the cards by offset and slot: dictionaries, to be copied."""

    def knowledge(self, observer: int) -> list[list[HanabiCardKnowledge]]:
        """What hints say about the cards by offset and slot."""

    def legal(self, observer: int) -> list[int]:
        """The legal actions of the observer, not to be changed; also after the end, where HLE goes on listing moves."""

    def last_moves(self, observer: int) -> list[HanabiHistoryItem]:
        """The moves since the observer's last one, the newest first."""

    def encode(self, observer: int) -> list[int]:
        """The encoded observation, zeros and ones: a new list."""


class Position:
    """A position, which never changes.

    Attributes:
        rules: of the game.
        core: the state, all cards dealt.
        undealt: how many of its last cards are not dealt yet.
        current_player: the seat to act, or `CHANCE_PLAYER_ID` while there are cards to deal.
        deck_size: the cards left in the deck.
        fireworks: the height of each colour's stack.
        information_tokens: those left.
        life_tokens: those left.
    """

    __slots__ = (
        "_hinted",
        "_legal",
        "_numbers",
        "core",
        "current_player",
        "deck_size",
        "fireworks",
        "information_tokens",
        "life_tokens",
        "rules",
        "undealt",
    )

    def __init__(self, rules: Rules, core: State, undealt: int) -> None:
        """A position of a state, some of whose cards are not dealt yet."""
        self.rules = rules
        self.core = core
        self.undealt = undealt
        to_act = (core.start_player + core.length) % rules.variant.players
        self.current_player = CHANCE_PLAYER_ID if undealt else to_act
        self.deck_size = core.deck_size + undealt
        self.fireworks = core.fireworks
        self.information_tokens = core.information_tokens
        self.life_tokens = core.life_tokens
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

    @property
    def discards(self) -> list[Pair]:
        """The discarded and misplayed cards, the oldest first."""
        return [self.rules.pairs[number] for number in self._cards()[1]]

    @property
    def discard_dictionaries(self) -> list[CardEntry]:
        """The dictionaries of `discards`, to be copied."""
        return [*map(self.rules.shown.__getitem__, self._cards()[1])]

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

    def hands(self, observer: int) -> list[list[Pair]]:
        """The hands by offset from the observer, whose own cards are hidden, but to a seer."""
        hands = self.open_hands()
        if self.rules.observation_type == AgentObservationType.SEER:
            return hands[observer:] + hands[:observer]
        return [[(-1, -1)] * len(hands[observer]), *hands[observer + 1 :], *hands[:observer]]

    def hand_dictionaries(self, observer: int) -> list[list[CardEntry]]:
        """The dictionaries of `hands`, to be copied."""
        hands, shown = self._cards()[0], self.rules.shown.__getitem__
        others = [[*map(shown, hand)] for hand in hands[observer + 1 :] + hands[:observer]]
        if self.rules.observation_type == AgentObservationType.SEER:
            return [[*map(shown, hands[observer])], *others]
        return [[HIDDEN] * len(hands[observer]), *others]

    def hinted(self, observer: int) -> list[list[CardEntry]]:
        """What hints named of the cards by offset and slot: dictionaries, to be copied."""
        if self._hinted is None:
            self._hinted = self._find_hinted()
        return self._hinted[observer:] + self._hinted[:observer]

    def _find_hinted(self) -> list[list[CardEntry]]:
        hands, rules = self._cards()[0], self.rules
        if rules.observation_type == AgentObservationType.MINIMAL:
            return [[NOT_HINTED] * len(hand) for hand in hands]
        if rules.observation_type == AgentObservationType.SEER:
            return [[*map(rules.shown.__getitem__, hand)] for hand in hands]
        named = [[*map(rules.named.__getitem__, hand)] for hand in self.core._named_by_hints()]
        return [known[: len(hand)] for known, hand in zip(named, hands, strict=True)] if self.undealt else named

    def knowledge(self, observer: int) -> list[list[HanabiCardKnowledge]]:
        """What hints say about the cards by offset and slot: nothing in minimal observations."""
        if self.rules.observation_type == AgentObservationType.MINIMAL:
            nothing = no_knowledge(self.rules)
            return [[nothing] * len(hand) for hand in self.hands(observer)]
        return self.true_knowledge(observer)

    def true_knowledge(self, observer: int) -> list[list[HanabiCardKnowledge]]:
        """What hints say about the cards by offset and slot, whatever the observation type; all to a seer."""
        hands = self.hands(observer)
        if self.rules.observation_type == AgentObservationType.SEER:
            return [[known_card(card, self.rules) for card in hand] for hand in hands]
        view = self.core.view(observer)
        return [
            [knowledge_of(view.knowledge(offset, slot), self.rules) for slot in range(len(hand))]
            for offset, hand in enumerate(hands)
        ]

    def legal(self, observer: int) -> list[int]:
        """The legal actions of the observer, also after the end."""
        if observer != self.current_player:
            return []
        if self._legal is None:
            legal = self.core.legal_actions()
            self._legal = legal if legal or not self.core.is_terminal else moves_after_the_end(self, observer)
        return self._legal

    def history(self) -> list[HanabiHistoryItem]:
        """All moves and deals, the oldest first."""
        variant = self.rules.variant
        total = variant.players * variant.hand_size
        dealt = total - self.undealt if self.core.length == 0 else total
        items = [
            deal_item((card.suit, card.rank), index // variant.hand_size, variant)
            for index, card in enumerate(self.core.deck[:dealt])
        ]
        played = played_items(self.core.history, self.rules)
        return items + (played[:-1] if self.undealt and played else played)

    def last_moves(self, observer: int) -> list[HanabiHistoryItem]:
        """The moves since the observer's last one, the newest first."""
        played = played_items(self.core.history, self.rules)
        if self.undealt and played:
            played.pop()
        return relative_items(played, observer, self.rules)

    def encode(self, observer: int) -> list[int]:
        """The encoded observation, zeros and ones: a new list."""
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


def dictionaries(cards: list[Pair], rules: Rules) -> list[CardEntry]:
    """Cards as dictionaries."""
    letters = rules.letters
    return [HIDDEN if rank < 0 else {"color": letters[color], "rank": rank} for color, rank in cards]


def no_knowledge(rules: Rules) -> HanabiCardKnowledge:
    """What is known of a card without hints."""
    return HanabiCardKnowledge(None, None, (True,) * rules.variant.colors, (True,) * rules.variant.ranks)


def known_card(card: Pair, rules: Rules) -> HanabiCardKnowledge:
    """What a seer knows of a card."""
    colors = tuple(color == card[0] for color in range(rules.variant.colors))
    return HanabiCardKnowledge(*card, colors, tuple(rank == card[1] for rank in range(rules.variant.ranks)))


def knowledge_of(known: Knowledge, rules: Rules) -> HanabiCardKnowledge:
    """Starmine's knowledge of a card in HLE's form."""
    colors = {card.suit for card in known.plausible}
    ranks = {card.rank for card in known.plausible}
    return HanabiCardKnowledge(
        known.color,
        known.rank,
        tuple(color in colors for color in range(rules.variant.colors)),
        tuple(rank in ranks for rank in range(rules.variant.ranks)),
    )


def moves_after_the_end(source: Source, observer: int) -> list[int]:
    """The actions that HLE lists for the seat whose turn would be next, although the game is over."""
    hands, rules = source.hands(observer), source.rules
    variant = rules.variant
    found = []
    for action, move in enumerate(rules.moves):
        if action < 2 * variant.hand_size:
            is_discard = action < variant.hand_size
            allowed = not is_discard or source.information_tokens < variant.max_information_tokens
            if allowed and move.card_index() < len(hands[0]):
                found.append(action)
        elif source.information_tokens > 0:
            target = hands[move.target_offset()]
            if any(move.color() == color or move.rank() == rank for color, rank in target):
                found.append(action)
    return found


def deal_item(card: Pair, seat: int, variant: Variant) -> HanabiHistoryItem:
    """The deal of a card to a seat."""
    return HanabiHistoryItem(HanabiMove.get_deal_move(*card), CHANCE_PLAYER_ID, dealt_to=seat, variant=variant)


def played_items(events: list[Event], rules: Rules) -> list[HanabiHistoryItem]:
    """The turns and the deals after them; a card that the events hide is dealt as (-1, -1)."""
    variant = rules.variant
    seer = rules.observation_type == AgentObservationType.SEER
    # Of each card in the hands, whether its colour and its rank were hinted; a seer knows both from the start.
    named = [[[seer, seer] for _ in range(variant.hand_size)] for _ in range(variant.players)]
    deck = variant.deck_size - variant.players * variant.hand_size
    items = []
    for event in events:
        move = rules.moves[event.action]
        if event.target is not None:
            aspect = 0 if event.color is not None else 1
            hand = named[event.target]
            newly = tuple(slot for slot in event.touched if not hand[slot][aspect])
            for slot in event.touched:
                hand[slot][aspect] = True
            touched = tuple(event.touched)
            items.append(HanabiHistoryItem(move, event.seat, touched=touched, newly=newly, variant=variant))
            continue
        card = (-1, -1) if event.card is None else (event.card.suit, event.card.rank)
        token = event.regained > 0
        items.append(HanabiHistoryItem(move, event.seat, card=card, scored=event.added, token=token, variant=variant))
        del named[event.seat][move.card_index()]
        if deck > 0:
            deck -= 1
            named[event.seat].append([seer, seer])
            drawn = (-1, -1) if event.drawn is None else (event.drawn.suit, event.drawn.rank)
            items.append(deal_item(drawn, event.seat, variant))
    return items


def relative_items(items: list[HanabiHistoryItem], observer: int, rules: Rules) -> list[HanabiHistoryItem]:
    """The items from the newest back to the observer's last move, as the observer sees them."""
    found = []
    show_cards = rules.observation_type == AgentObservationType.SEER
    for item in reversed(items):
        found.append(item.relative_to(observer, rules.variant.players, show_cards))
        if item.player() == observer:
            break
    return found


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
