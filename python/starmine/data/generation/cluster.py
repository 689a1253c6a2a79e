"""Shards as Ray tasks. A task whose worker was killed is run again, on any machine, and makes the same shard."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

from starmine._core import StarmineError
from starmine._util.imports import library
from starmine.data.files import Totals
from starmine.data.generation.configuration import Configuration
from starmine.data.generation.shard import make_shard

RETRIES = 10  # of a task whose worker was killed
SECONDS = 600.0  # that a task waits for another process that makes its shard


def make_on_ray(
    configuration: Configuration,
    folder: Path,
    missing: list[int],
    num_threads: int,
    address: str | None,
) -> Generator[tuple[int, Totals, bool], None, None]:
    """Make shards in Ray tasks.

    Yields:
        The number of a shard, the sums over its games, and whether it was made here, as the shards become ready.
    """
    ray = library("ray", "ray=True needs ray", "ray")
    own = not ray.is_initialized()
    if own:
        try:
            ray.init(address=address, log_to_driver=False, include_dashboard=False if address is None else None)
        except (OSError, ValueError, RuntimeError) as error:
            asked = True if address is None else address
            raise StarmineError(f"ray={asked!r} is not allowed: there is no such cluster ({error})") from error
    waiting: dict[Any, int] = {}
    try:
        task = ray.remote(num_cpus=num_threads, max_retries=RETRIES)(make_shard)
        shared = ray.put(configuration)  # with the players, which are sent once
        for shard in missing:
            arguments = shared, shard, folder.absolute(), num_threads, lambda games: None, SECONDS
            waiting[task.remote(*arguments)] = shard
        while waiting:
            ready, _ = ray.wait(list(waiting))
            shard = waiting.pop(ready[0])
            try:
                totals, is_own = ray.get(ready[0])
            except ray.exceptions.RayTaskError as error:
                raise (error.cause or error) from None
            yield shard, totals, is_own
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
        if own:
            ray.shutdown()
