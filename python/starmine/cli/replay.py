"""`starmine replay`: games as a page to step through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from tyro.conf import Positional, UseAppendAction, arg

from starmine._core import StarmineError, bots, endings, policies
from starmine._util.durable import given_path, replace_file
from starmine._util.keywords import check_names
from starmine.cli.options import Integer, SourceGames, refuse_source
from starmine.data import Dataset
from starmine.data.files import files_of
from starmine.data.formats.records import game_names
from starmine.games.endings import ending_code
from starmine.games.games import Games
from starmine.games.player_texts import core_player, player_of_text
from starmine.games.roster import UNKNOWN, names_by_seat
from starmine.look import Mistake, mistakes, replay_html, verdict
from starmine.look.words import told_apart

SHOWN = 20  # games, where no option says how many


@dataclass(kw_only=True)
class Replay(SourceGames):
    """Write games as one HTML page, on which one steps through the turns.

    It shows the score, what can still be reached, and the turns that cost points. The page works without a network.
    """

    name = "replay"

    sources: Annotated[
        Positional[list[str]],
        arg(
            metavar="SOURCE ...",
            help="a folder or a file of games (starmine generate, starmine eval, starmine play --save), files of "
            "another program or a folder of them (hanab.live's JSON, AH2AC2's safetensors)",
            help_behavior_hint="(required)",
        ),
    ]
    html: Annotated[str, arg(metavar="FILE", help="the page to write")]
    game: Annotated[
        UseAppendAction[list[Integer]],
        arg(metavar="N", help="the game with this index, from 0", help_behavior_hint="(repeatable)"),
    ] = field(default_factory=list)
    worst: Annotated[
        Integer | None,
        arg(help="the N games that scored least", help_behavior_hint=f"(default: the first {SHOWN} games)"),
    ] = None
    ending: Annotated[
        str | None,
        arg(
            metavar="ENDING",
            help=f"of the games with this ending: {', '.join(endings())}",
            help_behavior_hint="",
        ),
    ] = None
    compare: Annotated[
        str | None,
        arg(
            metavar="BOT",
            help=f"mark the turns on which this bot would play another move: {', '.join(bots())}",
            help_behavior_hint="",
        ),
    ] = None
    policy: Annotated[
        str | None,
        arg(
            metavar="POLICY",
            help=f"show what a trained policy thinks: {', '.join(policies())}, or its file",
            help_behavior_hint="",
        ),
    ] = None

    @property
    def source(self) -> str:
        """The sources as messages and the page name them."""
        return ", ".join(self.sources)

    def run(self) -> int:
        """Write the page, say what it shows, and return the exit status."""
        for name, value in (("worst", self.worst), ("ending", self.ending)):
            if self.game and value is not None:
                raise StarmineError(f"--game and --{name} are not allowed together: expected one of them")
        if self.ending is not None:
            check_names("ending", [self.ending], endings())
        if self.worst is not None and self.worst < 1:
            raise StarmineError(f"--worst {self.worst} is not allowed: expected 1 or more")
        if self.compare is not None:
            core_player(player_of_text(self.compare, "--compare"), "--compare", self.compare)
        target = given_path("--html", self.html)
        if not target.name or target.is_dir() or not target.parent.is_dir():
            raise StarmineError(f"--html {self.html!r} is not allowed: expected a file in a folder that exists")
        refuse_source(target, self.sources)
        games = self.chosen()
        states, titles = [games.state(game) for game in range(len(games))], titles_of(games)
        names, suits = names_of(games), games.suits
        text = replay_html(
            states,
            names=names,
            suits=suits or None,
            titles=titles,
            compare=self.compare,
            policy=self.policy,
            title=f"Hanabi: {self.source}",
        )
        replace_file(target, text.encode())
        for state, title, named in zip(states, titles, names, strict=True):
            seats = told_apart(named) or None
            costly = costliest(mistakes(state, seats, suits or None))
            print(f"{title}: {state.score} of {state.variant.max_score} points{costly}")
            print(f"  {verdict(state, seats, suits or None)}")
        print(f"written to {self.html}")
        return 0

    def chosen(self) -> Games:
        """The games that the options choose. Of Starmine's own files only these are read whole."""
        path = given_path("SOURCE", self.source)
        is_ours = len(self.sources) == 1 and (path.suffix == ".parquet" or bool(path.is_dir() and files_of(path)))
        games: Dataset | Games = Dataset(self.source) if is_ours else self.read(self.sources)
        rules = self.rules()
        if rules is not None and rules != games.variant:
            raise StarmineError(f"{self.source}: variant={rules} is not allowed: the file has {games.variant}")
        return games[self.chosen_indices(games)]

    def chosen_indices(self, games: Dataset | Games) -> list[int]:
        """The indices of the games that the options choose."""
        count = len(games)
        if self.worst is not None or self.ending is not None:
            scores, ended = games.scores, games.endings
            order = np.arange(count) if self.worst is None else np.argsort(scores, kind="stable")
            if self.ending is not None:
                order = order[ended[order] == ending_code(self.ending)]
                if not len(order):
                    raise StarmineError(f"{self.source}: no game has the ending {self.ending!r}")
            return [int(index) for index in order[: self.worst or SHOWN]]
        for index in self.game:
            if not 0 <= index < count:
                raise StarmineError(f"--game {index} is not allowed: expected 0 to {count - 1}")
        return self.game or list(range(min(count, SHOWN)))


def titles_of(games: Games) -> list[str]:
    """A title for each game: its name in its source, or its number."""
    return [f"Game {name}" for name in game_names(games)]


def names_of(games: Games) -> list[list[str]]:
    """The names of the seats of each game; empty where the source has none."""
    seats = names_by_seat(games.roster, games.players)
    return [[] if names[0] == UNKNOWN[0].name else names for names in seats]


def costliest(found: Sequence[Mistake]) -> str:
    """The turn of a game that cost most, in brackets; nothing if no turn cost a point."""
    costly = max(found, key=lambda mistake: mistake.points, default=None)
    if costly is None or not costly.points:
        return ""
    return f" (most at turn {costly.turn}, -{costly.points}: {costly.text})"
