"""What a script refuses is one line on standard error, without a traceback."""

import re
import runpy
import socket
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal, get_args, get_type_hints

import numpy as np
import pytest
from paths import ROOT
from training_runs import PATIENCE, needs_train_extra

import starmine

pytestmark = needs_train_extra
pytest.importorskip("starmine.training", exc_type=ImportError)

from starmine.training import Amount, Count, Range, ScriptArgs  # noqa: E402

TRAINED = ["ppo", "ppo_distributed", "ppo_recurrent", "obl", "behaviour_cloning"]
PPO = ["ppo", "ppo_recurrent"]
TORCHRUN = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}


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


def test_cuda_without_a_driver_in_a_group(refused, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "device='cuda' is not allowed here" in refused("ppo_distributed", "--device=cuda", **TORCHRUN)


@pytest.mark.parametrize("example", PPO)
def test_a_start_that_is_none(refused, example, tmp_path):
    from starmine.torch import ColorNetwork, PolicyNetwork

    line = refused(example, "--start=ippo-2")
    assert 'did you mean "ippo-2p"' in line
    (tmp_path / "other.safetensors").write_bytes(b"of another program")
    assert "other.safetensors" in refused(example, "--start=other.safetensors")
    line = refused(example, "--start=ippo-3p")
    assert "start='ippo-3p' is not allowed: it has variant=Variant(players=3" in line
    line = refused(example, "--start=ippo-crowning-piece")
    assert "start='ippo-crowning-piece' is not allowed: it has variant=" in line
    sized = {"hidden": (8, 16), "recurrent": example == "ppo_recurrent"}
    ColorNetwork(starmine.variant("standard"), **sized).save(tmp_path / "sized.safetensors")
    line = refused(example, "--start=sized.safetensors")
    assert "hidden=(8, 16), not (96, 256)" in line
    PolicyNetwork(starmine.variant("standard"), "canonical-minimal", (8,)).save(tmp_path / "seen.safetensors")
    line = refused(example, "--start=seen.safetensors")
    assert "it has encoder='canonical-minimal', not 'canonical'" in line


@pytest.mark.slow
@pytest.mark.parametrize("example", TRAINED)
def test_a_folder_that_cannot_be_written(refused, example, tmp_path):
    (tmp_path / "file").write_text("")
    more = []
    if example == "behaviour_cloning":
        starmine.data.generate(["simple"] * 2, 20, tmp_path / "games", progress=False)
        more = ["--data=games", "--games=10", "--held-out=5"]
    assert "Not a directory: " in refused(example, "--out=file/run", *more)
    assert "does not exist: expected the checkpoint of the run to resume" in refused(example, "--resume", *more)


@pytest.mark.slow
@pytest.mark.parametrize("example", PPO)
def test_a_partner_that_does_not_play(refused, example):
    assert 'did you mean "smart"' in refused(example, "--partners=smrat")
    assert "players" in refused(example, "--partners=ippo-3p")
    assert "seed=0 is not allowed" in refused(example, "--seed=0")


def test_data_that_are_not_there(refused, tmp_path):
    assert "nowhere" in refused("behaviour_cloning", "--data=nowhere")
    assert "games=None needs data" in refused("behaviour_cloning", "--games=None")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "games.parquet").write_bytes(b"of another program")
    assert "games.parquet" in refused("behaviour_cloning", "--data=broken")


@pytest.mark.parametrize("example", [*PPO, "obl"])
def test_torchrun_of_a_script_for_one_process(refused, example):
    line = refused(example, **TORCHRUN | {"WORLD_SIZE": "4", "RANK": "2"})
    assert line.startswith("process 2: ")
    assert "torchrun has started 4 processes, but this script trains in one" in line


def test_a_group_that_cannot_be_joined(refused, monkeypatch):
    example = "ppo_distributed"
    line = refused(example, RANK="0")
    assert "the processes cannot be joined: " in line
    assert "environment variable WORLD_SIZE expected, but not set" in line
    with socket.create_server(("127.0.0.1", 0)) as taken:
        line = refused(example, **TORCHRUN | {"MASTER_PORT": str(taken.getsockname()[1])})
    assert "the processes cannot be joined: " in line


def test_more_processes_than_gpus(monkeypatch):
    import torch

    from starmine.training import local_device

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("LOCAL_RANK", "2")
    with pytest.raises(starmine.StarmineError, match=r"LOCAL_RANK=2 .*this machine has 2 GPUs"):
        local_device("cuda")


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


@pytest.mark.parametrize("value", [2.0, True, "2", None])
def test_an_argument_that_is_no_integer_is_refused(value):
    with pytest.raises(TypeError):
        Own(layers=value)


def test_arguments_within_their_ranges_are_taken():
    Own(layers=8, rate=np.float32(0.5), kind="plain", heads=-1, anything=NAN)
    Own(rate=0, kind=None, total_steps=1, minutes=0.0)


@pytest.mark.parametrize(
    ("example", "given", "expected"),
    [
        ("ppo", {"minutes": 1.0, "total_steps": 100}, "minutes=1.0 has no effect with total_steps"),
        ("ppo", {"card_features": False}, "card_features=False has no effect with network colors"),
        ("ppo_recurrent", {"compile": True}, "compile=True has no effect with a recurrent network"),
        ("obl", {"candidates": 8}, "candidates=8 has no effect without below"),
        ("obl", {"belief_part": 0.2}, "belief_part=0.2 has no effect without below"),
        ("behaviour_cloning", {"data": "games", "bot": "iggi"}, "bot='iggi' has no effect with data"),
        ("behaviour_cloning", {"data": "games", "players": 3}, "players=3 has no effect with data"),
        ("behaviour_cloning", {"data": "games", "variant": "mini"}, "variant='mini' has no effect with data"),
    ],
)
def test_an_argument_without_effect_is_refused_before_training(example, given, expected, tmp_path):
    script = import_module(example)
    name = expected.partition("=")[0]
    with pytest.raises(starmine.StarmineError, match=f"^{re.escape(expected)}: expected no {name}$"):
        script.main(script.Args(out=tmp_path / "run", **given))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("device", ["gpu", "cuda:1", "mps", ""])
def test_another_device(device):
    from starmine.training import local_device

    with pytest.raises(starmine.StarmineError, match=r"expected 'auto', 'cpu' or 'cuda'"):
        local_device(device)


def test_other_names_of_settings():
    import torch

    from starmine.training import matmul_dtype

    with pytest.raises(starmine.UnknownNameError, match='did you mean "bfloat16"'):
        matmul_dtype("float16", torch.device("cpu"))


def test_other_errors_keep_their_traceback(monkeypatch):
    from starmine.training import ScriptArgs, command_line

    monkeypatch.setattr("sys.argv", ["script.py"])

    def main(args):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        command_line(main, ScriptArgs)

    def interrupted(args):
        raise KeyboardInterrupt

    with pytest.raises(SystemExit, match="130"):
        command_line(interrupted, ScriptArgs)


@pytest.mark.slow
def test_a_process_prints_a_line_and_ends_with_status_1(tmp_path):
    command = [sys.executable, str(ROOT / "examples" / "ppo.py"), "--start=nothing", f"--out={tmp_path / 'run'}"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.startswith("ppo.py: ")


def test_each_number_of_a_script_has_a_range():
    elsewhere = {"seed", "players", "games", "held_out"}  # checked by what they are given to
    for name in TRAINED:
        hints = get_type_hints(import_module(name).Args, include_extras=True)
        assert {name for name, hint in hints.items() if {hint, *get_args(hint)} & {int, float}} <= elsewhere | {
            name for name, hint in hints.items() if "Range" in str(hint) or "tuple" in str(hint)
        }
