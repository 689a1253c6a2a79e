"""Traces of games played by DeepMind's Hanabi Learning Environment (HLE).

A trace holds everything that another implementation needs to play the same game again (deck, start seat,
actions) and everything that it must then show at each position, the encoded observation of every seat included.

HLE has no input checks worth the name: parameters that it refuses end the process. `Configuration` therefore
refuses them first. HLE's library is called directly where its Python wrapper would be too slow.
"""

import dataclasses
import functools
import importlib.metadata
import os

import numpy as np
import pytest

HOW_TO_INSTALL_HLE = "CMAKE_POLICY_VERSION_MINIMUM=3.5 pip install hanabi-learning-environment"
SUIT_LETTERS = "RYGWB"
OBSERVATION_TYPES = {"canonical-minimal": 0, "canonical": 1, "canonical-seer": 2}
ENDINGS = {1: "lost", 2: "deck_exhausted", 3: "perfect"}
CHANCE = -1
DEAL = 5  # HLE's move type

# What HLE accepts and Starmine supports: first and last value.
RANGES = {
    "players": (2, 5),
    "colors": (1, 5),
    "ranks": (1, 5),
    "hand_size": (1, 6),
    "max_information_tokens": (0, 16),
    "max_life_tokens": (1, 8),
}


@functools.cache
def load_hle():
    """HLE's Python module with its library loaded; raises ImportError where that is not possible."""
    from hanabi_learning_environment import pyhanabi

    if not (pyhanabi.cdef_loaded() and pyhanabi.lib_loaded()):
        raise ImportError("hanabi_learning_environment is installed without its library")
    return pyhanabi


def hle_or_skip():
    """HLE's Python module; where it cannot be loaded, the test is skipped, and in CI it fails."""
    try:
        return load_hle()
    except (ImportError, OSError) as error:
        reason = f"HLE cannot be loaded ({error}); to install it: {HOW_TO_INSTALL_HLE}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


def hle_version():
    """The name and version of the installed HLE package."""
    return f"hanabi-learning-environment {importlib.metadata.version('hanabi-learning-environment')}"


def copies_of_rank(rank, ranks):
    """How many cards of a rank (from 0) each suit has."""
    if rank == 0:
        return 3
    return 1 if rank == ranks - 1 else 2


def complete_deck_of(variant):
    """Every card of the variant as (suit, rank) from 0, in a fixed order."""
    return [
        (suit, rank)
        for suit in range(variant["colors"])
        for rank in range(variant["ranks"])
        for _ in range(copies_of_rank(rank, variant["ranks"]))
    ]


@dataclasses.dataclass(frozen=True)
class Configuration:
    """Variant parameters (by their Starmine names) and the encoder that stands for an HLE observation type."""

    variant: dict
    encoder: str

    def __post_init__(self):
        for name, (lowest, highest) in RANGES.items():
            if not lowest <= self.variant[name] <= highest:
                raise ValueError(f"{name} is {self.variant[name]}, not within {lowest}..{highest}")
        dealt = self.variant["players"] * self.variant["hand_size"]
        if dealt > len(complete_deck_of(self.variant)):
            raise ValueError(f"{dealt} cards to deal, {len(complete_deck_of(self.variant))} in the deck")
        if self.encoder not in OBSERVATION_TYPES:
            raise ValueError(f"encoder is {self.encoder!r}, not one of {sorted(OBSERVATION_TYPES)}")

    def hle_parameters(self, seed):
        """The arguments of HLE's game constructor."""
        return {**self.variant, "observation_type": OBSERVATION_TYPES[self.encoder], "seed": seed}


def random_configuration(generator):
    """Draws every parameter from the range that HLE accepts and Starmine supports."""
    while True:
        variant = {name: int(generator.integers(low, high + 1)) for name, (low, high) in RANGES.items()}
        variant["random_start_player"] = bool(generator.integers(2))
        encoder = str(generator.choice(sorted(OBSERVATION_TYPES)))
        if variant["players"] * variant["hand_size"] <= len(complete_deck_of(variant)):
            return Configuration(variant, encoder)


def packed_length(bits):
    """The size in bytes of a packed encoding: whole words of 64 bits."""
    return 8 * -(-bits // 64)


def pack(encoding):
    """Packs an encoding of 0s and 1s into bytes, little bit order, padded with zeros to whole words of 64 bits."""
    packed = np.zeros(packed_length(len(encoding)), np.uint8)
    packed[: -(-len(encoding) // 8)] = np.packbits(encoding, bitorder="little")
    return packed


class Table:
    """One HLE game in progress with all cards open, for the bots of these tests."""

    def __init__(self, configuration, seed):
        hle = load_hle()
        self.variant = configuration.variant
        self.complete_deck = complete_deck_of(self.variant)
        self._library, self._ffi = hle.lib, hle.ffi
        self._game = hle.HanabiGame(configuration.hle_parameters(seed))
        self._encoder = hle.ObservationEncoder(self._game)
        self._moves = [self._game.get_move(action) for action in range(self._game.max_moves())]
        self._new_state = self._game.new_initial_state()
        self._state = self._new_state._state
        self._card = self._ffi.new("pyhanabi_card_t*")
        self._observation = self._ffi.new("pyhanabi_observation_t*")
        self.observation_bits = self._encoder.shape()[0]
        self._deal()

    def _deal(self):
        while self._library.StateCurPlayer(self._state) == CHANCE:
            self._library.StateDealRandomCard(self._state)

    def apply(self, action):
        """Makes a move, then draws, as HLE's own environment does: also after the move that ends the game."""
        self._library.StateApplyMove(self._state, self._moves[action].c_move)
        self._deal()

    @property
    def current_player(self):
        return self._library.StateCurPlayer(self._state)

    @property
    def score(self):
        return self._library.StateScore(self._state)

    @property
    def information_tokens(self):
        return self._library.StateInformationTokens(self._state)

    @property
    def life_tokens(self):
        return self._library.StateLifeTokens(self._state)

    @property
    def deck_size(self):
        return self._library.StateDeckSize(self._state)

    @property
    def ending(self):
        """None while the game is in progress."""
        return ENDINGS.get(self._library.StateEndOfGameStatus(self._state))

    def legal_action_mask(self):
        """The legal action mask; all False after the end, where HLE still lists moves."""
        if self.ending is not None:
            return np.zeros(len(self._moves), bool)
        is_legal = self._library.MoveIsLegal
        return np.array([is_legal(self._state, move.c_move) for move in self._moves], bool)

    def fireworks(self):
        """The height of each suit's stack."""
        return [self._library.StateFireworks(self._state, suit) for suit in range(self.variant["colors"])]

    def hand(self, seat):
        """The cards of a seat as (suit, rank) from 0, the oldest first."""
        cards = []
        for slot in range(self._library.StateGetHandSize(self._state, seat)):
            self._library.StateGetHandCard(self._state, seat, slot, self._card)
            cards.append((self._card.color, self._card.rank))
        return cards

    def discard_pile(self):
        """The discarded cards as (suit, rank) from 0."""
        cards = []
        for index in range(self._library.StateDiscardPileSize(self._state)):
            self._library.StateGetDiscard(self._state, index, self._card)
            cards.append((self._card.color, self._card.rank))
        return cards

    def encode(self, seat):
        """The packed encoding of what a seat observes."""
        self._library.NewObservation(self._state, seat, self._observation)
        text = self._library.EncodeObservation(self._encoder._encoder, self._observation)
        # "0,1,...,0": a character '1' is odd, a character '0' is even.
        characters = np.frombuffer(self._ffi.buffer(text, 2 * self.observation_bits - 1), np.uint8)
        packed = pack(characters[::2] & 1)
        self._library.DeleteString(text)
        self._library.DeleteObservation(self._observation)
        return packed

    def dealt_cards(self):
        """All cards dealt so far as (suit, rank) from 0, the first one first."""
        moves = [item.move() for item in self._new_state.move_history()]
        return [(move.color(), move.rank()) for move in moves if move.type() == DEAL]


@dataclasses.dataclass
class Trace:
    """A finished game. With T actions, `steps` rows describe T + 1 positions, the last one the end of the game."""

    deck: list
    start_player: int
    actions: list = dataclasses.field(default_factory=list)
    rewards: list = dataclasses.field(default_factory=list)
    current_player: list = dataclasses.field(default_factory=list)
    legal: list = dataclasses.field(default_factory=list)
    scores: list = dataclasses.field(default_factory=list)
    information_tokens: list = dataclasses.field(default_factory=list)
    life_tokens: list = dataclasses.field(default_factory=list)
    deck_sizes: list = dataclasses.field(default_factory=list)
    ending: str | None = None
    encodings: list = dataclasses.field(default_factory=list)  # of each position: (players, packed length) uint8


def mask_to_integer(mask):
    """A legal action mask as an integer: bit a is action a."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def record_position(trace, table, mask):
    """Appends a row for the position on the table."""
    is_over = table.ending is not None
    trace.current_player.append(-1 if is_over else table.current_player)
    trace.legal.append(mask_to_integer(mask))
    trace.scores.append(table.score)
    trace.information_tokens.append(table.information_tokens)
    trace.life_tokens.append(table.life_tokens)
    trace.deck_sizes.append(table.deck_size)
    trace.encodings.append(np.stack([table.encode(seat) for seat in range(table.variant["players"])]))


def card_text(card):
    """The text of a (suit, rank) card: R1 for (0, 0)."""
    suit, rank = card
    return f"{SUIT_LETTERS[suit]}{rank + 1}"


def whole_deck(table):
    """The deck in the order of dealing, then the cards that were never dealt, in a fixed order."""
    undealt = list(table.complete_deck)
    dealt = table.dealt_cards()
    for card in dealt:
        undealt.remove(card)
    return [card_text(card) for card in dealt + undealt]


def play_game(configuration, seed, make_bot):
    """Plays one HLE game to its end.

    `seed` fixes the cards (with the same HLE build) and, through a separate generator, what the bot does.
    `make_bot` takes that generator and returns a function of a `Table` and the legal action mask to an action.
    """
    table = Table(configuration, seed % 2**31)
    choose_action = make_bot(np.random.default_rng(seed))
    trace = Trace(deck=[], start_player=table.current_player)
    mask = table.legal_action_mask()
    record_position(trace, table, mask)
    while table.ending is None:
        action = choose_action(table, mask)
        table.apply(action)
        trace.actions.append(action)
        mask = table.legal_action_mask()
        record_position(trace, table, mask)
        trace.rewards.append(trace.scores[-1] - trace.scores[-2])
    trace.ending = table.ending
    trace.deck = whole_deck(table)
    return trace, table.observation_bits
