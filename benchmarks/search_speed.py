"""Speed of searches: roll-outs and moves per second of a decision, and seconds a game, for rules and for a network.

A decision is the first of a game, where every roll-out is a whole game; its moves are the roll-outs times the mean
length of the blueprint's games. Beliefs are not in its time. In the games one seat searches, and beliefs are in their
time.

    python benchmarks/search_speed.py --rounds 3
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from measuring import Case, Measure, Row, effort, facts, markdown, parser, run, spread, write

import starmine

BLUEPRINTS = {"smart": 8192, "information": 8192, "ippo-2p-small": 1024}  # with the roll-outs of the measured decision
GAMES = (("smart", 1_000, 1), ("smart", 10_000, 1), ("smart", 10_000, 2), ("ippo-2p-small", 1_000, 2))
SEED = 5


def mean_length(blueprint: str, players: int) -> float:
    """Turns of a game by the blueprint."""
    return float(starmine.play_games([blueprint] * players, games=500, seed=SEED).lengths.mean())


def decision(blueprint: str, rollouts: int) -> Measure:
    """Roll-outs per second of a decision; the time of a decision with few of them is taken off."""
    state = starmine.Variant().new_game(seed=SEED)
    done, spent = [0.0], [0.0]

    def once(limit: int) -> tuple[int, float]:
        start = time.perf_counter()
        found = starmine.search(state, blueprint, rollouts=limit, hands=64, num_threads=1)
        return sum(action.rollouts for action in found.actions), time.perf_counter() - start

    def measure(seconds: float) -> float:
        done[0] = spent[0] = 0.0
        while spent[0] < seconds:
            (few, short), (many, long) = once(rollouts // 8), once(rollouts)
            done[0] += many - few
            spent[0] += long - short
        return done[0] / spent[0]

    return measure


def game(blueprint: str, rollouts: int, threads: int) -> Measure:
    """Games per second with a search in one seat; at least one game in each measure."""

    def measure(seconds: float) -> float:
        start, games = time.perf_counter(), 0
        while games == 0 or time.perf_counter() < start + seconds:
            seats = [f"search: {blueprint}; rollouts={rollouts}", blueprint]
            starmine.play_games(seats, games=threads, seed=SEED + games, num_threads=threads)
            games += threads
        return games / (time.perf_counter() - start)

    return measure


def cases() -> list[Case]:
    """Decisions, then games."""
    found = []
    for blueprint, rollouts in BLUEPRINTS.items():
        length = mean_length(blueprint, 2)
        found.append(Case(blueprint, 2, decision(blueprint, rollouts), more={"length": length}))
    for blueprint, rollouts, threads in GAMES:
        case = Case(blueprint, 2, game(blueprint, rollouts, threads), threads=threads, more={"rollouts": rollouts})
        found.append(case)
    return found


def decisions_table(rows: Sequence[Row]) -> str:
    """A line for each blueprint."""
    lines = [
        (row.what, f"{row.median:,.0f}", spread(row), f"{row.median * row.more['length']:,.0f}")
        for row in rows
        if "length" in row.more
    ]
    return markdown(("blueprint", "roll-outs/s (median)", "spread", "moves/s"), lines)


def games_table(rows: Sequence[Row]) -> str:
    """A line for each blueprint, number of roll-outs and number of threads."""
    lines = []
    for row in (row for row in rows if "rollouts" in row.more):
        seconds, between = f"{1 / row.median:.2f}", f"{1 / row.highest:.2f} to {1 / row.lowest:.2f}"
        lines.append((row.what, f"{row.more['rollouts']:,}", row.threads, seconds, between))
    return markdown(("blueprint", "roll-outs a decision", "threads", "seconds a game (median)", "spread"), lines)


def main() -> None:
    """Measure, print the tables and write them."""
    wanted = effort(parser(__doc__, rounds=3, seconds=2).parse_args())
    rows = run(cases(), wanted)
    sections = [
        "A decision on the first turn of a game of two players, one thread:",
        decisions_table(rows),
        "A game of two players with a search in one seat, beliefs included. With two threads two games are played at "
        "once; the seconds are per game.",
        games_table(rows),
    ]
    write("search", wanted, facts(wanted), sections, rows)


if __name__ == "__main__":
    main()
