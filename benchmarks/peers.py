"""The other Hanabi environments, each as its own documentation steps it, with uniformly random legal actions."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from measuring import Case, Measure

WORKER = Path(__file__).with_name("jaxmarl_worker.py")


def play_hle(players: int) -> Measure:
    """HLE through its own Python environment, which encodes every player."""
    from hanabi_learning_environment import rl_env

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


def jaxmarl_case(python: Path, players: int, games: int, cores: int) -> Case | None:
    """JaxMARL in a process of its own, on so many cores or on all of them (0); None where it does not start."""
    arguments = [str(python), str(WORKER), str(players), str(games), str(cores)]
    worker = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert worker.stdin
    assert worker.stdout
    requests, answers = worker.stdin, worker.stdout
    print(f"{players} players: compiling JaxMARL's step", flush=True)
    release = answers.readline().strip()
    if not release:
        print("JaxMARL is left out: its process ended", flush=True)
        return None

    def measure(seconds: float) -> float:
        print(seconds, file=requests, flush=True)
        return float(answers.readline())

    threads = cores or os.cpu_count() or 1
    name = f"JaxMARL {release}, JAX on {'one core' if cores == 1 else 'all cores'}"
    return Case(name, players, measure, games, "float32", threads)


def jaxmarl_cases(python: Path | None, players: int, games: int) -> Iterator[Case]:
    """JaxMARL on one core, where a process can be held to one, and on all cores, as JAX takes them by itself."""
    if python is None and find_spec("jaxmarl"):
        python = Path(sys.executable)
    if python is None or not python.exists():
        print("JaxMARL is left out: it is not installed", flush=True)
        return
    for cores in (1, 0) if hasattr(os, "sched_setaffinity") else (0,):
        if case := jaxmarl_case(python, players, games, cores):
            yield case


def peer_cases(players: int, games: int, jaxmarl_python: Path | None) -> Iterator[Case]:
    """Every peer that is installed."""
    if find_spec("hanabi_learning_environment"):
        release = metadata.version("hanabi-learning-environment")
        yield Case(f"HLE {release}, Python rl_env", players, play_hle(players))
    else:
        print("HLE is left out: it is not installed", flush=True)
    if find_spec("pyspiel"):
        yield Case(f"OpenSpiel {metadata.version('open-spiel')}, Python", players, play_open_spiel(players))
    else:
        print("OpenSpiel is left out: it is not installed", flush=True)
    yield from jaxmarl_cases(jaxmarl_python, players, games)
