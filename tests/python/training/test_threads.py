"""How many threads a run uses on a machine with other work."""

import subprocess
import sys
import time

import pytest
from training_runs import needs_train_extra

pytestmark = needs_train_extra


class Machine:
    """The times that `FreeCores` reads: of the clock, of work on the cores, and of this process."""

    def __init__(self):
        self.now = (0.0, 0.0, 0.0)

    def work(self, seconds, own, others):
        """Let time go by, with so many cores in use by this process and by others."""
        clock, busy, mine = self.now
        self.now = (clock + seconds, busy + seconds * (own + others), mine + seconds * own)


@pytest.fixture
def machine(monkeypatch):
    """Eight cores; PyTorch would use six."""
    from starmine.training import threads

    machine = Machine()
    monkeypatch.setattr(threads, "own_cores", lambda: 8)
    monkeypatch.setattr(threads.torch, "get_num_threads", lambda: 6)
    monkeypatch.setattr(threads.FreeCores, "_times", staticmethod(lambda: machine.now))
    return machine


def test_a_run_uses_the_cores_that_others_leave_free(machine):
    from starmine.training.threads import FreeCores

    cores = FreeCores()
    assert cores.threads() == 1  # nothing is known
    for own, others, expected in [
        (1, 0, 6),
        (6, 0.2, 6),
        (6, 1.9, 6),
        (5, 3.1, 5),
        (2, 6.5, 1),
        (0.5, 7.5, 1),
        (1, 4, 4),
    ]:
        machine.work(1, own, others)
        assert cores.threads() == expected, (own, others)


def test_the_system_counts_the_work_of_other_processes():
    from starmine.training import threads

    if not threads._STAT.exists():
        pytest.skip("needs /proc/stat")
    command = "import time\nend = time.time() + 1\nwhile time.time() < end: pass"
    before = threads.FreeCores._times()
    subprocess.run([sys.executable, "-c", command], check=True)
    time.sleep(0.02)  # two ticks of the system's clock
    _, busy, own = (after - then for after, then in zip(threads.FreeCores._times(), before, strict=True))
    assert busy - own > 0.1  # the other process worked, as much as it got of a core


def test_a_given_number_of_threads_stays_and_another_is_put_back(tmp_path, monkeypatch):
    import torch

    from starmine.training import Run, ScriptArgs, run

    class Args(ScriptArgs):
        out = tmp_path

    class Learner:
        def state_dict(self):
            return {}

        def load_state_dict(self, state):
            pass

    chosen = []
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    monkeypatch.setattr(run.FreeCores, "threads", lambda self: 3)
    before = torch.get_num_threads()
    for number, expected in ((2, []), (None, [3, before])):  # the last: PyTorch's number is put back
        args = Args(num_threads=number, total_steps=1)
        args.out = tmp_path / str(number)
        with Run("test", args, Learner()) as training:
            assert training.begin_update()
            training.end_update({}, steps=1)
        assert chosen == expected
