"""`starmine speed`: how fast this machine plays."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Any, TypeAlias

from tyro.conf import arg

from starmine._core import Batch, StarmineError, Variant, _extra_outputs
from starmine._util.numbers import is_number
from starmine.cli.options import Command, Integer
from starmine.envs.vector import HanabiVectorEnv
from starmine.games.play import play_games

GAMES, STEPS, SEED = 1024, 64, 1  # of the recorded random play
DTYPES = ("float32", "float16", "uint8", "bits")
GAMES_AT_ONCE = 64  # of `play_games`

# Does something once, and returns the number of turns, rows or games and the seconds that count.
Round: TypeAlias = Callable[[], tuple[int, float]]


@dataclass(kw_only=True)
class Speed(Command):
    """Measure the speed of this machine, in about fifteen seconds.

    Recorded random legal actions are replayed, on one thread, in 1,024 games at once. Other programs that use the
    processor make the numbers smaller. Where HLE is installed, turns are compared with those of its Python environment;
    the README compares with its C++ library, which is faster.
    """

    name = "speed"

    players: Annotated[Integer, arg(help="seats, 2 to 5")] = 2
    seconds: Annotated[float, arg(metavar="S", help="seconds of all measures together")] = 10.0

    def run(self) -> int:
        """Measure, print a line for each measure, and return the exit status."""
        if not is_number(self.seconds, 0):
            raise StarmineError(f"seconds={self.seconds} is not allowed: expected a number of at least 0")
        variant = Variant(players=self.players)
        rounds = [
            *hle_rounds(self.players),
            *step_rounds(variant),
            *game_rounds(self.players),
            *feature_rounds(variant),
        ]
        of_hle = None
        compared = "x HLE's Python" if find_spec("hanabi_learning_environment") else ""
        print(f"{f'one thread, {self.players} players':<40}{'rate':>12}{'':<11}{compared}".rstrip(), flush=True)
        for what, unit, play in rounds:
            rate = measured(play, self.seconds / len(rounds))
            of_hle = rate if what.startswith("HLE") else of_hle
            times = f"{rate / of_hle:16,.1f}" if of_hle and unit == "turns/s" else ""
            print(f"{what:<40}{rate:>12,.0f} {unit:<8}{times}".rstrip(), flush=True)
        if of_hle is None:
            print("without HLE: pip install hanabi-learning-environment adds the ratio")
        if find_spec("torch") is None:
            print("without ColorFeatures: they need PyTorch: install starmine with the extra torch")
        return 0


def measured(play: Round, seconds: float) -> float:
    """The rate of as many rounds as fit into these seconds, at least one, after a first one that is not counted."""
    began = time.perf_counter()
    play()
    number, counted = 0, 0.0
    while not number or time.perf_counter() - began < seconds:
        more, spent = play()
        number, counted = number + more, counted + spent
    return number / max(counted, 1e-9)


def step_rounds(variant: Variant) -> Iterator[tuple[str, str, Round]]:
    """Steps of an environment, and of batches with each dtype and each extra output."""
    env = HanabiVectorEnv(GAMES, variant, num_threads=1)
    _, info = env.reset(seed=SEED)
    env.action_space.seed(SEED)
    recorded = []
    for _ in range(STEPS):
        recorded.append(env.action_space.sample(info["action_mask"]))
        info = env.step(recorded[-1])[-1]

    def replay(reset: Callable[[], Any], step: Callable[[Any], Any]) -> tuple[int, float]:
        reset()
        began = time.perf_counter()
        for actions in recorded:
            step(actions)
        return STEPS * GAMES, time.perf_counter() - began

    yield "HanabiVectorEnv.step, float32", "turns/s", lambda: replay(lambda: env.reset(seed=SEED), env.step)
    for dtype, extra in [*((dtype, ()) for dtype in DTYPES), *(("bits", (name,)) for name in _extra_outputs())]:
        batch = Batch(variant, GAMES, dtype=dtype, extra_outputs=extra, num_threads=1)
        arrays = batch.allocate()
        yield (
            f"Batch.step_into, {', '.join([dtype, *extra])}",
            "turns/s",
            lambda batch=batch, arrays=arrays: replay(  # type: ignore[misc]
                lambda: batch.reset(SEED), lambda actions: batch.step_into(actions, **arrays)
            ),
        )


def feature_rounds(variant: Variant) -> Iterator[tuple[str, str, Round]]:
    """The features by colour of observations, where PyTorch is installed."""
    if find_spec("torch") is None:
        return
    bits = Batch(variant, GAMES, dtype="bits", seed=SEED).observe()["obs"]

    @cache
    def color_features() -> Any:
        import torch  # takes seconds, so only when this measure begins

        from starmine.torch import ColorFeatures

        torch.set_num_threads(1)
        return ColorFeatures(variant)

    def read() -> tuple[int, float]:
        features = color_features()
        began = time.perf_counter()
        features.read(bits)
        return GAMES, time.perf_counter() - began

    yield "ColorFeatures.read", "rows/s", read


def game_rounds(players: int) -> Iterator[tuple[str, str, Round]]:
    """Whole games of a bot and of the shipped policies."""
    for name in ("smart", f"ippo-{players}p-small", f"ippo-{players}p"):

        def play(name: str = name) -> tuple[int, float]:
            began = time.perf_counter()
            play_games([name] * players, GAMES_AT_ONCE, num_threads=1)
            return GAMES_AT_ONCE, time.perf_counter() - began

        yield f"play_games, {name}", "games/s", play


def hle_rounds(players: int) -> Iterator[tuple[str, str, Round]]:
    """Random play in HLE's Python environment, which encodes the observations of all seats, where it is installed."""
    if find_spec("hanabi_learning_environment") is None:
        return
    from hanabi_learning_environment import rl_env

    env, draws = rl_env.make("Hanabi-Full", players), random.Random(SEED)

    def play() -> tuple[int, float]:
        began, turns, done = time.perf_counter(), 0, False
        observations = env.reset()
        while not done:
            seen = observations["player_observations"][observations["current_player"]]
            observations, _, done, _ = env.step(draws.choice(seen["legal_moves_as_int"]))
            turns += 1
        return turns, time.perf_counter() - began

    yield "HLE's Python environment", "turns/s", play
