"""Progress on standard error, shown by tqdm."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

# Called with the number of games just played, and a text to show with it.
Advance: TypeAlias = Callable[[int, str], None]

SECONDS_BETWEEN_LINES = 10.0  # where standard error is no terminal


@contextmanager
def progress_of(total: int, done: int, *, shown: bool) -> Iterator[Advance]:
    """Shows the progress of `total` games, of which `done` were played before; nothing where tqdm is not installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        shown = False
    if not shown or done == total or sys.stderr is None:
        yield lambda count, text: None
        return
    is_terminal = sys.stderr.isatty()
    seconds = 0.1 if is_terminal else SECONDS_BETWEEN_LINES
    options = {"unit": "game", "unit_scale": True, "dynamic_ncols": True, "mininterval": seconds, "miniters": 1}
    options |= {"delay": seconds, "leave": not is_terminal}
    with tqdm(total=total, initial=done, file=sys.stderr, **options) as bar:

        def advance(count: int, text: str) -> None:
            bar.set_postfix_str(text, refresh=False)
            bar.update(count)

        yield advance


def counted(number: int, noun: str) -> str:
    """A number of things, such as "1 file" or "1,000 files"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
