"""config.json of a run: what it was made of, and what changed when it was resumed."""

import hashlib
import json
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from paths import ROOT
from tiny_runs import Args, Walk, train
from training_runs import TrainingError, log_lines, needs_train_extra, parsed

import starmine

pytestmark = needs_train_extra


def configuration(out):
    """The contents of a run's `config.json`."""
    return json.loads((out / "config.json").read_text(encoding="utf-8"))


def git(folder, *arguments):
    line = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


def test_it_says_what_a_run_is_made_of(tmp_path):
    import torch

    train(tmp_path / "run")
    found = configuration(tmp_path / "run")
    assert found["program"] == "weights"
    assert found["command"] == sys.orig_argv
    assert found["arguments"] == {"out": str(tmp_path / "run"), "resume": False, "minutes": 1.0, "total_steps": 3} | {
        "checkpoint_seconds": 0.0
    }
    assert (found["starmine"], found["torch"]) == (starmine.__version__, torch.__version__)
    assert found["python"] == platform.python_version()
    assert found["processor"]
    assert found["instructions"] == torch.backends.cpu.get_cpu_capability()
    assert (found["processes"], found["gpu"], found["resumed"]) == (1, None, [])
    assert datetime.fromisoformat(found["begun"]).utcoffset() == timedelta(0)
    train(tmp_path / "same")
    train(tmp_path / "other", Walk())
    starts = [configuration(tmp_path / name)["start_weights"] for name in ("run", "same", "other")]
    assert starts[0] == starts[1] != starts[2]
    assert all(len(start) == 64 for start in starts)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_it_names_the_commit_of_the_learners_clone(tmp_path):
    train(tmp_path)
    found = configuration(tmp_path)
    assert found["commit"] == git(ROOT, "rev-parse", "HEAD")
    assert isinstance(found["uncommitted_changes"], bool)


def test_a_folder_has_the_commit_of_its_clone(tmp_path, monkeypatch):
    from starmine.training.configuration import commit_of

    clone = tmp_path / "clone"
    (clone / "inner").mkdir(parents=True)

    def found(folder):
        commit_of.cache_clear()
        return commit_of(folder)

    assert found(clone) == found(tmp_path / "nowhere") == (None, None)
    git(clone, "init", "-q")
    assert found(clone) == (None, None)
    (clone / "file").write_text("")
    git(clone, "add", "file")
    git(clone, "commit", "-q", "-m", "first")
    sha = git(clone, "rev-parse", "HEAD")
    (clone / "other").write_text("no part of the clone")
    assert found(clone) == found(clone / "inner") == (sha, False)
    (clone / "file").write_text("changed")
    monkeypatch.setenv("GIT_DIR", str(tmp_path))  # as in a hook of another clone
    assert found(clone) == (sha, True)
    monkeypatch.setenv("PATH", "")  # no git
    assert found(clone) == (None, None)


def test_a_resumed_run_appends_what_changed(tmp_path):
    train(tmp_path)
    first = configuration(tmp_path)
    train(tmp_path, total_steps=5, minutes=2.0, resume=True)
    train(tmp_path, total_steps=6, resume=True)
    found = configuration(tmp_path)
    assert found | {"resumed": []} == first
    assert [(entry["update"], entry["changed"]) for entry in found["resumed"]] == [
        (3, {"arguments": {"resume": True, "minutes": 2.0, "total_steps": 5}}),
        (5, {"arguments": {"minutes": 1.0, "total_steps": 6}}),
    ]
    assert all(entry["begun"] >= first["begun"] for entry in found["resumed"])


def test_other_machines_and_versions_are_appended(tmp_path, monkeypatch):
    train(tmp_path)
    monkeypatch.setattr("starmine.training.configuration.processor", lambda: "another")
    monkeypatch.setattr("torch.__version__", "99")
    train(tmp_path, total_steps=4, resume=True)
    changed = configuration(tmp_path)["resumed"][0]["changed"]
    assert {name: changed[name] for name in ("processor", "torch")} == {"processor": "another", "torch": "99"}


@pytest.mark.parametrize(
    "contents", ["", "{}", "[1]", '{"resumed": [1]}', '{"resumed": [], "arguments": 1}', "[" * 9999]
)
def test_one_that_cannot_be_read_is_refused_and_nothing_changes(tmp_path, contents):
    train(tmp_path)
    log = (tmp_path / "log.jsonl").read_bytes()
    (tmp_path / "config.json").write_text(contents)
    said = r"config\.json is not the configuration of a run .*; to go on without it, move it away$"
    with pytest.raises(TrainingError, match=said) as refused:
        train(tmp_path, total_steps=4, resume=True)
    assert "\n" not in str(refused.value)
    assert (tmp_path / "config.json").read_text() == contents
    assert (tmp_path / "log.jsonl").read_bytes() == log


@dataclass
class Wide(Args):
    widths: tuple[int, ...] = (8, 8)
    rate: float = float("inf")
    place: Path = Path("somewhere")
    table: dict = field(default_factory=dict)
    num_threads: int | None = None
    dtype: str = "auto"


def test_one_that_is_missing_is_made_with_a_word(tmp_path, capsys):
    train(tmp_path)
    (tmp_path / "config.json").unlink()
    train(tmp_path, total_steps=4, resume=True)
    assert (
        f"{tmp_path / 'config.json'} was missing: the new one describes the run from here\n" in capsys.readouterr().out
    )
    found = configuration(tmp_path)
    assert (found["start_weights"], [entry["update"] for entry in found["resumed"]]) == (None, [3])


def test_one_that_cannot_be_written_is_one_line(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device", "config.json")

    monkeypatch.setattr("starmine.training.configuration.replace_file", fail)
    with pytest.raises(OSError, match=r"No space left on device: 'config\.json'"):
        train(tmp_path)


def test_arguments_are_written_as_they_are_resolved(tmp_path):
    import torch

    from starmine.training import Run
    from starmine.training.run import changed_arguments

    args = Wide(tmp_path, table={1: Path("a")}, place=Path("b"))
    with Run("walk", args, Walk(), resolved={"dtype": "bfloat16"}):
        pass
    found = configuration(tmp_path)["arguments"]
    assert (found["rate"], found["place"], found["table"]) == ("inf", "b", {"1": "a"})
    assert (found["num_threads"], found["dtype"]) == (torch.get_num_threads(), "bfloat16")
    assert changed_arguments(args) == {"place": "b", "table": {"1": "a"}}
    with pytest.raises(starmine.UnknownNameError, match='resolved="dtpye" is not known: did you mean "dtype"'):
        Run("walk", args, Walk(), resolved={"dtpye": "bfloat16"})


@pytest.mark.slow
def test_an_example_says_its_precision_threads_and_start(tmp_path):
    import ppo
    import torch

    from starmine.torch import ColorNetwork

    threads, start = torch.get_num_threads(), tmp_path / "start.safetensors"
    ColorNetwork(starmine.variant("small"), hidden=(16, 16)).save(start)
    out = tmp_path / "run"
    ppo.main(parsed(ppo, f"--out={out}", "--total-steps=256", f"--start={start}", "--seed=3"))
    torch.set_num_threads(threads)
    found = configuration(out)["arguments"]
    assert (found["num_threads"], found["device"], found["seed"]) == (1, "cpu", 3)
    assert found["dtype"] in ("float32", "bfloat16")
    sha256 = hashlib.sha256(start.read_bytes()).hexdigest()
    assert found["start"] == {"policy": str(start), "method": None, "sha256": sha256}
    assert len(log_lines(out)) == 1
