"""Generates a data set: the shards that are missing or damaged, whoever makes them."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from starmine._core import StarmineError, Variant
from starmine._util.durable import FolderBusyError, given_path
from starmine._util.equality import equal_by_value
from starmine._util.numbers import check_number, check_threads
from starmine._util.progress import Advance, progress_of
from starmine.data.arrow import pyarrow
from starmine.data.files import Totals, files_of, writable
from starmine.data.generation.cluster import make_on_ray
from starmine.data.generation.configuration import MOST_SHARDS, Configuration, Seat, another_configuration
from starmine.data.generation.shard import examine_shard, make_shard, own_metadata, remove_lock
from starmine.data.schema import SHARD, shard_name
from starmine.games.games import Games
from starmine.games.identity import UNKNOWN
from starmine.games.seeds import EVALUATION_SEEDS, MOST_GAMES

MOST_SEED = 2**64 - 1
DATA_SEED = 1  # the default


@equal_by_value
@dataclass(frozen=True)
class Generation:
    """What a call of `generate` made and found, of the shards that it was asked for.

    Attributes:
        folder: of the data set.
        shards: number of shards that were asked for.
        made: numbers of the shards that this call made.
        kept: numbers of the shards that were whole before, or that other processes made meanwhile.
        busy: numbers of the shards that other processes were making when this call ended.
        games: number of games in those of the shards that are whole.
        turns: number of turns in them.
        score: their mean score.
    """

    folder: Path
    shards: int
    made: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    busy: list[int] = field(default_factory=list)
    games: int = 0
    turns: int = 0
    score: float = float("nan")

    def __str__(self) -> str:
        """The shards, the games and their mean score in a line."""
        whole = len(self.made) + len(self.kept)
        shards = f"{whole} of {self.shards} shards ({len(self.made)} made now)"
        busy = f"; other processes make {len(self.busy)} more" if self.busy else ""
        return f"{self.folder}: {shards}, {self.games:,} games, {self.turns:,} turns, mean score {self.score:.3f}{busy}"


def generate(
    players: Sequence[Seat],
    games: int,
    output: str | os.PathLike[str],
    variant: str | Variant = "standard",
    seed: int = DATA_SEED,
    *,
    evaluation_decks: bool = False,
    shard_size: int = SHARD,
    shards: Iterable[int] | None = None,
    num_threads: int | None = None,
    ray: bool | str = False,
    progress: bool = False,
) -> Generation:
    """Play games and store them in a folder of Parquet files, the shards.

    Game i is game i of `play_games(players, seed=seed)`. Where the player of a seat is drawn for each game, who plays
    depends only on the seed and i.

    A repeated call makes only the shards that are missing or damaged. Several processes may make the same call at the
    same time; each shard is then made by one of them.

    Args:
        players: one for each seat, as `play_games` takes them. A seat whose player is drawn for each game has a list of
            players, each alone or as (player, weight), such as `[("smart", 3), "iggi"]`. Where there is no weight it is
            1.
        games: number of games, at least 1.
        output: the folder.
        variant: a text as `starmine.variant` takes it, with as many seats as there are players, or a `Variant`.
        seed: 1 to 2**64 - 1, but not the default seed of `evaluate` and `play_games`: who learns from its decks is not
            measured by them any more.
        evaluation_decks: whether that seed and 0, the seed of the tables in the documentation, are allowed: for games
            that nothing learns from.
        shard_size: games of a shard; a kill loses at most the shards that are being made.
        shards: the numbers of the shards to make, from 0; None for all.
        num_threads: threads for games in which bots hold all seats; None for one for each core.
        ray: make each shard in a Ray task: True for the cluster that this machine belongs to, or a local one; text for
            the address of one. All machines need the package and the folder. `num_threads`, 1 by default, is then the
            number of cores of a task.
        progress: show games a second, mean score and time left on standard error.

    Returns:
        What was made and found.

    Raises:
        ImportError: pyarrow is missing, or ray, which is asked for.
        TypeError: a number is not an integer.
        UnknownNameError: there is no such bot, preset, encoder or policy file.
        VariantError: a bot does not play the variant.
        BotError: a player raised an exception or chose an illegal move; its shard is not kept.
        StarmineError: another argument that is not allowed, a folder that holds other games or cannot be written, or a
            policy that was changed meanwhile. Shards that were already whole are kept.

    A policy in Python that draws its actions by `Turns.uniform` plays the same games on every machine. If it draws
    other random numbers, its games differ from run to run.

    >>> import tempfile
    >>> import starmine.data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = starmine.data.generate(["smart", "smart"], games=100, output=folder)
    >>> made.games
    100
    """
    pyarrow()
    games = check_number("games", games, 1, MOST_GAMES)
    seed = check_number("seed", seed, 0, MOST_SEED)
    if seed in EVALUATION_SEEDS and not evaluation_decks:
        raise StarmineError(
            f"seed={seed} is not allowed: it deals the decks of evaluations. Expected another seed, or "
            "evaluation_decks=True (--evaluation-decks) for games that nothing learns from"
        )
    shard_size = check_number("shard_size", shard_size, max(1, -(-games // MOST_SHARDS)), MOST_GAMES)
    configuration = Configuration.of(players, variant, games, seed, shard_size)
    chosen = check_shards(shards, configuration.shards)
    num_threads = check_threads(1 if ray and num_threads is None else num_threads)
    folder = given_path("output", output)
    with writable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        check_folder(configuration, folder)
        known = examine(configuration, folder, chosen)
        check_known(configuration, folder, known)
        missing = [shard for shard in chosen if shard not in known]
        total = sum(len(configuration.games_of(shard)) for shard in chosen)
        before = sum(totals.games for totals in known.values())
        with progress_of(total, before, shown=progress) as shown:
            score = MeanScore(shown)
            if ray:
                address = ray if isinstance(ray, str) else None
                shards_made = make_on_ray(configuration, folder, missing, num_threads, address)
            else:
                shards_made = make_here(configuration, folder, missing, num_threads, score)
            made: dict[int, Totals] = {}
            made_elsewhere: dict[int, Totals] = {}
            with closing(shards_made):
                for shard, totals, is_own in shards_made:
                    (made if is_own else made_elsewhere)[shard] = totals
                    if ray or not is_own:  # other games were shown while they were played
                        score.add(totals.games, totals.score)
    busy = [shard for shard in missing if shard not in made and shard not in made_elsewhere]
    whole = (known | made | made_elsewhere).values()
    played, turns, points = (sum(getattr(totals, name) for totals in whole) for name in ("games", "turns", "score"))
    mean = points / played if played else float("nan")
    return Generation(folder, len(chosen), sorted(made), sorted([*known, *made_elsewhere]), busy, played, turns, mean)


def make_here(
    configuration: Configuration,
    folder: Path,
    missing: list[int],
    num_threads: int,
    score: MeanScore,
) -> Generator[tuple[int, Totals, bool], None, None]:
    """Make shards in this process, one after another; those that others make are left to them.

    These are looked at again at the end, when most of them are whole, and those of a process that was killed are made.

    Yields:
        The number of a shard, the sums over its games, and whether it was made here.
    """
    left = missing
    for _ in range(2):
        busy = []
        for shard in left:
            try:
                yield shard, *make_shard(configuration, shard, folder, num_threads, score.played)
            except FolderBusyError:
                busy.append(shard)
        left = busy


class MeanScore:
    """Shows the progress of games, with their mean score so far."""

    def __init__(self, shown: Advance) -> None:
        self.shown = shown
        self.games = self.score = 0

    def played(self, games: Games) -> None:
        """Show games that were just played."""
        self.add(len(games), int(games.scores.sum()))

    def add(self, games: int, score: int) -> None:
        """Show games with the sum of their scores."""
        self.games, self.score = self.games + games, self.score + score
        self.shown(games, f"mean score {self.score / max(self.games, 1):.2f}")


# --- Arguments and the folder -----------------------------------------------------------------------------


def check_shards(shards: Iterable[int] | None, number: int) -> list[int]:
    """The numbers of the shards to make, in ascending order."""
    if shards is None:
        return list(range(number))
    chosen = sorted({check_number("shards", shard, 0, number - 1) for shard in shards})
    if not chosen:
        raise StarmineError(f"shards={shards!r} is not allowed: expected at least one of 0 to {number - 1}")
    return chosen


def check_folder(configuration: Configuration, folder: Path) -> None:
    """Refuse a folder with games of another data set, by the names of its files and by the metadata of the first one.

    Raises:
        StarmineError: it has some.
    """
    files = files_of(folder)
    names = {shard_name(shard) for shard in range(configuration.shards)}
    for path in files:
        if path.name not in names:
            raise another_configuration(folder, path.name, ["a name that is not one of its shards"])
    for path in files[:1]:
        own_metadata(configuration, path)


def check_known(configuration: Configuration, folder: Path, known: dict[int, Totals]) -> None:
    """Refuse to go on if nobody can tell whether the players are those that played before."""
    for player in configuration.roster if known else ():
        if player.identity is None:
            raise StarmineError(
                f"output={str(folder)!r} holds games of {player.name!r}, which may be another player now: "
                f"{UNKNOWN}. Choose another folder"
            )


def examine(configuration: Configuration, folder: Path, shards: list[int]) -> dict[int, Totals]:
    """The sums over the games of the shards that are whole."""
    known = {}
    for shard in shards:
        totals = examine_shard(configuration, shard, folder)
        if totals is not None:
            known[shard] = totals
            remove_lock(folder, shard)  # of a process that was killed once the shard was whole
    return known
