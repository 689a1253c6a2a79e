"""Iteration that is one item ahead of its consumer."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Generator[T, None, None]) -> Iterator[T]:
    """The items of a generator, of which a thread makes the next one while the present one is used.

    The generator is closed at the end, also where the consumer stops early; an error in it is raised in its place.
    """
    end = object()
    try:
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(next, items, end)
            while (item := waiting.result()) is not end:
                waiting = thread.submit(next, items, end)
                yield item  # type: ignore[misc]
    finally:
        items.close()
