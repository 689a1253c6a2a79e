"""Starmine's plain and recurrent networks: PyTorch plays their files as the core of version 0.3 did."""

import json
import pickle

import numpy as np
import pytest
import torch
from helpers.paths import ROOT

import starmine
from starmine.torch import ColorNetwork, ModulePolicy, PolicyNetwork

FILES = ROOT / "tests" / "data" / "torch_policies"
# What the core of version 0.3 played and computed, when it still had these networks: the actions of 40 games of seed 5
# in which the policy holds both seats, and the logits and the value of seat 0 in three turns in a row.
RECORDED = json.loads((FILES / "core.json").read_text(encoding="utf-8"))
NAMES = list(RECORDED)
MINI = starmine.variant("mini")


def load(name, **options):
    return starmine.load_policy(FILES / f"{name}.safetensors", **options)


def actions(players, games=40, seed=5):
    """The actions of games."""
    played = starmine.play_games(players, games, seed, MINI)
    return [played[game].actions.tolist() for game in range(games)]


@pytest.mark.parametrize("name", NAMES)
def test_games_are_those_that_the_core_played(name):
    assert isinstance(load(name), ModulePolicy)
    assert actions([load(name)] * 2) == RECORDED[name]["games"]


@pytest.mark.parametrize("name", NAMES)
def test_outputs_and_hidden_states_are_those_of_the_core(name):
    policy, memory = load(name), None
    state = MINI.new_game(seed=1)
    observation = state.encode(state.current_player)[None]
    for recorded in RECORDED[name]["outputs"]:
        logits, values, memory = policy.logits(observation, memory)
        np.testing.assert_allclose([*logits[0], *values], recorded, rtol=1e-5, atol=1e-5)
    assert memory.shape == (1, 16 if policy.recurrent else 0)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_plays_as_its_network_and_as_its_text(name):
    policy = load(name)
    text = f"policy: {FILES / name}.safetensors"
    assert policy.bot == text
    expected = actions([policy, "random"])
    assert actions([policy.network(), "random"]) == expected == actions([text, "random"])
    drawn = load(name, sampled=True)
    assert drawn.bot == f"{text}; sampled"
    games = actions([drawn] * 2)
    assert games == actions([drawn.bot] * 2) != RECORDED[name]["games"]


@pytest.mark.parametrize("name", ["plain", "gru"])
def test_it_holds_seats_at_every_door_that_takes_policies(name, tmp_path):
    policy = load(name)
    for player in (policy, policy.bot, f"noisy: 0.1; {policy.bot}"):
        assert len(starmine.play_games([player, "iggi"], 3, variant=MINI)) == 3
        rewards = []
        for _ in range(2):
            env = starmine.HanabiVectorEnv(8, MINI, partners={1: player}, num_threads=1)
            env.reset(seed=3)
            rewards.append([env.step(np.full(8, 3))[1].tolist() for _ in range(5)])  # plays of the oldest card
        assert rewards[0] == rewards[1]
    evaluation = starmine.evaluate({"mine": policy, "iggi": "iggi"}, 4, variant=MINI, figure=False)
    assert evaluation.settings.players["mine"] == policy.bot
    starmine.data.generate([policy, "iggi"], games=4, output=tmp_path / "games", variant=MINI, progress=False)
    assert len(starmine.data.read_games(tmp_path / "games")) == 4


@pytest.mark.parametrize("name", ["plain", "colors-gru"])
def test_a_replay_shows_what_it_thinks(name):
    state = starmine.play_games([load(name), "iggi"], 1, variant=MINI).state(0)
    for given in (load(name), load(name).bot):
        frames = starmine.look.replay.replay_data(state, policy=given)["games"][0]["frames"]
        acted = [frame["policy"] for frame in frames if frame.get("policy")]
        assert acted
        assert all(thought["name"] == name for thought in acted)


def test_copies_and_pickles_play_the_loaded_weights(tmp_path):
    path = tmp_path / "policy.safetensors"
    path.write_bytes((FILES / "gru.safetensors").read_bytes())
    policy = starmine.load_policy(path)
    path.unlink()
    again = pickle.loads(pickle.dumps(policy))
    assert again == policy == load("gru")
    assert hash(again) == hash(policy)
    assert policy != load("gru", sampled=True)
    assert policy != load("plain")
    assert actions([again] * 2) == RECORDED["gru"]["games"]


def test_what_the_file_says_of_itself():
    policy = load("gru")
    assert (policy.about, policy.variant, policy.encoder, policy.recurrent) == ({"steps": 1}, MINI, "canonical", True)
    assert "- steps: 1" in policy.card
    assert policy.file.format == "starmine"
    assert load("plain").recurrent is False
    assert isinstance(load("colors-gru").network(), ColorNetwork)
    network = policy.network()
    assert isinstance(network, PolicyNetwork)
    assert network.heads.weight.requires_grad
    with torch.no_grad():
        network.heads.weight.zero_()
    assert actions([policy] * 2) == RECORDED["gru"]["games"]


def test_saving_and_loading_draw_no_random_numbers(tmp_path):
    before = torch.get_rng_state()
    load("gru").network().save(tmp_path / "again.safetensors")
    assert torch.equal(torch.get_rng_state(), before)
    assert actions([str(tmp_path / "again.safetensors")] * 2) == RECORDED["gru"]["games"]


def changed(name, change):
    """The contents of a file whose description or tensors were changed."""
    from safetensors.torch import load as tensors_of
    from safetensors.torch import save

    data = (FILES / f"{name}.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    said = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["starmine"])
    tensors = tensors_of(data)
    change(said, tensors)
    return save(tensors, {"starmine": json.dumps(said)})


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_refused_or_plays(name, tmp_path):
    whole, path = (FILES / f"{name}.safetensors").read_bytes(), tmp_path / "policy.safetensors"
    for bit in range(0, 8 * len(whole), 4999):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            policy = starmine.load_policy(path)
        except starmine.StarmineError:
            continue
        if policy.variant == MINI:
            assert len(starmine.play_games([policy] * 2, 1, variant=MINI)) == 1


def test_outputs_that_overflow_are_refused_when_they_are_played():
    from starmine.policies.load import read_policy

    def enlarge(said, tensors):
        tensors["heads.bias"] = torch.full((len(tensors["heads.bias"]),), 3e38)
        tensors["heads.weight"] = torch.full(tensors["heads.weight"].shape, 3e38)

    policy = read_policy("large", changed("plain", enlarge))
    with pytest.raises(starmine.StarmineError):
        starmine.play_games([policy] * 2, 1, variant=MINI)
