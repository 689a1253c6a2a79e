"""examples/ppo.py and ppo_recurrent.py: options, schedules and hidden states."""

from functools import partial

import numpy as np
import pytest
from training_runs import (
    TrainingError,
    assert_resumes_to_the_same_bits,
    log_lines,
    needs_train_extra,
)

import starmine

pytestmark = [pytest.mark.slow, needs_train_extra]


@pytest.fixture(scope="module")
def ppo():
    """The script as a module."""
    import ppo

    return ppo


@pytest.fixture(scope="module")
def ppo_recurrent():
    """The script with recurrence as a module."""
    import ppo_recurrent

    return ppo_recurrent


EVERY_OPTION = {
    **{"lr_end": 0.0, "entropy_end": 0.01, "hold": 0.3},
    **{"dtype": "bfloat16", "epochs": 2, "minibatch": 12, "groups": 2, "average": 0.9},
}
OPTIONS = {
    "three players": {"players": 3},
    "a plain network": {"network": "plain", "average": 0.0},
    "a smaller observation": {"encoder": "canonical-minimal", "network": "plain", "card_features": False},
    "with partners": {"partners": "piers=2,simple", "players": 3},
    "Muon": {"optimizer": "muon"},
    "every option": EVERY_OPTION,
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_options_resume_to_the_same_bits(ppo, tiny, tmp_path, monkeypatch, options):
    arguments = partial(tiny, ppo, minibatch_end=48, **options)
    whole = assert_resumes_to_the_same_bits(ppo.main, arguments, tmp_path, monkeypatch)
    weights = whole["state"]["policy"]["heads.weight"]
    assert not np.array_equal(weights.numpy(), ppo.PPO(arguments()).policy.heads.weight.detach())


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_recurrent_options_resume_to_the_same_bits(ppo_recurrent, tiny, tmp_path, monkeypatch, options):
    arguments = partial(tiny, ppo_recurrent, **options)
    whole = assert_resumes_to_the_same_bits(ppo_recurrent.main, arguments, tmp_path, monkeypatch)
    assert whole["processes"][0]["state"]["hidden"].abs().sum() > 0
    weights = whole["state"]["policy"]["memory.from_state.weight"]
    untrained = ppo_recurrent.RecurrentPPO(arguments()).policy.memory.from_state.weight
    assert not np.array_equal(weights.numpy(), untrained.detach())


def test_schedules_follow_the_budget(ppo, tiny, tmp_path):
    ppo.main(tiny(ppo, lr=1e-3, lr_end=0.0, entropy_weight=0.01, entropy_end=0.0))
    rows = log_lines(tmp_path / "run")
    assert [row["lr"] for row in rows] == pytest.approx([1e-3 * (6 - update) / 6 for update in range(6)])
    assert rows[3]["entropy_weight"] == pytest.approx(0.005)


def test_training_starts_with_a_policys_weights(ppo, tiny):
    shipped = starmine.load_policy("ippo-2p-small").network().state_dict()
    own = ppo.PPO(tiny(ppo, variant="standard", hidden=(96, 256), start="ippo-2p-small")).policy.state_dict()
    assert all(np.array_equal(own[name], tensor) for name, tensor in shipped.items())
    with pytest.raises(TrainingError):
        ppo.PPO(tiny(ppo, variant="standard", hidden=(8, 16), start="ippo-2p-small"))


def test_a_lost_game_takes_its_points_back(ppo, tiny):
    learner = ppo.PPO(tiny(ppo, rollout=80, lost_points_share=1.0, lost_game_penalty=0.5))
    found = {}
    for share in (0.0, 1.0):
        (group,) = learner.games.groups
        group.batches[0].reset(seed=5)
        group.load(group.batches)
        learner.games.rewards.lost_points_share = share
        learner.collect()
        reward, terminated = learner.reward.numpy(), learner.terminated.numpy()
        ends = [np.flatnonzero(ended) + 1 for ended in terminated.T]
        found[share] = [sum(game) for row, end in zip(reward.T, ends, strict=True) for game in np.split(row, end)[:-1]]
    assert min(found[0.0]) == -0.5 < max(found[0.0])  # random games lose, some of them with points
    assert set(found[1.0]) == {-0.5}


def test_the_learner_sees_the_hidden_states_that_the_player_had(ppo, ppo_recurrent, tiny):
    import torch

    learner = ppo_recurrent.RecurrentPPO(tiny(ppo_recurrent, players=3, rollout=24))
    ended = 0
    for _ in range(3):
        learner.collect()
        ended += int(learner.terminated.sum())
        for games in torch.split(torch.randperm(8), 3):
            rows, log_probs, value = learner.evaluate_minibatch(games)
            assert torch.equal(learner.inputs.flatten(0, 1)[rows], learner.inputs[:, games].flatten(0, 1))
            assert torch.allclose(value, learner.value[:-1, games].flatten(), atol=1e-6)
            chosen = ppo.pick(log_probs, learner.action[:, games].flatten())
            assert torch.allclose(chosen, learner.log_prob[:, games].flatten(), atol=1e-5)
        fresh = learner.terminated[-1]
        assert learner.hidden[fresh].abs().sum() == 0
        assert learner.hidden[~fresh].abs().sum() > 0
        learner.learn(32)
    assert ended > 0
