"""Calls that must be refused, and what they are tried on: rows of the tables of test_bad_input.py."""

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from random_games import play

import starmine
from starmine import Batch, HanabiEnv, HanabiVectorEnv, Variant

GAMES = 4
FEATURES = 658
ACTIONS = 20
HUGE = 10**30
PLAY = 5  # plays slot 0, which is always legal


class Table:
    """One of everything, to be handed to the rows."""

    def __init__(self):
        self.variant = Variant()
        self.state = self.variant.new_game(seed=1)
        self.over = starmine.variant("small").new_game(seed=1)
        play(self.over, random.Random(0))
        self.view = self.state.view(0)
        self.batch = Batch(self.variant, GAMES, seed=0)
        self.ended = Batch(self.variant, GAMES, seed=0, autoreset_mode="Disabled", illegal_action="terminate")
        self.ended.step([PLAY, -1, PLAY, PLAY])
        self.env = HanabiVectorEnv(GAMES, seed=0)
        self.env.reset()
        self.closed = HanabiVectorEnv(GAMES, seed=0)
        self.closed.reset()
        self.closed.close()
        self.single = HanabiEnv(seed=0)
        self.single.reset()
        self.actions = np.full(GAMES, PLAY)
        self.deck = [str(card) for card in self.state.deck]

    def snapshot(self):
        """Everything about the games."""
        batches = [self.batch, self.ended, self.env._batch, self.closed._batch, self.single._batch]
        return [batch.to_bytes() for batch in batches] + [self.state.to_json(), self.over.to_json()]

    def into(self, **buffers):
        self.batch.step_into(self.actions, **buffers)


@dataclasses.dataclass
class Row:
    """A call that must be refused."""

    name: str
    call: Callable[[Table], Any]
    error: type
    fragments: tuple[str, ...]


def row(name, call, error, *fragments):
    return Row(name, call, error, fragments)
