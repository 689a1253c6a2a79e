"""Every writer of the package under a failing write, flush and rename: one line that names the file, the old contents.

`project/test_writers.py` finds a writer that is not here because it opens its files itself.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from full_disk import fail_write, no_space
from training_runs import MISSING

import starmine
from starmine._util.durable import AppendedFile, replace_file

EVALUATION = {"evaluated": ["iggi"], "games": 10, "variant": "mini"}


FAULTS = {
    "write": fail_write,
    "flush": lambda patch: patch.setattr(os, "fsync", no_space),
    "rename": lambda patch: patch.setattr(Path, "replace", no_space),
}


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


def write_curve(folder, number):
    from starmine.training.log import draw_learning_curve

    random = starmine.play_games(["random", "random"], 2, seed=number, variant="small")
    rows = [{"steps": 8.0 * update, "seconds": 1.0, "kept": float(number)} for update in (1, 2)]
    draw_learning_curve(folder / "learning_curve.png", rows, "title", random)


def write_log(folder, number):
    from starmine.training.log import Log

    with Log(folder, updates=number - 1) as log:
        log.add({"update": number, "steps": 8.0, "seconds": 1.0, "steps_per_second": 8.0}, 0.5)


def write_evaluation(folder, number):
    starmine.evaluate(**EVALUATION, output=folder)


def write_figure(folder, number):
    starmine.evaluate(**EVALUATION, seed=number).draw(folder / "figure.png")


def write_shards(folder, number):
    pytest.importorskip("pyarrow")
    shards = range(number)
    starmine.data.generate(
        ["iggi"] * 2, 30, folder, "mini", shard_size=10, shards=shards, num_threads=1, progress=False
    )


def recorded(number):
    return starmine.play_games(["iggi"] * 2, 30, seed=number, record=True)


def write_games_as(suffix):
    def write(folder, number):
        pytest.importorskip("pyarrow")
        starmine.data.write_games(recorded(number), folder / f"games{suffix}")

    write.__name__ = f"write_games{suffix}"
    return write


def write_games_folder(folder, number):
    pytest.importorskip("pyarrow")
    starmine.data.write_games(recorded(number), folder / f"games-{number}", "parquet")


def write_transcript(folder, number):
    starmine.text.write_lines(starmine.text.examples(recorded(number).trajectories), folder / "transcript.jsonl")


def write_page(folder, number):
    pytest.importorskip("pyarrow")
    from starmine.cli.replay import Replay

    games = starmine.play_games(["iggi"] * 2, 3, variant="mini", record=True)
    source, target = folder.parent / f"{folder.name}.parquet", folder / "page.html"
    if not source.exists():
        starmine.data.write_games(games, source)
    Replay(sources=[str(source)], game=[number], html=str(target)).run()


SUFFIXES = (".parquet", ".safetensors", ".json")
WHOLE = ("write", "flush", "rename")
# A writer, the faults that it can meet, its error, and what the error names.
WRITERS = [
    (write_whole, WHOLE, OSError, "file"),
    (write_appended, ("write", "flush"), OSError, "file"),
    (write_checkpoint, WHOLE, OSError, "checkpoint.pt"),
    (write_policy, WHOLE, OSError, "policy.safetensors"),
    (write_curve, WHOLE, OSError, "learning_curve.png"),
    (write_log, ("write", "flush"), OSError, "log.jsonl"),
    (write_evaluation, WHOLE, starmine.StarmineError, "output="),
    (write_shards, WHOLE, starmine.StarmineError, "shard-000001.parquet"),
    (write_figure, WHOLE, OSError, "figure.png"),
    *((write_games_as(suffix), WHOLE, OSError, f"games{suffix}") for suffix in SUFFIXES),
    (write_games_folder, WHOLE, OSError, "shard-000000.parquet"),
    (write_transcript, WHOLE, OSError, "transcript.jsonl"),
    (write_page, WHOLE, OSError, "page.html"),
]
CASES = [(write, fault, error, named) for write, faults, error, named in WRITERS for fault in faults]
OF_TRAINING = (write_checkpoint, write_policy, write_curve, write_log)


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize(
    ("write", "fault", "error", "named"), CASES, ids=[f"{write.__name__}-{fault}" for write, fault, _, _ in CASES]
)
def test_a_failing_write_is_one_line_and_keeps_the_old_contents(tmp_path, monkeypatch, write, fault, error, named):
    if write in OF_TRAINING and MISSING:
        pytest.skip(f"{', '.join(MISSING)} not found: pip install 'starmine[train]'")
    write(tmp_path, 1)
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        FAULTS[fault](patch)
        with pytest.raises(error) as failed:
            write(tmp_path, 2)
    said = str(failed.value)
    assert "No space left on device" in said
    assert named in said
    assert "\n" not in said
    found = contents(tmp_path)
    for name, data in before.items():
        # A record that could not be flushed is there nevertheless.
        assert found[name][: len(data)] == data if fault == "flush" else found[name] == data
    assert not [name for name in found if name.endswith(".part")]
    write(tmp_path, 2)
    assert contents(tmp_path).keys() >= before.keys()


@pytest.mark.parametrize("suffix", [".parquet", ".safetensors"])
def test_games_on_a_full_disk_name_their_file(small_disk, suffix):
    pytest.importorskip("pyarrow")
    path, games = small_disk / f"games{suffix}", recorded(1)
    starmine.data.write_games(games, path)
    before = path.read_bytes()
    (small_disk / "filler").write_bytes(bytes(os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize))
    with pytest.raises(OSError, match="No space left on device") as failed:
        starmine.data.write_games(games, path)
    assert failed.value.filename == str(path)
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in small_disk.iterdir()) == ["filler", path.name]
