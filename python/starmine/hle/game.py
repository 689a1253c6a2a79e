"""HLE's games: parameters and the random numbers of their deals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starmine._core import Card
from starmine.hle.cards import whole
from starmine.hle.deals import Deals
from starmine.hle.moves import HanabiMove
from starmine.hle.rules import AgentObservationType, Rules, seed_of
from starmine.hle.state import HanabiState


class HanabiGame:
    """The parameters of games, and the random numbers from which all of them draw their cards."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """A game.

        Args:
            params: HLE's parameters; its defaults stand for those that are missing: "players", "colors", "ranks",
                "hand_size", "max_information_tokens", "max_life_tokens", "random_start_player", "observation_type"
                (an `AgentObservationType`) and "seed" (-1 for a random one). A seed deals the decks that it deals
                in HLE.

        Raises:
            UnknownNameError: there is no such parameter.
            StarmineError: a parameter is out of range.
        """
        params = {} if params is None else params
        self._rules = Rules.of(params)
        self._seed = seed_of(params)
        self._deals = Deals(self._seed)

    @property
    def c_game(self) -> HanabiGame:
        """The game itself: there is no C++ object behind it."""
        return self

    def new_initial_state(
        self, deck: Sequence[Card | str] | None = None, start_player: int | None = None
    ) -> HanabiState:
        """A new game, before the first card is dealt.

        Args:
            deck: all cards or their texts in the order of dealing, which `deal_random_card` then follows; None for
                random cards. HLE has no such argument.
            start_player: the seat that starts; None for seat 0, or for a random one where the rules say so.

        Raises:
            DeckError: the deck is not the variant's.
            StarmineError: there is no such seat.
        """
        return HanabiState(self, deck=deck, start_player=start_player)

    def parameter_string(self) -> str:
        """All parameters, a line each."""
        variant = self._rules.variant
        values = {
            "random_start_player": str(variant.random_start_player).lower(),
            "seed": self._seed,
            "max_life_tokens": variant.max_life_tokens,
            "max_information_tokens": variant.max_information_tokens,
            "hand_size": variant.hand_size,
            "ranks": variant.ranks,
            "colors": variant.colors,
            "observation_type": self._rules.observation_type.value,
            "players": variant.players,
        }
        return "".join(f"{name}={value}\n" for name, value in values.items())

    def num_players(self) -> int:
        """The number of seats."""
        return self._rules.variant.players

    def num_colors(self) -> int:
        """The number of colours."""
        return self._rules.variant.colors

    def num_ranks(self) -> int:
        """The number of ranks."""
        return self._rules.variant.ranks

    def hand_size(self) -> int:
        """The cards of a full hand."""
        return self._rules.variant.hand_size

    def max_information_tokens(self) -> int:
        """The information tokens at the start, which are also the most."""
        return self._rules.variant.max_information_tokens

    def max_life_tokens(self) -> int:
        """The life tokens at the start."""
        return self._rules.variant.max_life_tokens

    def observation_type(self) -> AgentObservationType:
        """What observations hold."""
        return self._rules.observation_type

    def max_moves(self) -> int:
        """The number of moves, legal or not."""
        return len(self._rules.moves)

    def num_cards(self, color: int, rank: int) -> int:
        """The copies of a card in the deck; 0 where there is no such card."""
        variant, color, rank = self._rules.variant, whole("color", color), whole("rank", rank)
        exists = 0 <= color < variant.colors and 0 <= rank < variant.ranks
        return variant.copies[color][rank] if exists else 0

    def get_move_uid(self, move: HanabiMove) -> int:
        """The id of a move; -1 for a deal, and for a move that the game does not have."""
        return self._rules.actions.get(move.c_move, -1)

    def get_move(self, move_uid: int) -> HanabiMove:
        """The move of an id.

        Raises:
            IllegalMoveError: there is no such id; HLE reads beyond its table.
            TypeError: it is not an integer.
        """
        return self._rules.move(move_uid)
