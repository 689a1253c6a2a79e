"""Shards and batches as tasks of a local Ray with two workers, of which the tests kill one."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from starmine.cli import main

pytest.importorskip("pyarrow")
ray = pytest.importorskip("ray", reason="ray not found: pip install '.[ray]'")
pytest.importorskip("ray.data")

from starmine.data import Dataset, generate, verify  # noqa: E402
from starmine.data.schema import shard_name  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the workers are found in /proc"),
    pytest.mark.filterwarnings("ignore"),  # those of ray
]


@pytest.fixture(scope="module")
def cluster():
    """A local Ray. Its start, and that of Ray Data's workers, takes most of the time of these tests."""
    ray.init(address="local", num_cpus=2, include_dashboard=False, object_store_memory=2**27, log_to_driver=False)
    # Its newer reader lists files by nested tasks, which takes a minute on two cores.
    ray.data.DataContext.get_current().use_datasource_v2 = False
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    ray.shutdown()


class Slow:
    """A bot that takes its time."""

    version = 1  # without a version it would be another player after an interruption

    def act(self, view):
        """The first legal action, after a while."""
        import time

        time.sleep(0.0005)
        return view.legal_actions()[0]


def contents(folder):
    """The files of a data set by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def processes(title):
    """The processes below this one, at any depth, whose command line begins so."""
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
            if (folder / "cmdline").read_bytes().startswith(title.encode()):
                found.append(int(folder.name))
        except OSError:
            continue
    return [process for process in found if os.getpid() in ancestors(process, parents)]


def ancestors(process, parents):
    """The processes above one."""
    while process in parents:
        process = parents[process]
        yield process


def kill_one(title, is_ready, ended):
    """Kill one of these processes once this is so; whether it was killed before the work ended."""
    while not ended.is_set():
        workers = processes(title)
        if is_ready() and workers:
            os.kill(workers[0], signal.SIGKILL)
            return not ended.is_set()
        time.sleep(0.01)
    return False


def while_one_is_killed(work, title, is_ready=lambda: True):
    """The result of the work, during which a worker is killed."""
    ended, killed = threading.Event(), []
    killer = threading.Thread(target=lambda: killed.append(kill_one(title, is_ready, ended)))
    killer.start()
    try:
        result = work()
    finally:
        ended.set()
        killer.join()
    assert killed == [True]
    return result


def test_shards_of_a_cluster_are_those_of_one_machine_though_a_worker_is_killed(cluster, tmp_path):
    def make(folder, **options):
        return generate([Slow, "iggi"], 240, folder, "mini", shard_size=60, progress=False, **options)

    def begun():
        return list((tmp_path / "ray").glob("*.part"))

    made = while_one_is_killed(lambda: make(tmp_path / "ray", ray=True), "ray::make_shard", begun)
    assert (made.made, made.games) == ([0, 1, 2, 3], 240)
    make(tmp_path / "here")
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")
    assert verify(tmp_path / "ray").holds
    (tmp_path / "ray" / shard_name(2)).unlink()
    assert make(tmp_path / "ray", ray=True).made == [2]
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")


def test_the_command_line_makes_shards_on_a_cluster(cluster, tmp_path, capsys):
    options = ["--games", "50", "--variant", "mini", "--shard-size", "20", "--shards", "1-2", "--output", str(tmp_path)]
    assert main(["generate", "iggi", "iggi", *options, "--ray", "--quiet"]) == 0
    assert "2 of 2 shards (2 made now), 30 games" in capsys.readouterr().out


def rows(batch):
    """The turns of shards, as docs/data.md has it."""
    from starmine.data import Dataset

    for path in batch["item"]:
        yield from Dataset(path).replay(batch_size=64, outputs=["obs", "action", "number", "turn"], dtype="bits")


def test_ray_reads_shards_side_by_side(cluster, tmp_path):
    generate(["iggi", "iggi"], 40, tmp_path, "mini", shard_size=10, progress=False)
    files = [str(file.path) for file in Dataset(tmp_path).files]
    batches = ray.data.from_items(files).map_batches(rows, batch_size=1)
    found = list(batches.iter_batches(batch_size=None, batch_format="numpy"))
    joined = {name: np.concatenate([batch[name] for batch in found]) for name in found[0]}
    order = np.lexsort((joined["turn"], joined["number"]))
    games = Dataset(tmp_path)[:]
    assert np.array_equal(joined["action"][order], games.actions)
    assert np.array_equal(joined["obs"][order], games.replay(["obs"], dtype="bits")["obs"])
