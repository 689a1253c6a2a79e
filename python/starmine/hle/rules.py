"""The parameters of an HLE game: its rules, what observers see, and the tables that are made of them once."""

from __future__ import annotations

import enum
import functools
import random
from collections.abc import Mapping
from operator import index
from typing import Any, SupportsIndex

from starmine._core import Card, StarmineError, Variant, VariantError, _unknown_name
from starmine.hle.cards import COLOR_CHAR, HanabiCard
from starmine.hle.moves import HanabiMove, IllegalMoveError


class AgentObservationType(enum.IntEnum):
    """What an observation holds: no hints, the hints, or all cards."""

    MINIMAL = 0
    CARD_KNOWLEDGE = 1
    SEER = 2


ENCODERS = {
    AgentObservationType.MINIMAL: "canonical-minimal",
    AgentObservationType.CARD_KNOWLEDGE: "canonical",
    AgentObservationType.SEER: "canonical-seer",
}
OF_VARIANT = ("players", "colors", "ranks", "hand_size", "max_information_tokens", "max_life_tokens")
PARAMETERS = [*OF_VARIANT, "random_start_player", "observation_type", "seed"]
FULL = {"colors": 5, "ranks": 5, "max_information_tokens": 8, "max_life_tokens": 3, "observation_type": 1}
SMALL = {"ranks": 5, "hand_size": 2, "max_information_tokens": 3, "max_life_tokens": 1, "observation_type": 1}
PRESETS: dict[str, dict[str, int]] = {
    "Hanabi-Full": FULL,
    "Hanabi-Full-CardKnowledge": FULL,
    "Hanabi-Full-Minimal": {**FULL, "observation_type": 0},
    "Hanabi-Small": {"colors": 2, **SMALL},
    "Hanabi-Very-Small": {"colors": 1, **SMALL},
}


def preset_parameters(name: str) -> dict[str, int]:
    """The parameters of one of HLE's presets."""
    if name not in PRESETS:
        raise _unknown_name("environment", str(name), list(PRESETS))
    return PRESETS[name]


def variant_of(config: Mapping[str, Any]) -> Variant:
    """The variant of HLE's parameters; HLE's defaults stand for those that are missing."""
    for name in config:
        if name not in PARAMETERS:  # HLE ignores it
            raise _unknown_name("parameter", str(name), PARAMETERS)
    numbers: dict[str, Any] = {name: _integer(config, name) for name in OF_VARIANT if name in config}
    if not 1 <= numbers.get("colors", 5) <= len(COLOR_CHAR):
        raise VariantError(f"colors={numbers['colors']} is not allowed: expected 1 to {len(COLOR_CHAR)}")
    random_start = str(config.get("random_start_player", False)) in ("1", "true", "True")
    return Variant(**numbers, random_start_player=random_start)


def _integer(config: Mapping[str, Any], name: str) -> int:
    """A parameter, which may be text, as in HLE."""
    value = config[name]
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = None
    if number is None or isinstance(value, bool) or (isinstance(value, float) and value != number):
        raise StarmineError(f"{name}={value!r} is not allowed: expected an integer")
    return number


class Rules:
    """A variant and an observation type, with the tables of their moves and encodings.

    Attributes:
        variant: the rules of the game.
        observation_type: what observations hold.
        encoder: Starmine's name of the encoder.
        moves: the moves by id.
        actions: their ids.
        move_dictionaries: their dictionaries, to be copied.
        letters: the letters of the colours.
        named: the dictionaries of what hints named of a card, to be copied, by number: that of the colour, the last
            one for none, times ranks + 1, plus that of the rank.
        cards: the kinds of cards by number, suit * ranks + rank.
        pairs: their suits and ranks; the last one, -1 and -1, is that of a hidden card, whose number is -1.
        shown: their dictionaries, to be copied, with that of a hidden card as the last one.
        deck: the numbers of all cards in their order.
        encoded: what the form of encodings depends on.
    """

    def __init__(self, variant: Variant, observation_type: AgentObservationType) -> None:
        seats, colors, ranks = variant.players, variant.colors, variant.ranks
        slots = variant.hand_size
        self.variant = variant
        self.observation_type = observation_type
        self.encoder = ENCODERS[observation_type]
        self.encoded = (observation_type, variant.copies, *(getattr(variant, name) for name in OF_VARIANT))
        self.moves = [HanabiMove.get_discard_move(slot) for slot in range(slots)]
        self.moves += [HanabiMove.get_play_move(slot) for slot in range(slots)]
        offsets = range(1, seats)
        self.moves += [HanabiMove.get_reveal_color_move(o, color) for o in offsets for color in range(colors)]
        self.moves += [HanabiMove.get_reveal_rank_move(o, rank) for o in offsets for rank in range(ranks)]
        if colors > len(COLOR_CHAR) or len(self.moves) != variant.num_actions:
            raise StarmineError(f"{variant} is not allowed: HLE has no such colours or moves")
        self.actions = {move: action for action, move in enumerate(self.moves)}
        self.move_dictionaries = [move.to_dict() for move in self.moves]
        self.letters = COLOR_CHAR[:colors]
        self.named: list[dict[str, Any]] = [
            {"color": letter, "rank": rank} for letter in (*self.letters, None) for rank in (*range(ranks), None)
        ]
        kinds = [(suit, rank) for suit in range(colors) for rank in range(ranks)]
        self.cards = [Card.of(suit, rank) for suit, rank in kinds]
        self.pairs = [*kinds, (-1, -1)]
        self.shown: list[dict[str, Any]] = [HanabiCard(suit, rank).to_dict() for suit, rank in self.pairs]
        self.deck = [
            suit * ranks + rank
            for suit, copies in enumerate(variant.copies)
            for rank, count in enumerate(copies)
            for _ in range(count)
        ]

    @staticmethod
    def of(config: Mapping[str, Any]) -> Rules:
        """The rules of HLE's parameters."""
        variant = variant_of(config)
        number = _integer(config, "observation_type") if "observation_type" in config else 1
        if number not in ENCODERS:
            expected = ", ".join(f"{kind.value} for encoder={name!r}" for kind, name in ENCODERS.items())
            raise StarmineError(f"observation_type={number} is not allowed: expected {expected}")
        return rules_for(variant, AgentObservationType(number))

    def move(self, move_uid: SupportsIndex) -> HanabiMove:
        """The move of HLE's id.

        Raises:
            IllegalMoveError: there is no such id.
            TypeError: it is not an integer.
        """
        uid = index(move_uid)
        if not 0 <= uid < len(self.moves):
            raise IllegalMoveError(f"move_uid={uid} is not allowed: expected 0 to {len(self.moves) - 1}")
        return self.moves[uid]

    def number(self, card: Card) -> int:
        """The number of a card."""
        return card.suit * self.variant.ranks + card.rank


@functools.lru_cache(maxsize=64)
def rules_for(variant: Variant, observation_type: AgentObservationType) -> Rules:
    """The tables of a variant and an observation type, made once."""
    return Rules(variant, observation_type)


def seed_of(config: Mapping[str, Any]) -> int:
    """The seed of HLE's parameters: a random one where it is missing or -1."""
    seed = _integer(config, "seed") if "seed" in config else -1
    return random.SystemRandom().getrandbits(31) if seed == -1 else seed
