"""A player for language models: asks in chat messages, reads the replies, keeps a transcript."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from starmine._core import NotationError, StarmineError, UnknownNameError, VariantError, View, make_bot
from starmine._util.keywords import wrong_type
from starmine._util.numbers import check_number
from starmine.games.results import error_text
from starmine.text.exchange import Answer, Exchange, Messages, numbers_of, shortened, totals
from starmine.text.facts import move_text
from starmine.text.loop import Outcome, called, event_loop, in_thread, leave_loop
from starmine.text.prompt import PromptOptions, answer_prompt, given_options, rules_prompt, table_prompt
from starmine.text.replies import read_move
from starmine.text.transcript import add_line, writable_transcript


class ChatError(StarmineError):
    """A model named no legal move, or its calls failed, and the player has no fallback. The game is given up.

    If the last call raised an exception, that is the cause, and the message names the line that raised it.
    """


Ask: TypeAlias = Callable[[Any], Any]
# Exceptions of a call that has failed. Others, such as KeyboardInterrupt, are raised.
FAILURES = (Exception, asyncio.CancelledError, GeneratorExit)


class Seating(NamedTuple):
    """The games of an evaluation that are played together; see `ChatPlayer.seated`."""

    players: Sequence[str]
    first_game: int


class ChatPlayer:
    """Lets a language model play: `play_games`, `evaluate`, `generate` and `partners=` of environments take it.

    For each move the model gets two messages: the rules as the system message, and the table as the user message. If
    the reply names no legal move, the model is asked again; the messages then also have its reply and what is wrong
    with it. Calls for different games run at the same time, and no game waits for the call of another.

    A call that raises an exception has failed: the fallback plays, or the game is given up. If the fallback plays first
    when no call has succeeded, a warning says why. Repeating calls and ending
    those that take too long is left to the client of `ask`.

    Args:
        ask: takes messages, a list of dicts with `role` and `content`, and returns text, a tool call as a dict, or an
            `Answer`. It may be async.
        name: names the player in transcripts and reports.
        options: what prompts show and in which form; None for the defaults.
        replies: how many replies a turn may have until one names a legal move, at least 1.
        concurrency: the most calls at the same time, at least 1. A function that is not async is called in threads.
        fallback: plays after the last unusable reply or a failed call: a bot's text, such as "smart", or a function of
            the view that returns a move; one fallback plays at a time. None gives the game up with a `ChatError`.
        transcript: path of a file to which each exchange is added at once as a line of JSON; None for none. It is new
            or has lines of exchanges. If an evaluation is interrupted and resumed, a game that is played again has
            lines of both times.

    Attributes:
        exchanges: a list of `Exchange`, in the order in which they ended.
        fallbacks: number of moves that the fallback has chosen.
        fallback_turns: a list with the (game, turn) of each of these moves, numbered as in `Exchange`.

    Raises:
        UnknownNameError: there is no bot of the fallback's name.
        TypeError: `ask` or `fallback` cannot be called, or `replies` or `concurrency` is not an integer.
        StarmineError: one of them is below 1, the fallback sees all hands, or the transcript cannot be written or has
            other lines.

    A copy or a pickle has the settings, but neither the exchanges nor the transcript. Exceptions of `ask` that are
    neither an `Exception` nor a `CancelledError` or `GeneratorExit`, such as KeyboardInterrupt, end the games.

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
        ask: Ask,
        *,
        name: str = "chat",
        options: PromptOptions | None = None,
        replies: int = 3,
        concurrency: int = 1,
        fallback: str | Callable[[View], Any] | None = None,
        transcript: str | os.PathLike[str] | None = None,
    ) -> None:
        if not callable(ask):
            raise wrong_type("ask", ask, "a function of messages")
        self.ask, self.name, self.options = ask, name, given_options(options)
        self.replies = check_number("replies", replies, 1)
        self.concurrency = check_number("concurrency", concurrency, 1)
        if isinstance(fallback, str):
            _check_bot(fallback)
        elif fallback is not None and not callable(fallback):
            raise wrong_type("fallback", fallback, "a bot's text, a function of the view, or None")
        self.fallback = fallback
        self._begin()
        self.transcript: Path | None = None if transcript is None else writable_transcript(transcript)

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

        The calls begin and go on while the caller plays other games.

        Args:
            views: of the seats to act.
            games: the numbers of the games.

        Returns:
            For each view the future of an action id, or of what the fallback chose. Its exception is that with which
            the game is given up.
        """
        talks = [_Talk(self, view, game) for view, game in zip(views, games, strict=True)]
        loop = event_loop()
        loop.call_soon_threadsafe(self._start, loop, talks)
        return [talk.answer for talk in talks]

    def __getstate__(self) -> dict[str, Any]:
        """The settings; a copy has no exchanges and no transcript."""
        return {name: value for name, value in vars(self).items() if name not in self._own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def _begin(self) -> None:
        """Make what a copy does not share, and keep its names."""
        settings = set(vars(self))
        self.exchanges: list[Exchange] = []
        self.fallbacks = 0
        self.fallback_turns: list[tuple[int | None, int]] = []
        self.transcript = None
        self._seating: Seating | None = None
        self._lock, self._fallback_lock = threading.Lock(), threading.Lock()
        self._places: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None  # of calls at the same time
        self._own = {*vars(self), "_own"} - settings

    @contextmanager
    def seated(self, players: Sequence[str], first_game: int) -> Iterator[None]:
        """Let the exchanges of a block tell the games of an evaluation.

        Args:
            players: their names, by seat.
            first_game: the number of the first game in its pairing.
        """
        self._seating = Seating(players, first_game)
        try:
            yield
        finally:
            self._seating = None

    def clear(self) -> None:
        """Forget all exchanges and counts. The transcript keeps its lines."""
        self.exchanges, self.fallbacks, self.fallback_turns = [], 0, []

    def totals(self) -> dict[str, Any]:
        """What the calls came to, as a dict.

        `player` is the name, `calls` the number of exchanges, `outcomes` that with each outcome, `problems` the first
        problem of each outcome except "move", `fallbacks` the number of moves of the fallback, `seconds` the sum of the
        durations, and `usage` the sums of the numbers of `Answer.usage`.
        """
        return {"player": self.name} | totals(self.exchanges, self.fallbacks)

    def _fallback_move(self, talk: _Talk) -> Any:
        if self.fallback is None:
            told = f"named no legal move in {talk.attempt} attempts" if talk.error is None else "gave no reply"
            raise ChatError(f"{self.name} {told}; the last problem: {talk.problem}") from talk.error
        with self._fallback_lock:
            if talk.error is not None and not self.fallbacks and self._all_failed():
                why = shortened(talk.problem)
                warnings.warn(f"no call of {self.name} has succeeded, so its fallback plays: {why}", stacklevel=2)
            if callable(self.fallback):
                move = self.fallback(talk.view)
            else:
                move = make_bot(self.fallback, talk.view.variant, talk.view.observer).act(talk.view)
            self.fallbacks += 1
            self.fallback_turns.append((talk.game, len(talk.view.history)))
        return move

    def _all_failed(self) -> bool:
        return all(exchange.outcome == "failed" for exchange in self.exchanges)

    def _keep(self, exchange: Exchange) -> None:
        """Add an exchange to its list and to the transcript."""
        with self._lock:
            self.exchanges.append(exchange)
            if self.transcript is not None:
                add_line(self.transcript, exchange)

    def _start(self, loop: asyncio.AbstractEventLoop, talks: Sequence[_Talk]) -> None:
        """Begin to ask for these games, each by itself. At most `concurrency` calls run at the same time."""
        if self._places is None or self._places[0] is not loop:
            self._places = loop, asyncio.Semaphore(self.concurrency)
        for talk in talks:
            task = loop.create_task(self._ask_one(talk, self._places[1]))
            task.add_done_callback(partial(_give_result, talk.answer))
            talk.answer.add_done_callback(partial(_cancel_with, loop, task))

    async def _ask_one(self, talk: _Talk, places: asyncio.Semaphore) -> Outcome:
        """Ask for a game until it has a move or no attempts are left."""
        while not talk.is_over:
            async with places:
                began = time.monotonic()
                outcome = await called(self.ask, talk.prompt())
                seconds = time.monotonic() - began
            talk.take(outcome, seconds)
        if talk.action is not None:
            return talk.action, None
        return await asyncio.wrap_future(in_thread(self._fallback_move, talk))  # a fallback may take long


def _give_result(answer: Future[Any], task: asyncio.Task[Outcome]) -> None:
    """Give the answer of a task that is done, whatever ended it."""
    if task.cancelled():
        _give(answer, (None, StarmineError("the call was cancelled")))
    else:
        error = task.exception()  # such as that of a transcript which cannot be written
        _give(answer, task.result() if error is None else (None, error))


def _give(answer: Future[Any], outcome: Outcome) -> None:
    """Set the result or the exception of an answer for which somebody still waits."""
    if not answer.set_running_or_notify_cancel():
        return
    move, error = outcome
    if error is None:
        answer.set_result(move)
    else:
        answer.set_exception(error)


def _cancel_with(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Outcome], answer: Future[Any]) -> None:
    """Cancel the task of an answer for which nobody waits."""
    if answer.cancelled():
        loop.call_soon_threadsafe(task.cancel)
        leave_loop()


class _Talk:
    """The messages about one move of one game."""

    def __init__(self, player: ChatPlayer, view: View, game: int | None) -> None:
        self.player, self.view, self.seating = player, view, player._seating
        self.game = game if game is None or self.seating is None else self.seating.first_game + game
        self.answer: Future[Any] = Future()
        self.messages: Messages = []  # of the next call
        self.attempt, self.problem = 0, ""
        self.error: BaseException | None = None  # of the last call
        self.action: int | None = None

    def prompt(self) -> Messages:
        """The messages of the next call."""
        if not self.messages:
            options = self.player.options
            self.messages = [
                {"role": "system", "content": rules_prompt(self.view.variant, options)},
                {"role": "user", "content": table_prompt(self.view, options)},
            ]
        return self.messages

    @property
    def is_over(self) -> bool:
        """Whether there is a move, or no further attempt."""
        return self.action is not None or self.error is not None or self.attempt >= self.player.replies

    def take(self, result: Outcome, seconds: float) -> None:
        """Read a reply, or keep the exception of a call.

        Raises:
            BaseException: that of the call, if it is to end the program, such as KeyboardInterrupt.
        """
        answer, error = result
        if error is not None:
            if not isinstance(error, FAILURES):
                raise error
            self._keep("failed", error_text(error), seconds)
            self.attempt, self.action, self.problem, self.error = self.attempt + 1, None, error_text(error), error
            return
        usage: dict[str, float] = {}
        if isinstance(answer, Answer):
            usage = numbers_of(answer.usage)
        action, problem, outcome = None, None, "move"
        try:
            action = read_move(answer, self.view)
        except StarmineError as unusable:
            problem, outcome = str(unusable), "unreadable" if isinstance(unusable, NotationError) else "illegal"
        reply = _reply_text(answer)
        self._keep(outcome, problem, seconds, reply=reply, action=action, usage=usage)
        self.attempt, self.action, self.problem = self.attempt + 1, action, problem or ""
        if action is None:
            self.messages = [
                *self.messages,
                {"role": "assistant", "content": reply[:2000]},
                {"role": "user", "content": f"{problem}\n{self._reminder()}"},
            ]

    def _keep(
        self,
        outcome: str,
        problem: str | None,
        seconds: float,
        *,
        reply: str | None = None,
        action: int | None = None,
        usage: dict[str, float] | None = None,
    ) -> None:
        """Add an exchange with these attributes to those of the player."""
        digest = hashlib.sha256(json.dumps(self.messages).encode()).hexdigest()[:16]
        self.player._keep(
            Exchange(
                player=self.player.name,
                game=self.game,
                seat=self.view.observer,
                turn=len(self.view.history),
                attempt=self.attempt,
                prompt=digest,
                messages=list(self.messages),
                reply=reply,
                outcome=outcome,
                action=action,
                problem=problem,
                seconds=seconds,
                usage=usage or {},
                players=None if self.seating is None else list(self.seating.players),
            )
        )

    def _reminder(self) -> str:
        moves = ", ".join(move_text(self.view, action) for action in self.view.legal_actions())
        return f"Answer again. Your legal moves are: {moves}. {answer_prompt(self.player.options.answer)}"


def _check_bot(text: str) -> None:
    """Check that the text of a fallback names a bot. Whether the bot plays the variant is checked with the game.

    Raises:
        UnknownNameError: there is no such bot.
        StarmineError: it sees all hands.
    """
    try:
        make_bot(text)
    except VariantError:
        pass  # it may play other rules
    except UnknownNameError as error:
        raise UnknownNameError(str(error).replace("bot=", "fallback=", 1)) from error
    except StarmineError as error:
        raise StarmineError(f"fallback={text!r} is not allowed: {error}") from error


def _reply_text(answer: Any) -> str:
    """The text of a reply, or its tool calls as JSON."""
    if isinstance(answer, Answer):
        calls = list(answer.tool_calls)
        answer = (calls[0] if len(calls) == 1 else calls) or answer.text
    if isinstance(answer, str):
        return answer
    try:
        return json.dumps(answer)
    except (TypeError, ValueError):
        return repr(answer)
