"""A game at a table that somebody else runs, as one seat sees it, and the player that holds this seat."""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from starmine._core import (
    Card,
    Event,
    Move,
    NotationError,
    SeatedBot,
    StarmineError,
    State,
    Variant,
    View,
    _Player,
    _SeenGame,
    encoders,
    shows_own_hand,
)
from starmine._util.arrays import Array
from starmine._util.keywords import check_names
from starmine.games.actions import action_id
from starmine.games.players import Player, cheats, resolve_player
from starmine.games.seats import PythonPlayers
from starmine.games.seeds import game_seed
from starmine.games.variants import resolve_variant

Hand: TypeAlias = Sequence[Card | str | None] | None  # None for the observer's own


class SeenGame:
    """A game at a table that somebody else runs, as one seat sees it.

    The table hides the hand of this seat, the observer, and the order of the deck. It tells the start once, and then
    each turn: `apply` takes a turn of any seat, with what the observer sees of it. `seat` lets a player hold the
    observer's seat, and `act` is its move. The table decides what is played: after `act`, tell `apply` what happened.

    Args:
        variant: a `Variant`, or a preset's name, which then has as many seats as `hands` has entries.
        observer: the seat that sees the game, from 0.
        hands: the first hands, one entry for each seat, the oldest card first: `Card`s or text such as "R1". The entry
            of the observer is None.
        start_player: the seat that starts.

    Raises:
        UnknownNameError: there is no such preset.
        NotationError: text that is not a card.
        StarmineError: there is no such seat, or no game of the variant starts with these hands.

    >>> import starmine
    >>> seen = starmine.games.SeenGame("standard", 1, [["R1", "R2", "B3", "W4", "G5"], None])
    >>> seen.seat("smart")
    >>> print(seen.apply("hint +1 rank 1", touched=[0, 2]))
    seat 0: hint +1 1 (slots 0 2)
    >>> seen.variant.action_meaning(seen.act())
    'play slot 0'
    """

    def __init__(
        self, variant: str | Variant, observer: SupportsIndex, hands: Sequence[Hand], start_player: SupportsIndex = 0
    ) -> None:
        if isinstance(hands, str) or not isinstance(hands, Sequence):
            raise StarmineError(f"hands={hands!r} is not allowed: expected a sequence with an entry for each seat")
        rules = resolve_variant(variant, {"players": len(hands)} if isinstance(variant, str) else {})
        visible = _teammates_hands(rules.players, operator.index(observer), hands)
        self._now = _SeenGame(rules, observer, visible, start_player)
        self._own_view: View | None = None  # of this turn, once somebody has asked for it
        self._players: PythonPlayers | None = None
        self._player: Any = None  # as `seat` was given it
        self._chosen: int | None = None  # by the player in this turn

    @property
    def variant(self) -> Variant:
        """The rules."""
        return self._now.variant

    @property
    def observer(self) -> int:
        """The seat that sees the game."""
        return self._now.observer

    @property
    def current_player(self) -> int:
        """The seat to act; after the end, the seat that would have been next."""
        return self._now.current_player

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over by the variant's rules."""
        return self._now.ending is not None

    @property
    def ending(self) -> str | None:
        """How the game ended, one of `starmine.endings()`, or None while it goes on."""
        return self._now.ending

    @property
    def length(self) -> int:
        """Number of turns played so far."""
        return self._now.length

    def view(self) -> View:
        """What the observer sees: the same `View` that `State.view` gives at a table of one's own."""
        if self._own_view is None:
            self._own_view = self._now.stand_in().view(self.observer)
        return self._own_view

    def legal_actions(self) -> list[int]:
        """The observer's legal action ids; none when another seat is to act."""
        return self.view().legal_actions()

    def observation(self, encoder: str = "canonical", dtype: str = "uint8") -> Array:
        """The encoded observation of the observer, also when another seat is to act.

        Args:
            encoder: one of `starmine.encoders()` that does not show the observer's own hand.
            dtype: "uint8", "float32" or "float16", an array (D,) of zeros and ones; or "bits", uint8
                (8 * ceil(D / 64),).

        Raises:
            UnknownNameError: there is no such encoder or dtype.
            StarmineError: the encoder shows the observer's own hand.
        """
        check_names("encoder", [encoder], encoders())
        if shows_own_hand(encoder):
            raise StarmineError(f"encoder={encoder!r} shows the observer's own hand, which the table hides")
        row: Array = self._rows(np.zeros(1, np.int64), np.array([self.observer]), (encoder, dtype, []))["obs"][0]
        return row

    def marginals(self) -> Array:
        """The probability of each card in each slot of the observer's hand, as `View.marginals` gives it."""
        return self.view().marginals()

    def worlds(self, count: int = 1, *, seed: int | None = None) -> list[State]:
        """Draw possible games: states in which the observer sees what it sees here, as `State.worlds` draws them.

        Args:
            count: number of states, 1 to 100,000.
            seed: 0 to 2**64 - 1; None for a random one.

        Raises:
            StarmineError: a number out of range.
        """
        return self._now.stand_in().worlds(count, seed=seed, observer=self.observer)

    def apply(
        self,
        action: int | Move | str,
        *,
        card: Card | str | None = None,
        drawn: Card | str | None = None,
        touched: Iterable[SupportsIndex] | None = None,
    ) -> Event:
        """Take the turn of the seat to act, as the table tells it.

        Args:
            action: the seat's action id, a `Move`, or text such as "play 2" or "hint +1 red". Slots count from 0, the
                oldest card; +1 is the seat after the acting one.
            card: the card that was played or discarded. Only the observer's own turns need it; told of other turns
                it is compared with what the observer has seen.
            drawn: the card that a teammate has drawn after its play or discard; None if the deck was empty. The
                observer's own draws are not told.
            touched: the slots of the cards that a hint matches; None or nothing after other moves. Only hints to the
                observer need it; told of other hints they are compared with what the observer has seen.

        Returns:
            What happened.

        Raises:
            NotationError: text that is not a card or a move.
            StarmineError: the game is over, the move is not legal, or no game of the variant goes on like this. Nothing
                has changed.
        """
        left, next_card = (None if it is None else _card(name, it) for name, it in (("card", card), ("drawn", drawn)))
        slots = None if touched is None else _slots(touched, self.variant.hand_size)
        then = self._now.played(action_id(self.variant, action), left, next_card, slots)
        self._show()
        self._now, self._chosen, self._own_view = then, None, None
        event = then.last_event
        assert event is not None
        return event

    def seat(self, player: Player, *, seed: int = 0, game: int = 0) -> None:
        """Let a player hold the observer's seat, in the place of the one that holds it now.

        A player that keeps a memory is shown the turns so far: a recurrent policy, and a Python bot that is given as a
        class, which is asked in each past turn of the seat. A Python bot that is given as an object is not shown them.
        A search plays the moves that it would have played from the start.

        Args:
            player: any player that `play_games` takes.
            seed: of the player's random choices, 0 to 2**64 - 1.
            game: the number of the game, at least 0. The random choices are those of this game of `play_games` with
                this seed.

        Raises:
            UnknownNameError: there is no such bot, or a file cannot be read.
            SerializationError: a policy file is damaged.
            VariantError: the player does not play the variant.
            StarmineError: a number out of range, or a player that sees its own hand.
        """
        resolved = resolve_player(player, "player")
        if cheats(resolved):
            raise StarmineError(f"player={player!r} sees its own hand, which the table hides: expected another player")
        number = game_seed(seed) or 0
        game = operator.index(game)
        if not 0 <= game < 2**64:
            raise StarmineError(f"game={game} is not allowed: expected 0 to 2**64 - 1")
        if isinstance(resolved, _Player):
            followed = game, self._now.stand_in()
            resolved = SeatedBot._restored(resolved, self.variant, self.observer, number, followed)
        seats = [resolved if seat == self.observer else None for seat in range(self.variant.players)]
        players = PythonPlayers(seats, 1, self)
        only, deal = np.zeros(1, np.int64), np.array([game], np.uint64)
        players.begin(only, np.array([number], np.uint64), deal, players.holders)
        now, self._players, self._player, self._chosen = self._now, players, player, None
        try:
            for turn in range(now.length):
                self._now, self._own_view = now.first_turns(turn), None
                self._show()
        except BaseException:
            self._players = None
            raise
        finally:
            self._now, self._own_view = now, None

    def act(self) -> int:
        """The move of the player that holds the seat. Asked again in the same turn, it gives the same move.

        Returns:
            The action id, as `apply` takes it.

        Raises:
            StarmineError: nobody holds the seat, the game is over, another seat is to act, or the player chose an
                illegal move or raised an exception, which is the cause.
        """
        if self._players is None:
            raise StarmineError("nobody holds the seat: call seat(player) first")
        if self.is_terminal:
            raise StarmineError(f"the game is over ({self.ending}): expected one that goes on")
        if self.current_player != self.observer:
            raise StarmineError(
                f"seat {self.current_player} is to act: expected a turn of seat {self.observer}, the observer"
            )
        if self._chosen is None:
            self._chosen = self._players.act(self.observer)
        return self._chosen

    def copy(self) -> SeenGame:
        """An independent game in the same turn, with a copy of the player and of its memory."""
        return copy.deepcopy(self)

    def _rows(self, games: Array, seats: Array, wanted: tuple[str, str, list[str]]) -> dict[str, Array]:
        """What the observer sees, as the players' table asks for it."""
        return self._now._rows(games, seats, wanted)

    def _view(self, game: int) -> View:
        """The observer's view of the only game, number 0."""
        return self.view()

    def _show(self) -> None:
        """Show the player a turn that is played without its move."""
        if self._players is not None and self._chosen is None:
            self._players.show(np.array([self.current_player]))

    def __eq__(self, other: object) -> bool:
        """Whether both observers see the same game; their players may differ."""
        if not isinstance(other, SeenGame):
            return NotImplemented
        return self.view() == other.view()

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> SeenGame:
        """As `copy`."""
        return self.copy()

    def __str__(self) -> str:
        """The table as the observer may see it; its own cards are ??."""
        return str(self.view())

    def __repr__(self) -> str:
        """The seat, its player, and the number of turns."""
        player = "" if self._players is None else f" with {self._player!r}"
        return f"<SeenGame of seat {self.observer}{player} after {self.length} turns>"


def _card(place: str, given: Any) -> Card:
    """A card that is given as such or as text."""
    if isinstance(given, Card):
        return given
    try:
        return Card(given)
    except NotationError as error:
        raise NotationError(f"{place}: {error}") from None
    except TypeError:
        raise NotationError(f'{place}={given!r} is not a card: expected a Card or text such as "R1"') from None


def _slots(touched: Iterable[SupportsIndex], hand_size: int) -> list[int]:
    """The slots of the cards that a hint matches, each one once."""
    given = list(touched)
    if any(isinstance(slot, bool | np.bool_) for slot in given):
        raise StarmineError(f"touched={given} is a mask: expected the slots, from 0 to {hand_size - 1}")
    slots = [operator.index(slot) for slot in given]
    if not all(0 <= slot < hand_size for slot in slots):
        raise StarmineError(f"touched={slots} is not allowed: expected slots from 0 to {hand_size - 1}")
    if len(set(slots)) < len(slots):
        raise StarmineError(f"touched={slots} has a slot twice: expected the slots of the cards that the hint matches")
    return slots


def _teammates_hands(players: int, observer: int, hands: Sequence[Hand]) -> list[list[Card]]:
    """The hands of the teammates, beginning with the next seat."""
    if len(hands) != players:
        raise StarmineError(f"hands has {len(hands)} entries: expected {players}, one for each seat")
    if not 0 <= observer < players:
        raise StarmineError(f"observer={observer} is not allowed: expected 0 to {players - 1}")
    if (own := hands[observer]) is not None and (len(own) == 0 or any(card is not None for card in own)):
        raise StarmineError(f"hands[{observer}] is the observer's own hand, which the table hides: expected None")
    found = []
    for offset in range(1, players):
        seat = (observer + offset) % players
        hand = hands[seat]
        if isinstance(hand, str) or not isinstance(hand, Sequence):
            raise StarmineError(f"hands[{seat}]={hand!r} is not allowed: expected the cards, the oldest one first")
        found.append([_card(f"hands[{seat}][{slot}]", card) for slot, card in enumerate(hand)])
    return found
