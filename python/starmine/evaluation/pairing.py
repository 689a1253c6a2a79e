"""What came of the games in which one entrant met another."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import endings
from starmine.play import mean_and_error

Array = NDArray[Any]

# What is kept of a game, in this order.
SCORE, FIREWORKS, LENGTH, ENDING = range(4)
FAILED = 0  # the ending of a game that was given up
PERFECT = endings().index("perfect") + 1
# A game ends well when it is perfect or its deck runs out; every other ending is a defeat.
UNDEFEATED = [PERFECT, endings().index("deck_exhausted") + 1]


@dataclass(frozen=True)
class Pairing:
    """The games of one entrant with another: one cell of the matrix.

    Two players: `player` sits in seat 0, `partner` in seat 1. More: one `player` sits among `partner`s, for an equal
    share of the games in each seat. An entrant with itself is self-play.

    Attributes:
        player: the entrant in one seat.
        partner: the entrant in all other seats.
        games: games played, those that failed included.
        failed: games given up because a Python bot or a policy failed; all that follows leaves them out.
        score, score_error: the mean by the variant's rules and its standard error.
        fireworks, fireworks_error: the mean of the fireworks' sum whatever the ending, and its standard error.
        perfect: the share of the games that were perfect.
        lost: the share that ended in defeat: neither perfect nor with the deck exhausted.
        length: the mean number of turns.
        seconds: time it took to play.
        seats: with three players or more, for each seat of `player` its "seat", "games", "score" and "score_error".
        failures: the first few failures in words.
    """

    player: str
    partner: str
    games: int
    failed: int
    score: float
    score_error: float
    fireworks: float
    fireworks_error: float
    perfect: float
    lost: float
    length: float
    seconds: float
    seats: list[dict[str, float]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def games_per_second(self) -> float:
        """Games played in a second."""
        return self.games / self.seconds if self.seconds > 0 else float("nan")

    def row(self) -> dict[str, Any]:
        """The numbers by name, without those of the seats."""
        values = asdict(self)
        del values["seats"], values["failures"]
        return {**values, "games_per_second": self.games_per_second}


def stretches(players: int, games: int, with_itself: bool) -> list[tuple[int, int, int]]:
    """(seat of the player, first game, end) of all games: game i of N has the player in seat i * players // N.

    A player with itself, or of two, keeps seat 0: of two, the other seat is another pairing's.
    """
    if players == 2 or with_itself:
        return [(0, 0, games)]
    borders = [-(-seat * games // players) for seat in range(players + 1)]
    return [(seat, borders[seat], borders[seat + 1]) for seat in range(players)]


def mean_or_nan(values: Array) -> tuple[float, float]:
    """Mean and standard error; nan for those that so few values do not have."""
    return mean_and_error(values) if len(values) else (float("nan"), float("nan"))


def share(chosen: Array) -> float:
    """The share that is true; nan of nothing."""
    return float(np.mean(chosen)) if len(chosen) else float("nan")


def summarise(
    player: str, partner: str, players: int, outcomes: Array, played: int, seconds: float, failures: list[str]
) -> Pairing:
    """The statistics of the games that were played.

    Args:
        player: who sits in one seat.
        partner: who sits in the others.
        players: number of seats.
        outcomes: int16 (4, games): score, fireworks, length and ending of each.
        played: how many of them, from the first on, were played.
        seconds: time it took.
        failures: the first few in words.
    """
    there = outcomes[ENDING] != FAILED
    kept = outcomes[:, :played][:, there[:played]]
    score, score_error = mean_or_nan(kept[SCORE])
    fireworks, fireworks_error = mean_or_nan(kept[FIREWORKS])
    seats = []
    turns = stretches(players, outcomes.shape[1], player == partner)
    for seat, start, end in turns if len(turns) > 1 else []:
        chosen = slice(start, min(end, played))
        mean, error = mean_or_nan(outcomes[SCORE, chosen][there[chosen]])
        seats.append({"seat": seat, "games": max(0, chosen.stop - start), "score": mean, "score_error": error})
    return Pairing(
        player,
        partner,
        games=played,
        failed=played - kept.shape[1],
        score=score,
        score_error=score_error,
        fireworks=fireworks,
        fireworks_error=fireworks_error,
        perfect=share(kept[ENDING] == PERFECT),
        lost=share(~np.isin(kept[ENDING], UNDEFEATED)),
        length=mean_or_nan(kept[LENGTH])[0],
        seconds=seconds,
        seats=seats,
        failures=failures,
    )
