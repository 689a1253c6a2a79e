"""examples/pqn_vdn.py: its values, returns and options."""

from functools import partial

import numpy as np
import pytest
from training_runs import TrainingError, assert_resumes_to_the_same_bits, checkpoint, log_lines, needs_train_extra

pytestmark = [pytest.mark.slow, needs_train_extra]


@pytest.fixture(scope="module")
def pqn():
    """The script as a module."""
    import pqn_vdn

    return pqn_vdn


def test_a_policy_file_plays_as_the_network(pqn, tiny, tmp_path):
    import torch

    import starmine

    arguments = tiny(pqn, hidden=(16, 16), num_envs=32, total_steps=20 * 32 * 8)
    pqn.main(arguments)
    saved = starmine.load_policy(tmp_path / "run" / "policy.safetensors")
    assert saved.about["method"] == "PQN-VDN"
    assert saved.about["arguments"]["variant"] == "small"
    network = pqn.QNetwork(arguments, saved.variant)
    network.load_state_dict(checkpoint(tmp_path / "run")["state"]["network"])
    variant = starmine.variant("small")
    rng = np.random.default_rng(0)
    bits = []
    for seed in range(40):
        state = variant.new_game(seed=seed)
        while not state.is_terminal:
            bits.append(state.encode(state.current_player))
            state.apply(int(rng.choice(state.legal_actions())))
    observations = np.stack(bits)
    logits, _, _ = saved.logits(observations)
    with torch.no_grad():
        values = network(torch.from_numpy(observations)[:, None].float())[:, 0, :-1].numpy()
    np.testing.assert_allclose(logits, values, atol=0.02 * np.abs(values).max())  # weights are float16
    assert (logits.argmax(1) == values.argmax(1)).mean() > 0.95


def test_a_checkpoint_of_another_mixing_is_refused(pqn, tiny):
    pqn.main(tiny(pqn, total_steps=64))
    with pytest.raises(TrainingError, match="mixing='vdn', not 'none'"):
        pqn.main(tiny(pqn, mixing="none", resume=True))


def test_the_teams_value_is_the_sum_over_the_seats(pqn):
    import torch

    # Two games of three seats, each with the values of actions 0, 1 and 2, and of the no-op.
    values = torch.tensor(
        [
            [[1.0, 5.0, 2.0, 90.0], [80.0, 80.0, 80.0, 0.25], [80.0, 80.0, 80.0, 0.5]],
            [[-4.0, -1.0, -3.0, 90.0], [80.0, 80.0, 80.0, -2.0], [80.0, 80.0, 80.0, 7.0]],
        ]
    )
    mask = torch.tensor([[True, False, True], [True, False, True]])
    assert pqn.team_value(values, torch.tensor([0, 1])).tolist() == [1.75, 4.0]
    action, expected = pqn.best(values, mask)
    assert action.tolist() == [2, 2]
    assert expected.tolist() == [2.75, 2.0]
    # Without the other seats it is the actor's value alone.
    assert pqn.best(values[:, :1], mask)[1].tolist() == [2.0, -3.0]


@pytest.mark.parametrize("players", [1, 2, 5])
def test_the_teams_best_is_the_sum_of_each_seats_best_legal_action(pqn, players):
    """As in JaxMARL, where every seat has a mask, and those that wait can choose the no-op alone."""
    import torch

    generator = torch.Generator().manual_seed(players)
    values = torch.randn(50, players, 8, generator=generator)
    mask = torch.rand(50, 7, generator=generator) < 0.4
    mask[:, 3] = True
    action, expected = pqn.best(values, mask)
    for game in range(50):
        total = 0.0
        for seat in range(players):
            legal = [*mask[game].tolist(), False] if seat == 0 else [False] * 7 + [True]
            total += max(value for value, allowed in zip(values[game, seat].tolist(), legal, strict=True) if allowed)
        assert mask[game, action[game]]
        assert expected[game].item() == pytest.approx(total, abs=1e-5)
    assert torch.equal(expected, pqn.team_value(values, action))


def test_an_illegal_action_is_never_chosen(pqn):
    import torch

    torch.manual_seed(0)
    mask = torch.rand(500, 20) < 0.2
    mask[:, 7] |= ~mask.any(1)
    values = torch.where(mask, -1e6, 1e6)[:, None]  # whatever the values are
    action, _ = pqn.best(torch.cat([values, torch.zeros(500, 1, 1)], 2), mask)
    for epsilon in (0.0, 0.5, 1.0):
        chosen = pqn.explore(action, mask, epsilon)
        assert mask.gather(1, chosen[:, None]).all()
        explored = (chosen != action).float().mean().item()
        assert explored == 0 if epsilon == 0 else explored > 0.3 * epsilon


def test_exploration_takes_all_legal_actions_alike(pqn):
    import torch

    torch.manual_seed(0)
    mask = torch.tensor([False, True, True, False, True]).repeat(30_000, 1)
    counts = pqn.explore(torch.ones(30_000, dtype=torch.long), mask, 1.0).bincount(minlength=5)
    assert counts[[0, 3]].tolist() == [0, 0]
    assert counts[[1, 2, 4]].tolist() == pytest.approx([10_000] * 3, abs=400)  # five deviations


@pytest.mark.parametrize("q_lambda", [0.0, 0.65, 1.0])
def test_returns_are_those_of_a_naive_loop(pqn, q_lambda):
    import torch

    steps, games, gamma = 6, 40, 0.9
    rng = np.random.default_rng(3)
    reward, value = rng.normal(size=(2, steps, games))
    last_value = rng.normal(size=games)
    terminated = rng.random((steps, games)) < 0.2
    tensors = map(torch.from_numpy, (reward, terminated, value, last_value))
    found = pqn.q_lambda_returns(*tensors, gamma, q_lambda)
    for game in range(games):
        following, best = last_value[game], last_value[game]
        for step in reversed(range(steps)):
            ahead = q_lambda * following + (1 - q_lambda) * best
            following = reward[step, game] + (0 if terminated[step, game] else gamma * ahead)
            best = value[step, game]
            assert found[step, game].item() == pytest.approx(following, abs=1e-5)


def test_the_actor_comes_first_then_the_others_in_turn(pqn):
    obs = np.arange(3 * 4, dtype=np.uint8).reshape(3, 4, 1)
    found = pqn.actor_first(obs, np.array([0, 1, 3], np.int32))[:, :, 0]
    assert found.tolist() == [[0, 1, 2, 3], [5, 6, 7, 4], [11, 8, 9, 10]]


def test_the_first_row_is_what_the_actor_alone_would_see(pqn, tiny):
    mixed, alone = (pqn.PQN(tiny(pqn, players=3, num_envs=16, mixing=mixing)) for mixing in ("vdn", "none"))
    rng = np.random.default_rng(0)
    for _ in range(30):
        all_seats, actor = mixed.games.observe(), alone.games.observe()
        assert mixed.observations(all_seats).shape[1] == 3
        assert np.array_equal(mixed.observations(all_seats)[:, :1], alone.observations(actor))
        action = (rng.random(actor["action_mask"].shape) * actor["action_mask"]).argmax(1)
        mixed.games.step(action)
        alone.games.step(action)


OPTIONS = {
    "three players": {"players": 3},
    "no mixing": {"mixing": "none", "players": 3},
    "every option": {
        **{"partners": "piers,simple=2", "lr_schedule": "linear", "lr_end": 1e-4, "epsilon": 0.5, "epsilon_steps": 200},
        **{"lost_game_score": "zero", "card_features": False, "epochs": 2, "minibatch": 24},
    },
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_options_resume_to_the_same_bits(pqn, tiny, tmp_path, monkeypatch, options):
    arguments = partial(tiny, pqn, **options)
    whole = assert_resumes_to_the_same_bits(pqn.main, arguments, tmp_path, monkeypatch)
    weights = whole["state"]["network"]["heads.weight"]
    assert not np.array_equal(weights.numpy(), pqn.PQN(arguments()).network.heads.weight.detach())


def test_a_resumed_run_takes_the_new_learning_rate(pqn, tiny, tmp_path, capsys):
    pqn.main(tiny(pqn, total_steps=64, lr_schedule="constant"))
    pqn.main(tiny(pqn, total_steps=2 * 64, lr_schedule="constant", lr=1e-5, resume=True))
    assert "resuming with lr=1e-05 instead of 0.0005" in capsys.readouterr().out
    assert [row["lr"] for row in log_lines(tmp_path / "run")] == [5e-4, 1e-5]


def test_schedules_follow_the_budget_and_the_steps(pqn, tiny, tmp_path):
    pqn.main(tiny(pqn, lr_schedule="linear", epsilon=0.5, epsilon_end=0.1, epsilon_steps=4 * 64))
    rows = log_lines(tmp_path / "run")
    assert [row["lr"] for row in rows] == pytest.approx([5e-4 * (6 - update) / 6 for update in range(6)])
    assert [row["epsilon"] for row in rows] == pytest.approx([0.5, 0.4, 0.3, 0.2, 0.1, 0.1])
