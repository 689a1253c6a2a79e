"""HLE's states: a game in progress, whose cards are dealt one by one."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from starmine._core import Card, IllegalActionError, State
from starmine.hle.cards import HanabiCard
from starmine.hle.deals import Deals
from starmine.hle.moves import HanabiHistoryItem, HanabiMove, IllegalMoveError
from starmine.hle.observations import HanabiObservation
from starmine.hle.position import Position, Public, board_text
from starmine.hle.rules import Rules


class HanabiEndOfGameType(enum.IntEnum):
    """How a game ended, with HLE's numbers."""

    NOT_FINISHED = 0
    OUT_OF_LIFE_TOKENS = 1
    OUT_OF_CARDS = 2
    COMPLETED_FIREWORKS = 3


ENDINGS = {
    "lost": HanabiEndOfGameType.OUT_OF_LIFE_TOKENS,
    "deck_exhausted": HanabiEndOfGameType.OUT_OF_CARDS,
    "perfect": HanabiEndOfGameType.COMPLETED_FIREWORKS,
}


def new_core(rules: Rules, deck: list[int], start_player: int) -> State:
    """The state of a deck of card numbers."""
    return rules.variant.new_game(deck=[rules.cards[number] for number in deck], start_player=start_player)


def rest_of(position: Position) -> list[int]:
    """The numbers of the cards that are not dealt yet, the next one first."""
    deck = position.core.deck
    return [*map(position.rules.number, deck[len(deck) - position.deck_size :])]


def with_rest(position: Position, rest: list[int]) -> Position:
    """The same position, but with other cards to come."""
    deck = position.core.deck
    dealt = map(position.rules.number, deck[: len(deck) - len(rest)])
    core = new_core(position.rules, [*dealt, *rest], position.core.start_player)
    for event in position.core.history:
        core.apply(event.action)
    return Position(position.rules, core, position.undealt)


class HanabiState(Public):
    """A game in progress. `cur_player` is `CHANCE_PLAYER_ID` while a card is to be dealt."""

    def __init__(
        self,
        game: Any,
        c_state: HanabiState | None = None,
        deck: Sequence[Card | str] | None = None,
        start_player: int | None = None,
    ) -> None:
        """A new game, as `HanabiGame.new_initial_state` makes it, or a copy of the state `c_state`."""
        self._position: Position
        self._deals: Deals
        self._planned_at: int | None  # how many numbers were drawn when the deck was planned; None for a given deck
        self._free: int
        if c_state is not None:
            self._position, self._deals = c_state._position, c_state._deals
            self._planned_at, self._free = c_state._planned_at, c_state._free
            return
        rules, self._deals = game._rules, game._deals
        variant = rules.variant
        if start_player is None:
            is_random = deck is None and variant.random_start_player
            start_player = self._deals.start_player(variant.players) if is_random else 0
        if deck is None:
            numbers, self._free = self._deals.plan(rules.deck)
            self._planned_at = self._deals.used
            core = new_core(rules, numbers, start_player)
        else:
            self._planned_at, self._free = None, 0
            core = variant.new_game(deck=deck, start_player=start_player)
        self._position = Position(rules, core, variant.players * variant.hand_size)

    def copy(self) -> HanabiState:
        """A copy. As in HLE both draw their next cards from one sequence of random numbers, unless a deck was given."""
        return HanabiState(None, self)

    def observation(self, player: int) -> HanabiObservation:
        """What a seat sees; it does not change with the state.

        Raises:
            StarmineError: there is no such seat.
        """
        return HanabiObservation(self._position, player)

    def apply_move(self, move: HanabiMove) -> None:
        """Make a move of the seat to act. `deal_random_card` deals the cards.

        Raises:
            IllegalMoveError: the move is not legal, or the game is over; nothing has changed.
        """
        position = self._position
        if position.undealt and not self.is_terminal():
            raise IllegalMoveError(f"{move} is not legal now: a card is to be dealt; call deal_random_card first")
        self._position = self._after(position.rules.actions.get(move), move)

    def _play(self, action: int) -> None:
        """Make the move of an id, and deal the card that it asks for: a turn of `rl_env`.

        Raises:
            IllegalMoveError: the move does not exist or is not legal, the game is over, or a card is to be dealt;
                nothing has changed.
            TypeError: the id is not an integer.
        """
        if self._position.undealt:
            raise IllegalMoveError(f"action {action} is not legal now: a card is to be dealt")
        after = self._after(action, self._position.rules.move(action))
        if after.undealt:
            after = self._dealt(after, 1)
        self._position = after

    def _after(self, action: int | None, move: HanabiMove) -> Position:
        """The position after a move, before the card that it asks for is dealt."""
        position = self._position
        core = position.core.copy()
        try:
            if action is None:
                raise IllegalActionError("there is no such move")
            core.apply(action)
        except IllegalActionError as error:
            moves = [position.rules.moves[action] for action in core.legal_actions()]
            expected = f"expected one of {moves}" if moves else f"the game is over ({core.ending})"
            raise IllegalMoveError(f"{move} is not legal now: {expected}") from error
        draws = action < 2 * position.rules.variant.hand_size and position.deck_size > 0
        return Position(position.rules, core, int(draws))

    def deal_random_card(self) -> None:
        """Deal the next card.

        Raises:
            IllegalMoveError: there is no card to deal now; nothing has changed.
        """
        if not self._position.undealt:
            raise IllegalMoveError("no card is to be dealt now")
        self._position = self._dealt(self._position, 1)

    def _deal_all(self) -> None:
        """Deal all cards that are to be dealt now."""
        self._position = self._dealt(self._position, self._position.undealt)

    def _dealt(self, position: Position, count: int) -> Position:
        """The position after the next cards of the deck are dealt."""
        if self._planned_at is not None:
            if self._planned_at != self._deals.used:
                rest, self._free = self._deals.plan(rest_of(position))
                position = with_rest(position, rest)
            self._deals.used += 2 * min(max(position.deck_size - self._free, 0), count)
            self._planned_at = self._deals.used
        return Position(position.rules, position.core, position.undealt - count)

    def cur_player(self) -> int:
        """The seat to act, or `CHANCE_PLAYER_ID`."""
        return self._position.current_player

    def player_hands(self) -> list[list[HanabiCard]]:
        """The hands of all seats, the oldest card first."""
        return [[HanabiCard(*card) for card in hand] for hand in self._position.open_hands()]

    def end_of_game_status(self) -> HanabiEndOfGameType:
        """How the game ended, or NOT_FINISHED."""
        ending = self._position.core.ending
        return HanabiEndOfGameType.NOT_FINISHED if ending is None else ENDINGS[ending]

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self._position.core.is_terminal

    def score(self) -> int:
        """The points; 0 once the last life token is lost."""
        return self._position.core.score

    def legal_moves(self) -> list[HanabiMove]:
        """The legal moves of the seat to act. After the end HLE goes on listing moves, which `apply_move` refuses.

        Raises:
            IllegalMoveError: a card is to be dealt; HLE ends the process.
        """
        position = self._position
        if position.undealt:
            raise IllegalMoveError("a card is to be dealt, so no seat has moves: call deal_random_card first")
        return [position.rules.moves[action] for action in position.legal(position.current_player)]

    def move_is_legal(self, move: HanabiMove) -> bool:
        """Whether HLE holds a move for legal; also after the end."""
        position = self._position
        action = position.rules.actions.get(move)
        return not position.undealt and action in position.legal(position.current_player)

    def move_history(self) -> list[HanabiHistoryItem]:
        """All moves and deals, the oldest first."""
        return self._position.history()

    def __str__(self) -> str:
        """HLE's text of the open table."""
        position = self._position
        return board_text(position, position.open_hands(), position.true_knowledge(0), position.current_player)

    __repr__ = __str__
