"""`starmine text`: games as training examples for language models."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import numpy as np

from starmine._core import StarmineError, _unknown_name
from starmine.cli.arguments import Parser, add_command, add_source, integer, read_source, refuse_source, refuse_without
from starmine.data import ImportedGames
from starmine.data.outcomes import dealt
from starmine.games.seeds import EVALUATION_SEEDS
from starmine.text.bot_conventions import CONVENTIONS
from starmine.text.export import examples, preferences, write_lines
from starmine.text.prompt import Answer, Form, History, PromptOptions

ALL, NAMELESS = "all", "without names"  # pairings
MOST_LISTED = 10  # pairings in a message
EVALUATION_GAMES = 10_000  # of a seed, at least, whose decks are looked for
KINDS = ("supervised", "preference")

EXPORT = """\
Writes the moves of stored games as chat messages, one line of JSON each: the rules, the table, and the move that was
played. With --rollouts a search values all legal moves. --kind preference writes a prompt with a better and a worse
move by these values instead. Each line names the players of its game. Of an evaluation, --pairing chooses the games,
moves of a chat player's fallback are left out, and evaluation and evaluation_game are what a transcript calls
evaluation and game."""


def add(commands: Any) -> None:
    """Add the subcommand and its own subcommand."""
    parser = commands.add_parser("text", help="export games for training language models", allow_abbrev=False)
    actions = parser.add_subparsers(title="commands", dest="action", metavar="ACTION", required=True)
    assert issubclass(actions._parser_class, Parser)
    add_export(actions)


def add_export(actions: Any) -> None:
    """Add `starmine text export`."""
    parser = add_command(actions, "export", "write stored games as chat messages", EXPORT)
    parser.add_argument("source", nargs="+", metavar="IN", help="what `starmine data convert` reads")
    parser.add_argument("target", metavar="OUT", help="new file of JSON lines")
    parser.add_argument("--fresh", action="store_true", help="replace OUT if it exists")
    add_source(parser)
    parser.add_argument("--kind", choices=KINDS, default="supervised", help="of the examples (default: supervised)")
    parser.add_argument(
        "--pairing",
        action="append",
        metavar="'A with B'",
        help="of an evaluation with several, once or more: the games of player A with partner B; or all",
    )
    parser.add_argument("--seats", metavar="N,...", help="export the moves of these seats only (default: all)")
    parser.add_argument("--every", type=integer, default=1, metavar="N", help="export every Nth move (default: all)")
    prompts = parser.add_argument_group("prompts")
    for name, kind in (("form", Form), ("history", History), ("answer", Answer)):
        default, choices = getattr(PromptOptions, name), get_args(kind)
        prompts.add_argument(
            f"--{name}", choices=choices, default=default, help=f"{', '.join(choices)} (default: {default})"
        )
    prompts.add_argument("--no-possible", action="store_true", help="leave out the cards that each card can be")
    prompts.add_argument("--no-legal-moves", action="store_true", help="leave out the legal moves")
    prompts.add_argument("--probabilities", action="store_true", help="give the probabilities of the own cards")
    prompts.add_argument("--conventions", choices=list(CONVENTIONS), help="how this bot plays, after the rules")
    values = parser.add_argument_group("values of moves")
    values.add_argument("--rollouts", type=integer, metavar="N", help="of a search for each move (default: no values)")
    values.add_argument("--blueprint", metavar="BOT", help="of the search (default: smart)")
    values.add_argument("--ratings", action="store_true", help="also values on a scale from -1 to 1")
    values.add_argument(
        "--margin", type=float, metavar="POINTS", help="lead of the better move in a preference (default: 0.25)"
    )
    values.add_argument("--seed", type=integer, metavar="N", help="of the searches (default: 0)")
    values.add_argument("--num-threads", type=integer, metavar="N", help="of the searches (default: 1)")
    parser.set_defaults(run=run_export)


def seats_of(text: str | None) -> list[int] | None:
    """The seats of a text such as "0,2"; None for all."""
    try:
        return None if text is None else [int(part) for part in text.split(",")]
    except ValueError as error:
        raise StarmineError(f"--seats {text!r} is not allowed: expected numbers, such as 0,2") from error


def chosen_games(options: argparse.Namespace, games: ImportedGames) -> tuple[ImportedGames, str]:
    """The games of the pairings that the options choose, and their names for the summary.

    Raises:
        StarmineError: an evaluation has several pairings and none is chosen, or there is no such pairing.
    """
    source = ", ".join(options.source)
    if not any(games.origins):
        if options.pairing:
            raise StarmineError(f"--pairing is not allowed: {source} is no folder of an evaluation")
        return games, ""
    pairings = [
        origin.pairing if origin else " with ".join(names) or NAMELESS
        for origin, names in zip(games.origins, games.players, strict=True)
    ]
    counts = Counter(pairings)
    if options.pairing is None and len(counts) > 1:
        known = [f"{pairing!r} ({count:,} games)" for pairing, count in counts.items()]
        listed = ", ".join(known[:MOST_LISTED]) + (f" and {len(known) - MOST_LISTED} more" * (len(known) > MOST_LISTED))
        raise StarmineError(f"{source} has {len(known)} pairings: expected --pairing and one of {listed}, or all")
    if options.pairing is None or ALL in options.pairing:
        return games, ""
    for pairing in options.pairing:
        if pairing not in counts:
            raise _unknown_name("pairing", pairing, list(counts))
    kept = np.flatnonzero([pairing in options.pairing for pairing in pairings])
    return games.chosen(kept), f" of {' and '.join(map(repr, dict.fromkeys(options.pairing)))}"


def warn_of_decks(games: ImportedGames) -> None:
    """Warn on standard error if games have decks that evaluations also play."""
    seeds = {*EVALUATION_SEEDS, *(origin.seed for origin in games.origins if origin and origin.seed is not None)}
    numbers = np.arange(max(EVALUATION_GAMES, len(games)), dtype=np.uint64)
    decks = {deck.tobytes() for seed in seeds for deck in dealt(games.variant, seed, numbers, 1)[0]}
    count = sum(deck.tobytes() in decks for deck in games.trajectories.decks)
    if count:
        told = f"{count:,} of {len(games):,} games have decks of evaluations"
        why = "a model that learns from them has seen the decks that it is evaluated on"
        print(f"starmine text export: warning: {told}: {why}", file=sys.stderr)


def run_export(options: argparse.Namespace) -> int:
    """Export, print what was done, and return the exit status."""
    refuse_source(options.target, options.source)
    if Path(options.target).exists() and not options.fresh:
        raise StarmineError(f"{options.target} exists: expected a new file, or --fresh to replace it")
    by_preference = options.kind == "preference"
    if by_preference and options.rollouts is None:
        raise StarmineError("--kind preference without --rollouts is not allowed: expected a search")
    refuse_without(options, "rollouts", "blueprint", "ratings", "seed", "num_threads")
    if options.margin is not None and not by_preference:
        raise StarmineError("--margin without --kind preference is not allowed")
    if options.margin is not None and not 0 <= options.margin < float("inf"):
        raise StarmineError(f"--margin {options.margin} is not allowed: expected at least 0")
    seats = seats_of(options.seats)
    prompt = PromptOptions(
        form=options.form,
        history=options.history,
        answer=options.answer,
        possible=not options.no_possible,
        legal_moves=not options.no_legal_moves,
        probabilities=options.probabilities,
        conventions=None if options.conventions is None else CONVENTIONS[options.conventions],
    )
    games = read_source(options, options.source, options.source_format)
    games, named = chosen_games(options, games)
    found = examples(
        games.trajectories,
        players=games.players,
        origins=games.origins,
        seats=seats,
        options=prompt,
        rollouts=options.rollouts,
        blueprint=options.blueprint,
        ratings=options.ratings,
        every=options.every,
        seed=options.seed,
        num_threads=options.num_threads,
    )
    if by_preference:
        found = preferences(found, 0.25 if options.margin is None else options.margin)
    count = write_lines(found, options.target)
    print(f"{len(games):,} games{named}, {count:,} {options.kind} examples written to {options.target}")
    if left_out := sum(len(origin.fallback_turns) for origin in games.origins if origin):
        print(f"starmine text export: {left_out:,} moves of a fallback are left out", file=sys.stderr)
    warn_of_decks(games)
    return 0
