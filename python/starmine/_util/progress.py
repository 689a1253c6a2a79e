"""Progress on standard error."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

# Called with the number of games just played, and what to show beside it.
Progress: TypeAlias = Callable[[int, str], None]

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def silent(total: int, done: int) -> Iterator[Progress]:
    """Shows nothing."""
    yield lambda count, text: None


def on_stderr(total: int, done: int) -> AbstractContextManager[Progress]:
    """A bar in a terminal if tqdm is installed, else a line every few seconds."""
    if done == total:
        return silent(total, done)
    has_bar = sys.stderr is not None and sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
    return bar(total, done) if has_bar else lines(total, done)


@contextmanager
def bar(total: int, done: int) -> Iterator[Progress]:
    """A progress bar."""
    tqdm = importlib.import_module("tqdm").tqdm  # without type hints
    with tqdm(total=total, initial=done, unit="game", unit_scale=True, dynamic_ncols=True, leave=False) as shown:

        def advance(count: int, text: str) -> None:
            shown.set_postfix_str(text, refresh=False)
            shown.update(count)

        yield advance


@contextmanager
def lines(total: int, done: int) -> Iterator[Progress]:
    """A line every few seconds."""
    began = last = time.monotonic()
    before = done

    def advance(count: int, text: str) -> None:
        nonlocal done, last
        done += count
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES:
            last = now
            rate = (done - before) / (now - began)
            left = clock((total - done) / rate) if rate else "?"
            played = f"{done:,} of {total:,} games ({done / total:.0%})"
            print(f"{played}, {rate:,.0f} games/s, {left} left, {text}", file=sys.stderr, flush=True)

    yield advance


def counted(number: int, noun: str) -> str:
    """A number of things, such as "1 file" or "1,000 files"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def clock(seconds: float) -> str:
    """Seconds as hours, minutes and seconds, such as 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
