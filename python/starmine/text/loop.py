"""The event loop in which chat players make their calls, and threads for functions that are not async."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any


def in_thread(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Call a function in its own daemon thread, for which neither a time limit nor the end of the program waits."""
    found: Future[Any] = Future()

    def call() -> None:
        try:
            result = function(*arguments)
        except BaseException as error:
            if not found.cancelled():
                found.set_exception(error)
        else:
            if not found.cancelled():
                found.set_result(result)

    found.set_running_or_notify_cancel()
    threading.Thread(target=call, daemon=True).start()
    return found


_LOOP: list[tuple[int, asyncio.AbstractEventLoop]] = []  # the process and its loop; none before the first call
_LOOP_LOCK = threading.Lock()


def _event_loop() -> asyncio.AbstractEventLoop:
    """The event loop of all chat players, in its own thread, so that clients keep their connections between turns."""
    with _LOOP_LOCK:
        if not _LOOP or _LOOP[0][0] != os.getpid():  # a forked process has no thread
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="starmine chat", daemon=True).start()
            _LOOP[:] = [(os.getpid(), loop)]
        return _LOOP[0][1]


def start_in_loop(work: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Begin a coroutine in the loop of `_event_loop`, so that notebooks and Ctrl-C work alike."""
    if threading.current_thread().name == "starmine chat":  # a model that plays games with another chat player
        return in_thread(asyncio.run, work)
    return asyncio.run_coroutine_threadsafe(work, _event_loop())


def run_in_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine; see `start_in_loop`."""
    found = start_in_loop(work)
    try:
        return found.result()
    except BaseException:
        if not found.done():
            found.cancel()
            _leave_loop()
        raise


def _leave_loop() -> None:
    """Use a new loop from now on, since an interrupted call may block this one."""
    with _LOOP_LOCK:
        _LOOP.clear()


def cancel_if_cancelled(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None], answer: Future[Any]) -> None:
    """Cancel the task that looks for an answer that nobody waits for."""
    if answer.cancelled():
        loop.call_soon_threadsafe(task.cancel)
        _leave_loop()
