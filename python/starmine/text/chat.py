"""A player for language models: asks in chat messages, reads the replies, keeps a transcript."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from starmine._core import StarmineError, UnknownNameError, VariantError, View, make_bot
from starmine._util.numbers import is_integer, is_number
from starmine.games.results import error_text
from starmine.text.exchange import Answer, Exchange, Messages, numbers_of, totals
from starmine.text.facts import move_text
from starmine.text.loop import cancel_if_cancelled, in_thread, run_in_loop, start_in_loop
from starmine.text.prompt import PromptOptions, given_options, rules_prompt, table_prompt
from starmine.text.replies import parse_reply
from starmine.text.transcript import Transcript


class ChatError(StarmineError):
    """A model named no legal move, or its calls failed, and the player has no fallback. The game is given up.

    If the last call raised an exception, that is the cause, and the message names the line that raised it.
    """


Ask: TypeAlias = Callable[[Any], Any]


class Table(NamedTuple):
    """The games of an evaluation that are played together; see `ChatPlayer.seated`."""

    players: Sequence[str]
    first_game: int
    evaluation: str | None


class ChatPlayer:
    """Lets a language model play: `play_games`, `evaluate`, `generate` and `partners=` of environments take it.

    For each move the model gets two messages: the rules as the system message, and the table as the user message. If
    the reply names no legal move, the model is asked again; the messages then also have its reply and what is wrong
    with it. A call that raises an exception or takes too long is repeated. Calls for different games run at the same
    time, and no game waits for the call of another.

    Args:
        ask: takes messages, a list of dicts with `role` and `content`, and returns text, a tool call as a dict, or an
            `Answer`. It may be async. With `batched=True` it takes a list of such lists, and returns a list of replies.
        name: names the player in transcripts and reports.
        options: what prompts show and in which form; None for the defaults.
        replies: how many replies a turn may have until one names a legal move, at least 1.
        calls: how often a call is made until it succeeds, at least 1.
        backoff: seconds before a call is made the second time; each further wait is twice as long.
        timeout: seconds after which a call has failed; None for no limit. A function that is not async cannot be
            stopped and goes on in its thread.
        concurrency: the most calls at the same time, at least 1; 1 with `batched=True`. A function that is not async is
            called in threads.
        batched: whether one call gets the messages of all waiting games. There is one such call at a time. A game with
            an unusable reply is in the next call again.
        fallback: plays after the last unusable reply or failed call: a bot's text, such as "smart", or a function of
            the view that returns a move; one fallback plays at a time. None gives the game up with a `ChatError`.
        transcript: path of a new file, to which each exchange is added at once as a line of JSON; None for none. An
            evaluation that is resumed in its folder goes on with its own file: lines of games that are played again are
            removed.

    Attributes:
        exchanges: a list of `Exchange`, in the order in which they ended, without those in `repeated`.
        repeated: a list of `Exchange` for the calls that failed or took too long and were made again.
        fallbacks: number of moves that the fallback has chosen.
        fallback_turns: a list with the (game, turn) of each of these moves, numbered as in `Exchange`.

    Raises:
        UnknownNameError: there is no bot of the fallback's name.
        StarmineError: an argument out of range or of another type, or a transcript that exists and is not that of a
            stored evaluation.

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
        calls: int = 3,
        backoff: float = 1.0,
        timeout: float | None = None,
        concurrency: int = 1,
        batched: bool = False,
        fallback: str | Callable[[View], Any] | None = None,
        transcript: str | os.PathLike[str] | None = None,
    ) -> None:
        if not callable(ask):
            raise StarmineError(f"ask={ask!r} is not allowed: expected a function of messages")
        for count, value in (("replies", replies), ("calls", calls), ("concurrency", concurrency)):
            if not is_integer(value) or value < 1:
                raise StarmineError(f"{count}={value!r} is not allowed: expected an integer of at least 1")
        for seconds, limit in (("backoff", backoff), ("timeout", timeout)):
            if not is_number(limit, 0) and (limit is not None or seconds == "backoff"):
                raise StarmineError(f"{seconds}={limit!r} is not allowed: expected seconds of at least 0")
        if not isinstance(name, str):
            raise StarmineError(f"name={name!r} is not allowed: expected text")
        if not isinstance(batched, bool):
            raise StarmineError(f"batched={batched!r} is not allowed: expected True or False")
        if batched and concurrency != 1:
            raise StarmineError(
                f"concurrency={concurrency!r} is not allowed with batched=True: there is one call at a time"
            )
        if isinstance(fallback, str):
            _check_bot(fallback)
        elif fallback is not None and not callable(fallback):
            raise StarmineError(
                f"fallback={fallback!r} is not allowed: expected a bot's text or a function of the view"
            )
        self.ask, self.name, self.options = ask, name, given_options(options)
        self.replies, self.calls, self.backoff, self.timeout = replies, calls, backoff, timeout
        self.concurrency, self.batched, self.fallback = concurrency, batched, fallback
        self._begin()
        self.transcript: Transcript | None = None if transcript is None else Transcript(transcript)

    def act(self, view: View) -> Any:
        """The move of one game; see `PythonBot`.

        Raises:
            ChatError: no attempt named a legal move, and there is no fallback.
        """
        (answer,) = self.act_views([view], [None])
        try:
            while self.batched and not answer.done():
                self.act_views([], [])
            return answer.result()
        finally:
            answer.cancel()

    def act_views(self, views: Sequence[View], games: Sequence[int | None]) -> list[Future[Any]]:
        """Begin to ask for the moves of games; see `PythonBot`.

        With `batched=True` this makes a call, or several until some game has its move. Games whose reply was unusable
        are asked again in the next call. Otherwise calls begin and go on while the caller plays other games.

        Args:
            views: of the seats to act.
            games: the numbers of the games.

        Returns:
            For each view the future of an action id, or of what the fallback chose. Its exception is that with which
            the game is given up.
        """
        if self.transcript is not None:
            self.transcript.check(None if self._table is None else self._table.evaluation)
        talks = [_Talk(self, view, game) for view, game in zip(views, games, strict=True)]
        if self.batched:
            self._ask_together(talks)
        elif talks:
            start_in_loop(self._ask_all(talks))
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
        self.repeated: list[Exchange] = []
        self.fallbacks = 0
        self.fallback_turns: list[tuple[int | None, int]] = []
        self.transcript = None
        self._table: Table | None = None
        self._lock, self._fallback_lock = threading.Lock(), threading.Lock()
        self._waiting: list[_Talk] = []  # for the next call of a batched function
        self._places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        self._own = {*vars(self), "_own"} - settings

    @contextmanager
    def seated(self, players: Sequence[str], first_game: int, evaluation: str | None) -> Iterator[None]:
        """Let the exchanges of a block tell the games of an evaluation.

        Args:
            players: their names, by seat.
            first_game: the number of the first game in its pairing.
            evaluation: the id of the folder, or None.
        """
        self._table = Table(players, first_game, evaluation)
        try:
            yield
        finally:
            self._table = None

    def clear(self) -> None:
        """Forget all exchanges and counts. The transcript keeps its lines."""
        self.exchanges, self.repeated = [], []
        self.fallbacks, self.fallback_turns = 0, []

    def report(self) -> dict[str, Any]:
        """A dict of totals.

        `player` is the name, `calls` the number of exchanges, `outcomes` that with each outcome, `repeated` the number
        of further calls that were "failed" or "timeout" and were made again, `problems` the first problem of each
        outcome except "move", `fallbacks` the number of moves of the fallback, `seconds` the sum of the durations, and
        `usage` the sums of the numbers of `Answer.usage`.
        """
        return {"player": self.name} | totals(self.exchanges, self.repeated, self.fallbacks)

    def _end(self, talk: _Talk) -> None:
        """Give the answer of a talk that is over: its move, that of the fallback, or an exception."""
        if not talk.answer.set_running_or_notify_cancel():
            return
        try:
            talk.answer.set_result(self._fallback_move(talk) if talk.action is None else talk.action)
        except Exception as error:
            talk.answer.set_exception(error)

    def _fallback_move(self, talk: _Talk) -> Any:
        if self.fallback is None:
            found = f"named no legal move in {talk.attempt} attempts"
            if talk.error is not None:
                found = f"gave no reply: {talk.failed} call{'s' * (talk.failed > 1)} failed"
            raise ChatError(f"{self.name} {found}; the last problem: {talk.problem}") from talk.error
        with self._fallback_lock:
            if callable(self.fallback):
                move = self.fallback(talk.view)
            else:
                move = make_bot(self.fallback, talk.view.variant, talk.view.observer).act(talk.view)
            self.fallbacks += 1
            self.fallback_turns.append((talk.game, len(talk.view.history)))
        return move

    def _keep(self, exchange: Exchange) -> None:
        """Add an exchange to its list and to the transcript."""
        with self._lock:
            (self.repeated if exchange.repeated else self.exchanges).append(exchange)
            if self.transcript is not None:
                self.transcript.add(exchange)

    # --- Calls --------------------------------------------------------------------------------------------

    def _ask_together(self, talks: Sequence[_Talk]) -> None:
        """Call a batched function for these talks and for those whose reply was unusable, until one of them is over."""
        with self._lock:
            waiting, self._waiting = [*self._waiting, *talks], []
        while waiting := [talk for talk in waiting if not talk.answer.cancelled()]:
            answers, seconds = run_in_loop(self._called(waiting, nullcontext()))
            if not isinstance(answers, Exception) and (
                not isinstance(answers, Sequence) or isinstance(answers, str) or len(answers) != len(waiting)
            ):
                answers = StarmineError(f"ask returned {answers!r:.200}: expected a list of {len(waiting)} replies")
            for index, talk in enumerate(waiting):
                talk.take(answers if isinstance(answers, Exception) else answers[index], seconds / len(waiting))
            over = [talk for talk in waiting if talk.is_over]
            waiting = [talk for talk in waiting if not talk.is_over]
            for talk in over:
                self._end(talk)
            if over:
                break
        with self._lock:
            self._waiting += waiting

    async def _ask_all(self, talks: Sequence[_Talk]) -> None:
        """Ask for these games, each by itself. At most `concurrency` calls run at the same time."""
        loop = asyncio.get_running_loop()
        places = self._places.setdefault(loop, asyncio.Semaphore(self.concurrency))
        tasks = []
        for talk in talks:
            task = loop.create_task(self._ask_one(talk, places))
            talk.answer.add_done_callback(partial(cancel_if_cancelled, loop, task))
            tasks.append(task)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask_one(self, talk: _Talk, places: asyncio.Semaphore) -> None:
        """Ask for a game until it has a move or no attempts are left."""
        try:
            while not talk.is_over:
                talk.take(*await self._called([talk], places))
        except Exception as error:  # such as a transcript that cannot be written
            talk.answer.set_exception(error)
            return
        if talk.action is None:
            await asyncio.wrap_future(in_thread(self._end, talk))  # a fallback may take long
        else:
            self._end(talk)

    async def _called(self, talks: Sequence[_Talk], place: AbstractAsyncContextManager[Any]) -> tuple[Any, float]:
        """What the function returned, or the exception of its last attempt; and the seconds of the last attempt.

        Args:
            talks: their messages are given to the function; one of them, unless it is batched.
            place: is held by each attempt, but not between attempts.
        """
        seconds, failure = 0.0, Exception()
        for attempt in range(self.calls):
            if attempt:
                for talk in talks:
                    talk.fail(failure, seconds / len(talks), repeated=True)
                await asyncio.sleep(self.backoff * 2 ** (attempt - 1))
            given = [talk.prompt() for talk in talks] if self.batched else talks[0].prompt()
            async with place:
                began = time.monotonic()
                try:
                    return await asyncio.wait_for(self._call(given), self.timeout), time.monotonic() - began
                except TimeoutError as error:
                    failure = error if str(error) else TimeoutError(f"no reply in {self.timeout} seconds")
                except Exception as error:
                    failure = error
                seconds = time.monotonic() - began
        return failure, seconds

    async def _call(self, messages: Any) -> Any:
        call = type(self.ask).__call__  # of an object whose calls are coroutines
        if inspect.iscoroutinefunction(self.ask) or inspect.iscoroutinefunction(call):
            return await self.ask(messages)
        found = await asyncio.wrap_future(in_thread(self.ask, messages))
        return await found if inspect.isawaitable(found) else found


class _Talk:
    """The messages about one move of one game."""

    def __init__(self, player: ChatPlayer, view: View, game: int | None) -> None:
        self.player, self.view, self.table = player, view, player._table
        self.game = game if game is None or self.table is None else self.table.first_game + game
        self.answer: Future[Any] = Future()
        self.messages: Messages = []  # of the next call
        self.attempt, self.problem = 0, ""
        self.failed = 0  # calls since the last reply
        self.error: Exception | None = None  # of the last call
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

    def take(self, answer: Any, seconds: float) -> None:
        """Read an answer, or keep the exception of the last call."""
        if isinstance(answer, Exception):
            self.fail(answer, seconds)
            self.attempt, self.action, self.problem, self.error = self.attempt + 1, None, error_text(answer), answer
            return
        usage: dict[str, float] = {}
        if isinstance(answer, Answer):
            usage = numbers_of(answer.usage)
            calls = list(answer.tool_calls)
            answer = calls[0] if len(calls) == 1 else calls or answer.text
        found = parse_reply(answer, self.view)
        action, problem = found.action, found.problem
        outcome = "move" if action is not None else "illegal" if found.illegal else "unreadable"
        reply = answer if isinstance(answer, str) else _as_text(answer)
        self._keep(outcome, problem, seconds, reply=reply, action=action, usage=usage)
        self.attempt, self.failed = self.attempt + 1, 0
        self.action, self.problem = action, problem or ""
        if action is None:
            self.messages = [
                *self.messages,
                {"role": "assistant", "content": reply[:2000]},
                {"role": "user", "content": f"{problem}\n{self._legal()}"},
            ]

    def fail(self, error: Exception, seconds: float, repeated: bool = False) -> None:
        """Keep the exception of a call, which is made again if it is `repeated`."""
        self.failed += 1
        outcome = "timeout" if isinstance(error, TimeoutError) else "failed"
        self._keep(outcome, error_text(error), seconds, repeated=repeated)

    def _keep(
        self,
        outcome: str,
        problem: str | None,
        seconds: float,
        *,
        reply: str | None = None,
        action: int | None = None,
        usage: dict[str, float] | None = None,
        repeated: bool = False,
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
                players=None if self.table is None else list(self.table.players),
                evaluation=None if self.table is None else self.table.evaluation,
                repeated=repeated,
            )
        )

    def _legal(self) -> str:
        moves = ", ".join(move_text(self.view, action) for action in self.view.legal_actions())
        return f"Your legal moves are: {moves}. Answer again."


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


def _as_text(answer: Any) -> str:
    try:
        return json.dumps(answer)
    except (TypeError, ValueError):
        return repr(answer)
