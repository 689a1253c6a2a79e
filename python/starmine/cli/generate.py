"""`starmine generate`: games on disk."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from starmine._core import StarmineError, Variant, bots, policies, variants
from starmine.cli.arguments import INTERRUPTED, add_command, add_rules, integer, refuse, rules_of_text
from starmine.cli.players import is_of_file, load
from starmine.data import Mixture, generate
from starmine.data.generate.configuration import MOST_SHARDS, Players

DESCRIPTION = """\
Plays games and stores them in a folder of Parquet files, the shards, with one row for each game.

Game i has the deck of game i of the seed. A shard depends on the options and its number alone, so that any machine may
make any of them. The same command makes only those that are missing or damaged; several processes may run it at once
in one folder, and with --shards each makes those that it is given. `starmine data info DIR` sums up the games, and
`starmine data verify DIR` plays them again."""


def add(commands: Any) -> None:
    """Add the subcommand and its options."""
    parser = add_command(commands, "generate", "play games and store them", DESCRIPTION)
    add_players(parser)
    parser.add_argument("--games", type=integer, required=True, metavar="N", help="number of games")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder to write to and to go on in")
    add_rules(parser, seed=0)
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


def add_players(parser: argparse.ArgumentParser) -> None:
    """Add the options that say who plays."""
    parser.add_argument(
        "bots",
        nargs="*",
        metavar="BOT",
        help=f"one for each seat: {', '.join([*bots(), *policies()])}; a list of rules, such as 'rules: play-safe; "
        "discard-oldest'; a policy file, such as 'policy: mine.safetensors'; a class or an object of a Python file, "
        "such as mybot.py:Student; or 'noisy: 0.1; smart', which plays a legal move by chance with this probability",
    )
    parser.add_argument(
        "--table",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME", "BOT"),
        help="a named table, with a bot for each seat; several tables play in turn",
    )
    parser.add_argument(
        "--weights",
        nargs="+",
        type=weight,
        metavar="NAME=WEIGHT",
        help="draw the table of each game with these weights",
    )
    parser.add_argument(
        "--mixture",
        nargs="+",
        type=weight,
        metavar="BOT=WEIGHT",
        help="draw a bot for each game and seat with these weights, such as smart=3 iggi=1",
    )
    parser.add_argument("--players", type=integer, metavar="N", help="seats of a mixture (default: 2)")
    parser.add_argument(
        "--epsilon",
        nargs="+",
        type=epsilon,
        default=[],
        metavar="[BOT=]E",
        help="play a legal move by chance with this probability: all bots, or those that are named (default: 0)",
    )


def named_number(text: str) -> tuple[str, float]:
    """A name and a number, such as smart=3. The last = separates them."""
    name, _, number = text.rpartition("=")
    try:
        if name:
            return name, float(number)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not allowed: expected a name and a number, such as smart=3")


def weight(text: str) -> tuple[str, float]:
    """A bot and its weight, such as smart=3; commas separate no bots."""
    parts = text.split(",")
    if len(parts) > 1 and all(re.fullmatch(r"[^=]+=[\d.]+", part) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed: separate with spaces: {' '.join(parts)}")
    return named_number(text)


def epsilon(text: str) -> tuple[str, float]:
    """A number, whose name is empty, or a name and a number."""
    try:
        return "", float(text)
    except ValueError:
        return named_number(text)


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


def by_name(place: str, pairs: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The numbers by name."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise StarmineError(f"{place} is not allowed: expected each name once")
    return found


def players(options: argparse.Namespace) -> Players:
    """Who plays."""
    given = [name for name in ("bots", "table", "mixture") if getattr(options, name)]
    if len(given) != 1:
        raise StarmineError("the players are not clear: expected a bot for each seat, or --table, or --mixture")
    if options.players is not None and not options.mixture:
        raise StarmineError("--players without --mixture is not allowed: expected a bot for each seat")
    if options.mixture:
        weights = by_name("--mixture", options.mixture)
        return Mixture(weights, options.players, {name: load(name) for name in weights if is_of_file(name)})
    if options.table:
        tables = {name: list(map(player, seats)) for name, *seats in options.table}
        if len(tables) < len(options.table):
            raise StarmineError("--table is not allowed: expected each name once")
        return tables
    return list(map(player, options.bots))


def player(text: str) -> Any:
    """The player of a text, loaded from its file if it is one of a Python file."""
    return load(text) if is_of_file(text) else text


def rules(options: argparse.Namespace, seated: Players) -> str | Variant:
    """The variant: a preset's name where nothing else is said, which `generate` gives as many seats as it needs."""
    if options.lost_game_score is None and options.variant in variants():
        return str(options.variant)
    if isinstance(seated, Mixture):
        seats = seated.seats
    else:
        seats = len(next(iter(seated.values())) if isinstance(seated, dict) else seated)
    return rules_of_text(options.variant, seats, options.lost_game_score)


def run(options: argparse.Namespace) -> int:
    """Generate, print a line, and return the exit status."""
    texts = [*options.bots, *(text for table in options.table for text in table[1:]), *dict(options.mixture or [])]
    if options.ray and any(map(is_of_file, texts)):
        raise StarmineError(
            "--ray with a bot of a Python file is not allowed: expected bots, policies and policy files"
        )
    seated = players(options)
    noise = by_name("--epsilon", options.epsilon)
    if "" in noise and len(noise) > 1:
        raise StarmineError("--epsilon is not allowed: expected one number for all bots, or names with numbers")
    try:
        made = generate(
            seated,
            options.games,
            options.output,
            rules(options, seated),
            options.seed,
            epsilon=noise.get("", noise),
            weights=by_name("--weights", options.weights) if options.weights else None,
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
