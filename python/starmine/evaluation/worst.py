"""The games of an evaluation that scored least, played again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from starmine._core import StarmineError, State, UnknownNameError, Variant
from starmine.durable import unseal_json
from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.folder import GAMES, RESULTS, shape_of
from starmine.evaluation.pairing import SCORE, stretches
from starmine.evaluation.results import Results, Settings
from starmine.play import play_games


@dataclass(frozen=True)
class PlayedAgain:
    """A game of an evaluation.

    Attributes:
        game: its index; all pairings play the same decks.
        players: the entrants' names by seat.
        state: the game after its last turn.
    """

    game: int
    players: list[str]
    state: State

    @property
    def title(self) -> str:
        """Such as "Game 17 of smart with simple"."""
        return f"Game {self.game} of {' with '.join(dict.fromkeys(self.players))}"


def worst_games(evaluation: Results, count: int = 10) -> list[PlayedAgain]:
    """The games that scored least, the worst first; of equal scores those of the first pairings.

    Games in which a player failed, or a player that only the original call had, such as a Python bot, are left out.

    Args:
        evaluation: as `evaluate` returns it or `read_evaluation` reads it.
        count: the most games that are returned.

    Raises:
        StarmineError: a game scores otherwise when it is played again, as with the bots of another version.
    """
    settings = evaluation.settings
    again = {name for name, bot in settings.entrants.items() if _is_bot(bot, settings.variant)}
    found = []
    for row, player in enumerate(evaluation.names):
        for column, partner in enumerate(evaluation.names):
            if not {player, partner} <= again:
                continue
            scores = evaluation.outcomes[row, column, SCORE, : evaluation.played[row, column]]
            order = np.argsort(scores, kind="stable")
            order = order[scores[order] >= 0][:count]
            found += [(int(scores[game]), row, column, int(game)) for game in order]
    return [_played(evaluation, *place) for place in sorted(found)[:count]]


def read_evaluation(path: str | os.PathLike[str]) -> Evaluation:
    """What `evaluate(output=path)` has stored so far.

    Raises:
        StarmineError: the folder holds no evaluation, or a damaged one.
    """
    folder = Path(path)
    try:
        found = unseal_json((folder / RESULTS).read_text(encoding="utf-8"))
        told = found["settings"]
        rules = Variant(**told["variant"])
        settings = Settings(
            told["version"], rules, told["entrants"], told["games"], told["seed"], tuple(told["cheaters"])
        )
        outcomes = np.load(folder / GAMES, allow_pickle=False)
        shape = shape_of(settings)
        if outcomes.shape != shape:
            raise StarmineError(f"{folder / GAMES} has shape {outcomes.shape}: expected {shape}")
        played = np.array([pairing["games"] for pairing in found["pairings"]], np.int64).reshape(shape[:2])
        seconds = np.array([pairing["seconds"] for pairing in found["pairings"]], float).reshape(shape[:2])
    except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError) as error:
        if isinstance(error, StarmineError):
            raise
        raise StarmineError(f"{str(path)!r} holds no evaluation ({type(error).__name__}: {error})") from error
    return Evaluation(settings, outcomes, played, seconds)


def _is_bot(text: str, variant: Variant) -> bool:
    """Whether an entrant is a bot that its text names, and no type of a Python bot or a policy."""
    try:
        play_games([text] * variant.players, 1, variant=variant, threads=1)
    except (UnknownNameError, StarmineError):
        return False
    return True


def _played(evaluation: Results, score: int, row: int, column: int, game: int) -> PlayedAgain:
    """A game, played again."""
    settings, players = evaluation.settings, evaluation.settings.variant.players
    seat = next(seat for seat, first, end in stretches(players, settings.games, row == column) if first <= game < end)
    names = [evaluation.names[row if index == seat else column] for index in range(players)]
    bots = [settings.entrants[name] for name in names]
    games = play_games(bots, 1, settings.seed, settings.variant, 1, game, record=True)
    if int(games.scores[0]) != score:
        raise StarmineError(
            f"game {game} of {names} scores {games.scores[0]} instead of {score}: it was played by {settings.version}"
        )
    return PlayedAgain(game, names, games.trajectories.state(0))
