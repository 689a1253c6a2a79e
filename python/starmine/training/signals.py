"""Stopping by a signal."""

from __future__ import annotations

import signal
import threading
from types import TracebackType
from typing import Any


class StopSignals:
    """While entered, SIGINT and SIGTERM set `requested`; a second one ends the process at once.

    Python lets only the main thread handle signals: in another one they are left alone.

    Attributes:
        requested: whether a signal has come.
    """

    def __init__(self) -> None:
        self.requested = False
        self._handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopSignals:
        """Take over the signals."""
        if threading.current_thread() is not threading.main_thread():
            return self
        self._handlers = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Give them back."""
        self.restore()

    def restore(self) -> None:
        """Give the signals back before the end of the block; does nothing where that is done."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers = {}

    def _stop(self, number: int, _: Any) -> None:
        self.requested = True
        signal.signal(number, signal.SIG_DFL)
