"""A pool has the players of a game with their tags, and hands them to everything that takes players."""

import csv

import numpy as np
import pytest
import torch
from helpers.paths import ROOT

import starmine
from starmine import StarmineError, UnknownNameError
from starmine.policies import pool, pools
from starmine.torch import PolicyNetwork


@pytest.fixture
def results(tmp_path):
    """A folder with two seeds of a run, and one of another game."""
    torch.manual_seed(0)
    for name, players, arguments in [
        ("mine-1", 2, {"seed": 1}),
        ("mine-2", 2, {"seed": 2, "entropy_weight": 0.01, "entropy_schedule": "linear", "entropy_end": 0.001}),
        ("other-1", 3, {}),
    ]:
        (tmp_path / name).mkdir()
        network = PolicyNetwork(starmine.variant("standard", players=players), hidden=(8,))
        network.save(tmp_path / name / "policy.safetensors", method="IPPO", arguments=arguments)
    (tmp_path / "no-weights").mkdir()
    return tmp_path


def test_a_pool_has_bots_noisy_bots_shipped_policies_and_seeds(results):
    found = pool("2p", results=results)
    assert {"smart", "noisy-smart", "ippo-2p-small", "best-response-smart", "mine-1", "mine-2"} <= set(found)
    assert not {"random", "cheater", "noisy-random", "ippo-3p-small", "ippo-mini", "other-1", "no-weights"} & set(found)
    assert found["smart"] == "smart"
    assert found["noisy-smart"] == "noisy: 0.1; smart"
    assert {"other-1", "ippo-3p-small"} <= set(pool("3p", results=results))
    assert "ippo-mini" in pool(starmine.variant("mini"), results=results)
    assert "smart" not in pool(starmine.variant("mini"), results=results)
    assert not pool("2p", epsilon=0, results=results).where(kind="noisy")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_pool_has_the_small_version_of_a_policy_alone(players):
    found = pool(f"{players}p")
    assert f"ippo-{players}p-small" in found
    assert f"ippo-{players}p" not in found
    wide, small = (starmine.load_policy(f"ippo-{players}p{version}") for version in ("", "-small"))
    assert wide.options["hidden"] > small.options["hidden"]


def test_members_have_tags(results):
    members = pool("2p", epsilon=0.2, results=results).members
    assert (members["mine-1"].kind, members["mine-1"].method, members["mine-1"].seed) == ("policy", "IPPO", 1)
    assert (members["mine-1"].entropy, members["mine-2"].entropy, members["ippo-2p-small"].entropy) == (
        0.05,
        0.001,
        0.002,
    )
    assert (members["smart"].method, members["smart"].seed, members["smart"].entropy) == (None, None, None)
    assert (members["noisy-smart"].epsilon, members["smart"].epsilon) == (0.2, 0)


def test_players_are_held_out_with_their_noisy_versions(results):
    found = pool("2p", hold_out=["smart", "mine-2", "noisy-info"], results=results)
    assert found.held_out == ["smart", "noisy-smart", "noisy-info", "mine-2"]
    assert not set(found.where(held_out=False)) & set(found.held_out)
    assert list(found.only(["mine-1", "smart"])) == ["mine-1", "smart"]
    assert found.where(kind="policy", seed=2).held_out == ["mine-2"]
    assert {"fireflower", "noisy-fireflower"} <= set(pool("2p", results=results).held_out)


def test_the_seeds_of_the_source_are_found_by_name_and_no_others(results, monkeypatch):
    (results / "results").mkdir()
    (results / "other-1").rename(results / "results" / "other-1")
    monkeypatch.setattr(pools, "SOURCE", results / "nowhere")
    monkeypatch.chdir(results)
    assert "other-1" not in pool("3p")  # what the current folder holds changes no pool
    monkeypatch.setattr(pools, "SOURCE", results)
    assert "other-1" in pool("3p")


def test_players_of_a_pool_go_wherever_players_go(results, tmp_path):
    found = pool("2p", results=results).only(["smart", "noisy-iggi", "ippo-2p-small", "mine-1"])
    games = starmine.play_games([found["mine-1"], found["noisy-iggi"]], 5)
    assert len(games) == 5
    env = starmine.HanabiVectorEnv(num_envs=4, players=2, partners={1: list(found.values())})
    _, info = env.reset(seed=0)
    env.step(np.array([mask.argmax() for mask in info["action_mask"]]))
    assert starmine.evaluate(found, 2, figure=False).names == list(found)
    assert starmine.data.generate(list(found.only(["smart", "noisy-iggi"]).values()), 5, output=tmp_path / "games")


def test_what_a_pool_does_not_have_is_refused(results, tmp_path):
    found = pool("2p", results=results)
    for refused in (lambda: found["mine-3"], lambda: found.only(["mine-3"])):
        with pytest.raises(UnknownNameError, match='"mine-3" is not known: did you mean "mine-2"'):
            refused()
    assert found.get("mine-3") is None
    assert "mine-3" not in found
    with pytest.raises(UnknownNameError, match='tag="helt_out" is not known: did you mean "held_out"'):
        found.where(helt_out=True)
    with pytest.raises(UnknownNameError, match='game="6p" is not known'):
        pool("6p")
    with pytest.raises(UnknownNameError, match='"holms" is not known: did you mean "holmes"'):
        pool("2p", hold_out=["holms"], results=results)
    with pytest.raises(StarmineError, match="epsilon=2 is not allowed"):
        pool("2p", epsilon=2)
    with pytest.raises(StarmineError, match="expected a folder"):
        pool("2p", results=tmp_path / "nowhere")
    (results / "mine-1" / "policy.safetensors").write_bytes(b"no policy")
    with pytest.raises(starmine.SerializationError, match="mine-1"):
        pool("2p", results=results)


def test_what_is_held_out_by_default_was_met_by_no_mixture():
    partners = starmine.policies.pool("2p")
    with (ROOT / "results" / "runs.csv").open(encoding="utf-8", newline="") as file:
        runs = {row["name"]: row["partner"] for row in csv.DictReader(file)}
    met = runs["mixture-1"].split(",")
    assert "smart" in met
    assert len(partners.where(kind="bot", held_out=True)) == 5
    assert set(partners.held_out).isdisjoint(met)


def test_an_empty_pool_is_no_partners():
    with pytest.raises(starmine.StarmineError, match="partners is empty"):
        starmine.evaluate(["smart"], 2, partners=starmine.policies.pool("2p").where(seed=987654), figure=False)
