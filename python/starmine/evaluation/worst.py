"""The games of an evaluation that scored least, played again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from starmine._core import StarmineError, State, Variant, _Player, endings
from starmine._util.durable import given_path, unseal_json
from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.folder import GAMES, RESULTS, shape_of
from starmine.evaluation.pairing import ENDING, SCORE, stretches
from starmine.evaluation.results import Results, Settings
from starmine.games.identity import Identity, identity
from starmine.games.play import play_games
from starmine.games.players import Player, resolve_player
from starmine.games.results import BotError

CHECKED = 20  # games that show whether an entrant plays the same game twice


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


def worst_games(
    evaluation: Results, count: int = 10, players: Mapping[str, Player] | None = None, ending: str | None = None
) -> list[PlayedAgain]:
    """The games that scored least, the worst first; of equal scores those of the first pairings.

    Games in which a player failed are left out, and those of the entrants that `not_replayed` names.

    Args:
        evaluation: as `evaluate` returns it or `read_evaluation` reads it.
        count: the most games that are returned.
        players: by name the entrants that are no text, such as Python bots.
        ending: of the games, one of `starmine.endings()`; None for any.

    Raises:
        StarmineError: a game scores otherwise when it is played again, as with the bots of another version.
    """
    again = _replayed(evaluation, players or {})
    found = []
    for row, player in enumerate(evaluation.names):
        for column, partner in enumerate(evaluation.names):
            if not {player, partner} <= again.keys():
                continue
            outcomes = evaluation.outcomes[row, column, :, : evaluation.played[row, column]]
            scores, ended = outcomes[SCORE], outcomes[ENDING]
            is_chosen = scores >= 0 if ending is None else ended == endings().index(ending) + 1
            order = np.argsort(scores, kind="stable")
            order = order[is_chosen[order]][:count]
            found += [(int(scores[game]), row, column, int(game)) for game in order]
    games = (_played(evaluation, again, *place) for place in sorted(found))
    return list(islice((game for game in games if game is not None), count))


def without_replays(evaluation: Results, players: Mapping[str, Player] | None = None) -> str:
    """Says which pairings have no replays; empty where all have.

    These are the pairings with an entrant that only the original call had, such as a Python bot, and that is not given
    here either; those with a Python bot that does not play the same game twice; and those with a player that has
    changed since, see `Identity`.

    Args:
        evaluation: as `worst_games` takes it.
        players: as `worst_games` takes them.
    """
    again = _replayed(evaluation, players or {})
    missing = [name for name in evaluation.names if name not in again]
    if not missing:
        return ""
    return (
        f"no replays of the pairings with {' and '.join(missing)}: games of Python bots are not kept, and these were "
        "not given again (starmine replay EVAL --player FILE.py:NAME), do not play the same game twice, or have "
        "changed since; "
        "starmine.play_games(..., record=True) keeps games"
    )


def read_evaluation(path: str | os.PathLike[str]) -> Evaluation:
    """What `evaluate(output=path)` has stored so far.

    Raises:
        StarmineError: the folder holds no evaluation, or a damaged one.
    """
    folder = given_path("path", path)
    try:
        found = unseal_json((folder / RESULTS).read_text(encoding="utf-8"))
        told = found["settings"]
        rules = Variant(**told["variant"])
        settings = Settings(
            told["version"],
            rules,
            told["entrants"],
            {name: Identity(told.get("identities", {}).get(name), None) for name in told["entrants"]},
            told["games"],
            told["seed"],
            tuple(told["cheaters"]),
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


def _replayed(evaluation: Results, players: Mapping[str, Player]) -> dict[str, Any]:
    """The entrants whose games can be played again, by name."""
    found: dict[str, Any] = {}
    settings = evaluation.settings
    for name, told in settings.entrants.items():
        try:
            player = resolve_player(players.get(name, told), f"players[{name!r}]")
        except StarmineError:  # the type of a Python bot, or a file that is not there
            continue
        was = settings.identities[name].text
        if isinstance(player, _Player):
            is_same = was == identity(player).text or (was is None and player.weights is None)
        else:
            is_same = was in (None, identity(player).text) and _plays_the_same(evaluation, name, player)
        if is_same:
            found[name] = player
    return found


def _plays_the_same(evaluation: Results, name: str, player: Any) -> bool:
    """Whether an entrant plays its first games with itself as it did in the evaluation."""
    row, settings = evaluation.names.index(name), evaluation.settings
    count = min(CHECKED, int(evaluation.played[row, row]))
    if not count:
        return False
    try:
        games = play_games([player] * settings.variant.players, count, settings.seed, settings.variant, 1)
    except BotError as error:
        games = error.games
    fields = np.array([games.scores, games.fireworks, games.lengths])
    return bool(np.array_equal(fields, evaluation.outcomes[row, row, :3, :count]))


def _played(
    evaluation: Results, again: Mapping[str, Any], score: int, row: int, column: int, game: int
) -> PlayedAgain | None:
    """A game, played again; None where a Python bot plays otherwise, whose first games were the same."""
    settings, players = evaluation.settings, evaluation.settings.variant.players
    seat = next(seat for seat, first, end in stretches(players, settings.games, row == column) if first <= game < end)
    names = [evaluation.names[row if index == seat else column] for index in range(players)]
    bots = [again[name] for name in names]
    try:
        games = play_games(bots, 1, settings.seed, settings.variant, 1, game, record=True)
    except BotError:
        return None
    if int(games.scores[0]) != score:
        if not all(isinstance(bot, _Player) for bot in bots):
            return None
        raise StarmineError(
            f"game {game} of {names} scores {games.scores[0]} instead of {score}: it was played by {settings.version}"
        )
    return PlayedAgain(game, names, games.trajectories.state(0))
