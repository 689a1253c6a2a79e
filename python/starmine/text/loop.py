"""The event loop in which chat players make their calls, in its own thread, so that notebooks and Ctrl-C work alike."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeAlias

from starmine._core import StarmineError

# What a function returned, and the exception that it raised. An exception is passed on as a value, since some kinds
# cannot be raised in an event loop: StopIteration is lost there, and SystemExit ends the loop.
Outcome: TypeAlias = tuple[Any, BaseException | None]

# The process, its loop and the thread of the loop; nothing before the first call.
_LOOP: list[tuple[int, asyncio.AbstractEventLoop, threading.Thread]] = []
_LOOP_LOCK = threading.Lock()


def event_loop() -> asyncio.AbstractEventLoop:
    """The event loop of all chat players, so that clients keep their connections between turns.

    Raises:
        StarmineError: it is asked for by a function that runs in it, which would wait for itself.
    """
    with _LOOP_LOCK:
        if not _LOOP or _LOOP[0][0] != os.getpid():  # a forked process has no thread
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_run, args=(loop,), name="starmine chat", daemon=True)
            thread.start()
            _LOOP[:] = [(os.getpid(), loop, thread)]
        _, loop, thread = _LOOP[0]
    if thread is threading.current_thread():
        raise StarmineError("an async function of a chat player asks a chat player: call it by asyncio.to_thread")
    return loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    while not loop.is_closed():
        with suppress(BaseException):  # SystemExit in a task ends `run_forever`; the task keeps it
            loop.run_forever()


def leave_loop() -> None:
    """Use a new loop from now on, since an async function that was interrupted may block this one."""
    with _LOOP_LOCK:
        _LOOP.clear()


def outcome_of(function: Callable[..., Any], *arguments: Any) -> Outcome:
    """What a function returns, and the exception that it raises."""
    try:
        return function(*arguments), None
    except BaseException as error:
        return None, error


def in_thread(function: Callable[..., Any], *arguments: Any) -> Future[Outcome]:
    """Call a function in its own daemon thread, for which the end of the program does not wait."""
    future: Future[Outcome] = Future()

    def call() -> None:
        future.set_result(outcome_of(function, *arguments))

    future.set_running_or_notify_cancel()
    threading.Thread(target=call, daemon=True).start()
    return future


async def called(function: Callable[..., Any], *arguments: Any) -> Outcome:
    """Call a function, async or not. One that is not async is called in a thread."""
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    if not is_async:
        result, error = await asyncio.wrap_future(in_thread(function, *arguments))
        if error is not None or not inspect.isawaitable(result):
            return result, error
        return await _outcome(_awaited(lambda: result))
    return await _outcome(_awaited(lambda: function(*arguments)))


async def _awaited(make: Callable[[], Any]) -> Any:
    return await make()


async def _outcome(work: Coroutine[Any, Any, Any]) -> Outcome:
    """The outcome of a coroutine that runs as its own task: whatever it raises does not cancel or end the caller."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task])
    finally:
        task.cancel()
    if task.cancelled():
        return None, asyncio.CancelledError("the call was cancelled")
    error = task.exception()
    return (None, error) if error is not None else (task.result(), None)
