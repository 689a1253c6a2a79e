"""Masked arrays are refused: what lies under a mask must not be played or read as if it were valid."""

import numpy as np
import pytest

import starmine
from starmine import ArrayError, Batch, BotError, HanabiEnv, HanabiVectorEnv, StarmineError, Variant
from starmine._core import unpack_bits_into

PLAY = 5  # plays slot 0 in the standard game, which is always legal


def masked(values, dtype=np.int64):
    return np.ma.array(values, dtype=dtype, mask=np.arange(np.size(values)).reshape(np.shape(values)) == 0)


def environment(make, **settings):
    env = make(**settings)
    env.reset(seed=0)
    return env


def policy():
    found = starmine.load_policy("ippo-mini")
    return found, np.zeros((2, len(found.variant.layout(found.encoder))), np.uint8)


BATCH = Batch("standard", 2, seed=0)
CALLS = {
    "actions": lambda: BATCH.step(masked([PLAY, PLAY])),
    "actions of step_into": lambda: BATCH.step_into(masked([PLAY, PLAY])),
    "actions without any masked": lambda: BATCH.step(np.ma.array([PLAY, PLAY])),
    "actions in another byte order": lambda: BATCH.step(masked([PLAY, PLAY], ">i4")),
    "a buffer": lambda: BATCH.step_into([PLAY, PLAY], reward=masked([0, 0], np.float32)),
    "a reset mask": lambda: BATCH.reset(reset_mask=masked([True, True], bool)),
    "seeds": lambda: BATCH.reset(masked([1, 2])),
    "actions of the environment": lambda: environment(HanabiVectorEnv, num_envs=2).step(masked([PLAY, PLAY])),
    "an action": lambda: environment(HanabiEnv).step(masked([PLAY])),
    "a deck": lambda: Variant().new_game(deck=np.ma.array(["R1"] * 50)),
    "copies": lambda: Variant(copies=masked([[3, 2, 2, 2, 1]] * 5)),
    "packed bits": lambda: unpack_bits_into(masked([[1] * 8], np.uint8), np.zeros((1, 5), np.float32)),
    "elements": lambda: unpack_bits_into(np.zeros((1, 8), np.uint8), masked([[0] * 5], np.float32)),
    "observations of a policy": lambda: policy()[0].logits(masked(policy()[1], np.uint8)),
    "hidden states of a policy": lambda: policy()[0].logits(policy()[1], masked([[], []], np.float32)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_masked_array_is_refused(call):
    before = BATCH.to_bytes()
    with pytest.raises(ArrayError, match=r"is a masked array: expected one without a mask"):
        call()
    assert BATCH.to_bytes() == before


def test_packed_bits_for_torch():
    pytest.importorskip("torch")
    import starmine.torch as unpacking

    with pytest.raises(ArrayError, match="bits is a masked array"):
        unpacking.unpack_bits(masked([[1] * 8], np.uint8), 5)


def test_actions_of_a_policy():
    class Policy:
        def act_batch(self, turns):
            return np.ma.array(turns.action_mask.argmax(axis=1))

    with pytest.raises(BotError, match="actions are a masked array"):
        starmine.play_games([Policy(), Policy()], 2)


def test_a_masked_action_of_one_game():
    with pytest.raises(StarmineError):
        environment(HanabiEnv).step(np.ma.masked)
