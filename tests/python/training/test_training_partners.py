"""starmine.training: mixtures of partners, the learner in every seat, and the table of scores with each partner."""

import csv
from importlib import import_module

import numpy as np
import pytest
import torch
from foreign_policies import write
from training_runs import log_lines, needs_train_extra

import starmine

pytestmark = needs_train_extra


@pytest.fixture(scope="module")
def training():
    """The module of training."""
    import starmine.training

    return starmine.training


class Lowest:
    """A policy that plays the lowest legal action."""

    def act_batch(self, turns):
        return turns.action_mask.argmax(1)


def games_with(training, partners, num_envs, players=2, seed=1):
    """Training games of the small variant with the mixture that a text names."""
    variant = starmine.variant("small", players=players)
    met, _ = training.read_partners(variant, partners)
    return training.TrainingGames(variant, num_envs, met, seed)


class Recorded:
    """What `TrainingGames.finished` gets, with the places of the games that ended."""

    def __init__(self, group):
        self.group, self.steps = group, []
        group._games.finished = self

    def add(self, scores, endings, partners):
        self.steps.append(partners)


def step(group, actions):
    """Play a turn; the outputs, and for each game that ended the partners of its seats."""
    recorded = Recorded(group)
    group.send(actions)
    outputs = group.receive()
    return outputs, recorded.steps[0] if recorded.steps else np.zeros((0, 2), np.int32)


def test_partners_are_read_with_their_weights(training, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    variant = starmine.Variant()
    policies = [starmine.load_policy(name) for name in ("best-response-smart", "ippo-2p")]
    (tmp_path / "runs" / "first").mkdir(parents=True)
    (tmp_path / "runs" / "first" / "policy.safetensors").write_bytes(policies[0].data)
    (tmp_path / "other.safetensors").write_bytes(policies[1].data)
    met, held_out = training.read_partners(
        variant, "smart=2, holmes ,piers=.5,runs/first,noisy: 0.1; smart=3", "iggi,other.safetensors"
    )
    assert [(partner.name, partner.weight) for partner in met] == [
        *[("smart", 2.0), ("holmes", 1.0), ("piers", 0.5), ("first", 1.0), ("noisy: 0.1; smart", 3.0)]
    ]
    assert [partner.name for partner in held_out] == ["iggi", "other"]
    assert training.read_partners(variant, "policy: other.safetensors; sampled=2")[0][0].weight == 2.0
    assert training.read_partners(variant, None) == ([], [])
    assert training.read_partners(variant, "noisy: 0.1; smart")[0][0].player.text == "noisy: 0.1; smart"


def test_policies_of_other_libraries_can_only_be_held_out(training, tmp_path):
    path = tmp_path / "other.safetensors"
    write("ippo", path)
    with pytest.raises(starmine.StarmineError):
        training.read_partners(starmine.Variant(), str(path))
    assert training.read_partners(starmine.Variant(), "smart", str(path))[1][0].name == "other"


@pytest.mark.parametrize("players", [2, 3])
def test_the_learner_holds_every_seat_in_equally_many_games(training, players):
    (group,) = games_with(training, "piers=3,simple", 13, players).groups
    outputs = group.receive()
    seats = outputs["current_player"].numpy().copy()
    counts = np.bincount(seats)
    assert len(counts) == players
    assert counts.max() - counts.min() <= 1
    for _ in range(60):
        outputs, partners = step(group, outputs["action_mask"].int().argmax(1))
        assert np.array_equal(outputs["current_player"], seats)
        assert np.array_equal(partners == -1, seats[outputs["terminated"], None] == np.arange(partners.shape[1]))
    with pytest.raises(starmine.StarmineError):
        games_with(training, "piers", players - 1, players)


def test_games_are_divided_into_equal_groups(training):
    variant = starmine.variant("small")
    with pytest.raises(starmine.StarmineError):
        training.TrainingGames(variant, 9, [], 1, groups=2)
    groups = training.TrainingGames(variant, 8, [], 1, groups=2).groups
    assert [(group.columns.start, group.columns.stop) for group in groups] == [(0, 4), (4, 8)]
    assert not np.array_equal(*(group.receive()["obs"] for group in groups))


def test_games_in_a_step_are_not_stored(training):
    """Their state would lack what the step ended and earned."""
    games = training.TrainingGames(starmine.variant("small"), 4, [], 1)
    (group,) = games.groups
    actions = group.receive()["action_mask"].int().argmax(1)
    group.send(actions)
    with pytest.raises(starmine.StarmineError):
        games.state_dict()
    with pytest.raises(starmine.StarmineError):
        group.send(actions)
    expected = {name: value.clone() for name, value in group.receive().items()}
    other = training.TrainingGames(starmine.variant("small"), 4, [], 1)
    other.load_state_dict(games.state_dict())
    assert all(torch.equal(other.groups[0].receive()[name], expected[name]) for name in ("obs", "action_mask"))


def test_games_and_lost_points_count_when_their_step_is_received(training):
    """What is set or taken while a step is in progress does not depend on how far the step is."""
    games = training.TrainingGames(starmine.variant("small"), 64, [], 1)
    (group,), lost = games.groups, 0
    outputs = group.receive()
    for _ in range(20):
        group.send(outputs["action_mask"].int().argmax(1))
        group._step.result()  # the thread has played the step
        assert games.take_finished().means() == {}
        outputs = group.receive()
        finished = games.take_finished().means()
        assert bool(finished) == bool(outputs["terminated"].any())
        lost += finished.get("lost", 0) > 0
    assert lost > 0


def test_an_error_of_a_step_is_raised_by_receive(training):
    (group,) = training.TrainingGames(starmine.variant("small"), 4, [], 1).groups
    outputs = group.receive()
    actions = outputs["action_mask"].int().argmax(1)
    group.send(actions - 100)
    with pytest.raises(starmine.StarmineError):
        group.receive()


def test_a_partner_is_drawn_for_each_episode_in_proportion_to_its_weight(training):
    games, counts = games_with(training, "piers=3,simple", 512), np.zeros(2)
    assert games.names == ["piers", "simple"]
    (group,) = games.groups
    outputs, per_game = group.receive(), [set() for _ in range(512)]
    for _ in range(40):
        outputs, partners = step(group, outputs["action_mask"].int().argmax(1))
        drawn = partners.max(1, initial=-1)
        counts += [(drawn == index).sum() for index in (0, 1)]
        for game, partner in zip(np.flatnonzero(outputs["terminated"]), drawn, strict=True):
            per_game[game].add(partner)
    assert counts[0] / counts.sum() == pytest.approx(0.75, abs=4 * (0.75 * 0.25 / counts.sum()) ** 0.5)
    assert sum(len(partners) == 2 for partners in per_game) > 100  # not one partner for each game of the batch


def test_games_and_partners_are_those_of_environments(training):
    (group,) = games_with(training, "piers=3,simple", 8, seed=5).groups
    mixture = [("piers", 3), ("simple", 1)]
    environments = [
        starmine.HanabiVectorEnv(
            4,
            "small",
            players=2,
            dtype="bits",
            reward="fireworks",
            seed=5 + (seat << 60),
            partners={1 - seat: mixture},
        )
        for seat in (0, 1)
    ]
    infos = [env.reset()[1] for env in environments]
    for _ in range(60):
        actions = np.concatenate([info["action_mask"].argmax(1) for info in infos])
        outputs, partners = step(group, torch.from_numpy(actions))
        steps = [env.step(part) for env, part in zip(environments, (actions[:4], actions[4:]), strict=True)]
        infos = [step[-1] for step in steps]
        assert np.array_equal(outputs["obs"], np.concatenate([step[0] for step in steps]))
        assert np.array_equal(outputs["reward"], np.concatenate([step[1] for step in steps]))
        found = np.concatenate([info["final_partner"] for info in infos])
        assert np.array_equal(partners, found[outputs["terminated"]])


@pytest.mark.parametrize("seats", [None, [2]])
def test_games_that_measure_progress_are_played_with_each_partner_in_every_seat(training, seats):
    variant = starmine.variant("small", players=3)
    met, _ = training.read_partners(variant, "piers,simple")
    found = training.progress_games(Lowest(), variant, 30, met, seats=seats, seed=5)
    tables = [(name, seat) for name in ("piers", "simple") for seat in seats or range(3)]
    count = 30 // len(tables)
    for place, (name, seat) in enumerate(tables):
        players, first = [Lowest() if other == seat else name for other in range(3)], place * count
        expected = starmine.play_games(players, count, seed=5, variant=variant, first_game=first)
        assert np.array_equal(found.fireworks[first : first + count], expected.fireworks)
    assert found.summary()["games"] == 30
    assert len(training.progress_games("piers", variant, 1, met)) == 6  # one for each partner and seat


@pytest.mark.parametrize("players", [2, 3])
def test_the_table_is_that_of_an_evaluation(training, tmp_path, capsys, players):
    from starmine.torch import ColorNetwork

    variant = starmine.variant("small", players=players, lost_game_score="fireworks")
    met, held_out = training.read_partners(variant, "piers=2,simple", "iggi,outer")
    network = ColorNetwork(variant, hidden=(8, 8))
    network.fuse_kernels()
    player = training.network_player(network)
    found = training.write_partner_table(tmp_path / "table.csv", player, variant, 40, met, held_out)
    expected = starmine.evaluate(
        {"this policy": network},
        20 if players == 2 else 40,
        partners=["piers", "simple"],
        hold_out=["iggi", "outer"],
        variant=starmine.variant("small", players=players),
        figure=False,
    )
    assert found.table == expected.table
    with open(tmp_path / "table.csv", newline="") as file:
        written = [row for row in csv.DictReader(file) if row["row"] == "this policy"]
    columns = ["piers", "simple", "mean", "iggi", "outer", "mean (held out)", "self-play"]
    assert [row["column"] for row in written] == columns
    assert [int(row["games"]) for row in written][:3] == [40, 40, 80]
    assert [float(row["score"]) for row in written] == [mean.score for mean in expected.table.means[0]]
    assert "iggi‡" in capsys.readouterr().out
    assert training.write_partner_table(tmp_path / "none.csv", player, variant, 40, [], []) is None
    assert not (tmp_path / "none.csv").exists()


def test_a_game_is_shown_with_a_partner(training, tmp_path, capsys):
    rules = starmine.variant("small", players=3)
    training.show_game(Lowest(), rules, replay=tmp_path / "game.html", partner=training.Partner("best friend", "piers"))
    shown = capsys.readouterr().out
    played = starmine.play_games([Lowest(), "piers", "piers"], 1, seed=training.PROGRESS_SEED, variant=rules)
    assert f"score {played.scores[0]} of" in shown
    assert "by this policy with best friend" in shown
    page = (tmp_path / "game.html").read_text(encoding="utf-8")
    assert '["this policy", "best friend", "best friend"]' in page.replace('","', '", "')


@pytest.mark.slow
@pytest.mark.parametrize("example", ["ppo", "ppo_recurrent"])
def test_a_run_logs_and_writes_the_scores_with_each_partner(example, tiny, tmp_path):
    module = import_module(example)
    module.main(tiny(module, partners="piers=2,simple", hold_out="iggi", rollout=32, num_envs=8))
    rows = log_lines(tmp_path / "run")
    assert any("score with piers" in row and "score with simple" in row for row in rows)
    with open(tmp_path / "run" / "partners.csv", newline="") as file:
        names = [row["column"] for row in csv.DictReader(file) if row["row"] == "this policy"]
    assert names == ["piers", "simple", "mean", "iggi", "mean (held out)", "self-play"]
    assert "A greedy game" in (tmp_path / "run" / "game.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_run_in_self_play_is_evaluated_with_held_out_partners(tiny, tmp_path):
    module = import_module("ppo")
    module.main(tiny(module, hold_out="iggi", total_steps=64))
    with open(tmp_path / "run" / "partners.csv", newline="") as file:
        columns = [row["column"] for row in csv.DictReader(file) if row["row"] == "this policy"]
    assert columns == ["iggi", "mean (held out)", "self-play"]


@pytest.mark.slow
def test_a_policy_that_sees_its_own_hand_is_evaluated_and_not_saved(tiny, tmp_path, capsys):
    module = import_module("ppo")
    module.main(tiny(module, encoder="canonical-seer", hold_out="iggi", total_steps=64))
    assert ", which sees its own hand: an upper bound, not a player" in capsys.readouterr().out
    assert (tmp_path / "run" / "partners.csv").exists()
    assert not (tmp_path / "run" / "policy.safetensors").exists()
