"""Play every entrant with every other."""

from __future__ import annotations

import importlib.util
import operator
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from starmine._core import StarmineError, Variant, VariantError, _Tables, _unknown_name, bot, bots, encoders
from starmine.evaluation.folder import Folder, blank, shape_of
from starmine.evaluation.pairing import stretches
from starmine.evaluation.progress import Progress, silent, standard_error
from starmine.evaluation.results import Cell, Evaluation, Settings
from starmine.play import BotError, Games, Player, play_games, resolve_player
from starmine.vector import resolve_variant

# Games of bots that a thread plays from one save to the next: a fraction of a second.
GAMES_A_THREAD = 2048
SECONDS_BETWEEN_SAVES = 1.0
MOST_GAMES = 2**32 - 1
NOT_BY_DEFAULT = ("random",)


def evaluate(
    entrants: Mapping[str, Player] | Sequence[str] | None = None,
    games: int = 1000,
    *,
    players: int | None = None,
    variant: str | Variant = "standard",
    seed: int = 0,
    threads: int | None = None,
    output: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    figure: bool = True,
    chunk: int = 1000,
    progress: bool = False,
) -> Evaluation:
    """Play every entrant with itself and with every other, all on the same decks.

    With two players each pairing is played in both orders: (a, b) has a in seat 0, (b, a) has b there. With more, (a,
    b) is one a among b's, and a takes each seat for an equal share of the games. Game i has the cards of game i,
    episode 0, of a batch with this seed.

    Args:
        entrants: who plays: names of bots, or by name whatever `play_games` takes in a seat: bots, Python bots,
            policies and torch modules. None for all bots that play the variant, but random ones and cheaters.
        games: how many each pairing plays, at least 1.
        players: number of seats; None for the variant's own.
        variant: a preset's name or a `Variant`.
        seed: of the decks, 0 to 2**64 - 1.
        threads: threads that share games of which bots hold every seat; None for one for each core.
        output: a folder that gets `eval.json`, `eval.csv`, `eval.png` and the single games, `eval-games.npy`; what has
            been played is kept there about every second, and the same call goes on from it. None to write nothing.
        fresh: start over in a folder that holds an evaluation.
        figure: whether the folder gets a heat map, which needs matplotlib.
        chunk: games that Python bots and policies are asked about at once.
        progress: whether to show the progress on standard error.

    Returns:
        The matrix.

    Raises:
        UnknownNameError: there is no such bot, preset or encoder.
        VariantError: a bot does not play the variant.
        TypeError: a number that is none.
        StarmineError: another argument that is not allowed, a folder that holds another evaluation or cannot be
            written, or matplotlib is missing. No game has been played.

    A player that fails ends only that game: see `Pairing.failed`.

    >>> import starmine
    >>> evaluation = starmine.evaluate(["iggi", "piers"], games=20, variant="mini")
    >>> evaluation.scores.shape
    (2, 2)
    >>> evaluation.pairing("iggi", "piers").games
    20
    """
    rules = resolve_variant(variant, {} if players is None else {"players": players})
    given = named(default_entrants(rules) if entrants is None else entrants)
    games, chunk = count("games", games), count("chunk", chunk)
    resolved = {name: check(name, player, rules, seed) for name, player in given.items()}
    play_games(["random"] * rules.players, 1, seed, rules, threads)  # refuses other numbers of threads
    folder = None if output is None else Folder(Path(output))
    if folder and figure:
        check_figure()
    kinds = {name: bot if isinstance(bot, str) else type_of(given[name]) for name, bot in resolved.items()}
    settings = Settings(version("starmine"), rules, kinds, games, operator.index(seed))
    evaluation = folder.open(settings, fresh) if folder else blank(settings, in_memory(settings))
    show = standard_error if progress else silent
    with show(evaluation.played.size * games, int(evaluation.played.sum())) as shown:
        play_all(evaluation, resolved, threads, chunk, folder, shown)
    if folder:
        folder.finish(evaluation, figure)
    return evaluation


def play_all(
    evaluation: Evaluation,
    entrants: dict[str, Any],
    threads: int | None,
    chunk: int,
    folder: Folder | None,
    shown: Progress,
) -> None:
    """Play what has not been played, and keep it in the folder, also when interrupted."""
    names = evaluation.names
    next_save = time.monotonic() + SECONDS_BETWEEN_SAVES
    try:
        for cell, seats, start, number in schedule(evaluation, entrants, threads, chunk):
            began = time.perf_counter()
            played = play_or_fail(seats, number, start, evaluation.settings, threads)
            evaluation._add(cell, start, played, time.perf_counter() - began)
            shown(number, f"{names[cell[0]]} with {names[cell[1]]}")
            now = time.monotonic()
            if folder and now > next_save:
                folder.save(evaluation)
                # Saving a large matrix is to take a small part of the time.
                spent = time.monotonic() - now
                next_save = now + max(SECONDS_BETWEEN_SAVES, 20 * spent)
    finally:
        if folder:
            folder.save(evaluation)


def schedule(
    evaluation: Evaluation, entrants: dict[str, Any], threads: int | None, chunk: int
) -> Iterator[tuple[Cell, list[Any], int, int]]:
    """(cell, who sits where, first game, how many) of all that has not been played."""
    settings = evaluation.settings
    players = settings.variant.players
    at_once = GAMES_A_THREAD * (threads or os.cpu_count() or 1)
    for cell in np.ndindex(*evaluation.played.shape):
        row, column = cell
        player, partner = (entrants[evaluation.names[index]] for index in cell)
        step = at_once if isinstance(player, str) and isinstance(partner, str) else chunk
        for seat, start, end in stretches(players, settings.games, row == column):
            seats = [player if index == seat else partner for index in range(players)]
            for first in range(max(start, int(evaluation.played[row, column])), end, step):
                yield (row, column), seats, first, min(step, end - first)


def play_or_fail(seats: list[Any], number: int, first: int, settings: Settings, threads: int | None) -> Games:
    """Play some games; those that a player fails in are marked."""
    try:
        return play_games(seats, number, settings.seed, settings.variant, threads, first)
    except BotError as error:
        return error.games


# --- What is given ----------------------------------------------------------------------------------------


def default_entrants(rules: Variant) -> list[str]:
    """All bots that see only what their seat may see and play this variant."""
    return [name for name in bots() if bot(name).is_player and name not in NOT_BY_DEFAULT and plays(name, rules)]


def plays(name: str, rules: Variant) -> bool:
    """Whether a bot plays a variant."""
    try:
        _Tables(rules, [name] * rules.players, 1, 0, 0)
    except VariantError:
        return False
    return True


def named(entrants: Mapping[str, Player] | Sequence[str]) -> dict[str, Player]:
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


def check(name: str, player: Any, rules: Variant, seed: int) -> Any:
    """The player as it will be asked; refused where it or the seed is not allowed."""
    resolved = resolve_player(player, f"entrants[{name!r}]")
    asked = resolved if isinstance(resolved, str) else None
    _Tables(rules, [asked] * rules.players, 1, seed, 0)
    encoder = getattr(resolved, "encoder", "canonical")
    if hasattr(resolved, "act_batch") and encoder not in encoders():
        raise _unknown_name("encoder", encoder, encoders())
    return resolved


def count(name: str, value: Any) -> int:
    """A number of games, checked."""
    number = operator.index(value)
    if not 1 <= number <= MOST_GAMES:
        raise StarmineError(f"{name}={number} is not allowed: expected 1 to {MOST_GAMES}")
    return number


def type_of(player: Any) -> str:
    """The type of a player that is no bot of ours, by its full name."""
    kind = player if isinstance(player, type) else type(player)
    return f"{kind.__module__}.{kind.__qualname__}"


def in_memory(settings: Settings) -> Any:
    """Room for the single games."""
    shape = shape_of(settings)
    try:
        return np.zeros(shape, dtype=np.int16)
    except (MemoryError, ValueError, OverflowError) as error:
        raise StarmineError(
            f"games={settings.games} among {shape[0]} entrants is not allowed: expected as many as memory holds"
        ) from error


def check_figure() -> None:
    """Refuse a figure that could not be drawn.

    Raises:
        StarmineError: matplotlib is missing.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise StarmineError(
            "the figure needs matplotlib, which is not installed: expected it (pip install 'starmine[eval]'), "
            "or no figure (--no-figure, figure=False)"
        )
