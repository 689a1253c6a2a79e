"""`starmine eval`: self-play and cross-play of bots, and play with partners."""

from __future__ import annotations

import argparse
from typing import Any

from starmine._core import StarmineError, bots, policies
from starmine.cli import player_files
from starmine.cli.arguments import (
    INTERRUPTED,
    add_command,
    add_rules,
    add_seats,
    integer,
    refuse,
    refuse_without,
    rules_of_text,
)
from starmine.evaluation import evaluate
from starmine.games.player_texts import names_player, short_name

DESCRIPTION = """\
Plays every bot with itself and with every other on the same decks, and prints the matrix of their mean scores. With
--with or --hold-out, the bots play with these partners instead, and the table has a mean over the partners.

With two players, each pairing is played in both orders; with more, one bot holds one seat, each for an equal share of
the games, and bots of another kind hold all others. With --output, the folder gets all games, which starmine replay and
starmine data read, with eval.json, eval.csv, the table as table.csv and table.md, and the heat map eval.png.
The same command resumes an interrupted evaluation, and with more bots it plays the missing pairings only. Without
--output nothing is saved.

The exit status is 1 if all games of a pairing failed because a player raised an exception or made an illegal move."""
FAILED = 1  # exit status where no game of a pairing could be played
SHOWN = 20  # games


def add(commands: Any) -> None:
    """Add the subcommand and its options."""
    parser = add_command(commands, "eval", "play bots with themselves and with each other", DESCRIPTION)
    parser.add_argument(
        "bots",
        nargs="*",
        metavar="BOT",
        help=f"{', '.join([*bots(), *policies()])}; a list of rules, such as 'rules: play-safe; discard-oldest'; a "
        "policy file, such as mine.safetensors, or the folder of a run, such as results/ippo-2p; a "
        "class or an object of a Python file, such as mybot.py:Student or a ChatPlayer, which plays as in play_games; "
        "or NAME=BOT, which is shown by that name "
        "(default: all bots that play the variant, except random ones and cheaters)",
    )
    parser.add_argument("--with", nargs="+", dest="partners", default=[], metavar="BOT", help="partners, named alike")
    parser.add_argument(
        "--hold-out",
        nargs="+",
        default=[],
        metavar="BOT",
        help="partners, or names of partners, that training has not met: they are marked and have a mean of their own",
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        default=[],
        metavar="METHOD",
        help="the bots METHOD-1, METHOD-2, ... are seeds of one method: adds its mean over seeds, and their cross-play",
    )
    parser.add_argument(
        "--games",
        type=integer,
        default=1000,
        metavar="N",
        help="games of each pairing; with --with a cell has both seat orders, 2 N games (default: 1,000)",
    )
    add_seats(parser)
    add_rules(parser)
    parser.add_argument("--num-threads", type=integer, metavar="N", help="threads (default: one for each core)")
    parser.add_argument("--output", metavar="DIR", help="folder to write to and to resume from (default: print only)")
    parser.add_argument("--fresh", action="store_true", help="discard the evaluation that the folder holds")
    parser.add_argument("--no-figure", action="store_true", help="draw no heat map, which needs matplotlib")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run)


def bots_by_name(texts: list[str]) -> dict[str, Any]:
    """The bots by the names that they are shown by: NAME=BOT, or the bot itself; of a Python file its own name."""
    found: dict[str, Any] = {}
    for text in texts:
        name, is_named, bot = (text, "", "") if names_player(text) else text.partition("=")
        bot = bot if is_named else name
        if not is_named:
            name = player_files.name_of(bot) if player_files.is_of_file(bot) else short_name(bot)
        if name in found:
            raise StarmineError(f"bot={text!r} is not allowed: expected the name {name!r} once")
        found[name] = player_files.player_of(bot)
    return found


def run(options: argparse.Namespace) -> int:
    """Evaluate, print, and return the exit status: 1 if all games of a pairing failed."""
    refuse_without(options, "output", "fresh")
    rules = rules_of_text(options.variant, options.players, options.lost_game_score)
    entrants, partners, held_out = map(bots_by_name, (options.bots, options.partners, options.hold_out))
    held_out = {name: partners.get(name, player) if name == player else player for name, player in held_out.items()}
    try:
        evaluation = evaluate(
            entrants or None,
            options.games,
            partners=partners or (),
            hold_out=held_out,
            methods=options.methods,
            variant=rules,
            seed=options.seed,
            num_threads=options.num_threads,
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
    failed = [pairing for pairing in evaluation.pairings if 0 < pairing.games == pairing.failed]
    for pairing in failed:
        refuse("starmine eval", f"every game of {pairing.player} with {pairing.partner} failed")
    return FAILED if failed else 0
