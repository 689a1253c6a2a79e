"""What a script refuses is one line on standard error, without a traceback."""

import dataclasses
import re
import runpy
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest
from paths import ROOT
from training_runs import PATIENCE, needs_train_extra

import starmine

pytestmark = needs_train_extra
pytest.importorskip("starmine.training", exc_type=ImportError)

from starmine.training import Amount, Count, Range, ScriptArgs  # noqa: E402
from starmine.training.script import parse, plain  # noqa: E402

PPO = ["ppo", "ppo_recurrent"]


@pytest.fixture
def refused(monkeypatch, tmp_path, capsys):
    """Runs an example with what it refuses; the line."""
    import torch

    threads = torch.get_num_threads()

    def run(example, *arguments, **environment):
        monkeypatch.chdir(tmp_path)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        script = ROOT / "examples" / f"{example}.py"
        monkeypatch.setattr("sys.argv", [str(script), *arguments])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(script), run_name="__main__")
        line = ended.value.code
        assert isinstance(line, str)  # Python prints it on standard error and ends with status 1
        assert "\n" not in line
        assert f"{example}.py: " in line
        assert "Traceback" not in "".join(capsys.readouterr())
        assert not (tmp_path / "runs").exists()
        return line

    yield run
    torch.set_num_threads(threads)


@pytest.mark.parametrize("example", [*PPO, "behaviour_cloning"])
def test_cuda_without_a_driver(refused, monkeypatch, example, tmp_path):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    more = []
    if example == "behaviour_cloning":
        starmine.data.generate(["simple"] * 2, 20, tmp_path / "games", progress=False)
        more = ["--data=games", "--games=10", "--held-out=5"]
    line = refused(example, "--device=cuda", *more)
    assert "device='cuda' is not allowed here: PyTorch" in line
    assert "expected 'cpu'" in line


@dataclass
class Own(ScriptArgs):
    """The arguments of somebody's own script."""

    out: Path = Path("runs/own")
    layers: Annotated[int, Range(1, 8)] = 2
    rate: Amount | None = None
    kind: Literal["colors", "plain"] | None = None
    heads: Count | Literal["auto"] = "auto"  # of several types: not checked
    anything: float = 0.0


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "given",
    [
        *({"layers": 0}, {"layers": 9}, {"rate": -1.0}, {"rate": INF}, {"rate": NAN}, {"rate": True}, {"rate": "1e-3"}),
        *({"kind": "color"}, {"minutes": -1.0}, {"minutes": NAN}, {"total_steps": 0}, {"checkpoint_seconds": NAN}),
        *({"num_threads": 0}, {"eval_games": 0}, {"final_games": 0}),
    ],
    ids=str,
)
def test_an_argument_outside_its_declared_range_is_refused(given):
    with pytest.raises(starmine.StarmineError):
        Own(**given)


@pytest.mark.parametrize("value", [2.0, "2", None])
def test_an_argument_that_is_no_integer_is_refused(value):
    with pytest.raises(TypeError):
        Own(layers=value)


def test_arguments_within_their_ranges_are_taken():
    Own(layers=8, rate=np.float32(0.5), kind="plain", heads=-1, anything=NAN)
    Own(rate=0, kind=None, total_steps=1, minutes=0.0)


def test_numbers_of_numpy_are_stored_as_numbers():
    stored = plain({"layers": np.int64(8), "rate": np.float32(0.5), "out": Path("runs/own"), "hidden": (96, 256)})
    assert stored == {"layers": 8, "rate": 0.5, "out": "runs/own", "hidden": [96, 256]}


@pytest.mark.parametrize(
    ("example", "given"),
    [
        ("ppo", {"minutes": 1.0, "total_steps": 100}),
        ("ppo_recurrent", {"compile": True}),
        ("ppo", {"optimizer": "muon", "lr": 0.0}),  # whose rate falls in proportion to lr
        ("obl", {"candidates": 8}),
        ("behaviour_cloning", {"data": "games", "bot": "iggi"}),
    ],
)
def test_an_argument_without_effect_is_refused_before_training(example, given, tmp_path):
    script = import_module(example)
    with pytest.raises(starmine.StarmineError):
        script.main(script.Args(out=tmp_path / "run", **given))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("example", [*PPO, "obl", "behaviour_cloning"])
def test_the_help_lists_the_arguments_in_groups(example, capsys):
    with pytest.raises(SystemExit):
        parse(import_module(example).Args, ["--help"])
    printed = capsys.readouterr().out
    titles = re.findall(r"^\W+([a-z ]+) options \W", printed, re.MULTILINE)
    assert 4 <= len(titles) <= 6
    assert titles[0] == "run"
    assert {"network", "optimiser"} <= set(titles)
    options = re.findall(r"^\W+ --([a-z-]+)", printed, re.MULTILINE)
    assert sorted(options) == sorted(
        field.name.replace("_", "-") for field in dataclasses.fields(import_module(example).Args)
    )


def test_a_command_line_with_groups_has_the_arguments_and_defaults_of_the_script():
    ppo = import_module("ppo")
    assert parse(ppo.Args, []) == ppo.Args()
    given = ["--lr", "0.001", "--hidden", "8", "9", "--partners", "smart", "--minutes", "1", "--resume"]
    assert parse(ppo.Args, given) == ppo.Args(lr=0.001, hidden=(8, 9), partners="smart", minutes=1.0, resume=True)
    assert parse(Own, ["--layers", "3"]) == Own(layers=3)  # adds to what it inherits: no groups
    with pytest.raises(starmine.StarmineError):
        parse(ppo.Args, ["--rollout", "0"])


@pytest.mark.slow
def test_a_process_prints_a_line_and_ends_with_status_1(tmp_path):
    command = [sys.executable, str(ROOT / "examples" / "ppo.py"), "--start=nothing", f"--out={tmp_path / 'run'}"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path)
    assert ended.returncode == 1
    assert ended.stdout == "loading PyTorch\n"
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.startswith("ppo.py: ")
