"""Faults around data sets: kills, two processes, damaged shards, other games in the folder, full disks and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import pytest

import starmine
from starmine import StarmineError
from starmine._util.durable import FolderLock

pytest.importorskip("pyarrow")

from starmine.data import generate, verify
from starmine.data.generation import driver
from starmine.data.generation import shard as shard_module
from starmine.data.generation.shard import lock_name
from starmine.data.schema import shard_name

GAMES, SIZE = 100, 30
NAMES = [shard_name(shard) for shard in range(4)]


def make(folder, **options):
    """Make four small shards."""
    given = {"players": ["iggi", "piers"], "seed": 1, "shard_size": SIZE, "num_threads": 1, "progress": False} | options
    return generate(games=GAMES, output=folder, variant="mini", **given)


def contents(folder):
    """The files of a folder by name, hidden ones left out."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A data set that was not disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    make(folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    """A copy of it."""
    for name, data in contents(whole).items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_the_same_call_makes_nothing_again(folder):
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    made = make(folder)
    assert (made.made, made.kept, made.games) == ([], [0, 1, 2, 3], GAMES)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir() if path in before} == before


def damages(data):
    """A file's bytes, damaged in many ways."""
    yield b""
    yield data[:7]
    yield data[:-1]
    yield data[: len(data) // 2]
    yield data + b"\0"
    yield bytes(len(data))
    for place in range(0, len(data), max(1, len(data) // 40)):
        yield data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :]


def test_missing_and_damaged_shards_are_made_again(folder, whole):
    expected = contents(whole)
    (folder / NAMES[0]).unlink()
    assert make(folder).made == [0]
    assert contents(folder) == expected
    outcomes = []
    for damaged in damages(expected[NAMES[2]]):
        (folder / NAMES[2]).write_bytes(damaged)
        try:
            outcomes.append(make(folder).made)
        except StarmineError:  # what the file says of itself is damaged
            (folder / NAMES[2]).unlink()
            make(folder)
        if contents(folder) != expected:
            # Bytes that no game depends on.
            assert outcomes[-1] == []
            assert verify(folder).holds
            (folder / NAMES[2]).write_bytes(expected[NAMES[2]])
    assert outcomes.count([2]) > len(outcomes) / 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": 2}, "seed=1 instead of 2"),
        ({"shard_size": 25}, "shard_size=30"),
        ({"players": ["iggi", "noisy: 0.5; iggi"]}, "players="),
    ],
)
def test_other_games_in_the_folder_are_refused_and_left(folder, whole, options, said):
    before = contents(folder)
    with pytest.raises(StarmineError) as refused:
        make(folder, **options)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert contents(folder) == before
    assert make(folder).made == []
    assert contents(folder) == contents(whole)


def test_strange_files_are_refused_and_left(folder):
    (folder / "other.parquet").write_bytes(b"PAR1")
    with pytest.raises(StarmineError):
        make(folder)
    assert (folder / "other.parquet").read_bytes() == b"PAR1"


def forge(path, **values):
    """Change entries of a shard's metadata, and nothing else."""
    from pyarrow import parquet

    from starmine.data.metadata import KEY, Metadata
    from starmine.data.schema import FILE_OPTIONS, ROW_GROUP

    file = parquet.ParquetFile(path)
    table, stored = file.read(), file.metadata.metadata
    file.close()
    metadata = Metadata.of(stored)
    metadata.extra["configuration"] |= values
    kept = {KEY: metadata.to_json().encode(), b"starmine.content": stored[b"starmine.content"]}
    parquet.write_table(table.replace_schema_metadata(kept), path, row_group_size=ROW_GROUP, **FILE_OPTIONS)


def test_forged_metadata_are_found(folder):
    forge(folder / NAMES[1], seed=5)
    with pytest.raises(StarmineError):
        make(folder)


# --- Several processes ------------------------------------------------------------------------------------


def command(folder, games=GAMES, *options):
    """The command line for four shards."""
    line = [sys.executable, "-m", "starmine", "generate", "iggi", "piers", "--variant", "mini", "--seed", "1"]
    line += ["--games", games, "--shard-size", -(-games * SIZE // GAMES), "--num-threads", "1", "--quiet"]
    return [str(part) for part in [*line, "--output", folder, *options]]


def start(line, **options):
    """A running command."""
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_a_shard_that_another_process_makes_is_left_to_it(tmp_path, whole):
    tmp_path.mkdir(exist_ok=True)
    with FolderLock(tmp_path, lock_name(1)):
        made = make(tmp_path)
        assert (made.made, made.busy, made.games) == ([0, 2, 3], [1], GAMES - SIZE)
        assert "other processes make 1 more" in str(made)
        assert not (tmp_path / NAMES[1]).exists()
    assert make(tmp_path).made == [1]
    assert contents(tmp_path) == contents(whole)


@pytest.mark.parametrize("is_made", [True, False])
def test_a_shard_that_was_busy_is_looked_at_again_at_the_end(tmp_path, whole, monkeypatch, is_made):
    lock = FolderLock(tmp_path, lock_name(1))

    def make_shard(configuration, shard, *rest):
        if shard == 3:  # the other process ends, with its shard or without
            if is_made:
                (tmp_path / NAMES[1]).write_bytes((whole / NAMES[1]).read_bytes())
            lock.release()
        return shard_module.make_shard(configuration, shard, *rest)

    monkeypatch.setattr(driver, "make_shard", make_shard)
    made = make(tmp_path)
    assert (made.made, made.kept) == (([0, 2, 3], [1]) if is_made else ([0, 1, 2, 3], []))
    assert (made.busy, made.games) == ([], GAMES)
    assert contents(tmp_path) == contents(whole)


@pytest.mark.slow
def test_processes_with_the_same_command_share_the_work(tmp_path):
    running = [start(command(tmp_path / "shared", 40_000)) for _ in range(3)]
    ended = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], ended
    generate(["iggi", "piers"], 40_000, tmp_path / "one", "mini", 1, shard_size=12_000, progress=False)
    assert contents(tmp_path / "shared") == contents(tmp_path / "one")


def wait_for_part(folder, shard, running):
    """Wait until a process has begun to write a shard."""
    end = time.monotonic() + 60
    while not list(folder.glob(f"{shard_name(shard)}.*.part")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.mark.skipif(os.name != "posix", reason="the system has no SIGINT")
def test_an_interrupted_command_goes_on(tmp_path):
    line = command(tmp_path, 400_000)
    line.remove("--quiet")
    running = start(line, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    wait_for_part(tmp_path, 0, running)
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=60)
    assert (running.returncode, output) == (130, "")
    assert errors == f"starmine generate: interrupted; the same command goes on from {tmp_path}\n"
    assert contents(tmp_path) == {}


# --- Disks ------------------------------------------------------------------------------------------------


def test_a_full_disk_is_one_line_and_loses_no_whole_shard(small_disk):
    made = make(small_disk)
    expected = contents(small_disk)
    (small_disk / NAMES[3]).unlink()
    filler = small_disk / "filler"
    filler.write_bytes(bytes(os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize))
    ended = subprocess.run(command(small_disk), capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "cannot be written (No space left on device" in ended.stderr
    assert ended.stderr.count("\n") == 1
    kept = contents(small_disk)
    assert {name: kept[name] for name in NAMES[:3]} == {name: expected[name] for name in NAMES[:3]}
    assert not [name for name in kept if name.endswith(".part")]
    filler.unlink()
    assert make(small_disk).made == [3]
    assert contents(small_disk) == expected
    assert made.games == GAMES


def test_a_damaged_shard_is_kept_until_the_new_one_is_whole(folder, monkeypatch):
    from starmine.data.generation import shard

    (folder / NAMES[0]).write_bytes(b"damaged")
    with monkeypatch.context() as patch:
        patch.setattr(shard, "play_chunk", lambda *_: (_ for _ in ()).throw(starmine.BotError([], [])))
        with pytest.raises(starmine.BotError):
            make(folder)
    assert (folder / NAMES[0]).read_bytes() == b"damaged"
    assert make(folder).made == [0]
