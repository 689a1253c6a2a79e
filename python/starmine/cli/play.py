"""`starmine play`: games with bots in a browser."""

from __future__ import annotations

import argparse
import hashlib
import secrets
import time
import webbrowser
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant, bot, bots, policies, variants
from starmine._util.durable import given_path
from starmine.cli.arguments import add_command, add_seats, add_variant, integer, rules_of_text
from starmine.cli.player_files import player_of
from starmine.data import write_games
from starmine.data.arrow import pyarrow
from starmine.data.formats.records import ReadGames, check
from starmine.games.results import error_text
from starmine.games.variants import preset_of
from starmine.look.lobby import Lobby
from starmine.look.server import LOOPBACK, Server
from starmine.look.table import Table
from starmine.policies.pools import plays

DESCRIPTION = """\
Play with bots, policies or searchers, or watch them (--watch), in a browser on this machine, at several tables if you
like. You see the board as your seat sees it, ask a bot for advice, and take moves back. At the end all cards are shown,
and on which turns points were lost. The address holds a random token. Hidden cards are not sent to the browser before
the end of their game.

With --save, each game is written into a folder: its replay as a page, and the game as a .parquet file in a subfolder
for its rules, such as games/standard-2p, which starmine data and starmine replay read."""

ADVISERS = ("smart", "piers")  # the second plays any variant
SEARCHER = "search: smart; rollouts=1000"  # that the page offers


def add(commands: Any) -> None:
    """Add the subcommand and its options."""
    parser = add_command(commands, "play", "play with bots, or watch them", DESCRIPTION)
    parser.add_argument(
        "--partner",
        action="append",
        metavar="BOT",
        help=f"{', '.join([*bots(), *policies()])}; a list of rules; a policy file, such as 'policy: mine.safetensors';"
        " a searcher, such as 'search: smart; rollouts=1000'; or a class of a Python file, such as mybot.py:Student. "
        "Once for all other seats, or once for each of them in their order (default: smart; piers where smart does not "
        "play the variant)",
    )
    add_seats(parser)
    add_variant(parser)
    parser.add_argument("--seat", type=integer, metavar="N", help="your seat, from 0 (default: 0)")
    parser.add_argument("--seed", type=integer, metavar="N", help="seed of the deck (default: a random one)")
    parser.add_argument("--save", metavar="FOLDER", help="where games and replays are written")
    parser.add_argument("--watch", action="store_true", help="hold no seat, and see all cards")
    parser.add_argument("--no-browser", action="store_true", help="open no browser, print the address only")
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default=LOOPBACK,
        help="where to listen, such as 0.0.0.0 or :: for all addresses of this machine "
        "(default: 127.0.0.1, which no other machine reaches)",
    )
    parser.add_argument("--port", type=integer, metavar="N", default=0, help="port (default: a free one)")
    parser.add_argument(
        "--idle",
        type=integer,
        metavar="MINUTES",
        default=30,
        help="end so long after the last page was closed (default: 30)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play until the program is interrupted or nobody has a page open; return the exit status."""
    rules = rules_of_text(options.variant, options.players)
    host, port, idle = options.host, options.port, options.idle
    if not 0 <= port < 65_536 or idle < 1:
        raise StarmineError("--port or --idle is not allowed: expected a port up to 65535, and a minute or more")
    tables = lobby(options, rules)
    first = tables.open(options.variant, named_seats(options, rules))
    try:
        server = Server(tables, host, port, idle * 60)
    except OSError as error:
        problem = f"--host {host!r}, --port {port}: {error.strerror or error}"
        raise StarmineError(f"{problem}: expected an address of this machine and a free port") from error
    address = f"{server.address}#table={first['id']}"
    print(f"Play at {address}")
    if server.is_everywhere:
        print("On another machine, put the number of this one in place of the address's first part.")
    print("Ctrl-C ends the program.", flush=True)
    if not options.no_browser:
        webbrowser.open(address)
    try:
        server.serve()
    except KeyboardInterrupt:
        print("ended")
    finally:
        tables.keep_unfinished()
    return 0


def adviser(rules: Variant) -> str:
    """The bot that plays beside a person who named none, and gives advice."""
    return ADVISERS[0] if plays(ADVISERS[0], rules) else ADVISERS[1]


def own_player(name: str) -> Any:
    """The player of a name for one seat alone: several tables are open at once, and an object remembers its game."""
    found = player_of(name)
    if isinstance(found, type):
        return found  # of which each seat makes its own
    try:
        return deepcopy(found)
    except Exception as error:
        expected = f"expected a class ({error_text(error)})"
        raise StarmineError(f"{name} cannot be copied for each table: {expected}") from error


def named_seats(options: argparse.Namespace, rules: Variant) -> list[str | None]:
    """The players' names by seat, None for the person."""
    if options.watch and options.seat is not None:
        raise StarmineError(f"--watch and --seat {options.seat} are not allowed together: a watcher holds no seat")
    seat = options.seat or 0
    if not 0 <= seat < rules.players:
        raise StarmineError(f"--seat {seat} is not allowed: expected 0 to {rules.players - 1}")
    names = options.partner or [adviser(rules)]
    others = rules.players if options.watch else rules.players - 1
    if len(names) not in (1, others):
        raise StarmineError(f"{len(names)} partners are not allowed: expected one, or one for each of {others} seats")
    names = names * others if len(names) == 1 else names
    return [*names] if options.watch else [*names[:seat], None, *names[seat:]]


def lobby(options: argparse.Namespace, rules: Variant) -> Lobby:
    """The lobby without tables, which offers all bots and policies and those that were named."""
    folder = None if options.save is None else given_path("--save", options.save)
    if folder is not None and not folder.is_dir():
        raise StarmineError(f"{folder}: there is no such folder")
    if folder is not None:
        pyarrow()  # rather than after the first game
    names = dict.fromkeys([*filter(None, named_seats(options, rules)), *bots(), *policies(), SEARCHER])
    return Lobby(
        {name: partial(own_player, name) for name in names},
        {name: partial(rules_of_text, name) for name in dict.fromkeys([options.variant, *variants()])},
        list(dict.fromkeys([*ADVISERS, *(name for name in bots() if bot(name).is_player and name != "random")])),
        seed=options.seed,
        folder=folder,
        keep=None if folder is None else partial(keep_in, folder),
        report=lambda text: print(text, flush=True),
    )


def keep_in(folder: Path, table: Table) -> Path:
    """Write a table's game as Starmine's own file, into a folder of its rules, and return the file."""
    own = folder / folder_of(table.variant)
    try:
        own.mkdir(exist_ok=True)
    except OSError as error:
        raise StarmineError(f"{own}: {error.strerror or error}") from error
    path = own / f"game-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}.parquet"
    games = check(ReadGames.of(table.trajectories()), "raise", "the game")
    try:
        write_games(replace(games, players=(tuple(table.names),)), path)
    except OSError as error:
        raise StarmineError(f"{error.filename or path}: {error.strerror or error}") from error
    return path


def folder_of(rules: Variant) -> str:
    """The name of the folder for games of some rules, such as "standard-2p": a data set has games of one variant."""
    if name := preset_of(rules):
        return f"{name}-{rules.players}p"
    return f"rules-{hashlib.sha256(rules.to_json().encode()).hexdigest()[:12]}"
