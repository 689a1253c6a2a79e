"""starmine.training: runs of a learner that does nothing, and each part by itself."""

import dataclasses
import json
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from training_runs import (
    TrainingError,
    assert_same_checkpoints,
    log_lines,
    log_without_clock,
    needs_train_extra,
    stop_after,
)

import starmine

pytestmark = needs_train_extra


@pytest.fixture(scope="module")
def training():
    import starmine.training

    return starmine.training


def counter_args(out, **given):
    """Arguments for six updates of 100 turns, with a checkpoint after each, except for those given by name."""
    from starmine.training import ScriptArgs

    @dataclass
    class Args(ScriptArgs):
        lr: float = 0.5
        hidden: tuple[int, ...] = (8, 8)
        start: Path | None = None

    return Args(out=out, **({"total_steps": 600, "checkpoint_seconds": 0.0} | given))


class Counter:
    """A learner that adds random numbers."""

    def __init__(self):
        import torch

        torch.manual_seed(1)
        self.batch = starmine.Batch("small", 4, seed=1)
        self.weight, self.fractions = torch.zeros(3), []

    def update(self, fraction):
        import torch

        self.fractions.append(fraction)
        self.weight += torch.rand(3)
        self.batch.step(self.batch.observe()["action_mask"].argmax(1))
        return {"weight": float(self.weight.sum())}

    def state_dict(self):
        return {"weight": self.weight, "process": {"batch": self.batch.to_bytes()}}

    def load_state_dict(self, state):
        self.weight = state["weight"]
        self.batch = starmine.Batch.from_bytes(state["process"]["batch"])


@pytest.fixture
def train(training, tmp_path):
    """Trains a counter for six updates of 100 turns; returns it and the run."""

    def train(program="counter", **given):
        args, counter = counter_args(**({"out": tmp_path / "run"} | given)), Counter()
        with training.Run(program, args, counter) as run:
            while run.begin_update():
                measures = counter.update(run.fraction)
                if run.is_due(2):
                    measures["greedy"] = 1.0
                run.end_update(measures, steps=100)
        return counter, run

    return train


# --- Run --------------------------------------------------------------------------------------------------


def test_a_run_spends_its_budget(train, tmp_path):
    counter, run = train()
    assert counter.fractions == pytest.approx([0, 1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6])
    assert (run.updates, run.steps, run.finished) == (6, 600, True)
    rows = log_lines(tmp_path / "run")
    assert rows == run.rows
    assert [row["update"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row["steps"] for row in rows] == [100, 200, 300, 400, 500, 600]
    assert [row["update"] for row in rows if "greedy" in row] == [2, 4, 6]
    assert all(row["steps_per_second"] > 0 and "weight" in row for row in rows)
    assert rows[-1]["seconds"] == run.seconds


def test_a_budget_of_minutes_ends(train):
    _, run = train(total_steps=None, minutes=1e-6)
    assert run.updates == 1
    with pytest.raises(TrainingError):
        train(total_steps=None, minutes=0.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_update_and_the_run(train, tmp_path, monkeypatch, capsys, number):
    train(out=tmp_path / "whole")
    before = signal.getsignal(number)
    with monkeypatch.context() as patched:
        stop_after(patched, 3, number)
        _, run = train()
    assert signal.getsignal(number) is before
    assert not run.finished
    path = tmp_path / "run" / "checkpoint.pt"
    assert f"stopped after update 3: --resume goes on from {path}\n" in capsys.readouterr().out
    train(resume=True)
    assert_same_checkpoints(tmp_path / "run", tmp_path / "whole")
    assert log_without_clock(tmp_path / "run") == log_without_clock(tmp_path / "whole")


def test_a_second_signal_ends_the_process(training):
    with training.run.StopSignals() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.requested
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL


def test_a_resumed_run_has_the_settings_that_it_began_with(train, tmp_path, monkeypatch):
    with pytest.raises(TrainingError):
        train(resume=True)
    assert not (tmp_path / "run").exists()
    given = {"lr": 0.25, "start": Path("here")}
    train(total_steps=200, **given)
    train(total_steps=300, num_threads=1, eval_games=3, final_games=3, resume=True, **given)
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    for other in ({"lr": 0.5}, {"hidden": (9,)}, {"start": None}, {"seed": 2}, {"program": "other"}):
        with pytest.raises(TrainingError):
            train(**(given | other), resume=True)
    with pytest.raises(TrainingError):
        train(start=Path("here"), hidden=(9,), resume=True)
    with monkeypatch.context() as patched:
        patched.setattr("starmine.training.checkpoint.version", lambda _: "99.0.0")
        with pytest.raises(TrainingError):
            train(**given, resume=True)
    assert {path: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def test_numbers_that_are_not_finite_are_found(training):
    import torch

    with pytest.raises(training.DivergedError):
        training.check_finite(torch.tensor([[1.0], [torch.nan]]), ["loss"], torch.nn.Linear(1, 1))
    broken = torch.nn.Linear(1, 1)
    torch.nn.init.constant_(broken.bias, torch.inf)
    with pytest.raises(training.DivergedError):
        training.check_finite(torch.zeros(1, 1), ["loss"], broken)
    training.check_finite(torch.zeros(1, 1), ["loss"], torch.nn.Linear(1, 1))


ENDS = ("deck_exhausted", "perfect")


def games_with(scores, fireworks, ends):
    """Two games with these results."""
    codes = [starmine.endings().index(end) + 1 for end in ends]
    columns = {"scores": np.array(scores, np.int32), "fireworks": np.array(fireworks, np.int32)}
    played = starmine.play_games(["random", "random"], 2, variant="small")
    return dataclasses.replace(played, **columns, endings=np.array(codes, np.uint8))


def test_the_first_update_is_shown_at_once_with_what_scores_mean(train, capsys):
    train()
    legend, first = capsys.readouterr().err.splitlines()[:2]
    assert legend.startswith("greedy: ")
    assert first.startswith("17% of the budget, 100 turns: ")
    assert first.endswith(" turns/s")


@pytest.mark.parametrize(("minutes", "budget"), [(1.0, "1 minute"), (2.5, "2.5 minutes")])
def test_the_plan_names_the_budget(training, tmp_path, minutes, budget):
    run = training.Run("counter", counter_args(tmp_path, total_steps=None, minutes=minutes), Counter())
    assert run._plan() == f"counter: 0 turns so far, the budget is {budget}"


def test_a_report_is_written_and_printed(training, train, tmp_path, capsys):
    from starmine.torch import PolicyNetwork

    _, run = train()
    random, learned = games_with([0, 2], [1, 2], ["lost", "deck_exhausted"]), games_with([3, 5], [3, 5], [*ENDS])
    network = PolicyNetwork(starmine.variant("small"), hidden=(8,))
    run.report({"random policy": random, "greedy policy": learned}, title="Counter", method="C", network=network)
    printed = capsys.readouterr().out
    assert "600 turns in 6 updates" in printed
    assert (
        "random policy, 2 games: score 1.00 ± 1.00, perfect 0.0%, lost 50.0% (1.50 if lost games kept their points)"
        in printed
    )
    assert "greedy policy, 2 games: score 4.00 ± 1.00, perfect 50.0%, lost 0.0%" in printed
    about = starmine.load_policy(tmp_path / "run" / "policy.safetensors").about
    assert about | {"seconds": 0} == {
        **{"method": "C", "arguments": {"total_steps": 600}, "steps": 600, "seconds": 0},
        **{"games": 2, "score": 4.0, "standard_error": 1.0, "perfect": 0.5, "lost": 0.0},
    }
    assert (tmp_path / "run" / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert "own hand" not in printed
    saved = (tmp_path / "run" / "policy.safetensors").read_bytes()
    seer = PolicyNetwork(starmine.variant("small"), "canonical-seer", hidden=(8,))
    run.report({"random policy": random, "greedy policy": learned}, title="Counter", method="C", network=seer)
    printed = capsys.readouterr().out
    assert "policy.safetensors" not in printed
    assert (tmp_path / "run" / "policy.safetensors").read_bytes() == saved
    cheats, *others = [line for line in printed.splitlines() if "own hand" in line]
    assert cheats.startswith("greedy policy, 2 games: score 4.00")
    assert cheats.endswith(", which sees its own hand: an upper bound, not a player")
    assert others == []


# --- Parts ------------------------------------------------------------------------------------------------


def test_weights_that_differ_have_another_checksum(training):
    import torch

    from starmine.training.checkpoint import checksum

    state = {"weights": [torch.arange(3.0), torch.tensor(1)], "name": "a"}
    assert checksum(state) == checksum({"weights": [torch.arange(3.0), torch.tensor(1)]})
    assert checksum(state) != checksum({"weights": [torch.arange(3.0) + 1e-7, torch.tensor(1)]})
    assert checksum({**state, "games": torch.zeros(3, 0)}) == checksum(state)


def test_a_log_beyond_its_checkpoint_is_cut(training, tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [json.dumps({"update": update, "steps": 8 * update}) + "\n" for update in (1, 2, 3)]
    for text in ("", "".join(lines) + '{"update": 4, "st'):
        path.write_text(text)
        with training.log.Log(tmp_path, updates=3) as log:
            assert [row["update"] for row in log.rows] == ([1, 2, 3] if text else [])
        assert path.read_text() == "".join(lines if text else [])
    with training.log.Log(tmp_path, updates=2) as log:
        assert [row["update"] for row in log.rows] == [1, 2]
    assert path.read_text() == "".join(lines[:2])


def test_tensorboard_reads_the_events(training, tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for updates in (0, 2):  # the second run goes on after an update of which the first one wrote more
        with training.log.Log(tmp_path, updates=updates, steps=8 * updates) as log:
            for update in range(updates + 1, updates + 4):
                row = {"update": update, "steps": 8 * update, "seconds": 1.0, "steps_per_second": 8.0}
                log.add(row | {"loss": update + updates}, 0.5)
    assert len(list(tmp_path.glob("events.out.tfevents.*"))) == 2
    found = EventAccumulator(str(tmp_path)).Reload()
    assert sorted(found.Tags()["scalars"]) == ["loss", "steps_per_second"]
    assert [(event.step, event.value) for event in found.Scalars("loss")] == [
        *[(8, 1.0), (16, 2.0)],
        *[(24, 5.0), (32, 6.0), (40, 7.0)],
    ]


def test_schedules_go_from_start_to_end(training):
    fractions = [0, 0.25, 0.5, 0.75, 1, 1.5]
    wanted = {0.0: [3, 2.5, 2, 1.5, 1, 1], 0.5: [3, 3, 3, 2, 1, 1], 1.0: [3, 3, 3, 3, 1, 1]}
    for hold, numbers in wanted.items():
        assert [training.anneal(3, 1, fraction, hold) for fraction in fractions] == pytest.approx(numbers)


def test_minibatches_double_after_equal_parts_of_the_budget(training):
    sizes = [training.doubling_schedule(512, 4096, fraction) for fraction in (0, 0.24, 0.26, 0.51, 0.76, 1, 1.5)]
    assert sizes == [512, 512, 1024, 2048, 4096, 4096, 4096]
    assert [training.doubling_schedule(300, 1000, fraction) for fraction in (0, 0.6)] == [300, 600]
    assert training.doubling_schedule(512, None, 0.9) == 512
    with pytest.raises(starmine.StarmineError):
        training.doubling_schedule(512, 100, 0)


def test_finished_games_are_averaged(training):
    lost, exhausted = starmine.defeats()[0], starmine.endings().index("deck_exhausted") + 1
    games = training.FinishedGames()
    assert games.means() == {}
    games.add(np.zeros(0, np.int32), np.zeros(0, np.int8))
    assert games.means() == {}
    games.add(np.array([4, 6]), np.array([lost, exhausted]))
    games.add(np.array([8]), np.array([exhausted]))
    assert games.means() == pytest.approx({"score": 14 / 3, "kept": 6.0, "lost": 1 / 3})


def test_sampled_actions_follow_their_probabilities(training):
    import torch

    torch.manual_seed(0)
    probabilities = torch.tensor([0.1, 0.6, 0.0, 0.3])
    counts = training.sample_actions(probabilities.log().expand(30_000, 4)).bincount(minlength=4) / 30_000
    assert counts.tolist() == pytest.approx(probabilities.tolist(), abs=0.015)
    assert counts[2] == 0


def test_flat_weights_are_those_of_the_network(training):
    import torch

    torch.manual_seed(0)
    network, other = (torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)) for _ in range(2))
    other.load_state_dict(network.state_dict())
    flat, data = training.flat_weights(network), torch.randn(5, 3)
    optimizer = torch.optim.Adam([flat], 0.01)
    apart = torch.optim.Adam(other.parameters(), 0.01)
    for _ in range(3):
        for step, model in ((optimizer, network), (apart, other)):
            step.zero_grad(set_to_none=model is other)
            model(data).square().sum().backward()
            step.step()
    torch.testing.assert_close(network.state_dict(), other.state_dict())
    network.load_state_dict({name: torch.zeros_like(value) for name, value in other.state_dict().items()})
    assert not flat.any()  # still the same memory


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 5)])
def test_muon_is_that_of_pytorch(training, shape):
    import torch

    torch.manual_seed(0)
    ours = torch.nn.Parameter(torch.randn(shape))
    theirs = torch.nn.Parameter(ours.detach().clone())
    lr = torch.tensor(0.0)
    muon, other = training.Muon([ours], lr, torch.bfloat16), torch.optim.Muon([theirs], 1.0, weight_decay=0.0)
    for rate in (0.5, 0.1, 0.3):
        lr.fill_(rate)
        other.param_groups[0]["lr"] = rate
        gradient = torch.randn(shape)
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        muon.step()
        other.step()
        assert not ours.grad.any()
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0.02)  # bfloat16 has three digits


def test_muon_moves_in_all_directions_alike(training):
    import torch

    torch.manual_seed(0)
    matrix = torch.nn.Parameter(torch.zeros(8, 32))
    left, right = torch.linalg.qr(torch.randn(8, 8))[0], torch.linalg.qr(torch.randn(32, 8))[0]
    matrix.grad = left @ torch.diag(torch.tensor([1.0, 3.0, 10.0, 30.0]).repeat(2)) @ right.T
    training.Muon([matrix], torch.tensor(1.0), torch.float32).step()
    values = torch.linalg.svdvals(matrix)
    assert values.min() > 0.5
    assert values.max() < 1.3
    core = left.T @ -matrix @ right
    torch.testing.assert_close(core, torch.diag(core.diag()), rtol=0, atol=1e-4)  # the same singular vectors


@pytest.mark.parametrize("seed", [0, 2**32, 2**40, -1])
def test_nothing_trains_on_the_decks_of_evaluations(training, seed):
    with pytest.raises(starmine.StarmineError):
        training.training_seed(seed)
    with pytest.raises(starmine.StarmineError):
        training.TrainingGames(starmine.variant("small"), 4, [], seed)
    assert training.training_seed(2**32 - 1) < training.PROGRESS_SEED


@pytest.mark.parametrize("lost_game_score", ["zero", "fireworks"])
def test_games_that_measure_progress_are_those_of_play_games(training, capsys, lost_game_score):
    rules = starmine.variant("standard", lost_game_score=lost_game_score)
    found = training.progress_games("random", rules, 6)
    assert found == starmine.play_games(["random", "random"], 6, seed=training.PROGRESS_SEED)
    assert found.fireworks.any()
    assert found.mean == 0
    with pytest.raises(starmine.StarmineError):
        training.progress_games("random", rules, 6, [training.Partner("smart", "smart")], seats=[])
    training.show_game("smart", rules)
    assert "One game, played greedily" in capsys.readouterr().out


@pytest.mark.parametrize("num_envs", [-2, 0])
def test_training_needs_a_game(training, num_envs):
    with pytest.raises(starmine.StarmineError):
        training.TrainingGames(starmine.Variant(), num_envs, [], 1)


def test_checkpoints_are_apart_in_time_and_the_last_update_is_saved(training, tmp_path, monkeypatch):
    from starmine.training import run as module

    saved = []

    def save(path, program, args, progress, state):
        saved.append(progress.updates)

    monkeypatch.setattr(module, "save_checkpoint", save)
    clock = iter(range(1000))
    monkeypatch.setattr(module.time, "perf_counter", lambda: float(next(clock)))  # each update takes a second
    args = counter_args(tmp_path / "run", total_steps=1000, checkpoint_seconds=3.0)
    learner = Counter()
    with training.Run("counter", args, learner) as run:
        while run.begin_update():
            run.end_update({}, steps=100)
    assert saved == [1, 4, 7, 10]

    def stop(row):
        if row["update"] == 3:
            raise ZeroDivisionError

    saved.clear()
    args = counter_args(tmp_path / "stopped", total_steps=1000, checkpoint_seconds=3.0)
    with training.Run("counter", args, learner, on_update=stop) as run:
        for _ in range(2):
            run.begin_update()
            run.end_update({}, steps=100)
        run.begin_update()
        with pytest.raises(ZeroDivisionError):
            run.end_update({}, steps=100)
    assert saved == [1, 3]
