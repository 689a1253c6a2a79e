"""`starmine play`: games with bots in a browser."""

from __future__ import annotations

import hashlib
import secrets
import time
import webbrowser
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import UseAppendAction, arg

from starmine._core import StarmineError, Variant, bots, policies
from starmine._util.durable import given_path, replace_file
from starmine.cli.options import Command, Integer, Rules, Seats, rules_of_text
from starmine.cli.player_files import player_of
from starmine.data import write_games
from starmine.data.arrow import pyarrow
from starmine.games.failures import error_text
from starmine.games.variants import preset_of
from starmine.look.live_game import LiveGame
from starmine.look.server import LOOPBACK, Server
from starmine.look.web_game import WebGame
from starmine.policies.kinds import bot
from starmine.policies.pools import plays

ADVISERS = ("smart", "piers")  # the second plays any variant


@dataclass(kw_only=True)
class Play(Command):
    """Play with bots, policies or searchers, or watch them, in a browser on this machine.

    The page shows the board as your seat sees it; hidden cards are not sent to it before the end of their game. Its
    address holds a random token.
    """

    name = "play"

    partner: Annotated[
        UseAppendAction[list[str]],
        arg(
            metavar="BOT",
            help=f"{', '.join([*bots(), *policies()])}; a list of rules; a policy file, such as 'policy: "
            "mine.safetensors'; a searcher, such as 'search: smart; rollouts=1000'; or a class of a Python file, such "
            "as mybot.py:Student. Once for all other seats, or once for each of them in their order",
            help_behavior_hint="(default: smart; piers where smart does not play the variant)",
        ),
    ] = field(default_factory=list)
    players: Seats = None
    variant: Rules = "standard"
    seat: Annotated[Integer | None, arg(help="your seat, from 0", help_behavior_hint="(default: 0)")] = None
    seed: Annotated[Integer | None, arg(help="seed of the deck", help_behavior_hint="(default: a random one)")] = None
    save: Annotated[
        str | None,
        arg(
            metavar="FOLDER",
            help="write each game into this folder: the replay of a whole game as a page, and the game as a .parquet "
            "file in a subfolder for its rules, such as standard-2p, which starmine data and starmine replay read",
            help_behavior_hint="(default: keep none)",
        ),
    ] = None
    watch: Annotated[bool, arg(help="hold no seat, and see all cards", help_behavior_hint="")] = False
    browser: Annotated[bool, arg(help="open no browser, print the address only", help_behavior_hint="")] = True
    host: Annotated[
        str,
        arg(
            metavar="ADDRESS",
            help="where to listen, such as 0.0.0.0 or :: for all addresses of this machine; no other machine reaches "
            "the default",
        ),
    ] = LOOPBACK
    port: Annotated[Integer, arg(help="port", help_behavior_hint="(default: a free one)")] = 0
    idle: Annotated[Integer, arg(metavar="MINUTES", help="end so long after the last page was closed")] = 30

    def run(self) -> int:
        """Play until the program is interrupted or nobody has a page open; return the exit status."""
        rules = rules_of_text(self.variant, self.players)
        if not 0 <= self.port < 65_536 or self.idle < 1:
            raise StarmineError("--port or --idle is not allowed: expected a port up to 65535, and a minute or more")
        game = web_game(self, rules)
        try:
            server = Server(game, self.host, self.port, self.idle * 60)
        except OSError as error:
            problem = f"--host {self.host!r}, --port {self.port}: {error.strerror or error}"
            raise StarmineError(f"{problem}: expected an address of this machine and a free port") from error
        print(f"Play at {server.address}")
        if server.is_everywhere:
            print("On another machine, put the number of this one in place of the address's first part.")
        print("Ctrl-C ends the program.", flush=True)
        if self.browser:
            webbrowser.open(server.address)
        try:
            server.serve()
        except KeyboardInterrupt:
            print("ended")
        finally:
            game.leave()
        return 0


def adviser(rules: Variant) -> str:
    """The bot that plays beside a person who named none, and gives advice."""
    return ADVISERS[0] if plays(ADVISERS[0], rules) else ADVISERS[1]


def own_player(name: str) -> Any:
    """The player of a name for one seat of one game alone: an object remembers its game."""
    found = player_of(name)
    if isinstance(found, type):
        return found  # of which each seat makes its own
    try:
        return deepcopy(found)
    except Exception as error:
        expected = f"expected a class ({error_text(error)})"
        raise StarmineError(f"{name} cannot be copied for each game: {expected}") from error


def named_seats(options: Play, rules: Variant) -> list[str | None]:
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


def web_game(options: Play, rules: Variant) -> WebGame:
    """The game of the page, with new objects for the players of each following game."""
    folder = None if options.save is None else given_path("--save", options.save)
    names = named_seats(options, rules)
    if folder is not None:
        pyarrow()  # rather than after the first game
        folder.mkdir(parents=True, exist_ok=True)

    def begin(number: int) -> LiveGame:
        players = [None if name is None else own_player(name) for name in names]
        game = LiveGame(rules, players, options.seed, 0 if options.seed is None else number)
        game.names = ["you" if name is None else name for name in names]
        return game

    return WebGame(
        begin,
        list(dict.fromkeys([*ADVISERS, *(name for name in bots() if bot(name).is_player and name != "random")])),
        keep=None if folder is None else partial(keep_in, folder),
        report=lambda text: print(text, flush=True),
    )


def keep_in(folder: Path, web_game: WebGame) -> str:
    """Write a game as Starmine's own file, into a folder of its rules, and the replay of one that is over."""
    game = web_game.game
    name = f"game-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
    path = folder / folder_of(game.variant) / f"{name}.parquet"
    path.parent.mkdir(exist_ok=True)
    write_games(game.games(), path)
    if game.is_over:
        replace_file(folder / f"{name}.html", web_game.replay_page().encode())
    return str(path)


def folder_of(rules: Variant) -> str:
    """The name of the folder for games of some rules, such as "standard-2p": a data set has games of one variant."""
    if name := preset_of(rules):
        return f"{name}-{rules.players}p"
    return f"rules-{hashlib.sha256(rules.to_json().encode()).hexdigest()[:12]}"
