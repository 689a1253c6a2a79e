"""The shortest training script: its advantages, and that it trains, plays and can be saved."""

import re

import pytest

import starmine

torch = pytest.importorskip("torch")

import ppo_minimal  # noqa: E402


def test_it_trains_evaluates_and_returns_a_network_that_plays(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(ppo_minimal, "MINIBATCH", 64)
    network = ppo_minimal.main(updates=10, num_envs=8, games=20)
    printed = capsys.readouterr().out
    assert re.search(r"^update  10,     1,280 turns: score +\d+\.\d\d$", printed, re.MULTILINE)
    assert "PPO" in printed
    network.save(tmp_path / "policy.safetensors")
    games = starmine.play_games([starmine.load_policy(tmp_path / "policy.safetensors"), network], 4)
    assert (games.endings > 0).all()


def test_an_update_changes_the_weights():
    ppo = ppo_minimal.PPO(32)
    before = [parameter.clone() for parameter in ppo.network.parameters()]
    last_value, _ = ppo.collect()
    ppo.learn(ppo.advantages(last_value))
    assert any((old != new).any() for old, new in zip(before, ppo.network.parameters(), strict=True))


def test_advantages_are_discounted_sums_of_differences():
    ppo, generator = ppo_minimal.PPO(5), torch.Generator().manual_seed(0)
    shape = ppo.value.shape
    ppo.value[:], ppo.reward[:] = (torch.rand(shape, generator=generator) for _ in range(2))
    ppo.terminated[:] = torch.rand(shape, generator=generator) < 0.3
    last_value = torch.rand(5, generator=generator)
    found = ppo.advantages(last_value)
    values = torch.cat([ppo.value, last_value[None]]).double()
    for game in range(5):
        for start in range(shape[0]):
            expected, weight = 0.0, 1.0
            for step in range(start, shape[0]):
                discount = ppo_minimal.GAMMA * (1 - ppo.terminated[step, game].item())
                expected += weight * (ppo.reward[step, game] + discount * values[step + 1, game] - values[step, game])
                weight *= discount * ppo_minimal.LAMBDA
            assert found[start, game].item() == pytest.approx(expected.item(), abs=1e-5)
