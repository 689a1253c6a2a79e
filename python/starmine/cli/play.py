"""`starmine play`: games with bots, at the terminal or in a browser."""

from __future__ import annotations

import argparse
import hashlib
import json
import secrets
import tempfile
import time
import webbrowser
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant, bot, bots, policies
from starmine._util.durable import given_path
from starmine.cli.arguments import (
    INTERRUPTED,
    add_command,
    add_seats,
    add_variant,
    integer,
    refuse,
    refuse_without,
    rules_of_text,
)
from starmine.cli.player_files import player_of
from starmine.data import write_games
from starmine.data.formats.hanab_live_link import links
from starmine.data.formats.records import ReadGames, check
from starmine.games.results import error_text
from starmine.games.trajectories import Trajectories
from starmine.games.variants import preset_of
from starmine.look.lobby import Lobby
from starmine.look.server import LOOPBACK, Server
from starmine.look.table import Table
from starmine.look.terminal import Terminal
from starmine.policies.pools import plays

DESCRIPTION = """\
Play a game with bots, policies or searchers, or watch them (--watch). You see the board as your seat sees it, type
moves such as "play 2", "discard 0" or "hint 1 red", ask a bot for advice (hint), and take moves back (undo). At the end
all cards are shown, and on which turns points were lost.

With --save, the game is written in a format of starmine data convert, by the file's suffix: .json (hanab.live), .links,
.parquet. starmine replay shows it in a browser. Into a folder, each game is written as a file of its own, in a
subfolder for its rules, such as games/standard-2p, which starmine data and starmine replay read. These files and
.parquet files also have the moves that were taken back.

With --web, you play in a browser on this machine, at several tables if you like. The address holds a random token.
Hidden cards are not sent to the browser before the end of their game."""

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
    parser.add_argument(
        "--save",
        metavar="FILE",
        help="file or folder where the game is written; with --web a folder, for games and replays",
    )
    parser.add_argument("--watch", action="store_true", help="hold no seat, and see all cards")
    parser.add_argument("--web", action="store_true", help="play in a browser, at several tables")
    parser.add_argument("--no-browser", action="store_true", help="with --web: open no browser, print the address only")
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        help="with --web: where to listen, such as 0.0.0.0 or :: for all addresses of this machine "
        "(default: 127.0.0.1, which no other machine reaches)",
    )
    parser.add_argument("--port", type=integer, metavar="N", help="with --web: port (default: a free one)")
    parser.add_argument(
        "--idle",
        type=integer,
        metavar="MINUTES",
        help="with --web: end so long after the last page was closed (default: 30)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play, save, and return the exit status."""
    rules = rules_of_text(options.variant, options.players)
    refuse_without(options, "web", "no_browser", "host", "port", "idle")
    if options.web:
        return serve(options, rules)
    seats = [None if name is None else player_of(name) for name in named_seats(options, rules)]
    table = Table(rules, seats, options.seed)
    if options.save is not None:
        check_save(options.save, rules)
    try:
        whole = Terminal(table, adviser(rules)).play()
    except KeyboardInterrupt:
        keep(table, options.save)
        refuse("starmine play", "interrupted")
        return INTERRUPTED
    if not whole:
        print(f"The game was left after {len(table.history)} turns.")
    keep(table, options.save)
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


def serve(options: argparse.Namespace, rules: Variant) -> int:
    """Play in a browser until the program is interrupted or nobody has a page open; return the exit status."""
    host, port, idle = options.host or LOOPBACK, options.port or 0, 30 if options.idle is None else options.idle
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


def lobby(options: argparse.Namespace, rules: Variant) -> Lobby:
    """The lobby without tables, which offers all bots and policies and those that were named."""
    folder = None if options.save is None else given_path("--save", options.save)
    if folder is not None and not folder.is_dir():
        raise StarmineError(f"{options.save}: there is no such folder")
    if folder is not None:
        check_save(str(folder), rules)
    names = dict.fromkeys([*filter(None, named_seats(options, rules)), *bots(), *policies(), SEARCHER])
    return Lobby(
        {name: partial(own_player, name) for name in names},
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
    write(table.trajectories(), path, table)
    return path


def folder_of(rules: Variant) -> str:
    """The name of the folder for games of some rules, such as "standard-2p": a data set has games of one variant."""
    if name := preset_of(rules):
        return f"{name}-{rules.players}p"
    return f"rules-{hashlib.sha256(rules.to_json().encode()).hexdigest()[:12]}"


def check_save(path: str, rules: Variant) -> None:
    """Refuse before the game a file that could not be written after it: a game of one turn is written elsewhere."""
    if not given_path("--save", path).resolve().parent.is_dir():
        raise StarmineError(f"{path}: there is no such folder")
    first = Table(rules, [None] + ["random"] * (rules.players - 1), seed=0)
    first.state.apply(first.state.legal_actions()[0])
    with tempfile.TemporaryDirectory() as scratch:
        try:
            if Path(path).is_dir():
                keep_in(Path(scratch), first)
            else:
                write(first.trajectories(), Path(scratch) / Path(path).name)
        except StarmineError as error:
            raise StarmineError(str(error).replace(str(Path(scratch) / Path(path).name), path)) from error


def keep(table: Table, path: str | None) -> None:
    """Write the game, if it is to be kept and has a turn; otherwise give the link to it, if there is one."""
    if not table.state.length:
        return
    if path is None:
        link = link_of(table)
        print(
            f"to look at the game: starmine replay --html replay.html {link}"
            if link
            else "--save FILE would have kept the game."
        )
        return
    file = Path(path)
    if file.is_dir():
        file = keep_in(file, table)
    else:
        write(table.trajectories(), file, table)
    print(f"written to {file}; to look at it: starmine replay {file} --html replay.html")
    if table.taken_back and file.suffix != ".parquet":
        print("The moves that were taken back are not in it: only .parquet files and folders have them.")


def write(games: Trajectories, path: Path, table: Table | None = None) -> None:
    """Write a game in the format of the path, with its players' names and the moves that its table took back."""
    checked = check(ReadGames.of(games), "raise", "the game")
    if table is not None:
        moves = json.dumps(table.taken_back, separators=(",", ":")) if table.taken_back else ""
        checked = replace(checked, players=(tuple(table.names),), taken_back=(moves,))
    try:
        write_games(checked, path)
    except OSError as error:
        raise StarmineError(f"{error.filename or path}: {error.strerror or error}") from error


def link_of(table: Table) -> str | None:
    """The hanab.live link that holds a game; None for rules that have none."""
    try:
        return links(check(ReadGames.of(table.trajectories()), "raise", "the game"))[0]
    except StarmineError:
        return None
