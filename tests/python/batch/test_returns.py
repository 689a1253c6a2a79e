"""The rewards of an episode add up to its final score, whoever begins and whoever plays the other seats."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import seeds, variants

import starmine
from starmine import Batch, HanabiVectorEnv, StarmineError, Variant

GAMES = 5
STEPS = 60
MODES = ["SameStep", "NextStep", "Disabled"]
PARTNERS = ["random", "simple", "iggi", "piers", "flawed"]  # they play every variant


@st.composite
def tables(draw):
    """A variant, and partners in any seats but one, or in none."""
    variant = draw(variants())
    learner = draw(st.integers(0, variant.players - 1))
    others = [seat for seat in range(variant.players) if seat != learner]
    names = st.sampled_from(PARTNERS) | st.lists(st.sampled_from(PARTNERS), min_size=1, max_size=3)
    return variant, draw(st.dictionaries(st.sampled_from(others), names))


def choose(masks, legal_share, rng):
    """An action of each game: a legal one, or in some games any."""
    actions = []
    for mask in masks:
        legal = np.flatnonzero(mask).tolist()
        is_legal = legal and rng.random() < legal_share
        actions.append(rng.choice(legal) if is_legal else rng.randrange(len(mask)))
    return np.array(actions)


class Returns:
    """The sums of the rewards of the episodes that the games are in."""

    def __init__(self, games):
        self.sums, self.episodes = np.zeros(games), 0

    def add(self, reward, terminated, final_score):
        self.sums += reward
        np.testing.assert_array_equal(self.sums[terminated], final_score[terminated])
        self.sums[terminated] = 0
        self.episodes += int(terminated.sum())


def make(make_batch, arguments):
    """A batch or an environment; partners that leave the learner no turn are refused."""
    try:
        return make_batch(**arguments)
    except StarmineError as error:
        if "before the learner's first turn" not in str(error):
            raise
        return None


@pytest.mark.parametrize("mode", MODES)
@given(table=tables(), seed=seeds(), legal_share=st.sampled_from([0.97, 1.0]))
def test_the_rewards_of_a_batch_add_up(mode, table, seed, legal_share):
    variant, partners = table
    settings = {"autoreset_mode": mode, "illegal_action": "terminate", "num_threads": 2, "dtype": "bits"}
    batch = make(Batch, {"variant": variant, "num_envs": GAMES, "partners": partners, "seed": seed, **settings})
    if batch is None:
        return
    rng, returns = random.Random(seed), Returns(GAMES)
    out = batch.observe()
    for _ in range(STEPS):
        if rng.random() < 0.2:  # also before the first turn of an episode
            batch = rng.choice([lambda old: pickle.loads(pickle.dumps(old)), Batch.copy])(batch)
        if mode == "Disabled" and out["terminated"].any():
            out = batch.reset(reset_mask=out["terminated"])
            assert not out["reward"].any()
        out = batch.step(choose(out["action_mask"], legal_share, rng))
        returns.add(out["reward"], out["terminated"], out["final_score"])


@pytest.mark.parametrize("mode", MODES)
@given(table=tables(), seed=seeds())
def test_the_rewards_of_a_vector_environment_add_up(mode, table, seed):
    variant, partners = table
    arguments = {"num_envs": GAMES, "variant": variant, "partners": partners, "autoreset_mode": mode, "seed": seed}
    env = make(HanabiVectorEnv, arguments)
    if env is None:
        return
    rng, returns = random.Random(seed), Returns(GAMES)
    _, info = env.reset()
    terminated = np.zeros(GAMES, bool)
    for _ in range(STEPS):
        if mode == "Disabled" and terminated.any():
            _, info = env.reset(options={"reset_mask": terminated})
        _, reward, terminated, _, info = env.step(choose(info["action_mask"], 1, rng))
        returns.add(reward, terminated, info["final_score"])


def test_points_before_the_learners_first_turn_are_part_of_its_first_reward():
    # The cheating partners nearly always score before the last seat has a turn.
    batch = Batch(Variant(players=4), 200, partners=dict.fromkeys(range(3), "cheater"), seed=3)
    begun = batch.observe()
    assert (begun["score"] > 0).sum() > 150
    assert not begun["reward"].any()
    out = batch.step(np.full(200, 4))  # plays slot 0
    goes_on = ~out["terminated"]
    assert goes_on.sum() > 150
    np.testing.assert_array_equal(out["reward"][goes_on], out["score"][goes_on])


def test_partners_who_always_end_the_game_before_the_learners_turn_are_refused():
    # One kind of card: the first play of the partner completes the fireworks.
    variant = Variant(colors=1, ranks=1, hand_size=1, max_information_tokens=0)
    for maker in (Batch, HanabiVectorEnv):
        with pytest.raises(StarmineError):
            maker(num_envs=2, variant=variant, partners={0: "random"}, seed=0)
    assert starmine.play_games(["random", "random"], games=3, variant=variant).scores.tolist() == [1, 1, 1]
