"""Statistics of the games of one player with another."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from starmine._core import endings
from starmine._util.arrays import Array
from starmine._util.equality import equal_by_value
from starmine.evaluation.pairings import stretches
from starmine.games.endings import defeats
from starmine.games.results import mean_and_error

# The rows of the outcomes of games.
SCORE, FIREWORKS, LENGTH, ENDING = range(4)
FAILED = 0  # the ending of a game that was given up
PERFECT = endings().index("perfect") + 1


@equal_by_value
@dataclass(frozen=True)
class Pairing:
    """The games of one player with another: one cell of the matrix.

    With two players, `player` sits in seat 0 and `partner` in seat 1. With more, `player` holds one seat and `partner`
    all others; `player` holds each seat in an equal share of the games. A player with itself is self-play.

    Attributes:
        player: the player in one seat.
        partner: the player in all other seats.
        games: games played, including those that failed.
        failed: games abandoned because a Python bot or a policy failed; the statistics below exclude them.
        score, standard_error: the mean by the variant's rules and its standard error.
        fireworks, fireworks_standard_error: the mean sum of the fireworks, whatever the ending, and its standard error.
            A standard error takes two games; it is None where there are fewer. A mean is nan where there is no game.
        perfect: the share of perfect games.
        lost: the share of lost games; see `starmine.defeats()`.
        length: the mean number of turns.
        seconds: time spent.
        cheats: whether a player sees its own hand.
        seats: with three players or more, for each seat of `player` its "seat", "games", "score" and "standard_error",
            which are None where there are too few games.
        failures: messages of the first few failures.
        fallbacks: number of moves that the fallbacks of chat players chose.
    """

    player: str
    partner: str
    games: int
    failed: int
    score: float
    standard_error: float | None
    fireworks: float
    fireworks_standard_error: float | None
    perfect: float
    lost: float
    length: float
    seconds: float
    cheats: bool = False
    seats: list[dict[str, float | None]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    fallbacks: int = 0

    @property
    def games_per_second(self) -> float:
        """Games played per second."""
        return self.games / self.seconds if self.seconds > 0 else float("nan")

    def row(self) -> dict[str, Any]:
        """The statistics by name, without seats and failures."""
        values = asdict(self)
        del values["seats"], values["failures"]
        return {**values, "games_per_second": self.games_per_second}


def summarise(
    player: str, partner: str, players: int, outcomes: Array, played: int, seconds: float, failures: list[str]
) -> Pairing:
    """The statistics of the games played so far.

    `outcomes`, int16 (4, games), are score, fireworks, length and ending of all games, played or not.
    """
    there = outcomes[ENDING] != FAILED
    kept = outcomes[:, :played][:, there[:played]]
    score, standard_error = mean_and_error(kept[SCORE])
    fireworks, fireworks_standard_error = mean_and_error(kept[FIREWORKS])
    seats: list[dict[str, float | None]] = []
    turns = stretches(players, outcomes.shape[1], player == partner)
    for seat, start, end in turns if len(turns) > 1 else []:
        chosen = slice(start, min(end, played))
        scores = outcomes[SCORE, chosen][there[chosen]]
        mean, error = mean_and_error(scores) if len(scores) else (None, None)
        seats.append({"seat": seat, "games": max(0, chosen.stop - start), "score": mean, "standard_error": error})
    return Pairing(
        player,
        partner,
        games=played,
        failed=played - kept.shape[1],
        score=score,
        standard_error=standard_error,
        fireworks=fireworks,
        fireworks_standard_error=fireworks_standard_error,
        perfect=mean_and_error(kept[ENDING] == PERFECT)[0],
        lost=mean_and_error(np.isin(kept[ENDING], defeats()))[0],
        length=mean_and_error(kept[LENGTH])[0],
        seconds=seconds,
        seats=seats,
        failures=failures,
    )
