"""Training runs inside other programs: errors to catch, other threads, and a function that is called after updates."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tiny_runs import Walk, tiny_args
from training_runs import (
    assert_same_checkpoints,
    checkpoint,
    log_lines,
    log_without_clock,
    needs_train_extra,
)

import starmine
from starmine._util.durable import FolderLock

pytestmark = needs_train_extra


@pytest.fixture(scope="module")
def training():
    import starmine.training

    return starmine.training


def train(out, learner=None, on_update=None, **given):
    """Train for six updates of one step each."""
    from starmine.training import Run

    learner = learner or Walk()
    with Run("walk", tiny_args(out, **({"total_steps": 6} | given)), learner, on_update=on_update) as run:
        while run.begin_update():
            run.end_update(learner.update(), steps=1)
    return run


class Diverging(Walk):
    """A learner whose numbers are not finite from an update on."""

    def __init__(self, good):
        super().__init__()
        self.left = good

    def update(self):
        import torch

        from starmine.training import check_finite

        self.left -= 1
        check_finite(torch.tensor([[1.0 if self.left >= 0 else torch.inf]]), ["loss"], torch.nn.Linear(1, 1))
        return super().update()


class PrunedError(Exception):
    """What a study raises to end a trial."""


class Study:
    """What Optuna does with an objective, in several threads: only exceptions of a trial are caught."""

    def __init__(self, catch):
        self.catch, self.states = catch, {}

    def optimize(self, objective, trials, threads):
        def run(trial):
            try:
                self.states[trial] = objective(trial)
            except PrunedError:
                self.states[trial] = "pruned"
            except self.catch as error:
                self.states[trial] = type(error).__name__

        with ThreadPoolExecutor(threads) as pool:
            for ended in [pool.submit(run, trial) for trial in range(trials)]:
                ended.result()


@pytest.mark.parametrize("threads", [1, 3])
def test_a_sweep_goes_on_after_trials_that_diverge_are_refused_or_pruned(training, tmp_path, threads):
    def objective(trial):
        found = []

        def on_update(measures):
            found.append(measures["update"])
            if trial == 1 and measures["update"] == 2:
                raise PrunedError

        learner = Diverging(3 if trial == 2 else 99)
        run = train(tmp_path / str(trial), learner, on_update, total_steps=0 if trial == 3 else 6)
        return run.updates, found

    study = Study((starmine.StarmineError,))
    study.optimize(objective, 5, threads)
    done = (6, [1, 2, 3, 4, 5, 6])
    assert study.states == {0: done, 1: "pruned", 2: "DivergedError", 3: "StarmineError", 4: done}
    assert checkpoint(tmp_path / "1")["progress"][1] == 2
    assert checkpoint(tmp_path / "2")["progress"][1] == 3
    assert not (tmp_path / "3").exists()
    for trial in range(3):
        FolderLock(tmp_path / str(trial)).release()


def test_a_run_in_another_thread_leaves_the_signals_alone(tmp_path):
    import signal

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    during, errors = [], []

    def work():
        try:
            train(tmp_path, on_update=lambda _: during.append([signal.getsignal(signal.SIGINT)]))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == []
    assert during == [[before[0]]] * 6
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_function_gets_the_row_of_each_update(tmp_path):
    rows = []

    def on_update(measures):
        rows.append(dict(measures))
        measures.clear()  # what it gets is a copy

    run = train(tmp_path, on_update=on_update)
    assert rows == run.rows == log_lines(tmp_path)


@pytest.mark.parametrize("raised", [PrunedError, KeyboardInterrupt, FloatingPointError, SystemExit])
def test_an_exception_of_the_function_ends_the_run_behind_the_saved_update(tmp_path, raised):
    def on_update(measures):
        if measures["update"] == 3:
            raise error

    error = raised("mine")
    with pytest.raises(raised) as stopped:
        train(tmp_path / "stopped", on_update=on_update)
    assert stopped.value is error
    assert checkpoint(tmp_path / "stopped")["progress"][1] == 3
    train(tmp_path / "stopped", resume=True)
    train(tmp_path / "whole")
    assert_same_checkpoints(tmp_path / "stopped", tmp_path / "whole")
    assert log_without_clock(tmp_path / "stopped") == log_without_clock(tmp_path / "whole")


@pytest.mark.parametrize("good", [0, 2])
def test_a_divergence_keeps_the_last_checkpoint(training, tmp_path, good):
    with pytest.raises(training.DivergedError):
        train(tmp_path, Diverging(good))
    assert (tmp_path / "checkpoint.pt").exists() == (good > 0)
    if good:
        with pytest.raises(training.DivergedError):
            train(tmp_path, Diverging(0), resume=True)
        assert checkpoint(tmp_path)["progress"][1] == good
