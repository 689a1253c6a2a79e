"""Steps per second of starmine beside its peers, all in turn in the same run.

One step is one player's turn, with the acting player's observation and the legal actions of the next.
Starmine replays recorded, uniformly random legal actions; the peers choose theirs as they play, which
costs them less than a hundredth of their time. Each figure is the median over the rounds.

    python benchmarks/compare.py --rounds 5
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import starmine

SECONDS = 1.0
DTYPES = ("float32", "float16", "uint8", "bits")
FOLDER = Path(__file__).parent / "results"

Measure = Callable[[], float]


def recorded_actions(variant: starmine.Variant, games: int, steps: int) -> list[NDArray[np.int64]]:
    """Uniformly random legal actions of a batch seeded with 0."""
    batch = starmine.Batch(variant, games, seed=0)
    generator = np.random.default_rng(0)
    buffers = batch.reset(seed=0)
    actions = []
    for _ in range(steps):
        mask = buffers["action_mask"]
        actions.append((generator.random(mask.shape) * mask).argmax(axis=1))
        batch.step_into(actions[-1], **buffers)
    return actions


def replay(make: Callable[[], Callable[[Any], Any]], actions: list[NDArray[np.int64]]) -> Measure:
    """The measure of a stepper that replays the actions from the start until the time is up."""

    def measure() -> float:
        steps, elapsed = 0, 0.0
        while elapsed < SECONDS:
            step = make()
            start = time.perf_counter()
            for row in actions:
                step(row)
            elapsed += time.perf_counter() - start
            steps += sum(map(len, actions))
        return steps / elapsed

    return measure


def starmine_measures(players: int, games: int) -> Iterator[tuple[str, Measure]]:
    """Ours: the vector environment, and the core with the caller's buffers."""
    variant = starmine.Variant(players=players)
    actions = recorded_actions(variant, games, 100)

    def environment() -> Callable[[Any], Any]:
        env = starmine.HanabiVectorEnv(games, variant, num_threads=1, seed=0)
        env.reset(seed=0)
        return env.step

    yield "starmine HanabiVectorEnv.step, float32", replay(environment, actions)
    for dtype in DTYPES:

        def stepper(dtype: str = dtype) -> Callable[[Any], Any]:
            batch = starmine.Batch(variant, games, dtype=dtype, num_threads=1, seed=0)
            buffers = batch.reset(seed=0)
            return lambda row: batch.step_into(row, **buffers)

        yield f"starmine Batch.step_into, {dtype}", replay(stepper, actions)


def play_hle(players: int) -> Measure:
    """HLE through its own Python environment, which encodes every player."""
    from hanabi_learning_environment import rl_env

    env = rl_env.make("Hanabi-Full", players)

    def measure() -> float:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < SECONDS:
            observations, done = env.reset(), False
            while not done:
                seat = observations["current_player"]
                legal = observations["player_observations"][seat]["legal_moves_as_int"]
                observations, _, done, _ = env.step(random.choice(legal))
                steps += 1
        return steps / (time.perf_counter() - start)

    return measure


def play_open_spiel(players: int) -> Measure:
    """HLE through OpenSpiel's C++ binding, encoding the player to act."""
    import pyspiel

    game = pyspiel.load_game("hanabi", {"players": players})

    def measure() -> float:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < SECONDS:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(random.choices(outcomes, chances)[0])
                    continue
                state.observation_tensor(state.current_player())
                state.apply_action(random.choice(state.legal_actions()))
                steps += 1
        return steps / (time.perf_counter() - start)

    return measure


def peer_measures(players: int) -> Iterator[tuple[str, Measure]]:
    """Every peer that is installed."""
    if find_spec("hanabi_learning_environment"):
        release = metadata.version("hanabi-learning-environment")
        yield f"HLE {release}, Python rl_env", play_hle(players)
    if find_spec("pyspiel"):
        yield f"OpenSpiel {metadata.version('open-spiel')}, Python", play_open_spiel(players)


def machine() -> str:
    """The processor, with the vector instructions that matter."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text() if cpuinfo.exists() else ""
    name = next((line.split(":")[1].strip() for line in text.splitlines() if "model name" in line), "")
    flags = next((line.split() for line in text.splitlines() if line.startswith("flags")), [])
    vectors = [flag for flag in ("avx2", "avx512f") if flag in flags]
    return f"{name or platform.processor() or platform.machine()} ({', '.join(vectors) or 'no AVX2'})"


def facts(games: int, rounds: int) -> dict[str, Any]:
    """What a table must say about its run."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "python": platform.python_version(),
        "starmine": starmine.__version__,
        "games": games,
        "threads": 1,
        "rounds": rounds,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = ["| players | what | steps/s (median) | spread | beside HLE Python |", "|---|---|---|---|---|"]
    for row in rows:
        ratio = "" if row["ratio"] is None else f"{row['ratio']:,.0f} x"
        spread = f"{row['lowest']:,.0f} to {row['highest']:,.0f}"
        lines.append(f"| {row['players']} | {row['what']} | {row['median']:,.0f} | {spread} | {ratio} |")
    return "\n".join(lines)


def run(rounds: int, games: int) -> list[dict[str, Any]]:
    """All figures, each measured once in every round."""
    rows = []
    for players in (2, 5):
        measures = [*starmine_measures(players, games), *peer_measures(players)]
        figures: dict[str, list[float]] = {name: [] for name, _ in measures}
        for number in range(rounds):
            for name, measure in measures:
                print(f"{players} players, round {number + 1} of {rounds}: {name}", flush=True)
                figures[name].append(measure())
        medians = {name: statistics.median(values) for name, values in figures.items()}
        hle = next((median for name, median in medians.items() if name.startswith("HLE")), None)
        for name, values in figures.items():
            row: dict[str, Any] = {"players": players, "what": name, "median": medians[name]}
            row |= {"lowest": min(values), "highest": max(values)}
            row["ratio"] = medians[name] / hle if hle else None
            rows.append(row)
    return rows


def main() -> None:
    """Measure, print the table and write it as Markdown and JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, default=1024)
    arguments = parser.parse_args()
    rows = run(arguments.rounds, arguments.games)
    about = facts(arguments.games, arguments.rounds)
    heading = ", ".join(f"{key} {value}" for key, value in about.items())
    text = f"{heading}\n\n{table(rows)}\n"
    print("\n" + text)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "compare.md").write_text(text)
    (FOLDER / "compare.json").write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")
    print(f"written to {FOLDER / 'compare.md'} and {FOLDER / 'compare.json'}")


if __name__ == "__main__":
    main()
