"""`starmine replay`: games as a page to step through."""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, State, _unknown_name, bots, endings, policies
from starmine._util.durable import given_path, replace_file
from starmine.cli.arguments import add_command, add_rules_of, integer, rules_of
from starmine.cli.eval import bots_by_name
from starmine.evaluation.folder import RESULTS
from starmine.evaluation.worst import read_evaluation, without_replays, worst_games
from starmine.games.players import refuse_file
from starmine.look import mistakes, replay_html, verdict
from starmine.look.words import told_apart

DESCRIPTION = """\
Writes games as one HTML file, which works without a network: a slider and the arrow keys step through the turns, and
each turn has an address (#turn=17). Beside the board stand the turns that cost points, and below it the score, what can
still be reached, and with --policy what the policy expects.

SOURCE is a folder or a file of games (starmine generate, starmine play --save), files of another program or a folder of
them (hanab.live's JSON, HLE's deals and moves; see starmine data convert --help), a share link of hanab.live, or a
folder of starmine eval, of which the worst games are shown."""

SHOWN = 20  # games, where no option says how many


@dataclass(frozen=True)
class Chosen:
    """The games of a replay.

    Attributes:
        states: the games after their last turns.
        titles: of the games.
        names: of the seats, for each game; empty where the source has none.
        suits: what the source calls the suits; empty where it has our names.
        ended_by: why the games stopped, one of `starmine.data.ENDED_BY` or None, for each game; empty where the source
            does not tell.
        ended_by_seats: the seats that ended the games, or None.
    """

    states: Sequence[State]
    titles: Sequence[str]
    names: Sequence[Sequence[str]]
    suits: Sequence[str] = ()
    ended_by: Sequence[str | None] = ()
    ended_by_seats: Sequence[int | None] = ()

    def verdict(self, game: int) -> str:
        """How a game ended and where its points went."""
        names = told_apart(self.names[game]) or None
        why = (self.ended_by[game], self.ended_by_seats[game]) if self.ended_by else (None, None)
        return verdict(self.states[game], names, self.suits or None, *why)


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
        help=f"the N games that scored least (default: the first {SHOWN}; of an evaluation the worst {SHOWN})",
    )
    parser.add_argument(
        "--ending", choices=endings(), metavar="ENDING", help=f"of the games with this ending: {', '.join(endings())}"
    )
    parser.add_argument(
        "--player",
        action="append",
        default=[],
        metavar="FILE.py:NAME",
        help="a Python bot of an evaluation, whose games are played again; NAME=FILE.py:NAME where it was named; may "
        "be repeated",
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
    parser.add_argument("--skip", action="store_true", help="leave out games and files that do not hold, and name them")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page, say what it shows, and return the exit status."""
    options.source = ", ".join(options.sources)
    if options.game is not None and options.worst is not None:
        raise StarmineError("--game and --worst are not allowed together: expected one of them")
    if options.game is not None and options.ending is not None:
        raise StarmineError("--game and --ending are not allowed together: expected one of them")
    if options.worst is not None and options.worst < 1:
        raise StarmineError(f"--worst {options.worst} is not allowed: expected 1 or more")
    if options.compare is not None:
        refuse_file(options.compare, "--compare")
    target = given_path("--html", options.html)
    if not target.name or target.is_dir() or not target.parent.is_dir():
        raise StarmineError(f"--html {options.html!r} is not allowed: expected a file in a folder that exists")
    try:
        found = chosen(options)
        text = replay_html(
            found.states,
            names=found.names,
            suits=found.suits or None,
            ended_by=found.ended_by or None,
            ended_by_seats=found.ended_by_seats or None,
            titles=found.titles,
            compare=options.compare,
            policy=options.policy,
            title=f"Hanabi: {options.source}",
        )
        replace_file(target, text.encode())
    except ImportError as missing:
        raise StarmineError(str(missing)) from missing
    except OSError as error:
        raise StarmineError(f"{error.filename or options.html}: {error.strerror or error}") from error
    for game, (title, state, names) in enumerate(zip(found.titles, found.states, found.names, strict=True)):
        print(f"{title}: {state.score} of {state.variant.max_score} points{costliest(state, names, found.suits)}")
        print(f"  {found.verdict(game)}")
    print(f"written to {options.html}")
    return 0


def costliest(state: State, names: Sequence[str], suits: Sequence[str]) -> str:
    """The turn of a game that cost most, in brackets; nothing if no turn cost a point."""
    found = mistakes(state, told_apart(names) or None, suits or None)
    costly = max(found, key=lambda mistake: mistake.points, default=None)
    if costly is None or not costly.points:
        return ""
    return f" (most at turn {costly.turn}, -{costly.points}: {costly.text})"


def chosen(options: argparse.Namespace) -> Chosen:
    """The games that the options choose."""
    path = given_path("SOURCE", options.source)
    if len(options.sources) == 1 and (path / RESULTS).is_file():
        return of_evaluation(options)
    if options.player:
        raise StarmineError("--player is not allowed here: expected a folder of starmine eval")
    if len(options.sources) > 1:
        return of_other_formats(options)
    if path.is_dir() or path.suffix == ".parquet":
        files = list(path.glob("*.parquet")) if path.is_dir() else [path]
        if files:
            return of_dataset(options)
    return of_other_formats(options)


def of_evaluation(options: argparse.Namespace) -> Chosen:
    """The worst games of a folder of `starmine eval`."""
    if options.game is not None:
        raise StarmineError("--game is not allowed with an evaluation: expected --worst N")
    evaluation, players = read_evaluation(options.source), bots_by_name(options.player)
    for name in players:
        if name not in evaluation.names:
            raise _unknown_name("player of the evaluation", name, evaluation.names)
    games, note = (
        worst_games(evaluation, options.worst or SHOWN, players, options.ending),
        without_replays(evaluation, players),
    )
    if not games and options.ending is not None:
        raise StarmineError(f"{options.source}: no game that can be played again has the ending {options.ending!r}")
    if not games:
        raise StarmineError(f"{options.source}: no game can be played again{note and ': '}{note}")
    if note:
        print(note)
    return Chosen([game.state for game in games], [game.title for game in games], [game.players for game in games])


def of_dataset(options: argparse.Namespace) -> Chosen:
    """Games of Starmine's own files, of which only those that are chosen are read whole."""
    from starmine.data import Dataset
    from starmine.data.formats.parquet import suits_in

    if not Path(options.source).exists():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", options.source)
    stored = Dataset(options.source)
    rules = rules_of(options)
    if rules is not None and rules != stored.variant:
        raise StarmineError(f"{options.source}: variant={rules} is not allowed: the file has {stored.variant}")
    scores = np.empty(0), np.empty(0)
    if options.worst is not None or options.ending is not None:
        tables = [(table.scores, table.endings) for table in stored.tables()]
        scores = np.concatenate([one for one, _ in tables]), np.concatenate([one for _, one in tables])
    indices = chosen_indices(options, len(stored), *scores)
    games = [stored[index] for index in indices]
    names = [[str(player["name"]) for player in game.players] for game in games]
    suits = set(map(suits_in, stored.metadata))
    titles = [f"Game {game.number}" for game in games]
    return Chosen(
        [game.state() for game in games],
        titles,
        names,
        suits.pop() if len(suits) == 1 else (),
        [game.ended_by for game in games],
        [game.ended_by_seat for game in games],
    )


def of_other_formats(options: argparse.Namespace) -> Chosen:
    """Games in a format of another program."""
    from starmine.data import read_games
    from starmine.data.end_reasons import ended_by_name

    on_error = "skip" if options.skip else "raise"
    games = read_games(options.sources, variant=rules_of(options), on_error=on_error)
    for skipped in games.skipped:
        print(f"skipped {skipped}", file=sys.stderr)
    if len(games) == 0:
        raise StarmineError(f"{options.source}: it holds no game")
    indices = chosen_indices(options, len(games), games.scores, games.endings)
    titles = [f"Game {games.names[index] or index}" for index in indices]
    names = [games.players[index] for index in indices]
    seats = [int(games.ended_by_seats[index]) for index in indices]
    return Chosen(
        [games.trajectories.state(index) for index in indices],
        titles,
        names,
        games.suits,
        [ended_by_name(int(games.ended_by[index])) for index in indices],
        [None if seat < 0 else seat for seat in seats],
    )


def chosen_indices(options: argparse.Namespace, count: int, scores: NDArray[Any], ended: NDArray[Any]) -> list[int]:
    """The indices of the games that the options choose among all; scores and endings are looked at only if asked."""
    if options.worst is not None or options.ending is not None:
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
