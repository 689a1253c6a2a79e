"""Plays every player with every other, or players with partners."""

from __future__ import annotations

import importlib.util
import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from starmine._core import StarmineError, Variant, _Player
from starmine._util.durable import given_path
from starmine._util.keywords import refuse_without
from starmine._util.numbers import check_number, check_threads
from starmine._util.progress import Advance, progress_of
from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.matrix import HELD_OUT_MEAN, MEAN, SELF_PLAY
from starmine.evaluation.settings import Cell, Settings
from starmine.games.failures import BotError
from starmine.games.games import Games
from starmine.games.identity import Identity, identity
from starmine.games.play_table import ChunkSize, play_table
from starmine.games.player_texts import Noisy
from starmine.games.players import Factory, Player, cheats, player_name, resolve_player, text_of, type_name
from starmine.games.seeds import EVALUATION_SEED, MOST_GAMES
from starmine.games.variants import resolve_variant
from starmine.policies.pools import bots_that_play
from starmine.policies.variant_check import check_variant

if TYPE_CHECKING:
    from starmine.evaluation.folder import Folder
    from starmine.text import ChatPlayer

GAMES_A_THREAD = 2048  # the largest chunk of bots
CHUNK = 1000  # games played at once with Python bots and policies
SECONDS_A_CHUNK = 0.5  # what is aimed at: a kill loses the games since the last save
SECONDS_BETWEEN_SAVES = 1.0  # at least
MOST_SECONDS_BETWEEN_SAVES = 300.0
SHARE_BETWEEN_SAVES = 0.1  # of the time so far, so that a long evaluation has few files


def evaluate(
    evaluated: Mapping[str, Player] | Sequence[Player] | None = None,
    games: int = 1000,
    *,
    partners: Mapping[str, Player] | Sequence[Player] = (),
    hold_out: Mapping[str, Player] | Sequence[Player] = (),
    methods: Sequence[str] = (),
    players: int | None = None,
    variant: str | Variant = "standard",
    seed: int = EVALUATION_SEED,
    num_threads: int | None = None,
    output: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    figure: bool | None = None,
    progress: bool = False,
) -> Evaluation:
    """Play every player with itself and with every other, or with partners, all on the same decks.

    With two players, the pairing (a, b) has a in seat 0, and (b, a) has b in seat 0. With more, a holds one seat and b
    all others; a holds each seat in an equal share of the games, up to one game. Game i has the deck of game i, episode
    0, of a batch with this seed. With partners, each evaluated player plays with each partner (in both orders, if there
    are two seats), and everybody plays with itself.

    Args:
        evaluated: anything that `play_games` accepts for a seat: bots, Python bots, policies and torch modules. A dict
            gives the players names. In a list an object has the name of its attribute `name` or of its class. None for
            all bots that play the variant, except random ones and cheaters.
        partners: as `evaluated`, such as those of `starmine.policies.pool`. Without partners, every player plays with
            every other.
        hold_out: partners that training has not met: further partners, or names of some in `partners`. They have their
            own mean.
        methods: names. The seeds of METHOD are the players METHOD-1, METHOD-2 and so on: they also play with each
            other, and each method has a row of means over its seeds.
        games: games of each pairing, at least 1.
        players: number of seats; None for the variant's own.
        variant: a `Variant`, or a text as `starmine.variant` takes it.
        seed: of the decks, 0 to 2**64 - 1. By default, nothing trains on the decks of the default seed.
        num_threads: threads for the games in which bots hold all seats; None for one for each core.
        output: folder for the games, a data set as `starmine.data.Dataset` reads it, and for what is derived from it:
            `eval.json`, the pairings as `eval.csv`, the table as `table.csv`, and the picture `eval.png`, which are
            written at the end. It needs pyarrow. The games are first saved after one second, then each time the total
            time has grown by a tenth, and at least every five minutes. The same call resumes from them, and one with
            more players plays only the pairings that are missing. A call does not resume if a player may now play
            differently: if the weights of a policy or of an object's torch modules, the Python file of a command line
            or the attribute `version` of an object have changed, or if an object has no `version`. Only one call at a
            time writes to a folder. None writes nothing.
        fresh: start over in a folder that holds an evaluation; only with `output`.
        figure: draw the heat map, which needs matplotlib; only with `output`. None for yes with `output`. False also
            removes an earlier one.
        progress: show the progress on standard error.

    Returns:
        The games' outcomes and their statistics.

    Raises:
        UnknownNameError: there is no such bot, preset or encoder.
        VariantError: a bot does not play the variant.
        TypeError: a number is not an integer.
        StarmineError: every game failed, or before any game is played: another argument that is not allowed, a policy
            that sees its own hand without `cheats=True`, or a folder that is in use, holds other games or cannot be
            written. Only a disk that becomes full is told later; what was saved before is kept.
        ImportError: pyarrow or matplotlib is missing; before any game is played.

    A player that sees its own hand, such as the bot `cheater` or a policy with `cheats=True`, is marked in the table,
    the figure, the CSV and the JSON.

    A player that raises or chooses an illegal action fails only that game; see `Pairing.failed`. If every game
    of a pairing failed, a warning has the first reason; if every game of all pairings failed, an error.

    >>> import starmine
    >>> evaluation = starmine.evaluate(["iggi", "piers"], games=20, variant="mini")
    >>> evaluation.scores.shape
    (2, 2)
    >>> evaluation.pairing("iggi", "piers").games
    20
    >>> evaluation = starmine.evaluate(["ippo-2p"], 20, partners=["smart", "iggi"], hold_out=["holmes"])
    >>> evaluation.table.columns
    ['smart', 'iggi', 'mean', 'holmes', 'mean (held out)', 'self-play']
    """
    refuse_without("output", output, {"fresh": fresh or None, "figure": figure or None})
    figure = figure is not False
    rules = resolve_variant(variant, {} if players is None else {"players": players})
    players_of = players_by_name("evaluated", bots_that_play(rules) if evaluated is None else evaluated)
    if not players_of:
        raise StarmineError(f"evaluated={evaluated!r} is not allowed: expected at least one")
    if not partners and partners != ():
        raise StarmineError("partners is empty: expected at least one, or () to play every player with every other")
    partners_of = players_by_name("partners", partners)
    held_out = held_out_by_name(hold_out, partners_of)
    given = merge_names({"evaluated": players_of, "partners": partners_of, "hold_out": held_out})
    games, seed = check_number("games", games, 1, MOST_GAMES), check_number("seed", seed, 0, 2**64 - 1)
    num_threads = check_threads(num_threads)
    resolved = {
        name: check_player("evaluated" if name in players_of else "partners", name, player, rules)
        for name, player in given.items()
    }
    path = None if output is None else given_path("output", output)
    if path is not None:
        check_libraries(figure)
    seeds = seeds_by_method(methods, list(given))
    kinds = {name: text_of(player) or type_name(given[name]) for name, player in resolved.items()}
    identities = {name: identity(player) for name, player in resolved.items()}
    check_held_out(held_out, partners_of, identities)
    check_seeds(seeds, identities)
    cheaters = tuple(name for name, player in resolved.items() if cheats(player))
    assumed = tuple(name for name, player in resolved.items() if hides_rules(player))
    settings = Settings(
        version("starmine"),
        rules,
        kinds,
        identities,
        games,
        seed,
        cheaters,
        tuple(players_of),
        tuple(partners_of | held_out),
        tuple(held_out),
        seeds,
        assumed,
    )
    with open_folder(path, settings, fresh) as (evaluation, folder):
        with progress_of(len(settings.cells) * games, evaluation.stored, shown=progress) as shown:
            play_all(evaluation, resolved, num_threads, folder, shown)
        if folder:
            folder.finish(evaluation, figure)
    failed = [pairing for pairing in evaluation.pairings if 0 < pairing.games == pairing.failed]
    if failed:
        reason = " ".join(failed[0].failures[0].split())  # in one line
        first = f"{failed[0].player} with {failed[0].partner}, {reason}"
        if len(failed) == len(evaluation.pairings):
            raise StarmineError(f"{first} (every game failed)")
        count = f"{len(failed)} of {len(evaluation.pairings)} pairings"
        warnings.warn(f"{first} (every game failed in {count})", stacklevel=2)
    return evaluation


@contextmanager
def open_folder(path: Path | None, settings: Settings, fresh: bool) -> Iterator[tuple[Evaluation, Folder | None]]:
    """The evaluation of a folder, with the folder, which is locked meanwhile; a new evaluation where there is none."""
    if path is None:
        yield Evaluation(settings), None
        return
    from starmine.evaluation.folder import Folder

    folder = Folder(path, settings)
    try:
        yield folder.open(fresh), folder
    finally:
        folder.close()


def play_all(
    evaluation: Evaluation, players: dict[str, Any], num_threads: int, folder: Folder | None, shown: Advance
) -> None:
    """Play the remaining games and save them to the folder, also when interrupted."""
    began = time.monotonic()
    next_save = began + SECONDS_BETWEEN_SAVES
    try:
        for cell, games, seconds, fallbacks in play_chunks(evaluation, players, num_threads):
            if folder:
                folder.add(games, cell, seconds, fallbacks)
            evaluation.add(games)
            evaluation.add_effort(cell, seconds, fallbacks)
            player, partner = (evaluation.names[index] for index in cell)
            shown(len(games), f"{player} with {partner}")
            if folder and (time.monotonic() > next_save or folder.is_full):
                folder.save()
                now = time.monotonic()
                wanted = max(SECONDS_BETWEEN_SAVES, SHARE_BETWEEN_SAVES * (now - began))
                next_save = now + min(MOST_SECONDS_BETWEEN_SAVES, wanted)
    finally:
        if folder:
            folder.save()


def play_chunks(
    evaluation: Evaluation, players: dict[str, Any], num_threads: int
) -> Iterator[tuple[Cell, Games, float, int]]:
    """Play the remaining games: the pairing, the games of a chunk, their seconds, and the moves of fallbacks in them.

    The chunks of bots grow and shrink with the speed of the bots. Chat players play as many games at once as they make
    calls at the same time: more games would be no faster, and an interruption would lose more of them.
    """
    settings = evaluation.settings
    for cell, seat, start, end in schedule(evaluation):
        rows = [cell[0] if place == seat else cell[1] for place in range(settings.variant.players)]
        names = [evaluation.names[row] for row in rows]
        seats = [players[name] for name in names]
        chats = chat_players(seats)
        at_once = min(CHUNK, max((chat.concurrency for chat in chats), default=CHUNK))
        are_bots = all(isinstance(held, _Player) for held in seats)
        chunk_size = ChunkSize(num_threads, SECONDS_A_CHUNK, num_threads * GAMES_A_THREAD)
        while start < end:
            number = min(chunk_size.games if are_bots else at_once, end - start)
            began, fallbacks = time.perf_counter(), sum(chat.fallbacks for chat in chats)
            with ExitStack() as stack:
                for chat in chats:
                    stack.enter_context(chat.seated(names, start))
                where = settings.seed, start, num_threads
                try:
                    games = play_table(settings.variant, seats, number, *where, seated=(rows, settings.roster))
                except BotError as error:
                    games = error.games  # in which failed ones are marked
            games = replace(games, search_values=None, search_errors=None)
            seconds = time.perf_counter() - began
            yield cell, games, seconds, sum(chat.fallbacks for chat in chats) - fallbacks
            start += number
            chunk_size.took(number, seconds)


def chat_players(seats: Sequence[Any]) -> list[ChatPlayer]:
    """The different chat players at a table."""
    if all(isinstance(held, _Player) for held in seats):
        return []  # without an import, which takes a while
    from starmine.text.chat import ChatPlayer

    return list({id(held): held for held in seats if isinstance(held, ChatPlayer)}.values())


def schedule(evaluation: Evaluation) -> Iterator[tuple[Cell, int, int, int]]:
    """The remaining games, by pairing and seat: the pairing, the player's seat, and the first game and the end."""
    settings = evaluation.settings
    for cell in sorted(settings.cells):
        index = np.flatnonzero(~evaluation.played(cell)).astype(np.uint64)
        seat = settings.seat(cell, index)
        breaks = np.flatnonzero((np.diff(index) != 1) | (np.diff(seat) != 0)) + 1
        for games, seats in zip(np.split(index, breaks), np.split(seat, breaks), strict=True):
            if len(games):
                yield cell, int(seats[0]), int(games[0]), int(games[-1]) + 1


# --- Arguments --------------------------------------------------------------------------------------------


def players_by_name(place: str, players: Mapping[str, Player] | Sequence[Player]) -> dict[str, Player]:
    """The players of an argument by name."""
    if isinstance(players, Mapping):
        by_name: dict[str, Player] = dict(players)
    elif isinstance(players, str) or not isinstance(players, Sequence):
        raise StarmineError(f"{place}={players!r} is not allowed: expected a sequence or a dict of players")
    else:
        by_name = {player_name(player): player for player in players}
        if len(by_name) < len(players):
            raise StarmineError(f"{place} has a name twice in {list(map(player_name, players))}: expected a dict")
    for name in by_name:
        if not (isinstance(name, str) and name.strip() and name.isprintable()):
            raise StarmineError(f"{place} has the name {name!r}: expected printable text")
        if name in (MEAN, HELD_OUT_MEAN, SELF_PLAY):
            raise StarmineError(f"{place} has the name {name!r}, a column of the table: expected another name")
    return by_name


def held_out_by_name(
    hold_out: Mapping[str, Player] | Sequence[Player], partners: Mapping[str, Player]
) -> dict[str, Player]:
    """The partners that are held out by name; a name alone may be that of one of the partners."""
    by_name = players_by_name("hold_out", hold_out)
    if isinstance(hold_out, Mapping):
        return by_name
    return {name: partners.get(name, player) if isinstance(player, str) else player for name, player in by_name.items()}


def check_held_out(
    held_out: Mapping[str, Player], partners: Mapping[str, Player], identities: Mapping[str, Identity]
) -> None:
    """Check that no player is a held-out partner and, by another name, one that is not held out.

    Raises:
        StarmineError: a player is both.
    """
    met = {identities[name].text: name for name in partners if name not in held_out}
    for name in held_out:
        other = met.get(identities[name].text) if identities[name].text is not None else None
        if other is not None:
            raise StarmineError(
                f"hold_out[{name!r}] is the same player as partners[{other!r}]: expected it in one of them; "
                f"hold_out=[{other!r}] marks that partner as held out"
            )


def merge_names(given: Mapping[str, Mapping[str, Player]]) -> dict[str, Player]:
    """All players by name.

    Raises:
        StarmineError: arguments have different players of one name.
    """
    by_name: dict[str, Player] = {}
    for place, players in given.items():
        for name, player in players.items():
            if name in by_name and by_name[name] is not player and by_name[name] != player:
                raise StarmineError(f"two players have the name {name!r}, the second in {place}: rename one")
            by_name.setdefault(name, player)
    return by_name


def seeds_by_method(methods: Sequence[str], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The players that are seeds of methods, METHOD-1, METHOD-2, ..., in the order of their numbers.

    Raises:
        StarmineError: a method has the name of a player or of a column, or fewer than two seeds.
    """
    by_method = {}
    for method in methods:
        numbers = {name: name.removeprefix(f"{method}-") for name in names}
        seeds = [name for name, number in numbers.items() if number != name and number.isdecimal()]
        if len(seeds) < 2 or method in (*names, MEAN, HELD_OUT_MEAN, SELF_PLAY):
            expected = f"expected two or more of {method}-1, {method}-2, ... among the players, and none named {method}"
            raise StarmineError(f"methods={method!r} is not allowed: {expected}")
        by_method[method] = tuple(sorted(seeds, key=lambda name: int(numbers[name])))
    return by_method


def check_seeds(seeds: Mapping[str, Sequence[str]], identities: Mapping[str, Identity]) -> None:
    """Check that the seeds of a method are different players.

    Raises:
        StarmineError: two of them are the same.
    """
    for method, names in seeds.items():
        first: dict[str, str] = {}
        for name in names:
            text = identities[name].text
            if text is not None and (other := first.setdefault(text, name)) != name:
                raise StarmineError(f"methods={method!r}: {other} and {name} are the same player: expected other seeds")


def check_player(place: str, name: str, player: Any, rules: Variant) -> Any:
    """The player as `play_games` accepts it; an error if it is not allowed or plays other rules."""
    resolved = resolve_player(player, f"{place}[{name!r}]")
    check_variant(resolved, rules)
    return resolved


def hides_rules(player: Any) -> bool:
    """Whether a player, as `resolve_player` returns it, is a torch module that does not say which rules it plays."""
    player = player.player if isinstance(player, Noisy) else player
    player = player.example if isinstance(player, Factory) else player
    return hasattr(player, "module") and hasattr(player, "act_batch") and getattr(player, "variant", None) is None


def check_libraries(figure: bool) -> None:
    """Check that games can be stored, and that a figure can be drawn if there is one.

    Raises:
        ImportError: pyarrow or matplotlib is missing.
    """
    needs = [("output=", "pyarrow"), ("the figure, which figure=False or --no-figure omits,", "matplotlib")]
    for what, library in needs if figure else needs[:1]:
        if importlib.util.find_spec(library) is None:
            raise ImportError(f"{what} needs {library}: install starmine with the extra eval")
