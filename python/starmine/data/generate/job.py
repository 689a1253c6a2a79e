"""Makes shards in this process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from starmine._util.durable import FolderBusyError
from starmine._util.progress import Progress
from starmine.data.files import Entry
from starmine.data.generate.configuration import Configuration
from starmine.data.generate.shard import make_shard
from starmine.data.manifest import add_to_manifest
from starmine.data.schema import shard_name
from starmine.data.table import GameTable

# The entries of the shards made now and of those made by others, and the numbers of those that others make.
JobResult: TypeAlias = tuple[dict[int, Entry], dict[int, Entry], list[int]]


@dataclass(frozen=True)
class Job:
    """Shards to make.

    Attributes:
        configuration: of the data set.
        folder: of the data set.
        entries: of the manifest, by file name.
        missing: the numbers of the shards.
        num_threads: for games in which bots hold all seats.
        shown: the progress.
    """

    configuration: Configuration
    folder: Path
    entries: dict[str, Entry]
    missing: list[int]
    num_threads: int
    shown: Progress

    def add(self, shard: int, entry: Entry) -> None:
        """Add the entry of a shard to the manifest."""
        add_to_manifest(self.folder, self.configuration.to_dict(), {shard_name(shard): entry})


def make_here(job: Job) -> JobResult:
    """Make shards in this process, one after another; those that others make are left to them.

    These are looked at again at the end, when most of them are whole, and those of a process that was killed are made.

    Raises:
        StarmineError, BotError, OSError: as `make_shard`; the shards made before are kept.
    """
    made: dict[int, Entry] = {}
    found: dict[int, Entry] = {}
    tally = MeanScore(job.shown)
    left = job.missing
    for _ in range(2):
        busy = []
        for shard in left:
            known = job.entries.get(shard_name(shard))
            try:
                entry, is_own = make_shard(job.configuration, shard, job.folder, known, job.num_threads, tally.played)
            except FolderBusyError:
                busy.append(shard)
                continue
            (made if is_own else found)[shard] = entry
            job.add(shard, entry)
            if not is_own:
                tally.add(entry["games"], entry["score"])
        left = busy
    return made, found, left


class MeanScore:
    """Shows the progress of games, with their mean score so far."""

    def __init__(self, shown: Progress) -> None:
        self.shown = shown
        self.games = self.score = 0

    def played(self, games: GameTable) -> None:
        """Show games that were just played."""
        self.add(len(games), int(games.scores.sum()))

    def add(self, games: int, score: int) -> None:
        """Show games with the sum of their scores."""
        self.games, self.score = self.games + games, self.score + score
        self.shown(games, f"mean score {self.score / max(self.games, 1):.2f}")
