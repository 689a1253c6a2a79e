"""examples/behaviour_cloning.py: what it learns from, what it predicts, and its options."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from training_runs import assert_resumes_to_the_same_bits, log_lines, needs_train_extra

import starmine

pytest.importorskip("pyarrow")
pytestmark = [pytest.mark.slow, needs_train_extra]

GAMES, HELD_OUT = 48, 12


@pytest.fixture(scope="module")
def cloning():
    """The script as a module."""
    import behaviour_cloning

    return behaviour_cloning


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data set of games of `piers`, by the number of players."""
    from starmine.data import generate

    def made(players, bots=None):
        folder = tmp_path_factory.mktemp("games")
        seats = bots or ["piers"] * players
        rules = starmine.variant("small", players=players)
        generate(seats, HELD_OUT + GAMES, folder, rules, seed=3, num_threads=1, progress=False)
        return str(folder)

    return {"2": made(2), "3": made(3), "mixed": made(2, ["piers", "iggi"])}


@pytest.fixture
def tiny(cloning, data, tmp_path):
    """Arguments of six tiny updates in two epochs, except for those given by name."""
    import torch

    from starmine.data import Dataset

    def arguments(which="2", **given):
        turns = int(Dataset(data[which])[HELD_OUT:].lengths.sum())
        sizes = {"games": None, "held_out": HELD_OUT, "minibatch": turns // 12 + 1, "minibatches": 4, "hidden": (8, 8)}
        run = {"eval_every": 4, "eval_games": 4, "final_games": 4, "num_threads": 1, "out": tmp_path / "run"}
        return cloning.Args(**({"data": data[which], "total_steps": 2 * turns} | sizes | run | given))

    threads = torch.get_num_threads()
    yield arguments
    torch.set_num_threads(threads)


OPTIONS = {
    "as it is": {},
    "three players": {"which": "3"},
    "other colours": {"permute_colors": True},
    "plain": {"network": "plain"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_run_resumes_to_the_same_bits(cloning, tiny, tmp_path, monkeypatch, options):
    whole = assert_resumes_to_the_same_bits(cloning.main, partial(tiny, **options), tmp_path, monkeypatch)
    assert whole["state"]["turns"]["epoch"] == 1
    assert whole["progress"][1] == 6


def test_each_epoch_has_every_turn_but_those_of_held_out_games(cloning, tiny):
    learner = cloning.Cloning(tiny())
    games = learner.turns.data[:]
    epochs = [[next(learner.minibatches)["action"].numpy() for _ in range(12)] for _ in range(2)]
    for epoch in epochs:
        assert (np.sort(np.concatenate(epoch)) == np.sort(games.actions)).all()
    assert (np.concatenate(epochs[0]) != np.concatenate(epochs[1])).any()
    learned, held_out = ({deck.tobytes() for deck in part.decks} for part in (games, learner.held_out[:]))
    assert (len(learned), len(held_out), len(learned & held_out)) == (GAMES, HELD_OUT, 0)


def test_other_colours_are_the_same_turns_to_a_network_by_colour_but_not_to_a_plain_one(cloning, tiny):
    import torch

    from starmine.torch import GamesDataset

    for network, same in (("colors", True), ("plain", False)):
        learner = cloning.Cloning(tiny(network=network))
        torch.nn.init.normal_(learner.policy.heads.weight)
        settings = {"dtype": "bits", "outputs": cloning.OUTPUTS, "shuffle": False}
        shown, permuted = (
            next(iter(GamesDataset(learner.held_out, 10**6, permute_colors=permutes, **settings)))
            for permutes in (False, True)
        )
        assert (shown["obs"] != permuted["obs"]).any()
        with torch.no_grad():
            losses = [learner.predict(learner.policy, rows)[0] for rows in (shown, permuted)]
        assert torch.allclose(*losses, rtol=1e-3, atol=1e-3) == same


def test_it_learns_to_play_as_the_bot_does(cloning, tiny, capsys):
    arguments = tiny(hidden=(16, 32), lr=0.01, total_steps=30_000, eval_every=10)
    learner = cloning.Cloning(arguments)
    often = np.bincount(learner.turns.data[:].actions).argmax()
    before = learner.held_out_accuracy(HELD_OUT)
    cloning.main(arguments)
    policy = starmine.load_policy(arguments.out / "policy.safetensors")
    about = policy.about
    assert about["held_out_accuracy"] > max(
        before["held_out_accuracy"], 0.2 + (learner.held_out[:].actions == often).mean()
    )
    assert about["held_out_loss"] < before["held_out_loss"] - 0.5
    assert (about["teacher"], about["learned_from"]) == ("piers", GAMES)
    rows = log_lines(arguments.out)
    assert rows[-1]["loss"] < rows[0]["loss"]
    assert "held_out_accuracy" in rows[9]
    assert (arguments.out / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert "in seat 0 with piers, 4 games: score" in printed
    assert "in seat 1 with piers, 4 games: score" in printed
    assert len(starmine.play_games([policy, "piers"], 10, variant="small")) == 10


def test_players_of_several_kinds_are_cloned_without_cross_play(cloning, tiny, capsys):
    arguments = tiny("mixed", total_steps=1)
    cloning.main(arguments)
    assert "beside" not in capsys.readouterr().out
    assert starmine.load_policy(arguments.out / "policy.safetensors").about["teacher"] is None


def test_games_that_are_missing_are_generated_once(cloning, tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = tiny(data=None, bot="piers", variant="small", games=8, held_out=4, total_steps=1)
    cloning.main(arguments)
    assert "1 of 1 shards (1 made now), 12 games" in capsys.readouterr().out
    cloning.main(replace(arguments, out=tmp_path / "again"))
    assert "1 of 1 shards (0 made now), 12 games" in capsys.readouterr().out


def test_numbers_that_are_not_finite_stop_the_run(cloning, tiny):
    from starmine.training import DivergedError

    with pytest.raises(DivergedError):
        cloning.main(tiny(lr=1e30))
