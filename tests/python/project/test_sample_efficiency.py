"""benchmarks/sample_efficiency.py: its trials train, its networks treat colours alike, and its games restart."""

import json

import numpy as np
import pytest
from training_runs import needs_train_extra

import starmine

pytestmark = [pytest.mark.slow, needs_train_extra]


@pytest.fixture(scope="module")
def trials():
    """The script as a module."""
    import sample_efficiency

    return sample_efficiency


def test_restarts_train_a_policy(trials, tiny, tmp_path):
    trials.main(trials.TrialArgs(**vars(tiny(trials.ppo, total_steps=128)) | {"trial": "restarts"}))
    assert starmine.load_policy(tmp_path / "run" / "policy.safetensors").about["steps"] == 128


@pytest.mark.parametrize("trial", ["quantiles", "slots", "narrow-slots", "seats"])
def test_a_trial_trains_and_tells_its_scores(trials, tiny, tmp_path, monkeypatch, trial):
    import ablation

    monkeypatch.setattr(ablation, "GAMES", 8)
    arguments = tiny(trials.ppo, total_steps=128)
    trials.main(trials.TrialArgs(**vars(arguments) | {"trial": trial}))
    found = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert found["greedy"]["games"] == 8


@pytest.mark.parametrize("trial", ["quantiles", "slots", "narrow-slots", "seats"])
@pytest.mark.parametrize("players", [2, 3, 5])
def test_colours_are_alike(trials, trial, players):
    torch, variant = trials.torch, starmine.Variant(players=players)
    torch.manual_seed(0)
    network = trials.NETWORKS[trial](variant)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    batch = starmine.Batch(variant, 50, dtype="bits", seed=1)
    generator = np.random.default_rng(0)
    for _ in range(15):
        mask = batch.observe()["action_mask"]
        batch.step([generator.choice(np.flatnonzero(row)) for row in mask])
    inputs = network.read(batch.observe()["obs"])
    order, split = [3, 0, 4, 1, 2], 5 * len(network.color_features.row)
    rows = inputs[:, :split].view(50, 5, -1)[:, order]
    recolored = torch.cat([rows.flatten(1), inputs[:, split:]], 1)
    (logits, value, _), (other, other_value, _) = (network.evaluate(part, None) for part in (inputs, recolored))
    size = variant.hand_size
    columns = list(range(2 * size))
    for target in range(players - 1):  # colours of each target, then ranks of each target
        columns += [2 * size + 5 * target + color for color in order]
    columns += range(2 * size + 5 * (players - 1), variant.num_actions)
    torch.testing.assert_close(other, logits[:, columns], rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(other_value, value, rtol=1e-3, atol=1e-3)
    assert not torch.allclose(other, logits, atol=1e-2)


def test_half_of_the_games_restart_from_the_stored_states(trials):
    variant = starmine.variant("standard")
    games = trials.RestartingGames(variant, 8, seed=3, encoder="canonical", dtype="bits")
    generator, starts = np.random.default_rng(0), []
    for _ in range(16):  # eight stretches of two rollouts: four from the start, each followed by three late ones
        starts.append(games.observe()["obs"])
        for _ in range(4):
            mask = games.observe()["action_mask"]
            games.step(np.array([generator.choice(np.flatnonzero(row)) for row in mask]))
        games.end_rollout()
    for stored, again in ((2, 4), (2, 6), (10, 12), (10, 14)):
        np.testing.assert_array_equal(starts[stored][4:], starts[again][4:])
        assert (starts[stored][:4] != starts[again][:4]).any()
    assert (starts[2][4:] != starts[3][4:]).any()
    assert (starts[5][4:] != starts[3][4:]).any()
    assert (starts[8][4:] != starts[0][4:]).any()
