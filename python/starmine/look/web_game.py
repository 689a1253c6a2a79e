"""The game of a page: what may be shown of it, as data for JSON.

Until the game is over, nothing is told but what the person's seat sees: the data are made of its `View`. Neither seeds
nor the messages of partners that failed are told, since the hidden cards could be computed from them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from starmine._core import StarmineError
from starmine._util.numbers import is_integer
from starmine.games.failures import error_text
from starmine.look.frame import event_of, frame_of, suits_of
from starmine.look.live_game import LiveGame
from starmine.look.replay import page, replay_data
from starmine.look.words import move_in_words, turn_in_words
from starmine.policies.pools import plays

MOVED_ON = "the game has moved on since this page was drawn, and nothing was played: look at the board and choose anew"
Answer = dict[str, Any]


class HiddenError(StarmineError):
    """The game is not over, and its cards are not shown."""


class StaleError(StarmineError):
    """A request of a page that shows an earlier position."""


class WebGame:
    """The game of a page, and the games that follow it.

    What depends on the position is asked with `at`, the position that the page shows: [game, turn]. Several pages may
    show the game, and one of them may be behind.

    Args:
        begin: makes the game of a number: 0, 1, 2 and so on.
        advisers: the bots that may be asked for advice, if they play the variant; the first of these also marks other
            moves in the replay.
        keep: writes a game that has a turn, at its end or when it is left before, and returns the files' name; None to
            write nothing.
        report: told what the page must not show, such as why a partner failed.

    Attributes:
        game: the game that is played.
        number: its number.
    """

    def __init__(
        self,
        begin: Callable[[int], LiveGame],
        advisers: Sequence[str] = ("smart", "piers"),
        *,
        keep: Callable[[WebGame], str] | None = None,
        report: Callable[[str], None] = print,
    ) -> None:
        self._begin, self._keep, self._report = begin, keep, report
        self.game, self.number = begin(0), 0
        self.advisers = [name for name in advisers if plays(name, self.game.variant)]
        self._is_kept = False
        self._lock = threading.Lock()  # a page may ask twice at once

    def show(self) -> Answer:
        """What may be seen of the game."""
        with self._lock:
            return self._shown()

    def act(self, action: object, at: object) -> Answer:
        """Play the person's turn."""
        if not is_integer(action):
            raise StarmineError(f"action={action!r} is not allowed: expected a number")
        with self._lock:
            self._check_at(at)
            self.game.act(action)
            return self._moved()

    def step(self, at: object) -> Answer:
        """Play the turn of the partner to act; nothing if the game is not at this position any more.

        Nothing is played either if the person is to act or the game is over.
        """
        with self._lock:
            game = self.game
            if not self._is_at(at) or game.is_over or game.waits:
                return self._shown()
            try:
                game.play_partner()
            except StarmineError as error:
                self._report(str(error))  # not to the page: the partner's own words may tell hidden cards
                name = game.names[game.state.current_player]
                raise StarmineError(f"{name} failed; the program's terminal says why") from None
            return self._moved()

    def advise(self, bot: object, at: object) -> Answer:
        """What a bot would do in the person's place."""
        if bot not in self.advisers:
            raise StarmineError(f"{bot!r} is not offered: expected one of {', '.join(self.advisers)}")
        with self._lock:
            self._check_at(at)
            game = self.game
            action = game.advice(str(bot))
            move, suits = game.variant.move(action), suits_of(game.variant)
            text = move_in_words(move, suits, game.shown_names, game.state.current_player)
            return {"bot": bot, "action": action, "text": text}

    def begin(self, at: object) -> Answer:
        """Leave the game, and begin the next one."""
        with self._lock:
            self._check_at(at)
            self._keep_once()
            self.game, self.number, self._is_kept = self._begin(self.number + 1), self.number + 1, False
            return self._shown()

    def leave(self) -> None:
        """Leave the game when the program ends."""
        held = self._lock.acquire(timeout=0.2)  # a partner that still searches leaves the position as it is
        try:
            self._keep_once()
        finally:
            if held:
                self._lock.release()

    def replay(self) -> Answer:
        """The data of the replay of a game that is over."""
        game = self.game
        if not game.is_over:
            raise HiddenError("the game is not over: its cards are shown at its end")
        compare = next(iter(self.advisers), None)
        return replay_data(game.state, names=game.names, titles=[f"{self.title}, seed {game.seed}"], compare=compare)

    def replay_page(self) -> str:
        """The replay as one HTML file."""
        return page(self.replay(), f"Hanabi: {self.title}")

    @property
    def title(self) -> str:
        """Such as "Game 1: you, smart"."""
        return f"Game {self.number + 1}: {', '.join(self.game.names)}"

    def _shown(self) -> Answer:
        """What may be seen: of the view alone, or of the open table if no person sits there or the game is over."""
        game = self.game
        seen = game.state if game.seat is None or game.is_over else game.view
        history, names, suits = game.history, game.shown_names, suits_of(game.variant)
        return {
            "game": self.number,
            "title": self.title,
            "seat": game.seat,
            "waits": game.waits,
            "over": game.is_over,
            "advisers": self.advisers,
            "frame": frame_of(seen, names=names, legal=game.waits),
            "log": [turn_in_words(event_of(event, suits), names, suits) for event in history],
            "last_own_turn": max([turn for turn, event in enumerate(history, 1) if event.seat == game.seat], default=0),
        }

    def _moved(self) -> Answer:
        """What may be seen after a turn; a game that has ended is written."""
        if self.game.is_over:
            self._keep_once()
        return self._shown()

    def _keep_once(self) -> None:
        """Write the game, unless it was written or has no turn."""
        if self._keep is None or self._is_kept or not self.game.state.length:
            return
        self._is_kept = True
        try:
            self._report(f"written to {self._keep(self)}")
        except (StarmineError, OSError) as error:
            self._report(error_text(error) if isinstance(error, OSError) else str(error))

    def _is_at(self, at: object) -> bool:
        """Whether the game is at the position that a page shows."""
        if not isinstance(at, list) or len(at) != 2 or not all(type(number) is int for number in at):
            raise StarmineError(f"at={at!r} is not allowed: expected [game, turn], as the page shows them")
        return at == [self.number, self.game.state.length]

    def _check_at(self, at: object) -> None:
        """Refuse a request of a page that shows an earlier position."""
        if not self._is_at(at):
            raise StaleError(MOVED_ON)
