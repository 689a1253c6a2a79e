"""The other Hanabi environments, stepped as their documentation does, with uniformly random legal actions."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from measuring import Case, Measure, pinned_to_one_core

JAXMARL_WORKER = Path(__file__).with_name("jaxmarl_worker.py")
HLE_LOOP = Path(__file__).with_name("hle_loop.cc")
HLE_PYTHON, HLE_CPP = "HLE's Python rl_env", "HLE's C++ library"
# The name of the game in OpenSpiel.
HLE_SOURCES = "hanabi/hanabi-learning-environment/hanabi_learning_environment"


def play_rl_env(rl_env: Any, players: int) -> Measure:
    """HLE's Python environment, or `starmine.hle`'s in its place."""
    env = rl_env.make("Hanabi-Full", players)

    def measure(seconds: float) -> float:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            observations, done = env.reset(), False
            while not done:
                seat = observations["current_player"]
                legal = observations["player_observations"][seat]["legal_moves_as_int"]
                observations, _, done, _ = env.step(random.choice(legal))
                steps += 1
        return steps / (time.perf_counter() - start)

    return measure


def play_hle(players: int) -> Measure:
    """HLE through its own Python environment, which encodes every player."""
    from hanabi_learning_environment import rl_env

    return play_rl_env(rl_env, players)


def play_open_spiel(players: int) -> Measure:
    """HLE through OpenSpiel's C++ binding, encoding the player to act."""
    import pyspiel

    game = pyspiel.load_game("hanabi", {"players": players})

    def measure(seconds: float) -> float:
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
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


def asking(command: Sequence[str]) -> tuple[Callable[[], str], Measure]:
    """Starts a process that answers each line, a number of seconds, with its steps per second.

    Returns a function that reads its next line, and the measure.
    """
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert worker.stdin
    assert worker.stdout
    requests, answers = worker.stdin, worker.stdout

    def measure(seconds: float) -> float:
        print(seconds, file=requests, flush=True)
        return float(answers.readline())

    return lambda: answers.readline().strip(), measure


@cache
def built_hle_loop() -> str | None:
    """The program of `hle_loop.cc` with OpenSpiel's copy of HLE's library; None where it cannot be compiled."""
    package, compiler = find_spec("open_spiel"), os.environ.get("CXX", "c++")
    sources = Path(package.origin or "").with_name("games") / HLE_SOURCES if package else Path()
    library = sorted(sources.glob("hanabi_lib/*.cc")) if package else []
    if not library or not shutil.which(compiler):
        print(f"{HLE_CPP} is left out: it needs OpenSpiel, which has its sources, and a C++ compiler", flush=True)
        return None
    folder = Path(tempfile.mkdtemp(prefix="starmine-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = str(folder / "hle_loop")
    flags = ["-std=c++17", "-O3", "-DNDEBUG", "-I", str(sources), "-o", program]
    print(f"compiling {HLE_CPP}", flush=True)
    done = subprocess.run([compiler, *flags, str(HLE_LOOP), *map(str, library)], capture_output=True, text=True)
    if done.returncode:
        print(f"{HLE_CPP} is left out: {done.stderr.strip()[-200:]}", flush=True)
        return None
    return program


def hle_cpp_cases(players: int) -> Iterator[Case]:
    """HLE's C++ library without Python, in another process."""
    if program := built_hle_loop():
        with pinned_to_one_core():
            _, measure = asking([program, str(players)])
        yield Case(HLE_CPP, players, measure)


def jaxmarl_case(python: Path, players: int, games: int, one_core: bool) -> Case | None:
    """JaxMARL in another process, on one core or on all of them; None where it does not start."""
    with pinned_to_one_core() if one_core else nullcontext():
        next_line, measure = asking([str(python), str(JAXMARL_WORKER), str(players), str(games)])
    print(f"{players} players: compiling JaxMARL's step", flush=True)
    release = next_line()
    if not release:
        print("JaxMARL is left out: its process ended", flush=True)
        return None
    threads = 1 if one_core else os.cpu_count() or 1
    name = f"JaxMARL {release}, JAX on {'one core' if one_core else 'all cores'}"
    return Case(name, players, measure, games, "float32", threads)


def jaxmarl_cases(python: Path | None, players: int, games: int) -> Iterator[Case]:
    """JaxMARL on one core, where a process can be pinned, and on all cores, which is JAX's default."""
    if python is None and find_spec("jaxmarl"):
        python = Path(sys.executable)
    if python is None or not python.exists():
        print("JaxMARL is left out: it is not installed", flush=True)
        return
    for one_core in (True, False) if hasattr(os, "sched_setaffinity") else (False,):
        if case := jaxmarl_case(python, players, games, one_core):
            yield case


def peer_cases(players: int, games: int, jaxmarl_python: Path | None) -> Iterator[Case]:
    """Every peer that is installed."""
    if find_spec("hanabi_learning_environment"):
        release = metadata.version("hanabi-learning-environment")
        yield Case(HLE_PYTHON, players, play_hle(players), more={"release": release})
    else:
        print("HLE is left out: it is not installed", flush=True)
    if find_spec("pyspiel"):
        yield Case(f"OpenSpiel {metadata.version('open-spiel')}, Python", players, play_open_spiel(players))
    else:
        print("OpenSpiel is left out: it is not installed", flush=True)
    yield from hle_cpp_cases(players)
    yield from jaxmarl_cases(jaxmarl_python, players, games)
