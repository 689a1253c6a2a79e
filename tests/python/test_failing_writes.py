"""Each kind of writer on a full disk: an error that names the file, and the old contents."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from full_disk import fail_write
from training_runs import MISSING

import starmine
from starmine._util.durable import AppendedFile, replace_file


def write_whole(folder, number):
    replace_file(folder / "file", b"%d" % number * 1000)


def write_appended(folder, number):
    file = AppendedFile(folder / "file")
    try:
        file.write(b"%d\n" % number)
        file.sync()
    finally:
        file.close()


def write_checkpoint(folder, number):
    import torch

    from starmine.training.checkpoint import Progress, save_checkpoint

    @dataclass
    class Args:
        out: Path

    state = {"weight": torch.full((100,), float(number))}
    save_checkpoint(folder / "checkpoint.pt", "program", Args(folder), Progress(number, number, 1.0), state)


def write_policy(folder, number):
    import torch

    from starmine.torch import PolicyNetwork

    torch.manual_seed(number)
    PolicyNetwork(starmine.variant("small"), hidden=(8,)).save(folder / "policy.safetensors", steps=number)


def write_log(folder, number):
    from starmine.training.log import Log

    with Log(folder, updates=number - 1) as log:
        log.add({"update": number, "steps": 8.0, "seconds": 1.0, "steps_per_second": 8.0}, 0.5)


def write_shards(folder, number):
    pytest.importorskip("pyarrow")
    shards = range(number)
    starmine.data.generate(
        ["iggi"] * 2, 30, folder, "mini", shard_size=10, shards=shards, num_threads=1, progress=False
    )


def write_games(folder, number):
    pytest.importorskip("pyarrow")
    games = starmine.play_games(["iggi"] * 2, 30, seed=number)
    starmine.data.write_games(games, folder / "games.parquet")


# A writer, its error, and what the error names.
WRITERS = [
    (write_whole, OSError, "file"),
    (write_appended, OSError, "file"),
    (write_checkpoint, OSError, "checkpoint.pt"),
    (write_policy, OSError, "policy.safetensors"),
    (write_log, OSError, "log.jsonl"),
    (write_shards, starmine.StarmineError, "shard-000001.parquet"),
    (write_games, OSError, "games.parquet"),
]
OF_TRAINING = (write_checkpoint, write_policy, write_log)


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize(("write", "error", "named"), WRITERS, ids=[write.__name__ for write, _, _ in WRITERS])
def test_a_failing_write_names_its_file_and_keeps_the_old_contents(tmp_path, monkeypatch, write, error, named):
    if write in OF_TRAINING and MISSING:
        pytest.skip(f"{', '.join(MISSING)} not found: pip install '.[train]'")
    write(tmp_path, 1)
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        fail_write(patch)
        with pytest.raises(error) as failed:
            write(tmp_path, 2)
    assert named in str(failed.value)
    found = contents(tmp_path)
    assert {name: found[name] for name in before} == before
    assert not [name for name in found if name.endswith(".part")]
    write(tmp_path, 2)
    assert contents(tmp_path).keys() >= before.keys()
