"""Games per second of the bots in self-play on one thread, beside their originals where available.

The originals are built from copies of their repositories, in folders named as these are: `Hanabi` (Quuxplusone, with
make and a C++ compiler) and `hanabi.rs` (WuTheFWasThat, with cargo). What they take to start is in their time.

    python benchmarks/bots.py --originals ~/originals
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from measuring import (
    BenchmarkArgs,
    Case,
    Measure,
    Row,
    facts,
    instruction_sets,
    markdown,
    run,
    spread,
    write,
)

import starmine
from starmine.policies.load import load_own

PLAYERS = (2, 3, 4, 5)
QUUX = {"simple": "SimpleBot", "value": "ValueBot", "holmes": "HolmesBot", "smart": "SmartBot"}
HANABI_RS = {"information": "info", "cheater": "cheat"}
PARTNERS = ("piers", "smart", "information", "ippo-2p-small")
# Towers of 96 and 192 units, trunks of 256 and 512.
POLICIES = ("ippo-2p-small", "ippo-2p")
GAMES = 1024
# The command of an original for a number of games and players.
Original = Callable[[int, int], list[str]]


def per_second(play: Callable[[int], object]) -> Measure:
    """A measure of games per second, from calls of `play` with a number of games for about the wanted time."""

    def measure(seconds: float) -> float:
        count = 50
        while True:
            start = time.perf_counter()
            play(count)
            took = time.perf_counter() - start
            if took >= seconds / 2:
                return count / took
            count = int(count * min(10, max(2, seconds / took)))

    return measure


def ours(name: str, players: int) -> Measure:
    """A bot of starmine in every seat."""
    return per_second(lambda count: starmine.play_games([name] * players, games=count, num_threads=1))


def theirs(command: Original, players: int) -> Measure:
    """An original, in another process."""
    return per_second(lambda count: subprocess.run(command(count, players), check=True, capture_output=True))


def originals(folder: Path | None) -> Iterator[tuple[str, Original]]:
    """The originals that can be built, with their names."""
    quux, rust = (None, None) if folder is None else (folder / "Hanabi", folder / "hanabi.rs")
    for name, bot in QUUX.items():
        if quux and build(["make", "FAST=1", f"run_{bot}"], quux, quux / f"run_{bot}"):
            program = str(quux / f"run_{bot}")
            yield (
                name,
                lambda games, players, program=program: [  # type: ignore[misc]
                    *(program, "--quiet", "--players", str(players)),
                    *("--seed", "1", "--games", str(games), "--every", str(games)),
                ],
            )
    if rust and build(["cargo", "build", "--release"], rust, rust / "target" / "release" / "rust_hanabi"):
        program = str(rust / "target" / "release" / "rust_hanabi")
        for name, strategy in HANABI_RS.items():
            yield (
                name,
                lambda games, players, strategy=strategy, program=program: [  # type: ignore[misc]
                    *(program, "-n", str(games), "-p", str(players), "-g", strategy, "-t", "1", "-s", "0"),
                ],
            )


def build(command: list[str], folder: Path, program: Path) -> bool:
    """Whether an original exists and was built."""
    if not folder.is_dir():
        print(f"{folder} is left out: it is not there", flush=True)
        return False
    environment = {key: value for key, value in os.environ.items() if key != "CARGO_TARGET_DIR"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if not program.exists():
        print(f"{folder} is left out: {done.stderr.strip()[-200:]}", flush=True)
    return program.exists()


def plays(name: str, players: int) -> bool:
    """Whether a bot supports this number of players."""
    try:
        starmine.play_games([name] * players, games=1)
    except starmine.VariantError:
        return False
    return True


def beside(partner: str) -> Measure:
    """Steps per second of an environment with this partner, whose learner plays the first legal action."""
    env = starmine.HanabiVectorEnv(GAMES, partners={1: partner}, num_threads=1)
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    now = [info["action_mask"]]

    def measure(seconds: float) -> float:
        steps, stepping = 0, 0.0
        while stepping < seconds:
            actions = (rng.random(now[0].shape, dtype=np.float32) * now[0]).argmax(axis=1)
            start = time.perf_counter()
            _, _, _, _, info = env.step(actions)
            stepping += time.perf_counter() - start
            now[0] = info["action_mask"]
            steps += GAMES
        return steps / stepping

    return measure


def moves(name: str, simd: str) -> Measure:
    """Moves per second of a trained policy in both seats, in games that are played side by side."""

    def measure(seconds: float) -> float:
        os.environ["STARMINE_SIMD"] = simd
        games, start = 0, time.perf_counter()
        found = 0
        while time.perf_counter() - start < seconds:
            found += int(starmine.play_games([name] * 2, games=256, seed=games, num_threads=1).lengths.sum())
            games += 1
        took = time.perf_counter() - start
        del os.environ["STARMINE_SIMD"]
        return found / took

    return measure


def torch_moves(name: str) -> Measure:
    """Evaluations per second of the same network in PyTorch, float32, for as many observations at a time; no games."""
    import torch

    torch.set_num_threads(1)
    network = load_own(name).network()
    env = starmine.HanabiVectorEnv(GAMES, dtype="bits", num_threads=1)
    bits, info = env.reset(seed=0)
    mask = torch.from_numpy(np.asarray(info["action_mask"]))

    def measure(seconds: float) -> float:
        rounds, start = 0, time.perf_counter()
        with torch.no_grad():
            while time.perf_counter() - start < seconds:
                network(network.read(bits), mask)
                rounds += 1
        return rounds * GAMES / (time.perf_counter() - start)

    return measure


def policy_cases(name: str) -> Iterator[Case]:
    """A trained policy with each instruction set, and in PyTorch."""
    for simd in instruction_sets():
        yield Case(f"{name}, {simd}", 2, moves(name, simd), more={"policy": name})
    with suppress(ImportError):
        yield Case(f"{name}, PyTorch", 2, torch_moves(name), more={"policy": name})


def policies_table(rows: Sequence[Row]) -> str:
    """A line for each instruction set, and for PyTorch."""
    lines = [(row.what, f"{row.median:,.0f}", spread(row)) for row in rows if "policy" in row.more]
    return markdown(("policy", "moves/s (median)", "spread"), lines)


def cases(players: int, found: Sequence[tuple[str, Original]]) -> Iterator[Case]:
    """Every bot, followed by its original."""
    known = dict(found)
    for name in filter(lambda name: plays(name, players), starmine.bots()):
        yield Case(name, players, ours(name, players), more={"bot": name, "original": False})
        if name in known:
            yield Case(f"{name}, original", players, theirs(known[name], players), more={"bot": name, "original": True})


def games_table(rows: Sequence[Row]) -> str:
    """A line for each bot and number of players."""
    original = {(row.players, row.more["bot"]): row for row in rows if row.more.get("original")}
    lines = []
    for row in (row for row in rows if row.more.get("original") is False):
        line = [row.more["bot"], row.players, f"{row.median:,.0f}", spread(row)]
        other = original.get((row.players, row.more["bot"]))
        line += [f"{other.median:,.0f}", f"{row.median / other.median:.1f} x"] if other else ["", ""]
        lines.append(line)
    lines.sort(key=lambda line: starmine.bots().index(str(line[0])))
    heads = ("bot", "players", "games/s (median)", "spread", "original, games/s", "beside it")
    return markdown(heads, lines)


def partners_table(rows: Sequence[Row]) -> str:
    """A line for each partner."""
    lines = [(row.what, row.players, f"{row.median:,.0f}", spread(row)) for row in rows if "partner" in row.more]
    return markdown(("partner in seat 1", "players", "steps/s (median)", "spread"), lines)


@dataclass
class Args(BenchmarkArgs):
    """The command line."""

    seconds: float = 0.5
    originals: Path | None = None
    """the folder with the originals' repositories"""


def main() -> None:
    """Measure, print the tables and write them."""
    given = tyro.cli(Args, description=__doc__)
    wanted = given.effort
    found = list(originals(given.originals))
    partners = [Case(name, 2, beside(name), GAMES, more={"partner": name}) for name in PARTNERS]
    policies = [case for name in POLICIES for case in policy_cases(name)]
    rows = run([case for players in PLAYERS for case in cases(players, found)] + partners + policies, wanted)
    sections = [
        "Games per second in self-play, one thread:",
        games_table(rows),
        f"`HanabiVectorEnv.step` with a partner, {GAMES:,} games, float32, one thread. A step is a turn of the "
        "learner, who plays any legal action, and the partner's turn after it.",
        partners_table(rows),
        "Moves per second of trained policies in both seats of `play_games` with each instruction set, one thread; and "
        f"evaluations per second of their networks in PyTorch, {GAMES:,} observations at a time, without games.",
        policies_table(rows),
    ]
    write("bots", wanted, facts(wanted), sections, rows)


if __name__ == "__main__":
    main()
