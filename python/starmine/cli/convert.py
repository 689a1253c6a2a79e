"""`starmine data convert`: games from one format to another."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

from tyro.conf import arg

from starmine._core import StarmineError
from starmine._util.keywords import check_names
from starmine.cli.options import ConvertedGames, Format
from starmine.data import FORMATS, ImportedGames, write_games

LISTED = "; ".join(f"{row.name} ({', '.join(row.suffixes)}): {row.summary}" for row in FORMATS.values())


@dataclass(kw_only=True)
class Convert(ConvertedGames):
    """Convert games of other programs to Parquet, and back.

    Each game is played by the rules before it is written.
    """

    name = "data convert"

    target_format: Annotated[Format, arg(name="to", help=f"format of OUT: {LISTED}")] = None

    def run(self) -> int:
        """Convert, print what was done, and return the exit status."""
        sources, target = self.source_and_target()
        if self.target_format is not None:
            check_names("format", [self.target_format], FORMATS)  # before the games are read
        games = self.read(sources, self.source_format)
        if not len(games) and not games.skipped:
            raise StarmineError(f"{', '.join(sources)}: it is empty, and {target} is left as it is")
        unwritten = write_games(games, target, self.target_format, on_error="skip" if self.skip else "raise")
        for skipped in unwritten:
            print(f"not written: {skipped}", file=sys.stderr)
        print(_summary(games.without(unwritten), target, len(games.skipped) + len(unwritten)))
        return 0


def _summary(games: ImportedGames, target: str, skipped: int) -> str:
    """What was written, in one line."""
    parts = [f"{len(games):,} games, {len(games.trajectories.actions):,} turns written to {target}"]
    stopped = int((games.endings == 0).sum())
    if len(games):
        parts.append(f"mean score {games.scores.mean():.2f}")
    if stopped:
        parts.append(f"{stopped:,} stopped before their end")
    if skipped:
        parts.append(f"{skipped:,} skipped")
    if games.other_rules:
        parts.append(f"{games.other_rules:,} of other rules left out")
    return "; ".join(parts)
