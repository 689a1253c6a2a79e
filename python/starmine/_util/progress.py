"""Progress on standard error: a bar of tqdm at a terminal, elsewhere a line every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

# Called with the number of games just played, and a text to show with it.
Advance: TypeAlias = Callable[[int, str], None]

SECONDS_BETWEEN_LINES = 10.0  # where standard error is no terminal


@contextmanager
def progress_of(total: int, done: int, *, shown: bool) -> Iterator[Advance]:
    """Shows the progress of `total` games, of which `done` were played before; no bar where tqdm is not installed."""
    if not shown or done == total or sys.stderr is None:
        yield lambda count, text: None
    elif sys.stderr.isatty():
        with _bar(total, done) as advance:
            yield advance
    else:
        yield _lines(total, done)


@contextmanager
def _bar(total: int, done: int) -> Iterator[Advance]:
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda count, text: None
        return
    options = {"unit": "game", "unit_scale": True, "dynamic_ncols": True, "delay": 0.1, "miniters": 1, "leave": False}
    with tqdm(total=total, initial=done, file=sys.stderr, **options) as bar:

        def advance(count: int, text: str) -> None:
            bar.set_postfix_str(text, refresh=False)
            bar.update(count)

        yield advance


def _lines(total: int, done: int) -> Advance:
    before, began, lines = done, time.monotonic(), Lines()

    def advance(count: int, text: str) -> None:
        nonlocal done
        done += count
        speed = (done - before) / max(time.monotonic() - began, 1e-9)
        lines.show(f"{done:,} of {total:,} games, {speed:,.0f} games/s: {text}")

    return advance


class Lines:
    """Prints lines on standard error, at most one every ten seconds; what comes in between is not shown.

    Args:
        wait: seconds before the first line; None for as long as between two lines.
    """

    def __init__(self, wait: float | None = None) -> None:
        self._due = time.monotonic() + (SECONDS_BETWEEN_LINES if wait is None else wait)

    def show(self, line: str) -> None:
        """Print a line, unless the last one is too recent."""
        if time.monotonic() >= self._due:
            print(line, file=sys.stderr, flush=True)
            self._due = time.monotonic() + SECONDS_BETWEEN_LINES


def counted(number: int, noun: str) -> str:
    """A number of things, such as "1 file" or "1,000 files"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
