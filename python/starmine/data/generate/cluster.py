"""Shards as Ray tasks. A task whose worker was killed is run again, on any machine, and makes the same shard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starmine._core import StarmineError
from starmine.data.files import Entry
from starmine.data.generate.configuration import Configuration
from starmine.data.generate.job import Job, JobResult, MeanScore
from starmine.data.generate.shard import make_shard
from starmine.data.schema import shard_name

RETRIES = 10  # of a task whose worker was killed
SECONDS = 600.0  # that a task waits for another process that makes its shard


def make_on_ray(job: Job, address: str | None) -> JobResult:
    """Make shards in Ray tasks.

    Args:
        job: the shards; all machines see the folder by its path. A task has as many cores as threads. The progress
            moves by whole shards.
        address: of the cluster; None for the one that this machine belongs to, or a local one.

    Raises:
        ImportError: ray is not installed.
        StarmineError: there is no cluster at this address, or none can be started.
        StarmineError, BotError, OSError: as `make_shard`; tasks that have begun are stopped.
    """
    ray = _ray()
    own = not ray.is_initialized()
    if own:
        _connect(ray, address)
    try:
        task = ray.remote(num_cpus=job.num_threads, max_retries=RETRIES)(_task)
        configuration = ray.put(job.configuration)  # with the players, which are sent once
        folder, entries = str(job.folder.absolute()), job.entries
        waiting = {
            task.remote(configuration, shard, folder, entries.get(shard_name(shard)), job.num_threads): shard
            for shard in job.missing
        }
        return _collect(ray, job, waiting)
    finally:
        if own:
            ray.shutdown()


def _connect(ray: Any, address: str | None) -> None:
    try:
        ray.init(address=address, log_to_driver=False, include_dashboard=False if address is None else None)
    except (OSError, ValueError, RuntimeError) as error:
        asked = True if address is None else address
        raise StarmineError(f"ray={asked!r} is not allowed: there is no such cluster ({error})") from error


def _collect(ray: Any, job: Job, waiting: dict[Any, int]) -> JobResult:
    """The entries of shards in the order in which they are made."""
    made: dict[int, Entry] = {}
    found: dict[int, Entry] = {}
    tally = MeanScore(job.shown)
    try:
        while waiting:
            ready, _ = ray.wait(list(waiting))
            shard = waiting.pop(ready[0])
            try:
                entry, is_own = ray.get(ready[0])
            except ray.exceptions.RayTaskError as error:
                raise (error.cause or error) from None
            (made if is_own else found)[shard] = entry
            job.add(shard, entry)
            tally.add(entry["games"], entry["score"])
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
    return made, found, []


def _task(
    configuration: Configuration, shard: int, folder: str, entry: Entry | None, num_threads: int
) -> tuple[Entry, bool]:
    """Make one shard in a worker; an error of the games or the disk is that of the call."""
    return make_shard(configuration, shard, Path(folder), entry, num_threads, lambda games: None, SECONDS)


def _ray() -> Any:
    try:
        import ray
    except ImportError as missing:
        raise ImportError("ray=True needs ray: pip install 'starmine[ray]'") from missing
    return ray
