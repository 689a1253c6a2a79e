"""`starmine text export`: games as training examples for language models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import arg

from starmine._core import StarmineError
from starmine._util.keywords import check_names
from starmine.cli.options import ConvertedGames, Integer
from starmine.data import Dataset, ImportedGames
from starmine.data.metadata import Metadata
from starmine.data.outcomes import evaluation_decks
from starmine.games.seeds import EVALUATION_SEEDS
from starmine.text.bot_conventions import CONVENTIONS
from starmine.text.export import examples, preferences, write_lines
from starmine.text.prompt import AnswerForm, Form, History, PromptOptions


@dataclass(kw_only=True)
class Export(ConvertedGames):
    """Write the moves of stored games as chat messages, one line of JSON each.

    A line has the rules, the table, the move that was played, and the players of its game.
    """

    name = "text export"

    kind: Annotated[
        Literal["supervised", "preference"],
        arg(help="preference: a prompt with a better and a worse move, by the values of --rollouts"),
    ] = "supervised"
    seats: Annotated[
        str | None,
        arg(metavar="N,...", help="export the moves of these seats only", help_behavior_hint="(default: all)"),
    ] = None
    every: Annotated[Integer, arg(help="export every Nth move")] = 1
    form: Annotated[Form, arg(help="form of the table")] = PromptOptions.form
    history: Annotated[History, arg(help="turns that are listed")] = PromptOptions.history
    answer: Annotated[AnswerForm, arg(help="how the reply names its move")] = PromptOptions.answer
    possible: Annotated[bool, arg(help="leave out the cards that each card can be", help_behavior_hint="")] = True
    legal_moves: Annotated[bool, arg(help="leave out the legal moves", help_behavior_hint="")] = True
    probabilities: Annotated[bool, arg(help="give the probabilities of the own cards", help_behavior_hint="")] = False
    conventions: Annotated[
        str | None,
        arg(
            metavar="BOT",
            help=f"how this bot plays, after the rules: {', '.join(CONVENTIONS)}",
            help_behavior_hint="",
        ),
    ] = None
    rollouts: Annotated[
        Integer | None, arg(help="of a search, which values all legal moves", help_behavior_hint="(default: no values)")
    ] = None
    blueprint: Annotated[
        str | None, arg(metavar="BOT", help="of the search", help_behavior_hint="(default: smart)")
    ] = None
    ratings: Annotated[bool, arg(help="also values on a scale from -1 to 1", help_behavior_hint="")] = False
    margin: Annotated[
        float | None,
        arg(
            metavar="POINTS",
            help="lead of the better move in a preference",
            help_behavior_hint="(default: 0.25)",
        ),
    ] = None
    seed: Annotated[Integer | None, arg(help="of the searches", help_behavior_hint="(default: 0)")] = None
    num_threads: Annotated[Integer | None, arg(help="of the searches", help_behavior_hint="(default: 1)")] = None

    def run(self) -> int:
        """Export, print what was done, and return the exit status."""
        sources, target = self.source_and_target()
        by_preference = self.kind == "preference"
        if by_preference and self.rollouts is None:
            raise StarmineError("--kind preference without --rollouts is not allowed: expected a search")
        if self.margin is not None and not by_preference:
            raise StarmineError("--margin without --kind preference is not allowed")
        if self.margin is not None and not 0 <= self.margin < float("inf"):
            raise StarmineError(f"--margin {self.margin} is not allowed: expected at least 0")
        if self.conventions is not None:
            check_names("conventions", [self.conventions], CONVENTIONS)
        seats = seats_of(self.seats)
        prompt = PromptOptions(
            form=self.form,
            history=self.history,
            answer=self.answer,
            possible=self.possible,
            legal_moves=self.legal_moves,
            probabilities=self.probabilities,
            conventions=None if self.conventions is None else CONVENTIONS[self.conventions],
        )
        games, evaluated = self.read(sources, self.source_format), evaluations_of(sources)
        lines = examples(
            games.trajectories,
            players=games.players,
            seats=seats,
            options=prompt,
            rollouts=self.rollouts,
            blueprint=self.blueprint,
            ratings=self.ratings,
            every=self.every,
            seed=self.seed,
            num_threads=self.num_threads,
        )
        if by_preference:
            lines = preferences(lines, 0.25 if self.margin is None else self.margin)
        count = write_lines(lines, target)
        print(f"{len(games):,} games, {count:,} {self.kind} examples written to {target}")
        self.warn_of_decks(games, evaluated)
        return 0

    def warn_of_decks(self, games: ImportedGames, evaluated: list[Metadata]) -> None:
        """Warn on standard error if games have decks that evaluations also play, such as those of these files."""
        seeds = {*EVALUATION_SEEDS, *(metadata.seed for metadata in evaluated if metadata.seed is not None)}
        if count := int(evaluation_decks(games.trajectories, seeds).sum()):
            those = f"{count:,} of {len(games):,} games have decks of evaluations"
            why = "a model that learns from them has seen the decks that it is evaluated on"
            self.complain(f"warning: {those}: {why}")


def evaluations_of(sources: list[str]) -> list[Metadata]:
    """The metadata of those files of the sources that evaluations wrote."""
    tables = [path for path in map(Path, sources) if path.suffix == ".parquet" or any(path.glob("*.parquet"))]
    return [metadata for path in tables for metadata in Dataset(path).metadata if "pairings" in metadata.extra]


def seats_of(text: str | None) -> list[int] | None:
    """The seats of a text such as "0,2"; None for all."""
    try:
        return None if text is None else [int(part) for part in text.split(",")]
    except ValueError as error:
        raise StarmineError(f"--seats {text!r} is not allowed: expected numbers, such as 0,2") from error
