"""`starmine data convert`: games from one format to another."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from starmine._core import StarmineError, Variant, variant
from starmine.cli.parsing import add_command, add_rules_of
from starmine.data import FORMATS, ImportedGames, format_names, read_games, write_games


def add(actions: Any) -> None:
    """Add the subcommand to those of `starmine data`."""
    listed = "\n".join(f"  {row.name:<16} {row.suffix:<13} {row.summary}" for row in FORMATS)
    parser = add_command(
        actions,
        "convert",
        "convert games of other programs to Parquet, and back",
        "Reads games, plays each of them by the rules, and writes them in another format.\n\n"
        f"formats, and the suffixes that tell them:\n{listed}",
    )
    parser.add_argument("source", metavar="IN", help="file or folder, or a share link of hanab.live")
    parser.add_argument("target", metavar="OUT", help="file or folder to write")
    readable = [row.name for row in FORMATS if row.read is not None]
    parser.add_argument("--from", choices=readable, dest="source_format", metavar="FORMAT", help="format of IN")
    parser.add_argument("--to", choices=format_names(), dest="target_format", metavar="FORMAT", help="format of OUT")
    add_rules_of(parser, "IN")
    parser.add_argument("--skip", action="store_true", help="leave out games that break the rules, and name them")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Convert, print what was done, and return the exit status."""
    try:
        games = read_games(
            options.source,
            options.source_format,
            variant=_rules(options),
            on_error="skip" if options.skip else "raise",
        )
        for skipped in games.skipped:
            print(f"skipped {skipped}", file=sys.stderr)
        write_games(games, options.target, options.target_format)
    except ImportError as missing:
        raise StarmineError(str(missing)) from missing
    except OSError as error:
        raise StarmineError(f"{error.filename or options.target}: {error.strerror or error}") from error
    print(_summary(games, options.target))
    return 0


def _rules(options: argparse.Namespace) -> Variant | None:
    """The rules that are asked for, or None."""
    if options.variant is None and options.players is None:
        return None
    return variant(options.variant or "standard", **({} if options.players is None else {"players": options.players}))


def _summary(games: ImportedGames, target: str) -> str:
    """What was written, in one line."""
    parts = [f"{len(games):,} games, {len(games.trajectories.actions):,} turns written to {target}"]
    stopped = int((games.endings == 0).sum())
    if len(games):
        parts.append(f"mean score {games.scores.mean():.2f}")
    if stopped:
        parts.append(f"{stopped:,} stopped before their end")
    if games.skipped:
        parts.append(f"{len(games.skipped):,} skipped")
    return "; ".join(parts)
