"""Partners that are drawn for each episode: their weights, and what `info` says of them."""

import pickle

import numpy as np
import pytest

from starmine import Batch, HanabiVectorEnv

GAMES = 64


class FirstLegal:
    """Keeps the numbers of the games that it plays in a step."""

    def __init__(self):
        self.games = set()

    def act_batch(self, turns):
        self.games |= set(turns.game.tolist())
        return turns.action_mask.argmax(axis=1)


def first_legal(info):
    return info["action_mask"].argmax(axis=1)


@pytest.mark.parametrize("weights", [None, (1, 3)])
@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_info_names_the_partner_who_plays(mode, weights):
    policies = [FirstLegal(), FirstLegal()]
    mixture = policies if weights is None else list(zip(policies, weights, strict=True))
    env = HanabiVectorEnv(GAMES, players=3, partners={1: mixture, 2: "simple"}, seed=3, autoreset_mode=mode)
    assert env.partners == {1: tuple(policies), 2: ("simple",)}
    _, info = env.reset()
    drawn, ended = [], 0
    for _ in range(40):
        partner = info["partner"]
        assert partner.shape == (GAMES, 3)
        assert partner.dtype == np.int32
        assert (partner[:, 0] == -1).all()
        assert (partner[:, 2] == 0).all()
        for policy in policies:
            policy.games.clear()
        _, _, terminated, _, info = env.step(first_legal(info))
        goes_on = np.flatnonzero(~terminated)
        for index, policy in enumerate(policies):
            for game in goes_on.tolist():
                if mode != "NextStep" or info["partner"][game].tolist() == partner[game].tolist():
                    assert game not in policy.games or partner[game, 1] == index
        assert (info["final_partner"][~terminated] == -1).all()
        np.testing.assert_array_equal(info["final_partner"][terminated], partner[terminated])
        if mode == "SameStep" and terminated.any():
            np.testing.assert_array_equal(info["final_info"]["partner"], info["final_partner"])
        drawn += info["final_partner"][terminated, 1].tolist()
        ended += terminated.sum()
        if mode == "Disabled" and terminated.any():
            _, info = env.reset(options={"reset_mask": terminated})
    assert ended > 100
    expected = 0.5 if weights is None else 0.75
    assert abs(np.mean(drawn) - expected) < 4 * (expected * (1 - expected) / len(drawn)) ** 0.5


def test_all_keys_are_there_in_every_step_and_only_with_partners():
    env = HanabiVectorEnv(4, partners={1: ["smart", "simple"]}, seed=0)
    _, info = env.reset()
    keys = {"partner", "_partner", "final_partner", "_final_partner"}
    assert keys <= set(info)
    assert (info["final_partner"] == -1).all()
    for _ in range(5):
        *_, info = env.step(first_legal(info))
        assert keys <= set(info)
    _, info = HanabiVectorEnv(4).reset()
    assert not keys & set(info)


def test_equal_weights_draw_as_no_weights():
    batches = [
        Batch("standard", 500, partners={1: mixture}, seed=5)
        for mixture in (["smart", "simple", "iggi"], [("smart", 0.1), ("simple", 0.1), ("iggi", 0.1)], "iggi")
    ]
    plain, weighted, single = (batch._partners()[:, 1] for batch in batches)
    np.testing.assert_array_equal(plain, weighted)
    assert set(plain.tolist()) == {0, 1, 2}
    assert set(single.tolist()) == {0}
    mixed = Batch("standard", 500, partners={1: [("smart", 2), "simple"]}, seed=5)._partners()[:, 1]
    again = Batch("standard", 500, partners={1: [("smart", 4.0), ("simple", 2.0)]}, seed=5)._partners()[:, 1]
    np.testing.assert_array_equal(mixed, again)


def test_a_weighted_mixture_survives_storing():
    batch = Batch("mini", 40, partners={1: [("simple", 3), ("iggi", 1)]}, seed=1)
    assert batch.partners == {1: [("simple", 3.0), ("iggi", 1.0)]}
    batch.step(batch.observe()["action_mask"].argmax(axis=1))
    for other in (Batch.from_bytes(batch.to_bytes()), pickle.loads(pickle.dumps(batch)), batch.copy()):
        assert other.partners == batch.partners
        for _ in range(60):
            actions = other.observe()["action_mask"].argmax(axis=1)
            other.step(actions)
        np.testing.assert_array_equal(other.observe()["obs"], played(batch.copy()).observe()["obs"])


def played(batch):
    """The batch after 60 steps of first legal actions."""
    for _ in range(60):
        batch.step(batch.observe()["action_mask"].argmax(axis=1))
    return batch


def test_a_partner_with_weight_0_never_plays():
    env = HanabiVectorEnv(GAMES, partners={1: [("smart", 0), (FirstLegal(), 1)]}, seed=0)
    _, info = env.reset()
    assert (info["partner"][:, 1] == 1).all()
    assert isinstance(env.partners[1][info["partner"][0, 1]], FirstLegal)
