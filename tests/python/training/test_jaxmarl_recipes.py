"""examples/jaxmarl_ippo.py and benchmarks/jaxmarl_pqn.py learn as JaxMARL's own scripts do, and their files play.

tests/data/make_jaxmarl_training.py recorded JaxMARL's updates: turns, weights that `first_weights` made, weights after.
"""

import json
from importlib import import_module
from unittest.mock import patch

import numpy as np
import pytest
from jaxmarl_weights import EVERY, first_weights
from paths import ROOT
from training_runs import needs_train_extra

import starmine

pytestmark = [pytest.mark.slow, needs_train_extra]
RECORDED = np.load(ROOT / "tests" / "data" / "jaxmarl_training.npz")


def test_an_update_of_ippo_is_jaxmarls():
    import jaxmarl_ippo
    import torch

    seen = {
        name: torch.from_numpy(RECORDED[f"ippo/{name}"])
        for name in ("done", "action", "value", "reward", "log_prob", "obs", "avail_actions")
    }
    rollout, games = len(seen["done"]) // 2, seen["done"].shape[1] // 2
    assert seen["done"][:rollout].any()
    with patch.object(jaxmarl_ippo, "MINIBATCHES", 1):
        ippo = jaxmarl_ippo.IPPO(jaxmarl_ippo.Args(num_envs=games, rollout=rollout))
        weights = ippo.network.tensors()
        before = first_weights({name: tuple(weight.shape) for name, weight in weights.items()})
        for name, weight in weights.items():
            weight.copy_(torch.from_numpy(before[name]))
        turns = slice(0, rollout)
        ippo.inputs[:], ippo.mask[:] = seen["obs"][turns], seen["avail_actions"][turns] > 0
        ippo.action[:], ippo.done[:] = seen["action"][turns], seen["done"][turns]
        ippo.value[:], ippo.reward[:] = seen["value"][turns], seen["reward"][turns]
        ippo.log_prob[:] = seen["log_prob"][turns]
        with torch.no_grad():
            log_probs, value = ippo.network(ippo.inputs, ippo.mask)
            last_value = ippo.network(seen["obs"][rollout], seen["avail_actions"][rollout] > 0)[1]
        torch.testing.assert_close(value, ippo.value, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(
            log_probs.gather(2, ippo.action[..., None])[..., 0], ippo.log_prob, atol=1e-5, rtol=0
        )
        ippo.learn(ippo.advantages(last_value))
    for name, weight in weights.items():
        expected, found = RECORDED[f"ippo/3/{name}"], weight.reshape(-1)[::EVERY].numpy()
        moved = np.abs(expected - before[name].ravel()[::EVERY]).max()
        assert np.abs(found - expected).max() < 1e-3 * moved, name


def test_updates_of_pqn_are_jaxmarls():
    """Half the loss needs half the epsilon, and twice the rate while RAdam divides by no second moment, for five steps.

    Epsilon is added to the root of the second moment, in PyTorch before the correction of its bias.
    """
    import jaxmarl_pqn
    import pqn_vdn
    import torch
    from torch import nn

    done, action, reward, obs, mask = (
        torch.from_numpy(RECORDED[f"pqn/{name}"]) for name in ("done", "action", "reward", "obs", "avail_actions")
    )
    updates, _, games, width = obs.shape
    # Seats of each game, the acting one first: the other has the no-op as its only action.
    order = mask[..., -1].argsort(1).swapaxes(1, 2)
    first = order[..., 0]

    def of_seats(values):
        return values.swapaxes(1, 2).gather(2, order[..., None].expand(-1, -1, -1, values.shape[-1]))

    obs, mask = of_seats(obs), of_seats(mask)[:, :, 0, :-1] > 0
    action = action.swapaxes(1, 2).gather(2, first[..., None])[..., 0].long()
    with patch.object(pqn_vdn, "QNetwork", jaxmarl_pqn.QNetwork):
        pqn = pqn_vdn.PQN(jaxmarl_pqn.recipe(jaxmarl_pqn.Args(num_envs=games)))
    network = pqn.network
    # Here the inputs have the one-hot seat, which our recipe leaves out.
    network.trunk[0], network.inputs = nn.Linear(width, 512), lambda inputs: inputs
    pqn.optimizer = torch.optim.RAdam(network.parameters())
    weights = {f"BatchNorm_0,{kind}": torch.zeros(width) for kind in ("scale", "bias")}  # JaxMARL does not use it
    weights |= network.tensors()
    first_ones = first_weights({name: tuple(weight.shape) for name, weight in weights.items()})
    with torch.no_grad():
        for name, weight in network.tensors().items():
            weight.copy_(torch.from_numpy(first_ones[name]))
    for update in range(updates - 1):
        with torch.no_grad():
            _, last_value = pqn_vdn.best(network(obs[update + 1]), mask[update + 1])
        seen = reward[update].float(), done[update].bool(), torch.zeros(1, games), last_value
        returns = pqn_vdn.q_lambda_returns(*seen, pqn.args.gamma, pqn.args.q_lambda)
        pqn.obs, pqn.action = obs[update][None], action[update][None]
        options = pqn.optimizer.param_groups[0]
        options["lr"] = pqn.args.lr * (2 if update < 5 else 1)
        options["eps"] = 1e-8 / 2 * (1 - 0.999 ** (update + 1)) ** 0.5
        with patch.object(pqn_vdn, "unpack_bits", lambda rows, _: rows):
            pqn.learn(returns.flatten())
        for name, weight in network.tensors().items():
            expected, found = RECORDED[f"pqn/{update}/{name}"], weight.detach().reshape(-1)[::EVERY].numpy()
            moved = np.abs(expected - first_ones[name].ravel()[::EVERY]).max()
            assert np.abs(found - expected).max() < 0.05 * moved + 2e-7, (update, name)


@pytest.mark.parametrize("script", ["jaxmarl_ippo", "jaxmarl_pqn"])
def test_a_run_saves_policies_that_play(script, tmp_path):
    module, out = import_module(script), tmp_path / "run"
    sizes = {"rollout": 4} if script == "jaxmarl_ippo" else {}
    per_update = 8 * sizes.get("rollout", 1)
    module.main(module.Args(total_steps=10 * per_update, num_envs=8, out=out, **sizes))
    saved = sorted(int(path.stem) for path in out.glob("*.safetensors"))
    assert saved == [2 * per_update * part for part in range(1, 6)]
    assert json.loads((out / "config.json").read_text())["num_envs"] == 8
    policy = starmine.load_policy(out / f"{saved[-1]}.safetensors")
    assert len(starmine.play_games([policy, policy], 10)) == 10


def test_a_saved_policy_has_the_scores_of_the_network(tmp_path):
    import jaxmarl_ippo
    import torch

    ippo = jaxmarl_ippo.IPPO(jaxmarl_ippo.Args(num_envs=8, rollout=4))
    ippo.collect()
    ippo.network.save(tmp_path / "policy.safetensors")
    policy = starmine.load_policy(tmp_path / "policy.safetensors")
    scores, values, _ = policy.logits(ippo.obs.reshape(16, -1))
    inputs, _ = ippo.read()
    with torch.no_grad():
        log_probs, value = ippo.network(inputs, torch.ones(16, 21, dtype=torch.bool))
    expected = log_probs[:, :-1] - log_probs[:, :1]
    np.testing.assert_allclose(scores - scores[:, :1], expected, atol=1e-5)
    np.testing.assert_allclose(values, value, atol=1e-5)
