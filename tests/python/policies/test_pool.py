"""A pool has the players of a game, and everything that takes players takes them."""

import csv

import numpy as np
import pytest
import torch
from helpers.paths import ROOT

import starmine
from starmine import StarmineError
from starmine.policies import pool
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


def all_of(game, **options):
    met, held_out = pool(game, **options)
    return met | held_out


def test_a_pool_has_bots_shipped_policies_and_seeds(results):
    found = all_of("2p", results=results)
    assert {"smart", "ippo-2p-small", "best-response-smart", "mine-1", "mine-2"} <= set(found)
    assert not {"random", "cheater", "ippo-3p-small", "ippo-mini", "other-1", "no-weights"} & set(found)
    assert found["smart"] == "smart"
    assert {"other-1", "ippo-3p-small"} <= set(all_of("3p", results=results))
    assert "ippo-mini" in all_of(starmine.variant("mini"), results=results)
    assert "smart" not in all_of(starmine.variant("mini"), results=results)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_pool_has_the_small_version_of_a_policy_alone(players):
    found = all_of(f"{players}p")
    assert f"ippo-{players}p-small" in found
    assert f"ippo-{players}p" not in found
    wide, small = (starmine.load_policy(f"ippo-{players}p{version}") for version in ("", "-small"))
    assert wide.options["hidden"] > small.options["hidden"]


def test_players_are_held_out(results):
    met, held_out = pool("2p", hold_out=["smart", "mine-2"], results=results)
    assert list(held_out) == ["smart", "mine-2"]
    assert not set(met) & set(held_out)
    assert {"mine-1", "piers"} <= set(met)
    assert "piers" in pool("2p", results=results)[1]
    assert list(pool("2p", hold_out="smart", results=results)[1]) == ["smart"]


@pytest.mark.parametrize("name", ["smart", "ippo-2p", "ippo-2p-small"])
def test_a_run_with_the_name_of_another_player_is_refused(results, name):
    """It would hide this player, and `hold_out` would not say which of them is meant."""
    (results / "mine-1").rename(results / name)
    with pytest.raises(StarmineError):
        pool("2p", results=results)


def test_players_of_a_pool_go_wherever_players_go(results, tmp_path):
    met, _ = pool("2p", results=results)
    found = {name: met[name] for name in ("smart", "iggi", "ippo-2p-small", "mine-1")}
    games = starmine.play_games([found["mine-1"], found["iggi"]], 5)
    assert len(games) == 5
    env = starmine.HanabiVectorEnv(num_envs=4, players=2, partners={1: list(found.values())})
    _, info = env.reset(seed=0)
    env.step(np.array([mask.argmax() for mask in info["action_mask"]]))
    assert starmine.evaluate(found, 2, figure=False).names == list(found)
    assert starmine.data.generate([found["smart"], found["iggi"]], 5, output=tmp_path / "games")


def test_what_is_held_out_by_default_was_met_by_no_mixture():
    _, held_out = pool("2p")
    with (ROOT / "results" / "runs.csv").open(encoding="utf-8", newline="") as file:
        runs = {row["name"]: row["partner"] for row in csv.DictReader(file)}
    met = runs["mixture-1"].split(",")
    assert "smart" in met
    assert len(held_out) == 4
    assert set(held_out).isdisjoint(met)
