"""`starmine data verify` and `starmine data info`: stored games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Positional, arg

from starmine.cli.options import INTERRUPTED, Command, Quiet, Threads
from starmine.data import info, verify

FAILED = 1  # exit status where stored games do not hold
Folder = Annotated[Positional[str], arg(metavar="DIR", help="folder of shards, or one file")]


@dataclass(kw_only=True)
class Verify(Command):
    """Play stored games again, and compare their scores, endings and checksums.

    File, row and game of what does not hold are named; the exit status is then 1.
    """

    name = "data verify"

    path: Folder
    deal: Annotated[bool, arg(help="also deal the games anew from their seeds", help_behavior_hint="")] = False
    num_threads: Threads = None
    quiet: Quiet = False

    def run(self) -> int:
        """Verify, print what does not hold, and return the exit status."""
        try:
            verification = verify(self.path, deal=self.deal, num_threads=self.num_threads, progress=not self.quiet)
        except KeyboardInterrupt:
            self.complain("interrupted")
            return INTERRUPTED
        print(verification)
        return 0 if verification.holds else FAILED


@dataclass(kw_only=True)
class Info(Command):
    """Sum up stored games: games, turns, bytes, mean scores with standard errors, and a histogram of the scores."""

    name = "data info"

    path: Folder

    def run(self) -> int:
        """Sum up, print, and return the exit status."""
        print(info(self.path))
        return 0
