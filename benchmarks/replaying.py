"""Starmine's steps with recorded, uniformly random legal actions, so that choosing costs nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from measuring import Measure
from numpy.typing import NDArray

import starmine

SIMD_VARIABLE = "STARMINE_SIMD"

Actions = Sequence[NDArray[np.int64]]
Step = Callable[[NDArray[np.int64]], object]


@dataclass(frozen=True)
class Recording:
    """Actions of a batch with seed 0: those up to the start, and those that are measured."""

    variant: starmine.Variant
    games: int
    lead: Actions
    actions: Actions


def record(variant: starmine.Variant, games: int, steps: int, lead: int = 0) -> Recording:
    """Plays uniformly random legal actions.

    A lead of some dozens of turns starts the measure with games of all ages, as a long run has them.
    """
    batch = starmine.Batch(variant, games, dtype="bits", seed=0)
    generator = np.random.default_rng(0)
    buffers = batch.reset(seed=0)
    actions = []
    for _ in range(lead + steps):
        mask = buffers["action_mask"]
        actions.append((generator.random(mask.shape, dtype=np.float32) * mask).argmax(axis=1))
        batch.step_into(actions[-1], **buffers)
    return Recording(variant, games, actions[:lead], actions[lead:])


@contextmanager
def instruction_set(name: str | None) -> Iterator[None]:
    """Selects the instruction set of batches that are made in the context; None selects the default."""
    before = os.environ.get(SIMD_VARIABLE)
    if name is not None:
        os.environ[SIMD_VARIABLE] = name
    try:
        yield
    finally:
        if name is not None and before is None:
            del os.environ[SIMD_VARIABLE]
        elif before is not None:
            os.environ[SIMD_VARIABLE] = before


def replay(make: Callable[[], Step], actions: Actions) -> Measure:
    """A measure that replays the actions with a stepper, again and again, until the time is up."""
    steps = sum(map(len, actions))

    def measure(seconds: float) -> float:
        rounds, elapsed = 0, 0.0
        while elapsed < seconds:
            step = make()
            start = time.perf_counter()
            for row in actions:
                step(row)
            elapsed += time.perf_counter() - start
            rounds += 1
        return rounds * steps / elapsed

    return measure


def batch_measure(
    recording: Recording, simd: str | None = None, only_observations: bool = False, **options: Any
) -> Measure:
    """`Batch.step_into` with reused arrays: all outputs, or only `obs` and `action_mask`."""
    with instruction_set(simd):
        first = starmine.Batch(recording.variant, recording.games, seed=0, **options)
    buffers = first.reset(seed=0)
    for row in recording.lead:
        first.step_into(row, **buffers)

    names_buffers = with_observations if only_observations else with_keywords
    if options.get("extra_outputs"):
        names_buffers = with_extra_outputs

    def make() -> Step:
        with instruction_set(simd):
            return names_buffers(first.copy().step_into, buffers)

    return replay(make, recording.actions)


def with_keywords(step_into: Callable[..., None], buffers: dict[str, Any]) -> Step:
    """A step whose call names each buffer, which is faster than unpacking a dictionary."""
    obs, action_mask = buffers["obs"], buffers["action_mask"]
    reward, terminated, truncated = buffers["reward"], buffers["terminated"], buffers["truncated"]
    current_player, score = buffers["current_player"], buffers["score"]
    final_score, final_length = buffers["final_score"], buffers["final_length"]
    final_ending, illegal_action = buffers["final_ending"], buffers["illegal_action"]

    def step(actions: NDArray[np.int64]) -> None:
        step_into(
            actions,
            obs=obs,
            action_mask=action_mask,
            reward=reward,
            terminated=terminated,
            truncated=truncated,
            current_player=current_player,
            score=score,
            final_score=final_score,
            final_length=final_length,
            final_ending=final_ending,
            illegal_action=illegal_action,
        )

    return step


def with_extra_outputs(step_into: Callable[..., None], buffers: dict[str, Any]) -> Step:
    """A step that writes all outputs and the extra ones."""

    def step(actions: NDArray[np.int64]) -> None:
        step_into(actions, **buffers)

    return step


def with_observations(step_into: Callable[..., None], buffers: dict[str, Any]) -> Step:
    """A step that writes the observations and legal actions only."""
    obs, action_mask = buffers["obs"], buffers["action_mask"]

    def step(actions: NDArray[np.int64]) -> None:
        step_into(actions, obs=obs, action_mask=action_mask)

    return step


def environment_measure(recording: Recording) -> Measure:
    """`HanabiVectorEnv.step`, which returns new arrays."""

    def make() -> Step:
        env = starmine.HanabiVectorEnv(recording.games, recording.variant, num_threads=1, seed=0)
        env.reset(seed=0)
        for row in recording.lead:
            env.step(row)
        return env.step

    return replay(make, recording.actions)
