"""Trained policies: those of the package play as their cards say, and files are read as they were written."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import starmine
from starmine.torch import ColorNetwork

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[3] / "python" / "starmine" / "policies"
GAMES = 500


@pytest.fixture
def written(tmp_path):
    """A policy file with random weights, and its network."""
    torch.manual_seed(0)
    variant = starmine.variant("small")
    network = ColorNetwork(variant, hidden=(8, 8))
    path = tmp_path / "policy.safetensors"
    network.save(path, steps=7)
    return path, network


def test_each_policy_has_a_file_and_a_card():
    for suffix in (".safetensors", ".md"):
        assert {path.stem for path in FOLDER.glob(f"*{suffix}")} == set(starmine.policies.shipped())
    for name in starmine.policies.shipped():
        assert starmine.load_policy(name).data == (FOLDER / f"{name}.safetensors").read_bytes()


@pytest.mark.parametrize("name", starmine.policies.shipped())
def test_a_shipped_policy_names_no_path_of_the_machine_that_trained_it(name):
    start = starmine.load_policy(name).about["arguments"].get("start", "runs/")
    assert start.startswith("runs/")


@pytest.mark.parametrize("name", starmine.policies.shipped())
def test_a_shipped_policy_says_how_it_was_trained(name):
    """A card has the command that repeats the training, or the settings of a program that is not in this repository."""
    policy = starmine.load_policy(name)
    assert {"method", "arguments", "steps", "seconds", "score", "standard_error"} <= set(policy.about)
    if "program" in policy.about:
        assert policy.about["program"] in policy.card
        assert policy.about["settings"] in policy.card
        assert policy.about["machine"] in policy.card
        assert "python examples/" not in policy.card
    else:
        assert "- Training: `python examples/" in policy.card


@pytest.mark.parametrize("how", ["likeliest", pytest.param("drawn", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", starmine.policies.shipped())
def test_a_shipped_policy_plays_as_well_as_its_card_says(name, how):
    policy = starmine.load_policy(name, sampled=how == "drawn")
    if how == "drawn" and policy.about["method"].startswith("OBL"):
        assert "| drawn" not in policy.card  # values of actions are no probabilities
        return
    (mean, error), (kept, kept_error) = re.findall(
        r"([\d.]+) ± ([\d.]+)", next(line for line in policy.card.splitlines() if line.startswith(f"| {how}"))
    )
    variant = starmine.Variant(**policy.variant.parameters() | {"lost_game_score": "zero"})
    partner = policy.about["arguments"].get("partner") or policy
    games = starmine.play_games([policy] + [partner] * (variant.players - 1), GAMES, seed=1, variant=variant)
    for values, said, of_card in ((games.scores, mean, error), (games.fireworks, kept, kept_error)):
        assert of_card != "0.000"
        assert abs(values.mean() - float(said)) < 4 * np.hypot(values.std(ddof=1) / GAMES**0.5, float(of_card))


def test_a_policy_file_is_read_as_it_was_written(written):
    path, network = written
    policy = starmine.load_policy(path)
    assert policy.name == str(path)
    assert policy.bot == f"policy: {path}"
    assert policy.variant == network.variant
    assert policy.about == {"steps": 7}
    assert "- steps: 7" in policy.card
    read = policy.network().state_dict()
    for name, tensor in network.state_dict().items():
        assert torch.equal(read[name], tensor.half().float())


def test_logits_are_those_of_the_network(written):
    policy = starmine.load_policy(written[0])
    states = [policy.variant.new_game(seed=seed) for seed in range(50)]
    for seed, state in enumerate(states):
        for _ in range(seed % 5):
            state.apply(state.legal_actions()[-1])
    observations = np.stack([state.encode(state.current_player) for state in states])
    logits, values, memory = policy.logits(observations)
    mask = torch.ones(50, policy.variant.num_actions, dtype=torch.bool)
    with torch.no_grad():
        bits = np.packbits(observations, axis=1, bitorder="little")
        network = policy.network()
        log_probs, expected, _ = network(network.read(np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))), mask)
    np.testing.assert_allclose(torch.from_numpy(logits).log_softmax(1), log_probs, atol=1e-5)
    np.testing.assert_allclose(values, expected, atol=1e-5)
    assert memory.shape == (50, 0)


def test_a_policy_takes_a_seat_as_its_text_does(written):
    greedy, drawn = starmine.load_policy(written[0]), starmine.load_policy(written[0], sampled=True)
    assert drawn.bot == f"{greedy.bot}; sampled"
    found = {}
    for policy in (greedy, drawn):
        games = [starmine.play_games([seat, "random"], 50, variant="small") for seat in (policy, policy.bot)]
        assert np.array_equal(games[0].lengths, games[1].lengths)
        found[policy] = games[0].lengths
    assert not np.array_equal(found[greedy], found[drawn])
    batch = starmine.Batch("small", 2, partners={1: [greedy, "random", drawn]})
    assert batch.partners == {1: [greedy.bot, "random", drawn.bot]}
    env = starmine.HanabiVectorEnv(2, "small", partners={1: greedy})
    assert env._batch.partners == {1: greedy.bot}
    evaluation = starmine.evaluate({"mine": greedy, "random": "random"}, 10, variant="small")
    assert evaluation.settings.players["mine"] == greedy.bot


def test_a_path_of_a_file_or_of_a_runs_folder_is_a_player(written, tmp_path, monkeypatch):
    path, _ = written
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "runs" / "first"
    run.mkdir(parents=True)
    (run / "policy.safetensors").write_bytes(path.read_bytes())
    rules = {"variant": "small", "games": 10, "seed": 1}
    expected = starmine.play_games([starmine.load_policy(path)] * 2, **rules).scores
    for text in ("runs/first", "policy.safetensors", "policy: runs/first", str(run), "runs/first; sampled"):
        found = starmine.play_games([text] * 2, **rules).scores
        assert np.array_equal(found, expected) or "sampled" in text
    assert starmine.load_policy("runs/first") == starmine.load_policy(run) == starmine.load_policy(path)
    evaluation = starmine.evaluate(["runs/first", "policy.safetensors"], 10, variant="small", figure=False)
    assert evaluation.settings.players["runs/first"] == "policy: runs/first/policy.safetensors"
    env = starmine.HanabiVectorEnv(4, "small", players=2, partners={1: [("runs/first", 2.0), "policy.safetensors"]})
    env.reset(seed=1)
    (tmp_path / "smart").mkdir()
    assert len(starmine.play_games(["smart"] * 2, 2)) == 2  # a bot's name comes first
    for text in ("runs", "policy: runs"):
        with pytest.raises(starmine.UnknownNameError):
            starmine.play_games([text] * 2, **rules)
    with pytest.raises(starmine.UnknownNameError):
        starmine.load_policy(tmp_path / "runs")
    with pytest.raises(starmine.UnknownNameError):
        starmine.play_games(["nowhere.safetensors"] * 2, **rules)
