"""`starmine search`: what a search gains over its blueprint."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from tyro.conf import Positional, arg

from starmine._core import StarmineError, Variant, _Player, _search_text, bots, policies
from starmine._util.numbers import check_number
from starmine.cli.options import Integer, PlayedGames, Quiet, Ray, Seats, Threads, rules_of_text
from starmine.data import Dataset, generate
from starmine.games.play import play_games
from starmine.games.player_texts import of_core, player_of_text
from starmine.games.results import mean_and_error, with_error

SHARD = 16  # games: a kill loses at most those of the shard that is being made


@dataclass(kw_only=True)
class Search(PlayedGames):
    """Play with a search in one seat and its blueprint in the others, and compare with the blueprint in all seats.

    Both play the same decks. With --method mirror all seats search.
    """

    name = "search"

    blueprint: Annotated[
        Positional[str],
        arg(
            metavar="BOT",
            help=f"a bot whose moves are not random, of {', '.join([*bots(), *policies()])}; a list of rules; a policy "
            "file, such as mine.safetensors; or the folder of a run",
        ),
    ]
    games: Annotated[Integer, arg(help="number of games")] = 100
    rollouts: Annotated[Integer, arg(help="roll-outs of a decision")] = 10_000
    hands: Annotated[Integer, arg(help="possible hands that are kept")] = 4096
    depth: Annotated[
        Integer | None,
        arg(
            help="moves after which a policy's network values a roll-out",
            help_behavior_hint="(default: play to the end)",
        ),
    ] = None
    threshold: Annotated[
        float | None,
        arg(
            metavar="X",
            help="points a move must gain to be played, with --method single",
            help_behavior_hint="(default: 0.1)",
        ),
    ] = None
    method: Annotated[
        Literal["single", "mirror"],
        arg(help="single: one seat searches, beside the blueprint; mirror: all seats do, by mirror descent"),
    ] = "single"
    step: Annotated[float | None, arg(metavar="X", help="of mirror descent", help_behavior_hint="(default: 10)")] = None
    seat: Annotated[
        Integer | None,
        arg(help="the seat that searches, with --method single", help_behavior_hint="(default: 0)"),
    ] = None
    players: Seats = None
    num_threads: Threads = None
    output: Annotated[
        str | None,
        arg(
            metavar="DIR",
            help="folder to store the games in, as starmine generate does, with the values of all searched moves. The "
            "same command goes on in it, and several processes may share the work",
            help_behavior_hint="(default: print only)",
        ),
    ] = None
    ray: Ray = False
    quiet: Quiet = False

    def run(self) -> int:
        """Play, print, and return the exit status."""
        rules = rules_of_text(self.variant, self.players, self.lost_game_score)
        if self.seat is not None and self.method == "mirror":
            raise StarmineError(f"--seat {self.seat} is not allowed: expected no seat with --method mirror")
        seat = check_number("seat", self.seat or 0, 0, rules.players - 1)
        blueprint = of_core(player_of_text(self.blueprint, "BOT"), "BOT", self.blueprint)
        search = self.searcher(blueprint)
        players: list[Any] = [search if self.method == "mirror" else blueprint] * rules.players
        players[seat] = search
        with tempfile.TemporaryDirectory() as scratch:
            searched = self.play_searching(players, rules, scratch if self.output is None else self.output)
        compared = play_games([blueprint] * rules.players, self.games, self.seed, rules, num_threads=self.num_threads)
        searching = f"{search} in {'all seats' if self.method == 'mirror' else f'seat {seat}'} of {rules.players}"
        print(f"{searching}; {self.games:,} games of seed {self.seed}")
        print(comparison(rules, compared.scores, searched))
        return 0

    def searcher(self, blueprint: _Player) -> str:
        """The text of the player that searches."""
        return _search_text(
            blueprint.text,
            rollouts=self.rollouts,
            milliseconds=None,
            hands=self.hands,
            depth=self.depth,
            threshold=self.threshold,
            method=self.method,
            step=self.step,
        )

    def play_searching(self, players: list[Any], rules: Variant, folder: str) -> NDArray[Any]:
        """The scores of the games in which a seat searches, or all seats do."""
        generate(
            players,
            self.games,
            folder,
            rules,
            self.seed,
            evaluation_decks=True,
            shard_size=min(SHARD, self.games),
            num_threads=self.num_threads,
            ray=self.ray,
            progress=not self.quiet,
        )
        with warnings.catch_warnings():  # of missing shards, which are told below
            warnings.simplefilter("ignore", UserWarning)
            games = Dataset(folder)
        scores: NDArray[Any] = np.concatenate([table.scores for table in games.tables()])
        if len(scores) < self.games:
            raise StarmineError(
                f"output={folder!r} has {len(scores)} of {self.games} games, and another process plays the rest: run "
                "the command again to compare"
            )
        return scores


def comparison(rules: Variant, blueprint: NDArray[Any], searched: NDArray[Any]) -> str:
    """The scores of the blueprint and of the search, and their difference, as a table."""
    lines = [f"{'':12}{'score':>16}{'perfect':>10}{'at zero':>10}"]
    for name, scores in (("blueprint", blueprint), ("search", searched)):
        perfect, zero = np.mean(scores == rules.max_score), np.mean(scores == 0)
        lines.append(f"{name:12}{mean_text(scores):>16}{perfect:>10.1%}{zero:>10.1%}")
    lines.append(f"{'difference':12}{mean_text(searched - blueprint):>16}  (the same decks)")
    return "\n".join(lines)


def mean_text(scores: NDArray[Any]) -> str:
    """The mean and its standard error; of a single game no error."""
    return with_error(*mean_and_error(scores), digits=2)
