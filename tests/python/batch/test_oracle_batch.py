"""Batches of random variants against the oracle, without single states.

Every game of a batch is seeded by itself, so that its deck is known; the oracle plays it with the same deck. All
outputs are compared after every step, the observations of all seats included, until each game has ended once. The
oracle plays once for all instruction sets, whose batches must have the same outputs.
"""

import random

import numpy as np
import pytest
from instruction_sets import AVAILABLE, VARIABLE
from oracle import ENDINGS, Game
from oracle_games import PLAYERS, random_rules
from oracle_observation import ENCODERS
from oracle_rules import Card

import starmine

pytestmark = pytest.mark.slow

VARIANTS = 100
GAMES = 9  # one block of eight, and a game in the next


def observations(batch, out, index, features):
    """The bits of every seat of one game."""
    return np.unpackbits(out["obs"][index], axis=-1, bitorder="little")[:, :features]


def expect(found, expected, what, title):
    assert np.array_equal(found, expected), f"{title}: {what} is {found}, the oracle says {expected}"


class Batches:
    """A batch on each instruction set of the processor; returns the outputs of the first, which the others equal."""

    def __init__(self, monkeypatch, *arguments, **settings):
        self.batches = []
        for name in AVAILABLE:
            monkeypatch.setenv(VARIABLE, name)
            self.batches.append(starmine.Batch(*arguments, **settings))
        self.layout = self.batches[0].layout

    def reset(self, seed):
        return self.same([batch.reset(seed=seed) for batch in self.batches])

    def step(self, actions):
        return self.same([batch.step(actions) for batch in self.batches])

    def final_observations(self):
        found = [dict(zip(("rows", "obs"), batch.final_observations(), strict=True)) for batch in self.batches]
        return self.same(found).values()

    @staticmethod
    def same(outs):
        for name, out in zip(AVAILABLE, outs, strict=True):
            for column, array in out.items():
                np.testing.assert_array_equal(array, outs[0][column], err_msg=f"{column} on {name}")
        return outs[0]


def compare(batch, out, index, game, encoder, title):
    """Compares the outputs of a running game."""
    features = len(batch.layout)
    for seat in range(game.rules.players):
        found = observations(batch, out, index, features)[seat]
        expect(found, game.observation(seat, encoder), f"the observation of seat {seat}", title)
    expect(np.flatnonzero(out["action_mask"][index]), game.legal_actions(), "legal actions", title)
    expect(out["current_player"][index], game.current_player, "current player", title)
    expect(out["score"][index], game.score, "score", title)


def compare_final(batch, out, index, game, length, encoder, title):
    """Compares the final outputs of a finished game."""
    expect(out["final_score"][index], game.score, "final score", title)
    expect(out["final_length"][index], length, "final length", title)
    expect(starmine.endings()[out["final_ending"][index] - 1], game.ending, "ending", title)
    rows, last = batch.final_observations()
    bits = np.unpackbits(last[rows.tolist().index(index)], axis=-1, bitorder="little")[:, : len(batch.layout)]
    for seat in range(game.rules.players):
        expect(bits[seat], game.observation(seat, encoder), f"the last observation of seat {seat}", title)


@pytest.mark.parametrize("index", range(VARIANTS))
def test_a_batch_equals_games_of_the_oracle(index, monkeypatch):
    parameters, rules, _ = random_rules(random.Random(f"batch {index}"))
    variant, encoder = starmine.Variant(**parameters), ENCODERS[index % len(ENCODERS)]
    generator = random.Random(index)
    player = PLAYERS[index % len(PLAYERS)](generator)
    seeds = [generator.randrange(2**64) for _ in range(GAMES)]
    starts = [variant.new_game(seed=seed) for seed in seeds]
    decks = [[Card(card.suit, card.rank) for card in start.deck] for start in starts]
    games = {number: Game(rules, decks[number], start.start_player) for number, start in enumerate(starts)}
    settings = {"encoder": encoder, "dtype": "bits", "observers": "all", "num_threads": 1}
    batch = Batches(monkeypatch, variant, GAMES, **settings)
    out, length = batch.reset(seed=seeds), 0
    while games:
        title = f"variant {index} ({encoder}, {parameters}), step {length}"
        for number, game in games.items():
            compare(batch, out, number, game, encoder, f"{title}, game {number}")
        actions = [int(np.argmax(mask)) for mask in out["action_mask"]]
        for number, game in games.items():
            actions[number] = player(game, game.legal_actions())
        out, length = batch.step(np.array(actions)), length + 1
        for number, game in list(games.items()):
            where = f"{title}, game {number}, action {actions[number]}"
            expect(out["reward"][number], game.apply(actions[number]), "reward", where)
            expect(out["terminated"][number], game.ending is not None, "terminated", where)
            if game.ending is not None:
                assert game.ending in ENDINGS
                compare_final(batch, out, number, game, length, encoder, where)
                del games[number]
