"""Plays every entrant with every other."""

from __future__ import annotations

import importlib.util
import operator
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from starmine._core import StarmineError, Variant, _Player, _Tables
from starmine._util.durable import given_path
from starmine._util.keywords import named_keywords
from starmine._util.numbers import check_number, check_threads
from starmine._util.progress import Progress, progress_of
from starmine.evaluation.evaluation import Cell, Evaluation, Settings
from starmine.evaluation.pairing import stretches
from starmine.games.identity import identity
from starmine.games.play import play_games
from starmine.games.players import Player, cheats, resolve_player, type_name
from starmine.games.results import BotError, Games
from starmine.games.seeds import EVALUATION_SEED
from starmine.games.variants import resolve_variant
from starmine.policies.pool import bots_that_play

if TYPE_CHECKING:
    from starmine.evaluation.folder import Folder

FIRST_GAMES_A_THREAD = 64  # games of bots in a pairing's first chunk, which shows how fast they are
GAMES_A_THREAD = 2048  # the largest chunk
SECONDS_A_CHUNK = 0.5  # what is aimed at: a kill loses the games since the last save
SECONDS_BETWEEN_SAVES = 1.0  # at least
MOST_SECONDS_BETWEEN_SAVES = 300.0
SHARE_BETWEEN_SAVES = 0.1  # of the time so far, so that a long evaluation has few files
MOST_GAMES = 2**32 - 1


@named_keywords
def evaluate(
    entrants: Mapping[str, Player] | Sequence[str] | None = None,
    games: int = 1000,
    *,
    players: int | None = None,
    variant: str | Variant = "standard",
    seed: int = EVALUATION_SEED,
    num_threads: int | None = None,
    output: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    figure: bool = True,
    chunk: int = 1000,
    progress: bool = False,
) -> Evaluation:
    """Play every entrant with itself and with every other, all on the same decks.

    With two players, the pairing (a, b) has a in seat 0, and (b, a) has b in seat 0. With more, a holds one seat, each
    for an equal share of the games, and b all others. Game i has the deck of game i, episode 0, of a batch with this
    seed.

    Args:
        entrants: names of bots, or by name anything that `play_games` accepts for a seat: bots, Python bots, policies
            and torch modules. None for all bots that play the variant, except random ones and cheaters.
        games: games of each pairing, at least 1.
        players: number of seats; None for the variant's own.
        variant: a preset's name or a `Variant`.
        seed: of the decks, 0 to 2**64 - 1. Nothing trains on those of the default by default.
        num_threads: threads for the games in which bots hold all seats; None for one for each core.
        output: folder for the games, a data set as `starmine.data.Dataset` reads it, and for `eval.json`, `eval.csv`
            and `eval.png`, which are derived from it. It needs pyarrow. The games are saved after a second, and later
            whenever the time has grown by a tenth, at least every five minutes. The same call resumes from them. It
            refuses to do so if an entrant may play otherwise now: if the weights of a policy, or the source or the
            state of a player in Python, have changed or are unknown. Only one call at a time writes to a folder. None
            writes nothing.
        fresh: start over in a folder that holds an evaluation.
        figure: draw the heat map `eval.png`, which needs matplotlib.
        chunk: games played at once with Python bots and policies.
        progress: show the progress on standard error.

    Returns:
        The matrix.

    Raises:
        UnknownNameError: there is no such bot, preset or encoder.
        VariantError: a bot does not play the variant.
        TypeError: a number is not an integer.
        StarmineError: another argument that is not allowed, a policy that sees its own hand without `cheats=True`, a
            folder that is in use, holds other games or cannot be written, or pyarrow or matplotlib is missing. No game
            has been played, unless the disk becomes full; what was saved before is kept.

    An entrant that sees its own hand, such as the bot `cheater` or a policy with `cheats=True`, is marked in the table,
    the figure, the CSV and the JSON.

    A player that raises or chooses an illegal action fails only that game; see `Pairing.failed`.

    >>> import starmine
    >>> evaluation = starmine.evaluate(["iggi", "piers"], games=20, variant="mini")
    >>> evaluation.scores.shape
    (2, 2)
    >>> evaluation.pairing("iggi", "piers").games
    20
    """
    rules = resolve_variant(variant, {} if players is None else {"players": players})
    given = entrants_by_name(bots_that_play(rules) if entrants is None else entrants)
    games, chunk = (check_number(name, value, 1, MOST_GAMES) for name, value in (("games", games), ("chunk", chunk)))
    num_threads = check_threads(num_threads)
    resolved = {name: check_entrant(name, player, rules, seed) for name, player in given.items()}
    path = None if output is None else given_path("output", output)
    if path is not None:
        check_libraries(figure)
    kinds = {name: bot.text if isinstance(bot, _Player) else type_name(given[name]) for name, bot in resolved.items()}
    identities = {name: identity(player) for name, player in resolved.items()}
    cheaters = tuple(name for name, player in resolved.items() if cheats(player))
    settings = Settings(version("starmine"), rules, kinds, identities, games, operator.index(seed), cheaters)
    with opened(path, settings, fresh) as (evaluation, folder):
        cells = sum(evaluation.is_played(cell) for cell in np.ndindex(*evaluation.played.shape))
        with progress_of(cells * games, int(evaluation.played.sum()), shown=progress) as shown:
            play_all(evaluation, resolved, num_threads, chunk, folder, shown)
        if folder:
            folder.finish(evaluation, figure)
    return evaluation


@contextmanager
def opened(path: Path | None, settings: Settings, fresh: bool) -> Iterator[tuple[Evaluation, Folder | None]]:
    """The evaluation of a folder, with the folder, which is locked meanwhile; a new evaluation where there is none."""
    if path is None:
        yield Evaluation.begin(settings), None
        return
    from starmine.evaluation.folder import Folder

    folder = Folder(path, settings)
    evaluation = folder.open(fresh)
    try:
        yield evaluation, folder
    finally:
        folder.close()


def play_all(
    evaluation: Evaluation,
    entrants: dict[str, Any],
    num_threads: int,
    chunk: int,
    folder: Folder | None,
    shown: Progress,
) -> None:
    """Play the remaining games and save them to the folder, also when interrupted."""
    names = evaluation.names
    began = time.monotonic()
    next_save = began + SECONDS_BETWEEN_SAVES
    try:
        chunks = play_chunks(evaluation, entrants, num_threads, chunk, record=folder is not None)
        for cell, seat, start, games, seconds in chunks:
            if folder:
                folder.add(cell, seat, start, games, seconds)
            evaluation.add(cell, start, games, seconds)
            shown(len(games), f"{names[cell[0]]} with {names[cell[1]]}")
            if folder and (time.monotonic() > next_save or folder.is_full):
                folder.save(evaluation)
                now = time.monotonic()
                wanted = max(SECONDS_BETWEEN_SAVES, SHARE_BETWEEN_SAVES * (now - began))
                next_save = now + min(MOST_SECONDS_BETWEEN_SAVES, wanted)
    finally:
        if folder:
            folder.save(evaluation)


def play_chunks(
    evaluation: Evaluation, entrants: dict[str, Any], num_threads: int, chunk: int, record: bool
) -> Iterator[tuple[Cell, int, int, Games, float]]:
    """Play the remaining games: (cell, the player's seat, first game, the games of a chunk, seconds that they took).

    The chunks of bots grow and shrink with the speed of the bots.
    """
    settings = evaluation.settings
    for cell, seat, start, end in schedule(evaluation):
        player, partner = (entrants[evaluation.names[index]] for index in cell)
        seats = [player if place == seat else partner for place in range(settings.variant.players)]
        are_bots = all(isinstance(held, _Player) for held in seats)
        step = num_threads * min(FIRST_GAMES_A_THREAD, GAMES_A_THREAD) if are_bots else chunk
        while start < end:
            number = min(step, end - start)
            began = time.perf_counter()
            games = play_or_fail(seats, number, start, settings, num_threads, record)
            seconds = time.perf_counter() - began
            yield cell, seat, start, games, seconds
            start += number
            if are_bots:
                step = num_threads * games_a_thread(number / num_threads, seconds)


def games_a_thread(played: float, seconds: float) -> int:
    """Games for each thread that take about half a second, if `played` took this long."""
    return max(1, min(GAMES_A_THREAD, int(played * SECONDS_A_CHUNK / max(seconds, 1e-9))))


def schedule(evaluation: Evaluation) -> Iterator[tuple[Cell, int, int, int]]:
    """The remaining games, by pairing and seat: (cell, the player's seat, first game, end)."""
    settings = evaluation.settings
    for row, column in np.ndindex(*evaluation.played.shape):
        if not evaluation.is_played((row, column)):
            continue
        for seat, first, end in stretches(settings.variant.players, settings.games, row == column):
            start = max(first, int(evaluation.played[row, column]))
            if start < end:
                yield (row, column), seat, start, end


def play_or_fail(
    seats: list[Any], number: int, first: int, settings: Settings, num_threads: int, record: bool
) -> Games:
    """Play some games; failed ones are marked in the result."""
    try:
        return play_games(seats, number, settings.seed, settings.variant, num_threads, first, record)
    except BotError as error:
        return error.games


# --- Arguments --------------------------------------------------------------------------------------------


def entrants_by_name(entrants: Mapping[str, Player] | Sequence[str]) -> dict[str, Player]:
    """The entrants by name."""
    if isinstance(entrants, Mapping):
        found: dict[str, Player] = dict(entrants)
        if not all(isinstance(name, str) and name.strip() and name.isprintable() for name in found):
            raise StarmineError(f"entrants={list(found)!r} is not allowed: expected names, printable text, as keys")
    else:
        if isinstance(entrants, str) or not isinstance(entrants, Sequence):
            raise StarmineError(f"entrants={entrants!r} is not allowed: expected names of bots, or a dict of players")
        for index, name in enumerate(entrants):
            if not isinstance(name, str):
                raise StarmineError(
                    f"entrants[{index}]={name!r} is not allowed: expected a bot's name; other players need a dict"
                )
            if name in entrants[:index]:
                raise StarmineError(f"entrants[{index}]={name!r} is not allowed: expected each name once")
        found = {name: name for name in entrants}
    if not found:
        raise StarmineError(f"entrants={entrants!r} is not allowed: expected at least one")
    return found


def check_entrant(name: str, player: Any, rules: Variant, seed: int) -> Any:
    """The player as `play_games` accepts it; an error if it or the seed is not allowed."""
    resolved = resolve_player(player, f"entrants[{name!r}]")
    asked = resolved if isinstance(resolved, _Player) else None
    _Tables(rules, [asked] + [None] * (rules.players - 1), 1, seed, 0)
    return resolved


def check_libraries(figure: bool) -> None:
    """Check that games can be stored, and that a figure can be drawn if there is one.

    Raises:
        StarmineError: pyarrow or matplotlib is missing.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise StarmineError("output= needs pyarrow, which is not installed: expected it (pip install 'starmine[eval]')")
    if figure and importlib.util.find_spec("matplotlib") is None:
        raise StarmineError(
            "the figure needs matplotlib, which is not installed: expected it (pip install 'starmine[eval]'), "
            "or no figure (--no-figure, figure=False)"
        )
