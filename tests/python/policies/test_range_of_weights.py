"""Policies whose outputs would overflow, or that see their own hand, are refused."""

import json

import numpy as np
import pytest

import starmine
from starmine import SerializationError, StarmineError, play_games


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def write(torch, tmp_path):
    """Writes a policy file of a network, with other weights or metadata."""

    def write(network, weights=None, **described):
        from safetensors import safe_open
        from safetensors.torch import save_file

        path = tmp_path / "policy.safetensors"
        network.save(path)
        with safe_open(path, "pt") as file:
            found = json.loads(file.metadata()["starmine"])
        save_file(weights or network.state_dict(), path, {"starmine": json.dumps(found | described)})
        return path

    return write


def small_network(torch, hidden=(8, 8), **options):
    from starmine.torch import PolicyNetwork

    torch.manual_seed(0)
    return PolicyNetwork(starmine.variant("small"), hidden=hidden, **options)


@pytest.mark.parametrize("size", [3e38, 1e30])
def test_weights_with_which_outputs_overflow_are_refused(torch, write, size):
    """In the network by colour, which the core plays."""
    from starmine.torch import ColorNetwork

    torch.manual_seed(0)
    network = ColorNetwork(starmine.variant("small"), hidden=(8, 8))
    for name in network.state_dict():
        weights = dict(network.state_dict())
        weights[name] = torch.full_like(weights[name], size)
        path = write(network, weights)
        try:
            policy = starmine.load_policy(path)
        except SerializationError:
            with pytest.raises(SerializationError):
                play_games([f"policy: {path}", "iggi"], 2, variant="small")
        else:  # what is not refused has finite outputs
            assert size < 1e38
            observations = np.random.default_rng(0).integers(0, 2, (500, network.features), np.uint8)
            for output in policy.logits(observations)[:2]:
                assert np.isfinite(output).all(), name


def test_each_shipped_policy_and_the_deepest_network_are_within_range(torch, tmp_path):
    for name in starmine.policies.shipped():
        starmine.load_policy(name)
    small_network(torch, hidden=(256,) * 16).save(tmp_path / "policy.safetensors")
    starmine.load_policy(tmp_path / "policy.safetensors")


def test_a_network_that_sees_its_own_hand_is_not_saved(torch, tmp_path):
    network = small_network(torch, encoder="canonical-seer")
    with pytest.raises(StarmineError):
        network.save(tmp_path / "policy.safetensors")
    assert not list(tmp_path.iterdir())
