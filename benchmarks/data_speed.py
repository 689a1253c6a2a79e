"""Games on disk: generating them, replaying them, and reading them beside turns that are stored as rows.

python benchmarks/data_speed.py
python benchmarks/data_speed.py --billion --turns 100_000_000
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import billion
import numpy as np
import stored_rows
import torch
import tyro
from measuring import (
    BenchmarkArgs,
    Case,
    Effort,
    Measure,
    Row,
    facts,
    markdown,
    pinned_to_one_core,
    run,
    spread,
    write,
)
from stored_rows import MINIBATCH, OUTPUTS, MemoryMaps, ParquetRows

import starmine
import starmine.data
from starmine.data import Dataset
from starmine.games import Games
from starmine.games.replay import ReplaySettings
from starmine.torch import GamesDataset

BOT = "smart"
PLAYERS = (2, 5)
ROWS = (1024, 4096)
PASSES = 8  # games that each row of a replay plays
SPARE = 16  # games that are played for each one that is chosen by its length
GENERATED = 131_072  # games of a measure, two row groups; an eighth of them with one thread
STORED = 131_072  # games that are read back

# --- Generating -------------------------------------------------------------------------------------------


def generation_cases(games: int) -> Iterator[Case]:
    """`generate` and `play_games`, with one thread and with all."""
    for threads in sorted({1, os.cpu_count() or 1}):
        count = games if threads > 1 else max(1024, games // 8)
        for what, make in (("play_games", played), ("generate", generated)):
            more: dict[str, Any] = {"kind": what, "stored": None}
            yield Case(what, 2, make(count, threads, more), count, threads=threads, more=more)


def played(games: int, threads: int, more: dict[str, Any]) -> Measure:
    """Games per second of `play_games`."""
    return once(lambda: starmine.play_games([BOT, BOT], games, num_threads=threads), games)


def generated(games: int, threads: int, more: dict[str, Any]) -> Measure:
    """Games per second of `generate` into a new folder; what a game takes on disk is noted."""

    def measure(seconds: float) -> float:
        with tempfile.TemporaryDirectory() as folder:

            def make() -> None:
                starmine.data.generate([BOT, BOT], games, folder, num_threads=threads, progress=False)

            speed = once(make, games)(seconds)
            more["stored"] = sum(file.stat().st_size for file in Path(folder).glob("*.parquet")) / games
        return speed

    return measure


def once(work: Callable[[], object], count: int) -> Measure:
    """A measure of one call, which does so much."""

    def measure(seconds: float) -> float:
        start = time.perf_counter()
        work()
        return count / (time.perf_counter() - start)

    return measure


def generation_table(rows: Sequence[Row]) -> str:
    """A line for each number of threads and function."""
    lines = []
    for row in (row for row in rows if row.more["kind"] in ("play_games", "generate")):
        base = next(other for other in rows if other.more["kind"] == "play_games" and other.threads == row.threads)
        is_base = row is base
        share, stored = ("", "") if is_base else (f"{row.median / base.median:.0%}", f"{row.more['stored']:.1f}")
        lines.append((f"`{row.what}`", row.threads, f"{row.games:,}", f"{row.median:,.0f}", spread(row), share, stored))
    heads = ("what", "threads", "games", "games/s (median)", "spread", "of `play_games`", "bytes a game on disk")
    return markdown(heads, lines)


# --- Replaying --------------------------------------------------------------------------------------------


def replay_cases(players: int, rows: int) -> Iterator[Case]:
    """`step_into` and `replay` with the same games, and `replay` with games of all lengths."""
    print(f"{players} players: playing games for {rows} rows", flush=True)
    games = recorded(players, SPARE * rows)
    lengths = games.lengths
    same = games[np.flatnonzero(lengths == np.bincount(lengths).argmax())]
    same = same[np.arange(rows) % len(same)]
    for kind, what, measure in (
        ("step_into", "`Batch.step_into`", stepped(same, PASSES)),
        ("replay", "`replay`, the same games", replayed(Games.concatenate([same] * PASSES), rows)),
        ("replay, all lengths", "`replay`, games of all lengths", replayed(games, rows)),
    ):
        yield Case(what, players, measure, rows, "bits", more={"kind": kind})


def recorded(players: int, games: int) -> Games:
    """Games of the bot at all seats."""
    return starmine.play_games([BOT] * players, games, num_threads=1)


def stepped(games: Games, passes: int) -> Measure:
    """Turns per second of `Batch.step_into` from the games' decks with their actions, all of one length."""
    actions = np.ascontiguousarray(games.actions.reshape(len(games), -1).T.astype(np.int64))
    batch = starmine.Batch(games.variant, len(games), dtype="bits", num_threads=1, seed=0)
    buffers = batch.reset(decks=games.decks, start_players=games.start_players)
    obs, action_mask = buffers["obs"], buffers["action_mask"]
    ended = [batch.step(row)["terminated"] for row in actions]
    assert np.array_equal(np.flatnonzero(np.any(ended, axis=1)), [len(actions) - 1])  # the games are the recorded ones

    def measure(seconds: float) -> float:
        turns, elapsed = 0, 0.0
        while elapsed < seconds or turns < passes * actions.size:
            batch.reset_into(decks=games.decks, start_players=games.start_players, obs=obs, action_mask=action_mask)
            start = time.perf_counter()
            for row in actions:
                batch.step_into(row, obs=obs, action_mask=action_mask)
            elapsed += time.perf_counter() - start
            turns += actions.size
        return turns / elapsed

    return measure


def replayed(games: Games, rows: int) -> Measure:
    """Turns per second of a replay of games in memory."""
    replay = ReplaySettings.of(["obs", "action_mask"], dtype="bits", num_threads=1)

    def pieces() -> Iterator[int]:
        for piece in replay.pieces(games, rows):
            yield len(piece["action_mask"])

    return whole_passes(pieces)


def whole_passes(pieces: Callable[[], Iterable[int]]) -> Measure:
    """A measure that makes all pieces, given as their sizes, again and again until the time is up."""

    def measure(seconds: float) -> float:
        count, start = 0, time.perf_counter()
        while True:
            count += sum(pieces())
            if (elapsed := time.perf_counter() - start) >= seconds:
                return count / elapsed

    return measure


def replay_table(rows: Sequence[Row]) -> str:
    """A line for each number of players and rows, and for what plays them."""
    by_key = {(row.players, row.games, row.more["kind"]): row for row in rows}
    lines = []
    for (players, games, kind), row in by_key.items():
        if kind.startswith(("step_into", "replay")):
            base = by_key[players, games, "step_into"]
            share = "" if row is base else f"{row.median / base.median:.2f}"
            lines.append((row.what, players, f"{games:,}", f"{row.median:,.0f}", spread(row), share))
    return markdown(("what", "players", "rows", "turns/s (median)", "spread", "of `step_into`"), lines)


# --- Reading ----------------------------------------------------------------------------------------------


def reading_cases(folder: Path, games: int) -> Iterator[Case]:
    """What reads the same games: from their decks and actions, and from rows."""
    print(f"writing {games} games and their rows", flush=True)
    starmine.data.generate([BOT, BOT], games, folder / "games", progress=False)
    data = Dataset(folder / "games")
    size = sum(file.stat().st_size for file in (folder / "games").glob("*.parquet")) / data.turns

    def shuffled(**settings: Any) -> Measure:
        reader = GamesDataset(data, MINIBATCH, dtype="bits", **settings)
        return whole_passes(lambda: map(rows_in, reader))

    def in_order(**settings: Any) -> Measure:
        return whole_passes(lambda: map(rows_in, data.replay(dtype="bits", num_threads=1, **settings)))

    for what, measure in (
        ("`GamesDataset`", shuffled(outputs=OUTPUTS)),
        ("`GamesDataset`, its eight outputs", shuffled()),
        ("`GamesDataset`, `permute_colors=True`", shuffled(outputs=OUTPUTS, permute_colors=True)),
        ("`Dataset.replay`, not shuffled", in_order(outputs=OUTPUTS)),
        ("`Dataset.replay(1024)`, not shuffled", in_order(batch_size=1024, outputs=OUTPUTS)),
    ):
        yield Case(what, 2, measure, games, "bits", more={"kind": "read", "stored": size})
    for peer in (ParquetRows(data, folder), MemoryMaps(data, folder)):
        stored = {"kind": "read", "stored": peer.bytes / peer.turns}
        yield Case(peer.name, 2, read_rows(peer), peer.games, "bits", more=stored)


def rows_in(piece: dict[str, Any]) -> int:
    """The number of rows of a minibatch."""
    return len(piece["action"])


def read_rows(peer: Any) -> Measure:
    """Turns per second of whole passes through rows."""
    return whole_passes(lambda: map(rows_in, peer.minibatches(0)))


def reading_table(rows: Sequence[Row]) -> str:
    """A line for each reader."""
    found = [row for row in rows if row.more["kind"] == "read"]
    lines = [
        (row.what, f"{row.games:,}", f"{row.median:,.0f}", spread(row), f"{row.more['stored']:.1f}",
         f"{found[0].median / row.median:.1f} x")
        for row in found
    ]  # fmt: skip
    heads = ("what", "games", "turns/s (median)", "spread", "bytes a turn on disk", "`GamesDataset` beside it")
    return markdown(heads, lines)


# --- Everything -------------------------------------------------------------------------------------------


def measured(wanted: Effort) -> list[Row]:
    """All rows, of each table in one run."""
    rows = run(list(generation_cases(4096 if wanted.quick else GENERATED)), wanted)
    for players in PLAYERS:
        for count in ROWS[:1] if wanted.quick else ROWS:
            rows += run(list(replay_cases(players, count)), wanted)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        cases = list(reading_cases(Path(folder), 8192 if wanted.quick else STORED))
        with pinned_to_one_core():
            rows += run(cases, wanted)
    return rows


def sections(rows: Sequence[Row]) -> list[str]:
    """The tables, each below what it shows."""
    return [
        f"Generating: two players, `{BOT}` at both seats; into a new folder, with checksums and flushed to the disk.",
        generation_table(rows),
        f"Replaying: packed observations and action masks, one thread, games of `{BOT}`. `step_into` plays the "
        "recorded actions from the recorded decks; its games have the same length, which is the most frequent one. "
        "`replay` plays the same games, and games of all lengths.",
        replay_table(rows),
        f"Reading: all turns once, {', '.join(OUTPUTS)} as tensors, packed, minibatches of {MINIBATCH:,} rows, one "
        "core, files in the page cache. `GamesDataset` shuffles as its documentation says; Parquet's rows are "
        f"permuted in memory, {stored_rows.MIXED * stored_rows.ROW_GROUP:,} at a time; of the memory maps any rows are "
        "taken.",
        reading_table(rows),
    ]


@dataclass
class Args(BenchmarkArgs):
    """The command line."""

    rounds: int = 5
    seconds: float = 2.0
    billion: bool = False
    """generate, verify and read a billion turns instead"""
    turns: int = 10**9
    """of --billion"""


def main() -> None:
    """Measure, print the tables and write them."""
    given = tyro.cli(Args, description=__doc__)
    wanted = given.effort
    if given.billion:
        billion.measure(given.turns, wanted)
        return
    rows = measured(wanted)
    write("data", wanted, facts(wanted), sections(rows), rows)


if __name__ == "__main__":
    main()
