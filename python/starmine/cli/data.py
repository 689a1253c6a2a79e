"""`starmine data`: what can be done with stored games."""

from __future__ import annotations

import argparse
from typing import Any

from starmine.cli import convert
from starmine.cli.arguments import INTERRUPTED, Parser, add_command, integer, refuse
from starmine.data import info, verify

FAILED = 1  # exit status where stored games do not hold
VERIFY = """\
Plays stored games again by the rules, and compares their scores and endings and the checksums of their files. It names
file, row and game of what does not hold; the exit status is then 1."""
INFO = """\
Sums up stored games: their number, turns and bytes, the mean score of each table with its standard error, and the
histogram of the scores."""


def add(commands: Any) -> None:
    """Add the subcommand and its own subcommands."""
    parser = commands.add_parser("data", help="verify, sum up or convert stored games", allow_abbrev=False)
    actions = parser.add_subparsers(title="commands", dest="action", metavar="ACTION", required=True)
    assert issubclass(actions._parser_class, Parser)
    add_verify(actions)
    add_info(actions)
    convert.add(actions)


def add_verify(actions: Any) -> None:
    """Add `starmine data verify`."""
    parser = add_command(actions, "verify", "play stored games again and compare", VERIFY)
    parser.add_argument("path", metavar="DIR", help="folder of shards, or one file")
    parser.add_argument("--deal", action="store_true", help="also deal the games anew from their seeds")
    parser.add_argument("--num-threads", type=integer, metavar="N", help="threads (default: one for each core)")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run_verify)


def add_info(actions: Any) -> None:
    """Add `starmine data info`."""
    parser = add_command(actions, "info", "sum up stored games", INFO)
    parser.add_argument("path", metavar="DIR", help="folder of shards, or one file")
    parser.set_defaults(run=run_info)


def run_verify(options: argparse.Namespace) -> int:
    """Verify, print what does not hold, and return the exit status."""
    try:
        found = verify(options.path, deal=options.deal, num_threads=options.num_threads, progress=not options.quiet)
    except KeyboardInterrupt:
        refuse("starmine data verify", "interrupted")
        return INTERRUPTED
    print(found)
    return 0 if found.holds else FAILED


def run_info(options: argparse.Namespace) -> int:
    """Sum up, print, and return the exit status."""
    print(info(options.path))
    return 0
