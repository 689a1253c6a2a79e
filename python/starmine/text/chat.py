"""A player for language models: asks in chat messages, reads the replies, keeps a transcript."""

from __future__ import annotations

import inspect
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from starmine._core import NotationError, StarmineError, VariantError, View, make_bot
from starmine._util.numbers import check_number
from starmine.games.failures import error_text
from starmine.text.calls import Workers, result_of
from starmine.text.facts import move_text
from starmine.text.prompt import PromptOptions, answer_prompt, rules_prompt, table_prompt
from starmine.text.replies import read_move
from starmine.text.transcript import Exchange, Messages, add_line, writable_transcript

LONGEST = 2000  # characters of an unusable reply that the model is shown


class ChatError(StarmineError):
    """A model named no legal move, or its call failed, and the player has no fallback. The game is given up.

    If the call raised an exception, that is the cause, and the message names the line that raised it.
    """


class Seating(NamedTuple):
    """The games of an evaluation that are played together; see `ChatPlayer.seated`."""

    players: list[str] | None
    first_game: int


class ChatPlayer:
    """Lets a language model play: `play_games`, `evaluate`, `generate` and `partners=` of environments take it.

    For each move the model gets two messages: the rules as the system message, and the table as the user message, or
    the messages of `prompt`. If the reply names no legal move, the model is asked again; the messages then also have
    its reply and what is wrong with it. Calls for different games run at the same time, and no game waits for the call
    of another.

    A call that raises an exception has failed and is not repeated: the fallback plays, or the game is given up. If no
    call has succeeded when the fallback first plays, a warning says why. The client of `ask` repeats calls and limits
    time.

    Args:
        ask: takes messages, a list of dicts with `role` and `content`, and returns what `read_move` reads: a text or a
            tool call as a dict. It may be async. A function that is not async is called in threads.
        name: names the player in transcripts.
        options: what prompts show and in which form; None for the defaults.
        prompt: makes the messages of a turn from the view, a list of dicts with `role` and `content`, in place of the
            rules and the table; None for these. It is called in several threads if `concurrency` is above 1. After an
            unusable reply the player adds a message of its own, which lists the legal moves.
        replies: how many replies a turn may have until one names a legal move, at least 1.
        concurrency: the most calls at the same time, at least 1.
        fallback: plays after the last unusable reply or a failed call: a bot's text, such as "smart", or a function of
            the view that returns a move; one fallback plays at a time. None gives the game up with a `ChatError`.
        transcript: path of a file to which each exchange is added at once as a line of JSON; None for none. It is new
            or has lines of exchanges. If an evaluation is interrupted and resumed, a game that is played again has
            lines of both times.

    Attributes:
        exchanges: a list of `Exchange`, in the order in which they ended; it keeps the messages of all calls, unless
            you clear it.
        fallbacks: number of moves that the fallback has chosen.

    Raises:
        UnknownNameError: there is no bot of the fallback's name.
        TypeError: `replies` or `concurrency` is not an integer, or `fallback` is no text and cannot be called.
        StarmineError: one of them is below 1, the fallback sees all hands, or the transcript cannot be written or has
            other lines.

    A copy or a pickle has the settings, but neither the exchanges nor the transcript. Exceptions of `ask` that are no
    `Exception`, such as KeyboardInterrupt, end the games.

    `starmine eval FILE.py:NAME smart` evaluates the player of this name in a Python file.

    Example:
        >>> import starmine
        >>> player = starmine.text.ChatPlayer(lambda messages: "MOVE: play slot 0", fallback="random")
        >>> games = starmine.play_games([player, "smart"], games=2)
        >>> player.exchanges[0].outcome
        'move'
    """

    def __init__(
        self,
        ask: Callable[[Any], Any],
        *,
        name: str = "chat",
        options: PromptOptions | None = None,
        prompt: Callable[[View], Messages] | None = None,
        replies: int = 3,
        concurrency: int = 1,
        fallback: str | Callable[[View], Any] | None = None,
        transcript: str | os.PathLike[str] | None = None,
    ) -> None:
        self.ask, self.name, self.options, self.prompt = ask, name, options or PromptOptions(), prompt
        self.replies = check_number("replies", replies, 1)
        self.concurrency = check_number("concurrency", concurrency, 1)
        if fallback is not None and not callable(fallback):
            with suppress(VariantError):  # it may play other rules
                make_bot(fallback)
        self.fallback = fallback
        self._begin()
        self.transcript: Path | None = None if transcript is None else writable_transcript(transcript)

    def _begin(self) -> None:
        """Make what a copy does not share, and keep its names."""
        settings = set(vars(self))
        self.exchanges: list[Exchange] = []
        self.fallbacks = 0
        self.transcript = None
        self._seating = Seating(None, 0)
        self._lock, self._fallback_lock = threading.Lock(), threading.Lock()
        self._workers = Workers(self.concurrency)
        self._own = {*vars(self), "_own"} - settings

    def __getstate__(self) -> dict[str, Any]:
        """The settings; a copy has no exchanges and no transcript."""
        return {name: value for name, value in vars(self).items() if name not in self._own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    @contextmanager
    def seated(self, players: Sequence[str], first_game: int) -> Iterator[None]:
        """In a `with` block, record for each exchange which game of an evaluation it belongs to.

        Args:
            players: their names, by seat.
            first_game: the number of the first game in its pairing.
        """
        self._seating = Seating(list(players), first_game)
        try:
            yield
        finally:
            self._seating = Seating(None, 0)

    def act(self, view: View) -> Any:
        """The move of one game; see `PythonBot`.

        Raises:
            ChatError: no attempt named a legal move, and there is no fallback.
        """
        (answer,) = self.act_views([view], [None])
        try:
            return answer.result()
        finally:
            answer.cancel()

    def act_views(self, views: Sequence[View], games: Sequence[int | None]) -> list[Future[Any]]:
        """Begin to ask for the moves of games; see `PythonBot`.

        The calls go on while the caller plays other games.

        Args:
            views: of the seats to act.
            games: the numbers of the games.

        Returns:
            For each view the future of an action id, or of what the fallback chose. Its exception is that with which
            the game is given up.
        """
        answers = []
        for view, game in zip(views, games, strict=True):
            answer: Future[Any] = Future()
            answer.add_done_callback(self._leave_workers)
            number = None if game is None else self._seating.first_game + game
            self._workers.call(partial(self._give, answer, view, number, self._seating.players))
            answers.append(answer)
        return answers

    def _leave_workers(self, answer: Future[Any]) -> None:
        """Keep new calls from waiting for the calls of an interrupted game, which may take long."""
        if answer.cancelled():
            self._workers = Workers(self.concurrency)

    def _give(self, answer: Future[Any], view: View, game: int | None, players: list[str] | None) -> None:
        """Give the move, or the exception with which the game is given up, as the answer."""
        move, error = None, None
        try:
            move = self._move(answer, view, game, players)
        except BaseException as raised:
            error = raised
        if not answer.set_running_or_notify_cancel():
            return  # nobody waits
        if error is None:
            answer.set_result(move)
        else:
            answer.set_exception(error)

    def _move(self, answer: Future[Any], view: View, game: int | None, players: list[str] | None) -> Any:
        """Ask until a reply names a move or no attempts are left; then let the fallback play."""
        messages = self._messages(view) if self.prompt is None else deepcopy(self.prompt(view))
        turn, problem, cause = len(view.history), "", None
        for attempt in range(self.replies):
            if answer.cancelled():
                return None
            reply, action, outcome, began = None, None, "failed", time.monotonic()
            try:
                given = self.ask(deepcopy(messages))  # a client may add its reply to the list
                given = result_of(given, answer) if inspect.isawaitable(given) else given
            except Exception as error:
                problem, cause = error_text(error), error
            else:
                given = "" if given is None else given  # clients give None for a message without text
                reply = given if isinstance(given, str) else _as_json(given)
                action, outcome, problem = _read(given, view)
            seconds = time.monotonic() - began
            if answer.cancelled():
                return None
            self._keep(
                Exchange(
                    *(self.name, game, view.observer, turn, attempt, messages),
                    *(reply, outcome, action, problem or None, seconds, players),
                )
            )
            if action is not None:
                return action
            if reply is None:
                break
            messages = [
                *messages,
                {"role": "assistant", "content": reply[:LONGEST]},
                {"role": "user", "content": f"{problem}\n{self._reminder(view)}"},
            ]
        return self._fallback_move(view, attempt + 1, problem, cause)

    def _messages(self, view: View) -> Messages:
        return [
            {"role": "system", "content": rules_prompt(view.variant, self.options)},
            {"role": "user", "content": table_prompt(view, self.options)},
        ]

    def _reminder(self, view: View) -> str:
        moves = ", ".join(move_text(view, action) for action in view.legal_actions())
        return f"Answer again. Your legal moves are: {moves}. {answer_prompt(self.options.answer)}"

    def _keep(self, exchange: Exchange) -> None:
        """Add an exchange to its list and to the transcript."""
        with self._lock:
            self.exchanges.append(exchange)
            if self.transcript is not None:
                add_line(self.transcript, exchange)

    def _fallback_move(self, view: View, attempts: int, problem: str, cause: Exception | None) -> Any:
        if self.fallback is None:
            told = f"named no legal move in {attempts} attempts" if cause is None else "gave no reply"
            raise ChatError(f"{self.name} {told}; the last problem: {problem}") from cause
        with self._fallback_lock:
            if not self.fallbacks and all(exchange.outcome == "failed" for exchange in self.exchanges):
                warnings.warn(f"no call of {self.name} has succeeded, so its fallback plays: {problem}", stacklevel=2)
            if callable(self.fallback):
                move = self.fallback(view)
            else:
                move = make_bot(self.fallback, view.variant, view.observer).act(view)
            self.fallbacks += 1
        return move


def _read(reply: Any, view: View) -> tuple[int | None, str, str]:
    """The action that a reply names, the outcome, and what is wrong with the reply."""
    try:
        return read_move(reply, view), "move", ""
    except StarmineError as error:
        return None, "unreadable" if isinstance(error, NotationError) else "illegal", str(error)


def _as_json(reply: Any) -> str:
    try:
        return json.dumps(reply)
    except (TypeError, ValueError):
        return repr(reply)
