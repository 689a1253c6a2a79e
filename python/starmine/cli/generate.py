"""`starmine generate`: games on disk."""

from __future__ import annotations

import argparse
from typing import Any

from starmine._core import StarmineError, bots, policies
from starmine.cli.arguments import INTERRUPTED, add_command, add_rules, integer, refuse, rules_of_text
from starmine.cli.player_files import is_of_file, player_of
from starmine.data import generate
from starmine.data.generation.configuration import MOST_SHARDS
from starmine.data.generation.driver import DATA_SEED
from starmine.games.mixtures import mixture_of_text

DESCRIPTION = """\
Plays games and stores them in a folder of Parquet files, the shards, with one row for each game.

Game i has the deck of game i of the seed. A shard depends on the options and its number alone, so that any machine may
make any of them. The same command makes only those that are missing or damaged; several processes may run it at once
in one folder, and with --shards each makes those that it is given. `starmine data info DIR` sums up the games, and
`starmine data verify DIR` plays them again. `starmine.data.generate` in Python also takes several tables."""


def add(commands: Any) -> None:
    """Add the subcommand and its options."""
    parser = add_command(commands, "generate", "play games and store them", DESCRIPTION)
    parser.add_argument(
        "bots",
        nargs="+",
        metavar="BOT",
        help=f"one for each seat: {', '.join([*bots(), *policies()])}; a list of rules, such as 'rules: play-safe; "
        "discard-oldest'; a policy file, such as 'policy: mine.safetensors'; a class or an object of a Python file, "
        "such as mybot.py:Student; or 'noisy: 0.1; smart', which plays a legal move by chance with this probability. "
        "Several players, such as smart=2,iggi, are drawn for each game, with the weights after =",
    )
    parser.add_argument("--games", type=integer, required=True, metavar="N", help="number of games")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder to write to and to go on in")
    add_rules(parser, seed=DATA_SEED)
    parser.add_argument(
        "--evaluation-decks",
        action="store_true",
        help="allow the two seeds of evaluations, for games that nothing learns from: 0, that of the tables in the "
        "documentation, and the default of starmine eval",
    )
    parser.add_argument(
        "--shard-size", type=integer, default=1_000_000, metavar="N", help="games of a shard (default: 1,000,000)"
    )
    parser.add_argument(
        "--shards", type=shards, metavar="A-B", help="make these, such as 0-99 or 7 or 0-4,9 (default: all)"
    )
    parser.add_argument(
        "--num-threads", type=integer, metavar="N", help="threads (default: one for each core; with --ray 1)"
    )
    parser.add_argument(
        "--ray",
        nargs="?",
        const=True,
        default=False,
        metavar="ADDRESS",
        help="make each shard in a Ray task, on the cluster of this address, or on this machine's",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run)


def shards(text: str) -> list[int]:
    """Numbers of shards, such as 0-99 or 7 or 0-4,9."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        try:
            numbers = range(int(first), int(last or first) + 1)
        except ValueError:
            numbers = range(0)
        if not 1 <= len(numbers) <= MOST_SHARDS:
            expected = "expected numbers of shards, such as 0-99 or 7 or 0-4,9"
            raise argparse.ArgumentTypeError(f"{text!r} is not allowed: {expected}")
        found.extend(numbers)
    return found


def run(options: argparse.Namespace) -> int:
    """Generate, print a line, and return the exit status."""
    seats = [mixture_of_text(text, "BOT") for text in options.bots]
    if options.ray and any(is_of_file(text) for seat in seats for text, _ in seat):
        raise StarmineError(
            "--ray with a bot of a Python file is not allowed: expected bots, policies and policy files"
        )
    try:
        made = generate(
            [[(player_of(text), weight) for text, weight in seat] for seat in seats],
            options.games,
            options.output,
            rules_of_text(options.variant, len(options.bots), options.lost_game_score),
            options.seed,
            evaluation_decks=options.evaluation_decks,
            shard_size=options.shard_size,
            shards=options.shards,
            num_threads=options.num_threads,
            ray=options.ray,
            progress=not options.quiet,
        )
    except KeyboardInterrupt:
        refuse("starmine generate", f"interrupted; the same command goes on from {options.output}")
        return INTERRUPTED
    print(made)
    return 0
