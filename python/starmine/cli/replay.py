"""`starmine replay`: games as a page to step through."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, bots, endings, policies
from starmine._util.durable import given_path, replace_file
from starmine.cli.arguments import add_command, add_rules_of, add_skip, integer, read_source, rules_of
from starmine.data import Dataset, Game
from starmine.data.files import files_of
from starmine.data.formats.parquet import NAMELESS, suits_in, table_of
from starmine.games.player_texts import of_core, player_of_text
from starmine.look import Mistake, mistakes, replay_html, verdict
from starmine.look.words import told_apart

DESCRIPTION = """\
Writes games as one HTML file, which works without a network: a slider and the arrow keys step through the turns, and
each turn has an address (#turn=17). Beside the board stand the turns that cost points, and below it the score, what can
still be reached, and with --policy what the policy expects.

SOURCE is a folder or a file of games (starmine generate, starmine eval, starmine play --save), files of another program
or a folder of them (hanab.live's JSON or links, AH2AC2's safetensors), or a share link of hanab.live."""

SHOWN = 20  # games, where no option says how many


def add(commands: Any) -> None:
    """Add the subcommand and its options."""
    parser = add_command(commands, "replay", "step through games in a browser", DESCRIPTION)
    parser.add_argument(
        "sources", nargs="+", metavar="SOURCE", help="folder, file or link, or several; - for standard input"
    )
    parser.add_argument("--html", required=True, metavar="FILE", help="the page to write")
    parser.add_argument(
        "--game", type=integer, action="append", metavar="N", help="the game with this index, from 0; may be repeated"
    )
    parser.add_argument(
        "--worst",
        type=integer,
        metavar="N",
        help=f"the N games that scored least (default: the first {SHOWN})",
    )
    parser.add_argument(
        "--ending", choices=endings(), metavar="ENDING", help=f"of the games with this ending: {', '.join(endings())}"
    )
    parser.add_argument(
        "--compare",
        metavar="BOT",
        help=f"mark the turns on which this bot would play another move: {', '.join(bots())}",
    )
    parser.add_argument(
        "--policy",
        metavar="POLICY",
        help=f"show what a trained policy thinks: {', '.join(policies())}, or its file",
    )
    add_rules_of(parser, "SOURCE")
    add_skip(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page, say what it shows, and return the exit status."""
    options.source = ", ".join(options.sources)
    for name in ("worst", "ending"):
        if options.game is not None and getattr(options, name) is not None:
            raise StarmineError(f"--game and --{name} are not allowed together: expected one of them")
    if options.worst is not None and options.worst < 1:
        raise StarmineError(f"--worst {options.worst} is not allowed: expected 1 or more")
    if options.compare is not None:
        of_core(player_of_text(options.compare, "--compare"), "--compare", options.compare)
    target = given_path("--html", options.html)
    if not target.name or target.is_dir() or not target.parent.is_dir():
        raise StarmineError(f"--html {options.html!r} is not allowed: expected a file in a folder that exists")
    games, suits = chosen(options)
    states, titles, names = [game.state() for game in games], [f"Game {game.name}" for game in games], names_of(games)
    text = replay_html(
        states,
        names=names,
        suits=suits or None,
        ended_by=[game.ended_by for game in games],
        ended_by_seats=[game.ended_by_seat for game in games],
        titles=titles,
        compare=options.compare,
        policy=options.policy,
        title=f"Hanabi: {options.source}",
    )
    replace_file(target, text.encode())
    for game, state, title, named in zip(games, states, titles, names, strict=True):
        seats = told_apart(named) or None
        costly = costliest(mistakes(state, seats, suits or None))
        print(f"{title}: {state.score} of {state.variant.max_score} points{costly}")
        print(f"  {verdict(state, seats, suits or None, game.ended_by, game.ended_by_seat)}")
    print(f"written to {options.html}")
    return 0


def names_of(games: Sequence[Game]) -> list[list[str]]:
    """The names of the seats of each game; empty where the source has none."""
    seats = [[str(player["name"]) for player in game.players] for game in games]
    return [[] if names[0] == NAMELESS else names for names in seats]


def costliest(found: Sequence[Mistake]) -> str:
    """The turn of a game that cost most, in brackets; nothing if no turn cost a point."""
    costly = max(found, key=lambda mistake: mistake.points, default=None)
    if costly is None or not costly.points:
        return ""
    return f" (most at turn {costly.turn}, -{costly.points}: {costly.text})"


def chosen(options: argparse.Namespace) -> tuple[list[Game], Sequence[str]]:
    """The games that the options choose, and what their source calls the suits; empty where it has our names."""
    path = given_path("SOURCE", options.source)
    is_ours = len(options.sources) == 1 and (path.suffix == ".parquet" or bool(path.is_dir() and files_of(path)))
    return of_dataset(options) if is_ours else of_other_formats(options)


def of_dataset(options: argparse.Namespace) -> tuple[list[Game], Sequence[str]]:
    """Games of Starmine's own files, of which only those that are chosen are read whole."""
    stored = Dataset(options.source)
    rules = rules_of(options)
    if rules is not None and rules != stored.variant:
        raise StarmineError(f"{options.source}: variant={rules} is not allowed: the file has {stored.variant}")

    def results() -> tuple[NDArray[Any], NDArray[Any]]:
        columns = stored.table(["score", "ending"])
        return columns["score"].to_numpy(), columns["ending"].to_numpy()

    suits = set(map(suits_in, stored.metadata))
    indices = chosen_indices(options, len(stored), results)
    return [stored[index] for index in indices], suits.pop() if len(suits) == 1 else ()


def of_other_formats(options: argparse.Namespace) -> tuple[list[Game], Sequence[str]]:
    """Games in a format of another program."""
    games = read_source(options, options.sources)
    if len(games) == 0:
        raise StarmineError(f"{options.source}: it holds no game")
    table, players = table_of(games)
    indices = chosen_indices(options, len(games), lambda: (games.scores, games.endings))
    rows = [table[index : index + 1] for index in indices]
    return [Game(row, [players[player] for player in row.players[0].tolist()]) for row in rows], games.suits


def chosen_indices(
    options: argparse.Namespace, count: int, results: Callable[[], tuple[NDArray[Any], NDArray[Any]]]
) -> list[int]:
    """The indices of the games that the options choose among `count`; `results` reads their scores and endings."""
    if options.worst is not None or options.ending is not None:
        scores, ended = results()
        order = np.arange(count) if options.worst is None else np.argsort(scores, kind="stable")
        if options.ending is not None:
            order = order[ended[order] == endings().index(options.ending) + 1]
            if not len(order):
                raise StarmineError(f"{options.source}: no game has the ending {options.ending!r}")
        return [int(index) for index in order[: options.worst or SHOWN]]
    for index in options.game or []:
        if not 0 <= index < count:
            raise StarmineError(f"--game {index} is not allowed: expected 0 to {count - 1}")
    return options.game or list(range(min(count, SHOWN)))
