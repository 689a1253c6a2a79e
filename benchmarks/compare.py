"""Steps per second of starmine beside its peers, measured in turn in the same run; on one core, it is the same core.

One step is one player's turn, with the next player's observation and legal actions; "all outputs" adds the reward and
the rest, as the vector environment does.
Starmine replays recorded, uniformly random legal actions; the peers choose theirs as they play, which
costs HLE and OpenSpiel less than a hundredth of their time. Each figure is the median over the rounds.

    python benchmarks/compare.py --rounds 5 --jaxmarl-python .venv-jaxmarl/bin/python
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro
from measuring import BenchmarkArgs, Case, Row, facts, instruction_sets, markdown, nanoseconds, run, spread, write
from peers import HLE_CPP, HLE_PYTHON, peer_cases, play_rl_env
from replaying import batch_measure, environment_measure, record

import starmine
from starmine.hle import rl_env

GAMES = 1024
STEPS = 100
DTYPES = ("float32", "float16", "uint8", "bits")
THREADED_GAMES = (1024, 4096)
# Whether only observations and action masks are written, and the words for it in the tables.
OUTPUTS = ((True, "obs and action_mask"), (False, "all outputs"))
EXTRA_OUTPUTS: tuple[tuple[str, ...], ...] = ((), ("own_hand",), ("card_features",), ("public_marginals",))


def beside_cases(players: int) -> Iterator[Case]:
    """Starmine on one thread: the vector environment, and batches with the caller's buffers."""
    recording = record(starmine.Variant(players=players), GAMES, STEPS)
    environment = environment_measure(recording)
    more = {"table": "beside"}
    yield Case("starmine HanabiVectorEnv.step, float32", players, environment, GAMES, "float32", more=more)

    def cases(dtype: str, what: str = "", simd: str | None = None, observers: str = "current") -> Iterator[Case]:
        more = {"table": "beside", "simd": simd, "observers": observers}
        for only, outputs in OUTPUTS:
            options = {"dtype": dtype, "observers": observers, "num_threads": 1}
            measure = batch_measure(recording, simd, only, **options)
            name = f"starmine Batch.step_into, {dtype}{what}, {outputs}"
            yield Case(name, players, measure, GAMES, dtype, more={**more, "outputs": outputs})

    for dtype in DTYPES:
        yield from cases(dtype)
    yield from cases("float32", ', observers="all"', observers="all")
    for simd in instruction_sets()[1:]:
        yield from cases("float32", f", STARMINE_SIMD={simd}", simd)


def drop_in_cases(players: int) -> Iterator[Case]:
    """`starmine.hle` in HLE's place: one game, dictionaries for every player."""
    yield Case("starmine.hle's rl_env", players, play_rl_env(rl_env, players), more={"table": "beside"})


def threads_cases(players: int) -> Iterator[Case]:
    """One thread and two, for a batch that fits into the cache and for a larger one."""
    for games in THREADED_GAMES:
        recording = record(starmine.Variant(players=players), games, STEPS)
        for dtype in ("float32", "bits"):
            for threads in (1, 2):
                measure = batch_measure(recording, dtype=dtype, num_threads=threads)
                what = f"{games} games, {dtype}, {threads} thread(s)"
                yield Case(what, players, measure, games, dtype, threads, {"table": "threads"})


def extra_cases(players: int) -> Iterator[Case]:
    """The plain step, and the step with each of the extra outputs."""
    recording = record(starmine.Variant(players=players), GAMES, STEPS)
    for extra in EXTRA_OUTPUTS:
        what = f"starmine Batch.step_into, bits, all outputs{''.join(f' and {name}' for name in extra)}"
        measure = batch_measure(recording, dtype="bits", num_threads=1, extra_outputs=extra)
        yield Case(what, players, measure, GAMES, "bits", more={"table": "extra"})


def single_cases(players: int) -> Iterator[Case]:
    """A batch of one game, for the cost of a call."""
    recording = record(starmine.Variant(players=players), 1, 1000)
    for only, outputs in OUTPUTS:
        what = f"starmine Batch.step_into, one game, float32, {outputs}"
        measure = batch_measure(recording, only_observations=only, num_threads=1)
        yield Case(what, players, measure, 1, "float32", more={"table": "single", "outputs": outputs})


def times(ratio: float) -> str:
    """A ratio as text, with a decimal where it is small and one significant digit below one."""
    return f"{ratio:,.0f} x" if ratio >= 10 else f"{ratio:.1f} x" if ratio >= 1 else f"{ratio:.1g} x"


def beside_table(rows: Sequence[Row]) -> str:
    """Starmine and the peers, with ratios to HLE's Python environment and C++ library."""
    medians = {(row.players, row.what): row.median for row in rows}
    lines = []
    for row in rows:
        peers = [medians.get((row.players, peer)) for peer in (HLE_PYTHON, HLE_CPP)]
        ratios = [times(row.median / peer) if peer else "" for peer in peers]
        if row.more.get("table", "beside") == "beside":
            lines.append((row.players, row.what, f"{row.median:,.0f}", spread(row), *ratios))
    return markdown(("players", "what", "steps/s (median)", "spread", "beside HLE Python", "beside HLE C++"), lines)


def threads_table(rows: Sequence[Row]) -> str:
    """Two threads beside one."""
    lines = []
    rows = [row for row in rows if row.more.get("table") == "threads"]
    for one, two in zip(rows[::2], rows[1::2], strict=True):
        figures = [f"{row.median:,.0f} ({spread(row)})" for row in (one, two)]
        lines.append((one.players, f"{one.games:,}", one.dtype, *figures, f"{two.median / one.median:.2f}"))
    return markdown(("players", "games", "dtype", "one thread, steps/s", "two threads, steps/s", "ratio"), lines)


def single_table(rows: Sequence[Row]) -> str:
    """The time of a call with one game."""
    return nanoseconds_table(rows, "single")


def extra_table(rows: Sequence[Row]) -> str:
    """The time of a step with extra outputs beside the plain one."""
    return nanoseconds_table(rows, "extra")


def nanoseconds_table(rows: Sequence[Row], table: str) -> str:
    """The time of a step."""
    lines = []
    for row in rows:
        if row.more.get("table") == table:
            median, between = nanoseconds(row)
            lines.append((row.players, row.what, f"{median:,.0f}", between))
    return markdown(("players", "what", "ns a step (median)", "spread"), lines)


@dataclass
class Args(BenchmarkArgs):
    """The command line."""

    rounds: int = 5
    seconds: float = 0.5
    jaxmarl_python: Path | None = None
    """the Python interpreter that has JaxMARL, if it is another one"""


def main() -> None:
    """Measure, print the tables and write them as Markdown and JSON."""
    given = tyro.cli(Args, description=__doc__)
    wanted = given.effort
    rows = []
    for players in (2, 5):
        cases = [*beside_cases(players), *drop_in_cases(players)]
        cases += peer_cases(players, GAMES, given.jaxmarl_python)
        rows += run([*cases, *threads_cases(players), *single_cases(players), *extra_cases(players)], wanted)
    about = facts(wanted)
    sections = [
        f"{GAMES:,} games, one thread, on the same core; JaxMARL also on all cores. JaxMARL steps {GAMES:,} games in a "
        "call, HLE, `starmine.hle` and OpenSpiel one. HLE's Python, JaxMARL and "
        "`starmine.hle` encode all players, OpenSpiel and HLE's C++ the one to act.",
        beside_table(rows),
        "Two threads beside one, `Batch.step_into`:",
        threads_table(rows),
        "One game, with the price of a Python call:",
        single_table(rows),
        f"{GAMES:,} games, packed observations, with outputs that are written on request:",
        extra_table(rows),
    ]
    write("compare", wanted, about, sections, rows)


if __name__ == "__main__":
    main()
