"""`starmine text`: games as training examples for language models."""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from typing import Any, get_args

import numpy as np

from starmine._core import StarmineError, _unknown_name
from starmine.cli.arguments import Parser, add_command, add_source, integer, read_source
from starmine.data import ImportedGames
from starmine.data.files import GamesFile, files_of
from starmine.data.origins import KEY, Origin, Origins
from starmine.data.outcomes import dealt
from starmine.games.seeds import EVALUATION_SEED
from starmine.games.trajectories import Trajectories
from starmine.text.conventions import CONVENTIONS
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
    values.add_argument("--blueprint", default="smart", metavar="BOT", help="of the search (default: smart)")
    values.add_argument("--ratings", action="store_true", help="also values on a scale from -1 to 1")
    values.add_argument(
        "--margin", type=float, metavar="POINTS", help="lead of the better move in a preference (default: 0.25)"
    )
    values.add_argument("--seed", type=integer, default=0, metavar="N", help="of the searches (default: 0)")
    values.add_argument("--num-threads", type=integer, default=1, metavar="N", help="of the searches (default: 1)")
    parser.set_defaults(run=run_export)


def seats_of(text: str | None) -> list[int] | None:
    """The seats of a text such as "0,2"; None for all."""
    try:
        return None if text is None else [int(part) for part in text.split(",")]
    except ValueError as error:
        raise StarmineError(f"--seats {text!r} is not allowed: expected numbers, such as 0,2") from error


def evaluations(options: argparse.Namespace) -> list[GamesFile]:
    """The files of evaluations among the sources, in the order in which they are read."""
    found = []
    for path in [file for source in options.source for file in files_of(Path(source)) if file.suffix == ".parquet"]:
        with suppress(StarmineError, OSError):  # one that is damaged has been skipped
            file = GamesFile.open(path)
            found += [file] if KEY in file.metadata.extra else []
    return found


def chosen_games(options: argparse.Namespace, games: ImportedGames) -> tuple[ImportedGames, str]:
    """The games of the pairings that the options choose, and their names for the summary.

    Raises:
        StarmineError: an evaluation has several pairings and none is chosen, or there is no such pairing.
    """
    if not evaluations(options):
        if options.pairing:
            raise StarmineError(f"--pairing is not allowed: {', '.join(options.source)} is no folder of an evaluation")
        return games, ""
    pairings = [pairing_of(names) for names in games.players]
    counts = Counter(pairings)
    if options.pairing is None and len(counts) > 1:
        known = [f"{pairing!r} ({count:,} games)" for pairing, count in counts.items()]
        listed = ", ".join(known[:MOST_LISTED]) + (f" and {len(known) - MOST_LISTED} more" * (len(known) > MOST_LISTED))
        raise StarmineError(
            f"{', '.join(options.source)} has {len(known)} pairings: expected --pairing and one of {listed}, or all"
        )
    if options.pairing is None or ALL in options.pairing:
        return games, ""
    for pairing in options.pairing:
        if pairing not in counts:
            raise _unknown_name("pairing", pairing, list(counts))
    kept = np.flatnonzero([pairing in options.pairing for pairing in pairings])
    return games.chosen(kept), f" of {' and '.join(map(repr, dict.fromkeys(options.pairing)))}"


def pairing_of(names: Sequence[str]) -> str:
    """The pairing of an evaluation's game, "PLAYER with PARTNER", of the names by seat.

    Of two players the player sits in seat 0. Of more, it holds one seat.
    """
    if not names:
        return NAMELESS
    player = names[0] if len(names) == 2 else min(names, key=names.count)
    others = [name for name in names if name != player] if len(names) > 2 else names[1:]
    return f"{player} with {(others or names)[0]}"


def origins(options: argparse.Namespace, games: ImportedGames) -> list[Origin | None]:
    """The origins of games that were read; None for those of no evaluation."""
    known: defaultdict[Any, deque[Origin]] = defaultdict(deque)  # by content; equal games in the order of the files
    for file in evaluations(options):
        found = Origins(file.metadata)
        names = [str(player.get("name")) for player in file.metadata.players]
        for group in range(len(file.sizes)):
            with suppress(StarmineError, OSError):  # as in `evaluations`
                table = file.games(group)
                if table.index is None:
                    continue
                seats = [tuple(names[row] for row in rows) for rows in table.players.tolist()]
                keys = map(content, repeat(table.trajectories), range(len(table)), seats)
                for key, index in zip(keys, table.index.tolist(), strict=True):
                    known[key].append(found.of(key[0], index))
    keys = map(content, repeat(games.trajectories), range(len(games)), games.players)
    return [known[key].popleft() if known[key] else None for key in keys]


def content(games: Trajectories, game: int, names: tuple[str, ...]) -> tuple[tuple[str, ...], bytes, bytes]:
    """The players, the deck and the moves of a game."""
    first, end = games.offsets[game : game + 2].tolist()
    return names, games.decks[game].tobytes(), games.actions[first:end].tobytes()


def tell_of_fallbacks(found: list[Origin | None]) -> None:
    """Say on standard error how many moves of fallbacks are left out, and of how many games that is not known."""
    left_out = sum(len(origin.fallback_turns) for origin in found if origin)
    unknown = sum(not origin.is_whole for origin in found if origin)
    if left_out:
        print(f"starmine text export: {left_out:,} moves of a fallback are left out", file=sys.stderr)
    if unknown:
        told = f"a fallback played in some of {unknown:,} games, and its moves are exported"
        why = "the evaluation does not tell its turns"
        print(f"starmine text export: warning: {told}: {why}", file=sys.stderr)


def warn_of_decks(options: argparse.Namespace, games: ImportedGames) -> None:
    """Warn on standard error of games with decks that evaluations play."""
    seeds = {EVALUATION_SEED, *(file.metadata.seed for file in evaluations(options) if file.metadata.seed is not None)}
    numbers = np.arange(max(EVALUATION_GAMES, len(games)), dtype=np.uint64)
    decks = {deck.tobytes() for seed in seeds for deck in dealt(games.variant, seed, numbers, 1)[0]}
    count = sum(deck.tobytes() in decks for deck in games.trajectories.decks)
    if count:
        told = f"{count:,} of {len(games):,} games have decks of evaluations"
        why = "a model that learns from them has seen the decks that it is evaluated on"
        print(f"starmine text export: warning: {told}: {why}", file=sys.stderr)


def check_target(options: argparse.Namespace) -> None:
    """Check that no file is lost.

    Raises:
        StarmineError: OUT exists and is not to be replaced, or it is a source.
    """
    target = Path(options.target)
    if not target.exists():
        return
    if any(source != "-" and Path(source).exists() and target.samefile(source) for source in options.source):
        raise StarmineError(f"{target} is the source, too: expected another file to write")
    if not options.fresh:
        raise StarmineError(f"{target} exists: expected a new file, or --fresh to replace it")


def run_export(options: argparse.Namespace) -> int:
    """Export, print what was done, and return the exit status."""
    check_target(options)
    by_preference = options.kind == "preference"
    if by_preference and options.rollouts is None:
        raise StarmineError("--kind preference without --rollouts is not allowed: expected a search")
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
    found_in = origins(options, games)
    found = examples(
        games.trajectories,
        players=games.players,
        origins=found_in,
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
    tell_of_fallbacks(found_in)
    warn_of_decks(options, games)
    return 0
