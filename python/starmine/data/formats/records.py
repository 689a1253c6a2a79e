"""Games as parsers read them, and the check of these games by the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from starmine._core import StarmineError, Variant
from starmine.games.endings import ending_code
from starmine.games.games import Games, common_suits
from starmine.games.outcomes import outcomes
from starmine.games.roster import UNKNOWN, RosterPlayer

THREADS = 1  # which play some 20 million turns a second


@dataclass(frozen=True)
class GameRecord:
    """A game as a parser reads it. Its arrays fit the rules; whether it keeps them has not been checked.

    Attributes:
        variant: the rules.
        deck: for each card suit * ranks + rank, the top card first.
        actions: the action ids.
        start_player: the seat that starts.
        score: the score that the file tells, or None.
        name: what the file calls the game, such as an id; "" where it has no name.
        players: the players' names by seat; empty where the file has none.
        suits: what the file calls the suits, in their order; empty where it has our names or none.
    """

    variant: Variant
    deck: Sequence[int]
    actions: Sequence[int]
    start_player: int = 0
    score: int | None = None
    name: str = ""
    players: tuple[str, ...] = ()
    suits: tuple[str, ...] = ()


@dataclass(frozen=True)
class SkippedGame:
    """A game that `read_games` leaves out, or a file that it cannot read.

    Attributes:
        path: the file.
        game: the game's position in the file, from 0; None for the whole file.
        name: the game's name in the file; "" for none.
        reason: why it is left out.
    """

    path: Path
    game: int | None
    name: str
    reason: str

    def __str__(self) -> str:
        """The file, the game and the reason, in one line."""
        name = f" ({self.name})" if self.name else ""
        return f"{self.path}{'' if self.game is None else f', game {self.game}'}{name}: {self.reason}"


def read_each(
    path: Path,
    entries: Iterable[Any],
    record_of: Callable[[Any], GameRecord],
    name_of: Callable[[Any], str],
) -> list[GameRecord | SkippedGame]:
    """The games of a file's entries. An entry that is an error, or for which `record_of` raises one, is skipped."""
    found: list[GameRecord | SkippedGame] = []
    for game, entry in enumerate(entries):
        try:
            if isinstance(entry, StarmineError):
                raise entry
            found.append(record_of(entry))
        except StarmineError as error:
            found.append(SkippedGame(path, game, name_of(entry), str(error)))
    return found


def play(records: Mapping[int, GameRecord]) -> tuple[Games, dict[int, str]]:
    """Play the games of one variant by the rules.

    Args:
        records: at least one, by number.

    Returns:
        The games that follow the rules and their records, and by number why each other game was refused.
    """
    held = list(records.values())
    variant = held[0].variant
    uncounted: Any = np.zeros(len(held), np.uint8)  # until the games are played below
    seats = [record.players or (UNKNOWN[0].name,) * variant.players for record in held]
    rows = {name: row for row, name in enumerate(dict.fromkeys(chain(*seats)))}
    names = [record.name for record in held]
    games = Games(
        variant,
        np.array([record.deck for record in held], np.uint8),
        np.array([record.start_player for record in held], np.uint8),
        np.array([action for record in held for action in record.actions], np.uint8),
        np.cumsum([0, *(len(record.actions) for record in held)]),
        scores=uncounted,
        fireworks=uncounted,
        endings=uncounted,
        players=np.array([[rows[name] for name in of_game] for of_game in seats], np.int16),
        roster=tuple(map(RosterPlayer, rows)),
        number=np.array(list(records), np.uint64),
        names=np.array(names, np.object_) if any(names) else None,
        suits=common_suits([record.suits for record in held]),
    )
    by_rules = outcomes(games, THREADS)
    # hanab.live gives 0 to a lost game, and to one that its players stopped.
    may_be_zero = np.isin(by_rules.endings, (0, ending_code("lost")))
    reasons: dict[int, str] = {}
    for game, (number, record) in enumerate(records.items()):
        score = by_rules.scores[game]
        if by_rules.problems[game]:
            reasons[number] = str(by_rules.error(game, games))
        elif record.score not in (None, score) and not (record.score == 0 and may_be_zero[game]):
            reasons[number] = f"its recorded score is {record.score}: the rules give it {score}"
    games = replace(games, scores=by_rules.scores, fireworks=by_rules.fireworks, endings=by_rules.endings)
    return (games[[number not in reasons for number in records]] if reasons else games), reasons


def refuse_failures(games: Games) -> None:
    """Refuse games in which a player failed, for formats that have no place for it: they would count when read again.

    Raises:
        StarmineError: there are some.
    """
    failed = np.flatnonzero(games.failures != "") if games.failures is not None else np.empty(0, np.int64)
    if len(failed):
        raise StarmineError(
            f"game {failed[0]}: a player failed, which the format cannot tell: expected games[games.failures == '']"
        )


def starting_at_seat_0(games: Games) -> Games:
    """The same games with the seats numbered from the one that started, for formats in which seat 0 always does.

    Hands are dealt whole and in the order of the seats, so the first cards of the decks change places.
    """
    if not games.start_players.any():
        return games
    players, hand = games.variant.players, games.variant.hand_size
    seats = (np.arange(players) + games.start_players[:, None].astype(np.int64)) % players
    dealt = (seats[:, :, None] * hand + np.arange(hand)).reshape(len(games), players * hand)
    decks = games.decks.copy()
    decks[:, : players * hand] = np.take_along_axis(games.decks, dealt, axis=1)
    return replace(
        games,
        decks=decks,
        start_players=np.zeros_like(games.start_players),
        players=np.take_along_axis(games.players, seats, axis=1),
        seed=None,
        index=None,
        episode=None,
    )


def game_names(games: Games) -> list[str]:
    """What the games are called in files: by their names, or by their numbers."""
    names = [""] * len(games) if games.names is None else games.names.tolist()
    return [name or str(number) for name, number in zip(names, games.number.tolist(), strict=True)]


def is_game_number(name: str) -> bool:
    """Whether a name is an integer from 0 to 2**31 - 1 as Python writes it, so that it is the same when it is read."""
    return name.isdecimal() and len(name) <= 10 and name == str(int(name)) and int(name) < 2**31
