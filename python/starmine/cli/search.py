"""`starmine search`: what a search gains over its blueprint."""

from __future__ import annotations

import argparse
import tempfile
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, Variant, _search_text, bots, policies
from starmine._util.numbers import check_number
from starmine.cli.arguments import add_command, add_rules, add_seats, integer, rules_of_text
from starmine.data import Dataset, generate
from starmine.games.play import play_games
from starmine.games.player_texts import of_core, player_of_text
from starmine.games.results import mean_and_error, with_error

DESCRIPTION = """\
Plays games in which one seat searches while the others play by a blueprint, and the same decks with the blueprint in
all seats, and prints the mean scores and their difference. With --method mirror all seats search.

With --output, the games are stored as `starmine generate` stores them, the same command resumes, several processes may
share the work, and `starmine data info DIR` sums up the games. The values of all searched moves are stored, too."""

SHARD = 16  # games: a kill loses at most those of the shard that is being made


def add(commands: Any) -> None:
    """Add the subcommand and its options."""
    parser = add_command(commands, "search", "play with a search in one seat, beside its blueprint", DESCRIPTION)
    parser.add_argument(
        "blueprint",
        metavar="BOT",
        help=f"a bot whose moves are not random, of {', '.join([*bots(), *policies()])}; a list of rules; a policy "
        "file, such as mine.safetensors; or the folder of a run",
    )
    parser.add_argument("--games", type=integer, default=100, metavar="N", help="number of games (default: 100)")
    parser.add_argument(
        "--rollouts", type=integer, default=10_000, metavar="N", help="roll-outs of a decision (default: 10,000)"
    )
    parser.add_argument(
        "--hands", type=integer, default=4096, metavar="N", help="possible hands that are kept (default: 4,096)"
    )
    parser.add_argument(
        "--depth",
        type=integer,
        metavar="N",
        help="moves after which a policy's network values a roll-out (default: play to the end)",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="X",
        help="points a move must gain to be played, with --method single (default: 0.1)",
    )
    parser.add_argument(
        "--method",
        choices=("single", "mirror"),
        default="single",
        help="single: one seat searches, beside the blueprint; mirror: all seats do, by mirror descent "
        "(default: single)",
    )
    parser.add_argument("--step", type=float, metavar="X", help="of mirror descent (default: 10)")
    parser.add_argument(
        "--seat", type=integer, metavar="N", help="the seat that searches, with --method single (default: 0)"
    )
    add_seats(parser)
    add_rules(parser)
    parser.add_argument("--num-threads", type=integer, metavar="N", help="threads (default: one for each core)")
    parser.add_argument("--output", metavar="DIR", help="folder to write to and to go on in (default: print only)")
    parser.add_argument(
        "--ray", nargs="?", const=True, default=False, metavar="ADDRESS", help="play in Ray tasks, as generate does"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play, print, and return the exit status."""
    rules = rules_of_text(options.variant, options.players, options.lost_game_score)
    if options.seat is not None and options.method == "mirror":
        raise StarmineError(f"--seat {options.seat} is not allowed: expected no seat with --method mirror")
    options.seat = options.seat or 0
    check_number("seat", options.seat, 0, rules.players - 1)
    options.blueprint = of_core(player_of_text(options.blueprint, "BOT"), "BOT", options.blueprint)
    with tempfile.TemporaryDirectory() as scratch:
        searched = play_searching(options, rules, scratch if options.output is None else options.output)
    blueprint = play_games(
        [options.blueprint] * rules.players, options.games, options.seed, rules, num_threads=options.num_threads
    )
    print(report(options, rules, blueprint.scores, searched))
    return 0


def searcher(options: argparse.Namespace) -> str:
    """The text of the player that searches."""
    return _search_text(
        options.blueprint.text,
        rollouts=options.rollouts,
        milliseconds=None,
        hands=options.hands,
        depth=options.depth,
        threshold=options.threshold,
        method=options.method,
        step=options.step,
    )


def play_searching(options: argparse.Namespace, rules: Variant, folder: str) -> NDArray[Any]:
    """The scores of the games in which a seat searches, or all seats do."""
    players: list[Any] = [options.blueprint] * rules.players
    players[options.seat] = searcher(options)
    if options.method == "mirror":
        players = [searcher(options)] * rules.players
    generate(
        players,
        options.games,
        folder,
        rules,
        options.seed,
        evaluation_decks=True,
        shard_size=min(SHARD, options.games),
        num_threads=options.num_threads,
        ray=options.ray,
        progress=not options.quiet,
    )
    with warnings.catch_warnings():  # of missing shards, which are told below
        warnings.simplefilter("ignore", UserWarning)
        games = Dataset(folder)
    scores: NDArray[Any] = np.concatenate([table.scores for table in games.tables()])
    if len(scores) < options.games:
        raise StarmineError(
            f"output={folder!r} has {len(scores)} of {options.games} games, and another process plays the rest: run "
            "the command again to compare"
        )
    return scores


def report(options: argparse.Namespace, rules: Variant, blueprint: NDArray[Any], searched: NDArray[Any]) -> str:
    """The comparison as text."""
    searching = "all seats" if options.method == "mirror" else f"seat {options.seat}"
    lines = [
        f"{searcher(options)} in {searching} of {rules.players}; {options.games:,} games of seed {options.seed}",
        f"{'':12}{'score':>16}{'perfect':>10}{'at zero':>10}",
    ]
    for name, scores in (("blueprint", blueprint), ("search", searched)):
        perfect, zero = np.mean(scores == rules.max_score), np.mean(scores == 0)
        lines.append(f"{name:12}{mean_text(scores):>16}{perfect:>10.1%}{zero:>10.1%}")
    lines.append(f"{'difference':12}{mean_text(searched - blueprint):>16}  (the same decks)")
    return "\n".join(lines)


def mean_text(scores: NDArray[Any]) -> str:
    """The mean and its standard error; of a single game no error."""
    return with_error(*mean_and_error(scores), digits=2)
