"""Trained policies as bots: their files, their moves, and where they sit."""

import copy
import json
import pickle

import numpy as np
import pytest
import torch

import starmine
from starmine import Batch, SerializationError, UnknownNameError, VariantError
from starmine._core import _Network, _policy_bytes
from starmine.torch import ColorNetwork

pytestmark = pytest.mark.slow

GAMES = 100
VARIANTS = [
    starmine.variant("standard", players=2),
    starmine.variant("avalanche", players=3),
    *(
        pytest.param(variant, marks=pytest.mark.nightly)
        for variant in (
            *(starmine.variant("standard", players=players) for players in (3, 4, 5)),
            starmine.variant("timed-display", players=2),
            starmine.variant("very-small", players=2),
        )
    ),
]


def random_network(variant):
    """A network with random weights, whose logits differ, and which float16 holds as they are."""
    torch.manual_seed(0)
    network = ColorNetwork(variant, hidden=(24, 40))
    with torch.no_grad():
        network.heads.weight.mul_(100)
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
            parameter.copy_(parameter.half())
    return network


@pytest.fixture
def saved(tmp_path):
    """Writes a network, and returns its path."""

    def save(network, name="policy.safetensors"):
        path = tmp_path / name
        network.save(path)
        return path

    return save


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_policy_plays_as_torch_does(variant, saved):
    network = random_network(variant)
    ours = starmine.play_games([f"policy: {saved(network)}"] * variant.players, GAMES, variant=variant)
    theirs = starmine.play_games([network] * variant.players, GAMES, variant=variant)
    # Sums in another order may turn a tie.
    same = [np.equal(getattr(ours, name), getattr(theirs, name)) for name in ("lengths", "scores", "endings")]
    assert np.all(same, axis=0).mean() > 0.97


def test_a_sampled_policy_draws_the_same_games_again(saved):
    variant = starmine.variant("standard")
    sampled = f"policy: {saved(random_network(variant))}; sampled"
    games = [starmine.play_games([sampled] * 2, GAMES, seed=3, num_threads=threads) for threads in (1, 2)]
    np.testing.assert_array_equal(games[0].lengths, games[1].lengths)
    greedy = starmine.play_games([sampled.removesuffix("; sampled")] * 2, GAMES, seed=3)
    assert (games[0].lengths != greedy.lengths).any()


@pytest.mark.parametrize("ending", ["", "; sampled"], ids=["best", "sampled"])
def test_a_policy_is_a_partner_that_copies_and_pickles_go_on_with(ending, saved):
    name = f"policy: {saved(random_network(starmine.variant('standard')))}{ending}"
    batch = Batch(starmine.variant("standard"), 16, seed=1, partners={1: [name, "smart"]})
    assert batch.partners == {1: [name, "smart"]}
    batch.reset()
    for _ in range(12):
        batch.step(batch.observe()["action_mask"].argmax(1))
    others = [batch.copy(), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    for _ in range(40):
        actions = batch.observe()["action_mask"].argmax(1)
        seen = batch.step(actions)
        for other in others:
            for key, values in other.step(actions).items():
                np.testing.assert_array_equal(values, seen[key])


def test_a_stored_batch_goes_on_beside_the_policy_that_played(saved):
    network = random_network(starmine.variant("standard"))
    path = saved(network)
    batch = Batch(starmine.variant("standard"), 20, seed=1, partners={1: f"policy: {path}"})
    stored = batch.to_bytes()
    with torch.no_grad():
        network.heads.bias.add_(1)
    saved(network)
    again = [Batch.from_bytes(stored)]
    path.unlink()
    again.append(Batch.from_bytes(stored))
    for _ in range(30):
        actions = batch.observe()["action_mask"].argmax(1)
        seen = batch.step(actions)
        for other in again:
            np.testing.assert_array_equal(other.step(actions)["obs"], seen["obs"])
    damaged = bytearray(stored)
    damaged[len(stored) // 2] ^= 1
    with pytest.raises(SerializationError):
        Batch.from_bytes(bytes(damaged))


def test_a_policy_plays_its_own_variant(saved):
    name = f"policy: {saved(random_network(starmine.variant('standard', players=3)))}"
    for same in ({"lost_game_score": "fireworks"}, {"random_start_player": True}, {"edition": "ikebana"}):
        starmine.play_games([name] * 3, 2, variant=starmine.variant("standard", players=3, **same))
    for refused in (
        lambda: starmine.play_games([name] * 4),
        lambda: Batch(starmine.variant("standard"), 2, partners={1: name}),
    ):
        with pytest.raises(VariantError):
            refused()
    with pytest.raises(VariantError):
        starmine.play_games([name] * 3, 2, variant=starmine.variant("crowning-piece", players=3))


def test_shipped_policies_are_bots():
    for name in starmine.policies.shipped():
        kind, network = starmine.games.bot(name), _Network(name, _policy_bytes(name))
        assert (kind.name, kind.is_player, kind.plays) == (name, True, "own variant")
        variant = starmine.Variant.from_json(json.dumps(json.loads(network.metadata)["variant"]))
        one, other = (
            starmine.play_games([text] * variant.players, 20, variant=variant) for text in (name, f"policy: {name}")
        )
        np.testing.assert_array_equal(one.scores, other.scores)
    assert not set(starmine.policies.shipped()) & set(starmine.bots())
    with pytest.raises(UnknownNameError):
        _policy_bytes("nobody")


def test_an_instruction_set_that_does_not_exist_is_refused(monkeypatch, tmp_path):
    ColorNetwork(starmine.variant("mini"), hidden=(8, 8)).save(tmp_path / "policy.safetensors")
    monkeypatch.setenv("STARMINE_SIMD", "abacus")
    with pytest.raises(starmine.StarmineError):
        starmine.load_policy(tmp_path / "policy.safetensors")
