"""`starmine generate`: games on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import Positional, arg

from starmine._core import StarmineError, bots, policies
from starmine.cli.options import INTERRUPTED, Command, Integer, Quiet, Ray, Rules, Threads, rules_of_text
from starmine.cli.player_files import NOT_TOLD, is_of_file, player_of
from starmine.data import generate
from starmine.data.generation.configuration import MOST_SHARDS
from starmine.data.generation.driver import DATA_SEED
from starmine.games.failures import BotError
from starmine.games.mixtures import parse_mixture
from starmine.text import ChatPlayer


@dataclass(kw_only=True)
class Generate(Command):
    """Play games, and store them in a folder of Parquet files, the shards, with one row for each game.

    A shard depends on the options and its number alone, so that any machine may make any of them. The same command
    makes only the shards that are missing or damaged. Several processes may run it at once in one folder.
    """

    name = "generate"

    bots: Annotated[
        Positional[list[str]],
        arg(
            metavar="BOT ...",
            help=f"one for each seat: {', '.join([*bots(), *policies()])}; a list of rules, such as 'rules: play-safe; "
            "discard-oldest'; a policy file, such as 'policy: mine.safetensors'; a class or an object of a Python file,"
            " such as mybot.py:Student; or 'noisy: 0.1; smart', which plays a legal move by chance with this "
            "probability. Several players, such as smart=2,iggi, are drawn for each game, with the weights after =",
            help_behavior_hint="(required)",
        ),
    ]
    games: Annotated[Integer, arg(help="number of games; game i has deck i of the seed")]
    output: Annotated[str, arg(metavar="DIR", help="folder to write to and to go on in")]
    variant: Rules = "standard"
    seed: Annotated[Integer, arg(help="seed of the decks")] = DATA_SEED
    evaluation_decks: Annotated[
        bool,
        arg(
            help="allow seed 0, which the documentation's tables use, and the default seed of starmine eval; no player "
            "may learn from these games",
            help_behavior_hint="",
        ),
    ] = False
    shard_size: Annotated[Integer, arg(help="games of a shard")] = 1_000_000
    shards: Annotated[
        str | None,
        arg(metavar="A-B", help="make these, such as 0-99 or 7 or 0-4,9", help_behavior_hint="(default: all)"),
    ] = None
    num_threads: Threads = None
    ray: Ray = False
    quiet: Quiet = False

    def run(self) -> int:
        """Generate, print a line, and return the exit status."""
        seats = [parse_mixture(text, "BOT") for text in self.bots]
        if self.ray and any(is_of_file(text) for seat in seats for text, _ in seat):
            raise StarmineError(
                "--ray with a bot of a Python file is not allowed: expected bots, policies and policy files"
            )
        players = [[(player_of(text), weight) for text, weight in seat] for seat in seats]
        try:
            made = generate(
                players,
                self.games,
                self.output,
                rules_of_text(self.variant, len(self.bots)),
                self.seed,
                evaluation_decks=self.evaluation_decks,
                shard_size=self.shard_size,
                shards=None if self.shards is None else shards_of_text(self.shards),
                num_threads=self.num_threads,
                ray=self.ray,
                progress=not self.quiet,
            )
        except BotError:
            self.complain("no game of this shard is stored: a smaller --shard-size, in another folder, loses less")
            raise
        except KeyboardInterrupt:
            self.complain(f"interrupted; the same command goes on from {self.output}")
            return INTERRUPTED
        finally:
            self.tell_of_fallbacks([player for seat in players for player, _ in seat])
        print(made)
        if made.kept and any(is_of_file(text) for seat in seats for text, _ in seat):
            self.complain(f"{len(made.kept):,} shards were made before and are kept. {NOT_TOLD} in another folder")
        return 0

    def tell_of_fallbacks(self, players: list[Any]) -> None:
        """Warn on standard error of moves that fallbacks of chat players chose in this call."""
        for player in {id(player): player for player in players}.values():
            if isinstance(player, ChatPlayer) and player.fallbacks:
                moves = f"{player.fallbacks:,} of the moves of {player.name}"
                self.complain(f"warning: a fallback chose {moves}, which are stored like its own")


def shards_of_text(text: str) -> list[int]:
    """Numbers of shards, such as 0-99 or 7 or 0-4,9."""
    shards: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        try:
            numbers = range(int(first), int(last or first) + 1)
        except ValueError:
            numbers = range(0)
        if not 1 <= len(numbers) <= MOST_SHARDS:
            expected = "expected numbers of shards, such as 0-99 or 7 or 0-4,9"
            raise StarmineError(f"--shards {text!r} is not allowed: {expected}")
        shards.extend(numbers)
    return shards
