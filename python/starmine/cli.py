"""The command `starmine`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, NoReturn

from starmine._core import StarmineError, Variant, bots, policies, variant, variants
from starmine.evaluation import evaluate

REFUSED, INTERRUPTED, PIPE_CLOSED = 2, 130, 141

EVALUATE = """\
Plays every bot with itself and with every other on the same decks, and prints the matrix of their mean scores.

With two players each pairing is played in both orders; with more, one bot sits among others of one kind, and takes
each seat for an equal share of the games. With --output, what has been played is kept about every second, so that
the same command goes on after an interrupt, and the folder gets eval.json, eval.csv, a heat map eval.png and the
single games, eval-games.npy. Without it nothing is kept, and an interrupt loses everything."""


class Parser(argparse.ArgumentParser):
    """Refuses in one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to read on."""
        refuse(self.prog, f"{message} (see {self.prog} --help)")
        raise SystemExit(REFUSED)


def refuse(command: str, message: str) -> None:
    """One line on standard error, whatever the message holds."""
    print(f"{command}: {' '.join(message.split())}", file=sys.stderr)


def number(text: str) -> int:
    """A whole number, such as 10000, 10_000 or 10,000."""
    try:
        return int(text.replace(",", "_"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed: expected a whole number") from None


def parser() -> Parser:
    """The command's options."""
    whole = Parser(prog="starmine", description="The card game Hanabi: bots and their evaluation.", allow_abbrev=False)
    whole.add_argument("--version", action="version", version=f"starmine {version('starmine')}")
    commands = whole.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    add_evaluate(commands)
    return whole


def add_evaluate(commands: Any) -> None:
    """The options of `starmine eval`."""
    eval_ = commands.add_parser(
        "eval",
        help="play bots with themselves and with each other",
        description=EVALUATE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    eval_.add_argument(
        "bots",
        nargs="*",
        metavar="BOT",
        help=f"{', '.join([*bots(), *policies()])}; a list of rules, such as 'rules: play-safe; discard-oldest'; a "
        "policy's file, such as 'policy: mine.safetensors'; or NAME=BOT, to be shown by that name (default: all bots "
        "that play the variant, without random and cheater)",
    )
    eval_.add_argument("--games", type=number, default=1000, metavar="N", help="of each pairing (default: 1,000)")
    eval_.add_argument("--players", type=number, default=2, metavar="N", help="seats, 2 to 5 (default: 2)")
    eval_.add_argument(
        "--variant", default="standard", metavar="NAME", help=f"{', '.join(variants())} (default: standard)"
    )
    eval_.add_argument(
        "--lost-game-score",
        choices=("zero", "fireworks"),
        help="what a lost game scores (default: the variant's: zero)",
    )
    eval_.add_argument("--seed", type=number, default=0, metavar="N", help="of the decks (default: 0)")
    eval_.add_argument("--threads", type=number, metavar="N", help="default: one for each core")
    eval_.add_argument("--output", metavar="DIR", help="folder to write, and to go on from (default: print only)")
    eval_.add_argument("--fresh", action="store_true", help="start over in a folder that holds an evaluation")
    eval_.add_argument("--no-figure", action="store_true", help="no heat map, which needs matplotlib")
    eval_.add_argument("--quiet", action="store_true", help="no progress on standard error")
    eval_.set_defaults(run=run_evaluate)


def named(texts: list[str]) -> dict[str, str]:
    """The bots by the names that they are shown by."""
    found: dict[str, str] = {}
    for text in texts:
        # The conditions of a list of rules have the sign too, and paths may.
        name, is_named, bot = (text, "", "") if text.startswith(("rules:", "policy:")) else text.partition("=")
        if name in found:
            raise StarmineError(f"bot={text!r} is not allowed: expected the name {name!r} once")
        found[name] = bot if is_named else name
    return found


def run_evaluate(options: argparse.Namespace) -> int:
    """Evaluate and print."""
    if options.fresh and options.output is None:
        raise StarmineError("--fresh without --output is not allowed: expected the folder that starts over")
    rules: str | Variant = options.variant
    if options.lost_game_score is not None:
        overrides = {"players": options.players, "lost_game_score": options.lost_game_score}
        rules = variant(options.variant, **overrides)
    try:
        evaluation = evaluate(
            named(options.bots) or None,
            options.games,
            players=options.players,
            variant=rules,
            seed=options.seed,
            threads=options.threads,
            output=options.output,
            fresh=options.fresh,
            figure=not options.no_figure,
            progress=not options.quiet,
        )
    except KeyboardInterrupt:
        if options.output is None:
            refuse("starmine eval", "interrupted; nothing is kept without --output DIR")
        else:
            again = ", without --fresh," if options.fresh else ""
            refuse("starmine eval", f"interrupted; the same command{again} goes on from {options.output}")
        return INTERRUPTED
    print(evaluation)
    if options.output is not None:
        print(f"\nwritten to {options.output}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: without the program's name; None for those of the process.

    Returns:
        The exit status.
    """
    for stream in (sys.stdout, sys.stderr):
        # Neither a plus-minus sign nor a name ends the command where it cannot be shown.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    options = parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except StarmineError as error:
        refuse(f"starmine {options.command}", str(error))
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read has seen enough; nothing more can be written there when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    return status
