"""`starmine data convert`: games from one format to another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from tyro.conf import Positional, arg

from starmine._core import StarmineError
from starmine._util.keywords import check_names
from starmine.cli.options import SourceGames, refuse_source
from starmine.data import whole_games, write_games
from starmine.data.formats.exchange import FORMATS

LISTED = "; ".join(f"{name} ({', '.join(module.SUFFIXES)})" for name, module in FORMATS.items())
Format = Annotated[str | None, arg(metavar="FORMAT", help_behavior_hint="(default: as its suffix tells)")]


@dataclass(kw_only=True)
class Convert(SourceGames):
    """Convert games of other programs to Parquet, and back.

    Each game is played by the rules before it is written.
    """

    name = "data convert"

    paths: Annotated[
        Positional[list[str]],
        arg(
            metavar="IN ... OUT",
            help="IN: file or folder; OUT: what is written",
            help_behavior_hint="(required)",
        ),
    ]
    source_format: Annotated[Format, arg(name="from", help=f"format of IN: {', '.join(FORMATS)}")] = None
    target_format: Annotated[Format, arg(name="to", help=f"format of OUT: {LISTED}")] = None
    fresh: Annotated[bool, arg(help="replace OUT if it is a file", help_behavior_hint="")] = False

    def run(self) -> int:
        """Convert, print what was done, and return the exit status."""
        sources, target = self.source_and_target()
        if self.target_format is not None:
            check_names("format", [self.target_format], FORMATS)  # before the games are read
        games = self.read(sources, self.source_format)
        write_games(games, target, self.target_format)
        said = f"{len(games):,} games, {len(games.actions):,} turns written to {target}"
        said += f"; mean score {games.mean:.2f}"
        failed = np.zeros(len(games), np.bool_) if games.failures is None else games.failures != ""
        if stopped := int((~whole_games(games[~failed])).sum()):
            said += f"; {stopped:,} stopped before their end"
        if failed.any():
            said += f"; a player failed in {failed.sum():,}, which the mean leaves out"
        print(said)
        return 0

    def source_and_target(self) -> tuple[list[str], str]:
        """IN and OUT.

        Raises:
            StarmineError: one of them is missing, a file would be read and written, or OUT is a file that exists
                and is not to be replaced.
        """
        if len(self.paths) < 2:
            raise StarmineError(f"{len(self.paths)} paths are not allowed: expected IN and OUT")
        *sources, target = self.paths
        refuse_source(Path(target), sources)
        if target and Path(target).is_file() and not self.fresh:
            raise StarmineError(f"{target} exists: expected a new file, or --fresh to replace it")
        return sources, target
