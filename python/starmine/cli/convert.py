"""`starmine data convert`: games from one format to another."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError
from starmine.cli.arguments import add_command, add_source, read_source, refuse_source
from starmine.data import FORMATS, ImportedGames, format_names, write_games
from starmine.data.end_reasons import ended_by_name


def add(actions: Any) -> None:
    """Add the subcommand to those of `starmine data`."""
    listed = "\n".join(f"  {row.name:<16} {', '.join(row.suffixes):<14} {row.summary}" for row in FORMATS)
    parser = add_command(
        actions,
        "convert",
        "convert games of other programs to Parquet, and back",
        "Reads games, plays each of them by the rules, and writes them in another format.\n\n"
        f"formats, and the suffixes that tell them:\n{listed}",
    )
    parser.add_argument(
        "source", nargs="+", metavar="IN", help="file or folder, - for standard input, or a share link of hanab.live"
    )
    parser.add_argument("target", metavar="OUT", help="file or folder to write")
    parser.add_argument("--to", choices=format_names(), dest="target_format", metavar="FORMAT", help="format of OUT")
    add_source(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Convert, print what was done, and return the exit status."""
    refuse_source(options.target, options.source)
    games = read_source(options, options.source, options.source_format)
    if not len(games) and not games.skipped:
        raise StarmineError(f"{', '.join(options.source)}: it is empty, and {options.target} is left as it is")
    on_error = "skip" if options.skip else "raise"
    unwritten = write_games(games, options.target, options.target_format, on_error=on_error)
    for skipped in unwritten:
        print(f"not written: {skipped}", file=sys.stderr)
    print(_summary(games.without(unwritten), options.target, len(games.skipped) + len(unwritten)))
    return 0


def _summary(games: ImportedGames, target: str, skipped: int) -> str:
    """What was written, in one line."""
    parts = [f"{len(games):,} games, {len(games.trajectories.actions):,} turns written to {target}"]
    stopped = games.ended_by[games.endings == 0]
    if len(games):
        parts.append(f"mean score {games.scores.mean():.2f}")
    if len(stopped):
        parts.append(f"{len(stopped):,} stopped before their end{_reasons(stopped)}")
    if skipped:
        parts.append(f"{skipped:,} skipped")
    if games.other_rules:
        parts.append(f"{games.other_rules:,} of other rules left out")
    return "; ".join(parts)


def _reasons(codes: NDArray[np.uint8]) -> str:
    """The reasons that are told, with their numbers, in brackets."""
    counts = [(ended_by_name(code), int(count)) for code, count in enumerate(np.bincount(codes)) if count]
    told = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts if name is not None)
    return told and f" ({told})"
