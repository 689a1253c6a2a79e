"""Several tables at once, for a page: what may be shown of each, as data for JSON.

Until a game is over, nothing is told but what the person's seat sees: a table's data are made of its `View`. Neither
seeds nor the messages of partners that failed are told, since the hidden cards could be computed from them.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant, _unknown_name
from starmine._util.durable import replace_file
from starmine._util.numbers import is_integer
from starmine.games.results import error_text
from starmine.look.frame import event_of, frame_of, suits_of
from starmine.look.live_game import LiveGame
from starmine.look.replay import page, replay_data
from starmine.look.words import move_in_words, turn_in_words
from starmine.policies.pools import plays

MOST_TABLES = 50
MOVED_ON = "the game has moved on since this page was drawn, and nothing was played: look at the board and choose anew"
Answer = dict[str, Any]


class NoTableError(StarmineError):
    """There is no such table."""


class HiddenError(StarmineError):
    """The game is not over, and its cards are not shown."""


class StaleError(StarmineError):
    """A request of a page that shows an earlier position."""


@dataclass
class _Place:
    """A table with its number and a lock, since a page may ask twice at once."""

    table: LiveGame
    number: int
    advisers: list[str]  # that play the variant
    told: Answer  # what was asked for: the variant's name and the seats
    lock: threading.Lock = field(default_factory=threading.Lock)
    replay: Answer | None = None
    is_kept: bool = False  # whether its game was written as data


class WebTables:
    """The tables of a page.

    What depends on the position is asked with `at`, the position that the page shows: [turn, undone], the numbers
    of turns and of moves taken back of the last answer. Several pages may show a table, and one of them may be behind.

    Args:
        players: who may hold a seat: makers of players, by the names that the page shows.
        variants: the rules that a table may have, by the names that the page shows: makers of a variant for a number
            of players.
        advisers: the bots that may be asked for advice; the first one that plays the variant also marks other moves in
            the replay.
        seed: the first table gets game 0 of this seed, the next one game 1, and so on; None for random games.
        folder: where each game that ends is written as a replay; None to write nothing.
        keep: writes the game of a table as data, and returns the file; it is called once for each game that has a turn,
            at its end, or when its table is left before. None to write nothing.
        report: told what the page must not show, such as why a partner failed.
    """

    def __init__(
        self,
        players: Mapping[str, Callable[[], Any]],
        variants: Mapping[str, Callable[[int], Variant]],
        advisers: Sequence[str] = ("smart", "piers"),
        *,
        seed: int | None = None,
        folder: Path | None = None,
        keep: Callable[[LiveGame], Path] | None = None,
        report: Callable[[str], None] = print,
    ) -> None:
        self.players, self.variants, self.advisers = dict(players), dict(variants), list(advisers)
        self.seed, self.folder, self.keep, self.report = seed, folder, keep, report
        self._places: dict[str, _Place] = {}
        self._opened = 0
        self._lock = threading.Lock()

    def choices(self) -> Answer:
        """What a new table may have."""
        return {"variants": list(self.variants), "players": list(self.players)}

    def tables(self) -> list[Answer]:
        """The open tables, the oldest first."""
        with self._lock:
            places = list(self._places.items())
        return [
            {"id": key, "title": self._title(place), "over": place.table.is_over, "waits": place.table.waits}
            for key, place in places
        ]

    def open(self, rules: object, seats: object) -> Answer:
        """Set up a table of a variant, with a name of `choices` for each seat, or None for the person."""
        if not isinstance(rules, str) or not isinstance(seats, list):
            raise StarmineError("expected the name of a variant and a list of seats")
        for seat in seats:
            if seat is not None and (not isinstance(seat, str) or seat not in self.players):
                raise StarmineError(f"{seat!r} is not offered: expected one of {', '.join(self.players)}")
        if rules not in self.variants:
            raise _unknown_name("variant", rules, list(self.variants))
        chosen = self.variants[rules](len(seats))
        players = [None if seat is None else self.players[seat]() for seat in seats]
        advisers = [name for name in self.advisers if plays(name, chosen)]
        with self._lock:
            if len(self._places) >= MOST_TABLES:
                raise StarmineError(f"there are {MOST_TABLES} tables: leave one first")
            table = LiveGame(chosen, players, self.seed, 0 if self.seed is None else self._opened)
            table.names = ["you" if seat is None else str(seat) for seat in seats]
            key = secrets.token_urlsafe(9)
            self._opened += 1
            self._places[key] = _Place(table, self._opened, advisers, {"variant": rules, "seats": seats})
        return self.show(key)

    def close(self, key: str) -> Answer:
        """Leave a table."""
        self._place(key)
        with self._lock:
            place = self._places.pop(key, None)
        if place is not None:
            with place.lock:
                self._keep(place)
        return {}

    def keep_unfinished(self) -> None:
        """Write the games of the tables that are still open."""
        with self._lock:
            places = list(self._places.values())
        for place in places:
            held = place.lock.acquire(timeout=0.2)  # a partner that still searches leaves the position as it is
            try:
                self._keep(place)
            finally:
                if held:
                    place.lock.release()

    def show(self, key: str) -> Answer:
        """What may be seen of a table."""
        place = self._place(key)
        with place.lock:
            return self._shown(key, place)

    def act(self, key: str, action: object, at: object) -> Answer:
        """Play the person's turn."""
        if not is_integer(action):
            raise StarmineError(f"action={action!r} is not allowed: expected a number")
        place = self._place(key)
        with place.lock:
            _check_at(place.table, at)
            place.table.act(action)
            return self._moved(key, place)

    def step(self, key: str, at: object) -> Answer:
        """Play the turn of the partner to act; nothing if the table is not at this position any more.

        Nothing is played either if the person is to act or the game is over.
        """
        place = self._place(key)
        with place.lock:
            table = place.table
            if not _is_at(table, at) or table.is_over or table.waits:
                return self._shown(key, place)
            try:
                table.play_partner()
            except StarmineError as error:
                raise self._failed(error, table.names[table.state.current_player]) from None
            return self._moved(key, place)

    def take_back(self, key: str, at: object) -> Answer:
        """Take back the person's last move."""
        place = self._place(key)
        with place.lock:
            _check_at(place.table, at)
            try:
                place.table.take_back()
            except StarmineError:
                raise
            except Exception as error:
                raise self._failed(error, "a partner") from None
            return self._shown(key, place)

    def advise(self, key: str, bot: object, at: object) -> Answer:
        """What a bot would do in the person's place."""
        if bot not in self.advisers:
            raise StarmineError(f"{bot!r} is not offered: expected one of {', '.join(self.advisers)}")
        place = self._place(key)
        with place.lock:
            table = place.table
            _check_at(table, at)
            action = table.advice(str(bot))
            text = move_in_words(table.variant.action_meaning(action), table.state.current_player, table.shown_names)
            return {"bot": bot, "action": action, "text": text}

    def replay(self, key: str) -> Answer:
        """The data of the replay of a game that is over."""
        place = self._place(key)
        with place.lock:
            if not place.table.is_over:
                raise HiddenError("the game is not over: its cards are shown at its end")
            if place.replay is None:
                place.replay = self._replay(place)
            return place.replay

    def replay_page(self, key: str) -> str:
        """The replay as one HTML file."""
        return page(self.replay(key), f"Hanabi: {self._title(self._place(key))}")

    def _place(self, key: str) -> _Place:
        """The table of a key."""
        with self._lock:
            if key not in self._places:
                raise NoTableError("there is no such table; it was left, or the program was started anew")
            return self._places[key]

    def _title(self, place: _Place) -> str:
        """Such as "Table 1: you, smart"."""
        return f"Table {place.number}: {', '.join(place.table.names)}"

    def _shown(self, key: str, place: _Place) -> Answer:
        """What may be seen: of the view alone, or of the open table at which no person sits or the game is over."""
        table = place.table
        opened = table.seat is None or table.is_over
        seen = table.state if opened else table.view
        history, names, suits = table.history, table.shown_names, suits_of(table.variant)
        own = [turn for turn, event in enumerate(history, 1) if event.seat == table.seat]
        return {
            "id": key,
            "title": self._title(place),
            "seat": table.seat,
            "waits": table.waits,
            "over": table.is_over,
            "moved": not table.is_over and bool(own),
            "undone": table.undone,
            "advisers": place.advisers,
            "told": place.told,
            "frame": frame_of(seen, names=names, legal=table.waits),
            "log": [turn_in_words(event_of(event, suits), names, suits) for event in history],
            "last_own_turn": max(own, default=0),
        }

    def _moved(self, key: str, place: _Place) -> Answer:
        """What may be seen after a turn; a game that has ended is written."""
        if place.table.is_over:
            self._keep(place)
        if place.table.is_over and self.folder is not None:
            name = f"game-{time.strftime('%Y%m%d-%H%M%S')}-{place.number}.html"
            place.replay = self._replay(place)
            try:
                replace_file(self.folder / name, page(place.replay, f"Hanabi: {self._title(place)}").encode())
                self.report(f"written to {self.folder / name}")
            except OSError as error:
                self.report(f"{self.folder / name}: {error.strerror or error}")
        return self._shown(key, place)

    def _keep(self, place: _Place) -> None:
        """Write a table's game as data, unless it was written or has no turn."""
        if self.keep is None or place.is_kept or not place.table.state.length:
            return
        place.is_kept = True
        try:
            self.report(f"written to {self.keep(place.table)}")
        except StarmineError as error:
            self.report(str(error))

    def _replay(self, place: _Place) -> Answer:
        """The replay, with the moves of the first adviser that plays the variant."""
        table = place.table
        title = f"{self._title(place)}, seed {table.seed}"
        bot = next(iter(place.advisers), None)
        return replay_data(table.state, names=table.names, titles=[title], compare=bot)

    def _failed(self, error: Exception, name: str) -> StarmineError:
        """The error for the page: the partner's own words may tell hidden cards."""
        self.report(str(error) if isinstance(error, StarmineError) else error_text(error))
        return StarmineError(f"{name} failed; the program's terminal says why")


def _is_at(table: LiveGame, at: object) -> bool:
    """Whether a table is at the position that a page shows."""
    if not isinstance(at, list) or len(at) != 2 or not all(type(number) is int for number in at):
        raise StarmineError(f"at={at!r} is not allowed: expected [turn, undone], as the page shows them")
    return at == [table.state.length, table.undone]


def _check_at(table: LiveGame, at: object) -> None:
    """Refuse a request of a page that shows an earlier position."""
    if not _is_at(table, at):
        raise StaleError(MOVED_ON)
