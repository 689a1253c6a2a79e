"""Generates a data set: the shards that are missing or damaged, whoever makes them."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from starmine._core import StarmineError, Variant
from starmine._util.durable import FolderBusyError, FolderLock, given_path, remove_parts
from starmine._util.equality import equal_by_value
from starmine._util.keywords import wrong_type
from starmine._util.numbers import check_number, check_threads
from starmine._util.progress import Advance, progress_of
from starmine.data.arrow import pyarrow
from starmine.data.files import Entry, files_of
from starmine.data.generation.cluster import make_on_ray
from starmine.data.generation.configuration import (
    MOST_GAMES,
    MOST_SHARDS,
    Configuration,
    Seat,
    another_configuration,
    resolve_players,
)
from starmine.data.generation.shard import examine_shard, make_shard, own_metadata, remove_lock
from starmine.data.manifest import (
    MANIFEST,
    SECONDS,
    add_to_manifest,
    differences,
    read_manifest,
    writable,
    write_manifest,
)
from starmine.data.schema import SHARD, shard_name
from starmine.data.table import GameTable
from starmine.games.seeds import EVALUATION_SEEDS
from starmine.games.variants import resolve_variant

MOST_SEED = 2**64 - 1
DATA_SEED = 1  # the default


@equal_by_value
@dataclass(frozen=True)
class Generation:
    """What a call of `generate` left in the folder.

    Attributes:
        folder: of the data set.
        shards: number of shards that were asked for.
        made: numbers of the shards that this call made.
        kept: numbers of the shards that were whole before.
        busy: numbers of the shards that other processes were making when this call ended.
        games: number of games in the shards that are whole.
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
        seed: 0 to 2**64 - 1, but not 0, the seed of the tables in the documentation, nor the default seed of
            `evaluate` and `play_games`: who learns from their decks is not measured by them any more.
        evaluation_decks: whether these two seeds are allowed, for games that nothing learns from.
        shard_size: games of a shard; a kill loses at most the shards that are being made.
        shards: the numbers of the shards to make, from 0; None for all.
        num_threads: threads for games in which bots hold all seats; None for one for each core.
        ray: make each shard in a Ray task: True for the cluster that this machine belongs to, or a local one; text for
            the address of one. All machines need the package and the folder. `num_threads`, 1 by default, is then the
            number of cores of a task.
        progress: show games a second, mean score and time left on standard error.

    Returns:
        What the folder holds.

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
    configuration = configure(players, games, variant, seed, shard_size)
    if configuration.seed in EVALUATION_SEEDS and not evaluation_decks:
        raise StarmineError(
            f"seed={seed} is not allowed: it deals the decks of evaluations. Expected another seed, or "
            "evaluation_decks=True (--evaluation-decks) for games that nothing learns from"
        )
    chosen = check_shards(shards, configuration.shards)
    num_threads = check_threads(1 if ray and num_threads is None else num_threads)
    folder = given_path("output", output)
    with writable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        entries = begin(configuration, folder)
        known = examine(configuration, folder, entries, chosen)
        check_known(configuration, folder, known)
        missing = [shard for shard in chosen if shard not in known]
        total = sum(len(configuration.games_of(shard)) for shard in chosen)
        before = sum(int(entry["games"]) for entry in known.values())
        with progress_of(total, before, shown=progress) as shown:
            score = MeanScore(shown)
            arguments = configuration, folder, entries, missing, num_threads
            if ray:
                shards_made = make_on_ray(*arguments, ray if isinstance(ray, str) else None)
            else:
                shards_made = make_here(*arguments, score)
            made: dict[int, Entry] = {}
            made_elsewhere: dict[int, Entry] = {}
            with closing(shards_made):
                for shard, entry, is_own in shards_made:
                    (made if is_own else made_elsewhere)[shard] = entry
                    add_to_manifest(folder, configuration.to_dict(), {shard_name(shard): entry})
                    if ray or not is_own:  # other games were shown while they were played
                        score.add(entry["games"], entry["score"])
    busy = [shard for shard in missing if shard not in made and shard not in made_elsewhere]
    whole = known | made | made_elsewhere
    played, turns, points = (sum(int(entry[name]) for entry in whole.values()) for name in ("games", "turns", "score"))
    mean = points / played if played else float("nan")
    return Generation(folder, len(chosen), sorted(made), sorted([*known, *made_elsewhere]), busy, played, turns, mean)


def make_here(
    configuration: Configuration,
    folder: Path,
    entries: dict[str, Entry],
    missing: list[int],
    num_threads: int,
    score: MeanScore,
) -> Generator[tuple[int, Entry, bool], None, None]:
    """Make shards in this process, one after another; those that others make are left to them.

    These are looked at again at the end, when most of them are whole, and those of a process that was killed are made.

    Yields:
        The number of a shard, its entry, and whether it was made here.
    """
    left = missing
    for _ in range(2):
        busy = []
        for shard in left:
            known = entries.get(shard_name(shard))
            try:
                yield shard, *make_shard(configuration, shard, folder, known, num_threads, score.played)
            except FolderBusyError:
                busy.append(shard)
        left = busy


class MeanScore:
    """Shows the progress of games, with their mean score so far."""

    def __init__(self, shown: Advance) -> None:
        self.shown = shown
        self.games = self.score = 0

    def played(self, games: GameTable) -> None:
        """Show games that were just played."""
        self.add(len(games), int(games.scores.sum()))

    def add(self, games: int, score: int) -> None:
        """Show games with the sum of their scores."""
        self.games, self.score = self.games + games, self.score + score
        self.shown(games, f"mean score {self.score / max(self.games, 1):.2f}")


# --- Arguments and the folder -----------------------------------------------------------------------------


def configure(players: Sequence[Seat], games: int, variant: str | Variant, seed: int, shard_size: int) -> Configuration:
    """The configuration of a data set; an error if an argument is not allowed, as `generate` documents."""
    games = check_number("games", games, 1, MOST_GAMES)
    seed = check_number("seed", seed, 0, MOST_SEED)
    shard_size = check_number("shard_size", shard_size, max(1, -(-games // MOST_SHARDS)), MOST_GAMES)
    rules = resolve_variant(variant, {}) if isinstance(variant, Variant) else variant
    return Configuration(resolve_players(players, rules), games, seed, shard_size)


def check_shards(shards: Iterable[int] | None, number: int) -> list[int]:
    """The numbers of the shards to make, in ascending order."""
    if shards is None:
        return list(range(number))
    if not isinstance(shards, Iterable) or isinstance(shards, str | bytes):
        raise wrong_type("shards", shards, "numbers of shards")
    chosen = sorted({check_number("shards", shard, 0, number - 1) for shard in shards})
    if not chosen:
        raise StarmineError(f"shards={shards!r} is not allowed: expected at least one of 0 to {number - 1}")
    return chosen


def begin(configuration: Configuration, folder: Path) -> dict[str, Entry]:
    """Write the manifest of a new data set, so that another one cannot begin in this folder; the shards' entries."""
    with FolderLock(folder, seconds=SECONDS):
        remove_parts(folder, MANIFEST)
        manifest = read_manifest(folder)
        if manifest is not None and (different := differences(manifest.get("configuration"), configuration.to_dict())):
            raise another_configuration(folder, MANIFEST, different)
        entries = {} if manifest is None else dict(manifest["shards"])
        for path in files_of(folder):
            if path.name not in entries:
                check_stranger(configuration, path)
        if manifest is None:
            write_manifest(folder, configuration.to_dict(), {})
    return entries


def check_stranger(configuration: Configuration, path: Path) -> None:
    """Refuse the file of another data set; one that cannot be read is left to be made again."""
    metadata = own_metadata(configuration, path)
    if metadata is None:
        if path.name not in {shard_name(shard) for shard in range(configuration.shards)}:
            raise another_configuration(path.parent, path.name, ["a name that is not one of its shards"])
    elif metadata.shard is None or path.name != shard_name(metadata.shard):
        raise another_configuration(path.parent, path.name, [f"the name of another shard than {metadata.shard}"])


def check_known(configuration: Configuration, folder: Path, known: dict[int, Entry]) -> None:
    """Refuse to go on if nobody can tell whether the players are those that played before."""
    for player in configuration.roster.members:
        if known and player.identity.problem:
            raise StarmineError(
                f"output={str(folder)!r} holds games of {player.name!r}, which may be another player now: "
                f"{player.identity.problem}: choose another folder"
            )


def examine(
    configuration: Configuration, folder: Path, entries: dict[str, Entry], shards: list[int]
) -> dict[int, Entry]:
    """The entries of the shards that are whole; those that the manifest lacks are added to it."""
    known = {}
    for shard in shards:
        entry = examine_shard(configuration, shard, folder, entries.get(shard_name(shard)))
        if entry is not None:
            known[shard] = entry
            remove_lock(folder, shard)  # of a process that was killed once the shard was whole
    derived = {shard_name(shard): entry for shard, entry in known.items() if entries.get(shard_name(shard)) != entry}
    if derived:
        add_to_manifest(folder, configuration.to_dict(), derived)
    return known
