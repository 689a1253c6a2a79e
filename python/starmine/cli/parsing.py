"""What all subcommands share: parsing of arguments, and refusal in one line."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from starmine._core import _unknown_name, variants

NO_OUTPUT, REFUSED, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141  # exit statuses


class Parser(argparse.ArgumentParser):
    """An argument parser that refuses in one line and suggests the nearest choice."""

    def error(self, message: str) -> NoReturn:
        """Print the message and where to read on, and exit."""
        refuse(self.prog, f"{message} (see {self.prog} --help)")
        raise SystemExit(REFUSED)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        # argparse calls this for subcommands and for options with choices.
        if action.choices is not None and value not in action.choices:
            name = str(action.metavar or action.dest).lower()
            raise argparse.ArgumentError(None, str(_unknown_name(name, str(value), list(map(str, action.choices)))))


def refuse(command: str, message: str) -> None:
    """Print a message on standard error, in one line."""
    print(f"{command}: {' '.join(message.split())}", file=sys.stderr)


def add_command(commands: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    """Add a subcommand, whose description keeps its lines and whose options cannot be abbreviated."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def add_seats(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number of seats."""
    parser.add_argument("--players", type=integer, default=2, metavar="N", help="seats, 2 to 5 (default: 2)")


def add_variant(parser: argparse.ArgumentParser) -> None:
    """Add the option for the variant."""
    parser.add_argument(
        "--variant", default="standard", metavar="NAME", help=f"{', '.join(variants())} (default: standard)"
    )


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the options for the rules and the decks of games that are played."""
    add_variant(parser)
    parser.add_argument(
        "--lost-game-score",
        choices=("zero", "fireworks"),
        help="what a lost game scores (default: the variant's: zero)",
    )
    parser.add_argument("--seed", type=integer, default=0, metavar="N", help="seed of the decks (default: 0)")


def add_rules_of(parser: argparse.ArgumentParser, source: str) -> None:
    """Add the options that give the rules of games which are read, where the source does not."""
    known = ", ".join(variants())
    parser.add_argument("--variant", metavar="NAME", help=f"rules of the games: {known} (default: as {source} says)")
    parser.add_argument("--players", type=integer, metavar="N", help=f"seats, 2 to 5 (default: as {source} says)")


def integer(text: str) -> int:
    """An integer, such as 10000, 10_000 or 10,000."""
    try:
        return int(text.replace(",", "_"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed: expected a whole number") from None
