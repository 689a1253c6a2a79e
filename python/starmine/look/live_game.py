"""One game at which a person may hold a seat, and partners the others."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from starmine._core import Event, StarmineError, State, Variant, View
from starmine.games.games import Games
from starmine.games.play import resolve_table
from starmine.games.players import player_name
from starmine.games.roster import RosterPlayer
from starmine.look.partners import Partners, advice
from starmine.look.words import told_apart

PERSON = "you"


class LiveGame:
    """A game of one person with partners, or of partners alone.

    An action that is refused changes nothing.

    Args:
        variant: the rules: a `Variant`, or a text as `starmine.variant` takes it.
        players: one for each seat: None for the person, at most once, or what `starmine.play_games` takes.
        seed: of the deck and of the partners' random choices, 0 to 2**64 - 1; None for a random one.
        game: the number of the game: as `play_games` with this seed deals it.

    Attributes:
        state: the game, with all cards.
        seat: the person's seat, or None.
        names: of the players, by seat.
        seed: of the deck.

    Raises:
        UnknownNameError: there is no such bot.
        VariantError: a bot does not play the variant.
        StarmineError: not a player for each seat, or the person in two of them.

    >>> import starmine
    >>> from starmine.look import LiveGame
    >>> game = LiveGame(starmine.Variant(), [None, "smart"], seed=1)
    >>> game.act(game.variant.action("hint +1 red"))
    >>> game.play_partner()
    >>> game.waits, len(game.history)
    (True, 2)
    """

    def __init__(self, variant: str | Variant, players: Sequence[Any], seed: int | None = None, game: int = 0) -> None:
        variant = resolve_table(players, variant)
        persons = [seat for seat, player in enumerate(players) if player is None]
        if len(persons) > 1:
            raise StarmineError(f"the seats {persons} are a person's: expected one at most")
        self.seed = secrets.randbits(64) if seed is None else seed
        self.seat = persons[0] if persons else None
        self.names = [PERSON if player is None else player_name(player) for player in players]
        self.state: State = variant.new_game(seed=self.seed, game=game)
        self._partners = Partners(players, variant, self.seed, game)
        self._partners.begin()

    @property
    def variant(self) -> Variant:
        """The rules."""
        return self.state.variant

    @property
    def shown_names(self) -> list[str]:
        """The names of the players, by seat, with the seat where several have the same."""
        return told_apart(self.names)

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.state.is_terminal

    @property
    def waits(self) -> bool:
        """Whether the person is to act."""
        return not self.is_over and self.state.current_player == self.seat

    @property
    def view(self) -> View:
        """What the person may see.

        Raises:
            StarmineError: no person sits here.
        """
        if self.seat is None:
            raise StarmineError("no person sits at this table")
        return self.state.view(self.seat)

    @property
    def history(self) -> list[Event]:
        """The turns, as those who look may see them: of the person's draws no card until the end."""
        return self.state.history if self.seat is None or self.is_over else self.view.history

    def act(self, action: int) -> None:
        """Play the person's turn.

        Raises:
            StarmineError: it is not the person's turn, or a partner that sees the turn raised an exception.
            IllegalActionError: the action is not legal.
        """
        if not self.waits:
            raise StarmineError("the game is over" if self.is_over else "it is not your turn")
        self.state.copy().apply(action)  # refuses an illegal action before partners see the turn
        self._partners.show(self.state)
        self._apply(action)

    def play_partner(self) -> None:
        """Play the turn of the partner to act.

        Raises:
            StarmineError: the partner raised an exception or chose an illegal move, it is the person's turn, or the
                game is over.
        """
        seat = self.state.current_player
        if self.is_over or seat == self.seat:
            raise StarmineError("the game is over" if self.is_over else "it is your turn")
        self._apply(self._partners.choose(self.state))

    def advice(self, bot: str) -> int:
        """What a bot would do in the person's place.

        Raises:
            UnknownNameError: there is no such bot.
            VariantError: the bot does not play the variant.
            StarmineError: it is not the person's turn, or the bot sees all hands.
        """
        if self.seat is None or not self.waits:
            raise StarmineError("it is not your turn")
        return advice(bot, self.state, self.seat)

    def games(self) -> Games:
        """The game so far, as `Games` of one."""
        variant = self.variant
        deck = [card.suit * variant.ranks + card.rank for card in self.state.deck]
        actions = [event.action for event in self.state.history]
        return Games(
            variant,
            np.array([deck], dtype=np.uint8),
            np.array([self.state.start_player], dtype=np.uint8),
            np.array(actions, dtype=np.uint8),
            np.array([0, len(actions)], dtype=np.int64),
            players=np.arange(variant.players, dtype=np.int16)[None],
            roster=tuple(map(RosterPlayer, self.shown_names)),
        )

    def _apply(self, action: int) -> None:
        """Play a turn, and tell the partners of the end."""
        self.state.apply(action)
        if self.state.is_terminal:
            self._partners.end(self.state)
