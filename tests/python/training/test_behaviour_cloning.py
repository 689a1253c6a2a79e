"""examples/behaviour_cloning.py: what it learns from, what it predicts, and its options."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from training_runs import assert_resumes_to_the_same_bits, log_lines, needs_train_extra

import starmine

pytest.importorskip("pyarrow")
pytestmark = [pytest.mark.slow, needs_train_extra]

GAMES, HELD_OUT, PER_UPDATE = 48, 12, 16


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
    """Arguments of two epochs of three tiny updates each, except for those given by name."""
    import torch

    from starmine.data import Dataset

    def arguments(which="2", **given):
        turns = int(Dataset(data[which])[HELD_OUT:].lengths.sum())
        sizes = {"games": None, "held_out": HELD_OUT, "games_per_update": PER_UPDATE, "minibatch": 8, "hidden": (8, 8)}
        run = {"eval_every": 4, "eval_games": 4, "final_games": 4, "num_threads": 1, "out": tmp_path / "run"}
        return cloning.Args(**({"data": data[which], "total_steps": 2 * turns} | sizes | run | given))

    threads = torch.get_num_threads()
    yield arguments
    torch.set_num_threads(threads)


OPTIONS = {
    "as it is": {},
    "three players": {"which": "3"},
    "other colours": {"permute_colors": True},
    "without memory": {"recurrent": False},
    "plain": {"network": "plain"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_run_resumes_to_the_same_bits(cloning, tiny, tmp_path, monkeypatch, options):
    whole = assert_resumes_to_the_same_bits(cloning.main, partial(tiny, **options), tmp_path, monkeypatch)
    assert whole["state"]["data"]["games_seen"] == 2 * GAMES
    assert whole["progress"][1] == 2 * GAMES // PER_UPDATE


@pytest.mark.parametrize("players", ["2", "3"])
def test_it_predicts_what_a_player_with_a_memory_for_each_seat_would(cloning, tiny, players):
    import torch

    from starmine.games.replay import ReplaySettings
    from starmine.torch import HiddenState

    learner = cloning.Cloning(tiny(players))
    torch.nn.init.normal_(learner.policy.heads.weight)
    games = learner.games[:10]
    with torch.no_grad():
        found = learner.predict(learner.policy, games)
    place, played = cloning.seat_by_seat(games)
    loss, correct = (column[np.argsort(place[played])] for column in found)
    hidden = learner.policy.initial_state(len(games))
    outputs = ["obs", "action_mask", "current_player", "action", "game", "turn"]
    for rows in ReplaySettings.of(outputs, dtype="bits").pieces(games):
        obs, mask, seat = (torch.from_numpy(rows[name]) for name in ("obs", "action_mask", "current_player"))
        state = HiddenState(hidden[rows["game"]], seat.long()[None], torch.zeros(1, len(seat), dtype=torch.bool))
        with torch.no_grad():
            log_probs, _, after = learner.policy(learner.policy.read(obs), mask, state)
        hidden[rows["game"]] = after
        places = games.offsets[rows["game"]] + rows["turn"]
        expected = -log_probs[np.arange(len(places)), rows["action"]]
        torch.testing.assert_close(loss[places], expected, rtol=1e-4, atol=1e-4)
        assert (correct[places] == (log_probs.argmax(1) == torch.from_numpy(rows["action"]))).all()


@pytest.mark.parametrize("permuted", [False, True])
def test_each_epoch_has_every_game_but_the_held_out_ones(cloning, tiny, permuted):
    learner = cloning.Cloning(tiny(permute_colors=permuted))
    epochs = []
    for _ in range(2):
        batches = [games for _ in range(GAMES // PER_UPDATE) for games in learner.minibatches()]
        assert [len(games) for games in batches] == [8] * (GAMES // 8)
        epochs.append([deck.tobytes() for games in batches for deck in games.decks])
    learned, held_out = ({deck.tobytes() for deck in games.decks} for games in (learner.games, learner.held_out))
    assert (len(learned), len(held_out), len(learned & held_out)) == (GAMES, HELD_OUT, 0)
    assert epochs[0] != epochs[1]
    assert all(len(set(decks)) == GAMES for decks in epochs)
    if permuted:
        assert len(set(epochs[0]) & set(epochs[1])) < GAMES
    else:
        assert set(epochs[0]) == set(epochs[1]) == learned


def test_other_colours_are_the_same_games_to_a_network_by_colour_but_not_to_a_plain_one(cloning, tiny):
    import torch

    from starmine.data.colors import permute_colors

    for network, same in (("colors", True), ("plain", False)):
        learner = cloning.Cloning(tiny(network=network))
        torch.nn.init.normal_(learner.policy.heads.weight)
        games = learner.games[:10]
        with torch.no_grad():
            shown, _ = learner.predict(learner.policy, games)
            permuted, _ = learner.predict(learner.policy, permute_colors(games, np.array([1, 0])))
        assert torch.allclose(shown, permuted, rtol=1e-3, atol=1e-3) == same


def test_it_learns_to_play_as_the_bot_does(cloning, tiny, capsys):
    arguments = tiny(hidden=(16, 32), lr=0.01, total_steps=30_000, eval_every=10)
    learner = cloning.Cloning(arguments)
    often = np.bincount(learner.games.actions).argmax()
    before = learner.held_out_accuracy(HELD_OUT)
    cloning.main(arguments)
    policy = starmine.load_policy(arguments.out / "policy.safetensors")
    about = policy.about
    assert about["held_out_accuracy"] > max(
        before["held_out_accuracy"], 0.2 + (learner.held_out.actions == often).mean()
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
