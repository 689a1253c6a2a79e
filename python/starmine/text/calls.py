"""Threads and an event loop for the calls of chat players, so that scripts, notebooks and Ctrl-C work alike."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

# The event loop and its thread. The list is empty before the first call of an async function.
_LOOP: list[tuple[asyncio.AbstractEventLoop, threading.Thread]] = []
_LOOP_LOCK = threading.Lock()


class Workers:
    """Daemon threads that call functions in the order in which they are given. The end of the program waits for none.

    Args:
        most: the largest number of threads. A thread ends when no function is left to call.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock, self._waiting, self._threads = threading.Lock(), deque[Callable[[], None]](), 0

    def call(self, function: Callable[[], None]) -> None:
        """Call a function as soon as a thread is free."""
        with self._lock:
            self._waiting.append(function)
            if self._threads == self.most:
                return
            self._threads += 1
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                function = self._waiting.popleft()
            function()


def result_of(awaitable: Awaitable[Any], answer: Future[Any]) -> Any:
    """Await what an async function returned, in the event loop of all chat players.

    There is one loop, so that clients keep their connections between turns.

    Args:
        awaitable: what is awaited.
        answer: if it is cancelled, `awaitable` is cancelled, too.
    """
    call = asyncio.run_coroutine_threadsafe(_awaited(awaitable), _event_loop())
    answer.add_done_callback(lambda _: call.cancel())
    return call.result()


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _event_loop() -> asyncio.AbstractEventLoop:
    with _LOOP_LOCK:
        if not _LOOP or not _LOOP[0][1].is_alive():  # a forked process has no such thread
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_run, args=(loop,), name="starmine chat", daemon=True)
            thread.start()
            _LOOP[:] = [(loop, thread)]
        return _LOOP[0][0]


def _run(loop: asyncio.AbstractEventLoop) -> None:
    while not loop.is_closed():
        with suppress(BaseException):  # SystemExit in a task ends `run_forever`; the task keeps it
            loop.run_forever()
