"""Invariants of batches: they hold for every variant, size and setting."""

import copy
import pickle
import random

import hypothesis_profiles  # noqa: F401
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import choose_action, generators, seeds, variants
from reference_batch import ReferenceBatch, assert_same_outputs, features

import starmine

DTYPES = {"float32": np.float32, "float16": np.float16, "uint8": np.uint8, "bits": np.uint8}
MODES = ["SameStep", "NextStep", "Disabled"]


def batch_settings():
    """Any settings of a batch but its dtype and threads."""
    return st.fixed_dictionaries(
        {
            "encoder": st.sampled_from(starmine.encoders()),
            "observers": st.sampled_from(["current", "all"]),
            "autoreset_mode": st.sampled_from(MODES),
            "illegal_action": st.sampled_from(["raise", "terminate"]),
            "seed": seeds(),
        }
    )


def choose_actions(reference, rng):
    """An action for each game: most are legal, some illegal, some out of range."""
    num_actions = reference.variant.num_actions
    actions = []
    for game in reference.games:
        if game.is_over or (reference.illegal_action == "terminate" and rng.random() < 0.05):
            actions.append(rng.randint(-2, num_actions + 1))
        else:
            actions.append(choose_action(game.state, rng))
    return actions


def random_reset(reference, rng):
    """The arguments of a reset: no seed, one, or one for each game; all games or a few."""
    count = len(reference.games)
    seed = rng.choice([None, rng.getrandbits(64), [rng.getrandbits(64) for _ in range(count)]])
    mask = np.array([rng.random() < 0.5 for _ in range(count)])
    return seed, mask if mask.any() else None


def step_both(batch, reference, rng):
    """Steps a batch and its reference, resets finished games where needed, and compares all outputs."""
    if rng.random() < 0.05:
        seed, mask = random_reset(reference, rng)
        assert_same_outputs(batch.reset(seed, mask), reference.reset(seed, mask), batch)
    over = np.array([game.is_over for game in reference.games])
    if reference.autoreset_mode == "Disabled" and over.any():
        assert_same_outputs(batch.reset(None, over), reference.reset(None, over), batch)
    actions = choose_actions(reference, rng)
    assert_same_outputs(batch.step(actions), reference.step(actions), batch)
    rows, observations = batch.final_observations()
    assert rows.tolist() == [row for row, _ in reference.finished]
    for observation, (_, expected) in zip(observations, reference.finished, strict=True):
        found = features(observation, batch.dtype, len(batch.layout))
        np.testing.assert_array_equal(found, expected)


@given(
    variants(),
    st.integers(1, 7),
    batch_settings(),
    st.sampled_from([*DTYPES]),
    st.integers(1, 3),
    generators(),
)
def test_a_batch_equals_single_states(variant, num_envs, settings, dtype, num_threads, rng):
    batch = starmine.Batch(variant, num_envs, dtype=dtype, num_threads=num_threads, **settings)
    reference = ReferenceBatch(variant, num_envs, **settings)
    if rng.random() < 0.5:
        assert_same_outputs(batch.reset(), reference.reset(), batch)
    for _ in range(30):
        step_both(batch, reference, rng)
    assert batch.episodes.tolist() == [game.episode for game in reference.games]


@given(variants(), st.integers(1, 7), batch_settings(), st.integers(1, 3), generators())
def test_a_batch_that_is_copied_or_stored_resumes_exactly(variant, num_envs, settings, num_threads, rng):
    batch = starmine.Batch(variant, num_envs, dtype="bits", num_threads=num_threads, **settings)
    reference = ReferenceBatch(variant, num_envs, **settings)
    for _ in range(rng.randint(0, 20)):
        step_both(batch, reference, rng)
    backs = [
        batch.copy(),
        copy.copy(batch),
        copy.deepcopy(batch),
        pickle.loads(pickle.dumps(batch)),
        starmine.Batch.from_bytes(batch.to_bytes()),
    ]
    stored, seed = batch.to_bytes(), rng.getrandbits(32)
    for back in backs:
        assert back.to_bytes() == stored
        own_reference, own_rng = copy.deepcopy(reference), random.Random(seed)
        for _ in range(5):
            step_both(back, own_reference, own_rng)
    assert batch.to_bytes() == stored


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("observers", ["current", "all"])
def test_many_games_are_the_same_in_every_dtype(observers, num_threads):
    # More games than one group holds, and a remainder. Rows of elements, but not of bits, are written in reverse
    # order in every other step.
    settings = {"num_envs": 3 * 64 + 13, "seed": 0, "observers": observers, "num_threads": num_threads}
    batches = {dtype: starmine.Batch("standard", dtype=dtype, **settings) for dtype in DTYPES}
    out = batches["bits"].reset()
    rng, length = np.random.default_rng(0), len(batches["bits"].layout)
    for _ in range(60):
        actions = (rng.random(out["action_mask"].shape) * out["action_mask"]).argmax(1)
        outs = {dtype: batch.step(actions) for dtype, batch in batches.items()}
        out = outs["bits"]
        wanted = features(out.pop("obs"), "bits", length)
        for dtype, found in outs.items():
            if dtype != "bits":
                np.testing.assert_array_equal(features(found.pop("obs"), dtype, length), wanted)
            for name, array in out.items():
                np.testing.assert_array_equal(found[name], array)
    assert all(batch.num_finished == batches["bits"].num_finished for batch in batches.values())


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rows_larger_than_the_caches_are_the_same(dtype):
    # At least 64 MiB of rows: these are written by non-temporal stores on every processor.
    num_envs = 25_600 * 4 // np.dtype(dtype).itemsize
    large, plain = (starmine.Batch("standard", num_envs, dtype=one, seed=0, num_threads=2) for one in (dtype, "uint8"))
    assert large.observe()["obs"].nbytes >= 64 << 20
    out = plain.reset()
    for _ in range(3):
        actions = out["action_mask"].argmax(1)
        found, out = large.step(actions), plain.step(actions)
        for name, array in out.items():
            np.testing.assert_array_equal(found[name], array, err_msg=name)


@given(variants(), st.lists(seeds(), min_size=1, max_size=5), st.integers(0, 3))
def test_each_game_can_have_its_own_seed(variant, own_seeds, episode):
    batch = starmine.Batch(variant, len(own_seeds), dtype="uint8", observers="all")
    out = batch.reset(np.array(own_seeds, dtype=np.uint64))
    for _ in range(episode):
        out = batch.reset()
    for row, seed in zip(out["obs"], own_seeds, strict=True):
        state = variant.new_game(seed=seed, episode=episode)
        np.testing.assert_array_equal(row, [state.encode(seat) for seat in range(variant.players)])


@given(variants(), st.integers(1, 6), batch_settings(), generators())
def test_a_refused_step_names_its_rows_and_moves_nothing(variant, num_envs, settings, rng):
    settings = {**settings, "illegal_action": "raise"}
    batch = starmine.Batch(variant, num_envs, **settings)
    reference = ReferenceBatch(variant, num_envs, **settings)
    for _ in range(10):
        actions = [rng.randint(-2, variant.num_actions + 1) for _ in range(num_envs)]
        rows = reference.illegal_rows(actions)
        if not rows:
            assert_same_outputs(batch.step(actions), reference.step(actions), batch)
            continue
        before = batch.to_bytes()
        with pytest.raises(starmine.IllegalActionError) as caught:
            batch.step(actions)
        assert (caught.value.count, caught.value.rows) == (len(rows), rows)
        assert caught.value.actions == [actions[row] for row in rows]
        assert caught.value.legal == [reference.games[row].state.legal_actions() for row in rows]
        assert batch.to_bytes() == before


def test_a_mask_can_be_wider_than_a_word():
    variant = starmine.variant("avalanche", players=5, crowning_piece=True, timed_display=True)
    assert variant.num_actions == 76
    batch = starmine.Batch(variant, 8, seed=3)
    mask = batch.reset()["action_mask"]
    for turn in range(200):
        last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)  # the legal action with the highest id
        assert (last >= 64).all()
        states = [variant.new_game(seed=3, game=game) for game in range(8)] if turn == 0 else []
        for row, state in enumerate(states):
            np.testing.assert_array_equal(mask[row], state.legal_action_mask())
        mask = batch.step(last)["action_mask"]
