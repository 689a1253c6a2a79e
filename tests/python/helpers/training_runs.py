"""Short training runs of the example scripts, and comparisons of what they leave."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import ROOT

EXTRA = ("torch", "safetensors", "tensorboard", "matplotlib", "tqdm")
MISSING = [name for name in EXTRA if find_spec(name) is None]
needs_train_extra = pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not found: pip install '.[train]'")

if MISSING:
    TrainingError: type[Exception] = ImportError  # the tests that catch it are skipped
else:
    from starmine.training import TrainingError as TrainingError

PATIENCE = 300  # seconds: far more than a run needs, for a busy machine
TURNS = 32 * 8  # of each update of a run with these options
TINY = [
    *("--variant=small", "--num-envs=32", "--rollout=8", "--epochs=1", "--minibatch=128", "--lr-end=0.0007"),
    *(
        "--hidden",
        "16",
        "16",
        "--num-threads=1",
        "--eval-every=20",
        "--checkpoint-seconds=0",
        "--eval-games=8",
        "--final-games=20",
    ),
]


def start(example: str, out: Path, *arguments: str, updates: int = 10**6) -> subprocess.Popen[str]:
    """Start an example script in a process of its own."""
    script = ROOT / "examples" / f"{example}.py"
    command = [sys.executable, str(script), *TINY, f"--total-steps={updates * TURNS}", f"--out={out}", *arguments]
    environment = os.environ | {"PYTHONWARNINGS": "default"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=out.parent
    )


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    """Wait for a process; its output."""
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == code, output
    return output


def wait_for_first_checkpoint(process: subprocess.Popen[str], out: Path) -> None:
    """Wait until a run has saved once, or has ended."""
    deadline = time.monotonic() + PATIENCE
    while not (out / "checkpoint.pt").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)


def parsed(module, *arguments: str):
    """Arguments of a script as its command line gives them."""
    import tyro

    return tyro.cli(module.Args, args=[*TINY, *arguments])


def checkpoint(out: Path) -> dict:
    """The contents of a run's checkpoint."""
    from starmine.training.checkpoint import read_checkpoint

    return read_checkpoint(out / "checkpoint.pt")


def write_checkpoint(path: Path, contents: dict) -> None:
    """Write contents with their checksum, as a checkpoint has it."""
    import torch

    from starmine._util.durable import seal

    data = io.BytesIO()
    torch.save(contents, data)
    path.write_bytes(seal(data.getvalue()))


def assert_same_bits(found, expected, where=""):
    """Compare nested containers of tensors, bit by bit."""
    import torch

    assert type(found) is type(expected), where
    if isinstance(expected, torch.Tensor):
        assert found.dtype == expected.dtype, where
        assert found.numpy().tobytes() == expected.numpy().tobytes(), where
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            assert_same_bits(found[key], expected[key], f"{where}[{key!r}]")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), where
        for index, pair in enumerate(zip(found, expected, strict=True)):
            assert_same_bits(*pair, f"{where}[{index}]")
    else:
        assert found == expected, where


def without_clock(state: dict) -> dict:
    """What checkpoints of two runs of the same steps must share: all but their arguments and times."""
    return {**state, "args": None, "progress": state["progress"][:2]}


def assert_same_checkpoints(found: Path, expected: Path) -> None:
    """Compare the checkpoints of two runs of the same steps."""
    assert_same_bits(without_clock(checkpoint(found)), without_clock(checkpoint(expected)))


def log_lines(out: Path) -> list[dict]:
    """The rows of a run's log."""
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def log_without_clock(out: Path) -> list[dict]:
    """The rows of a run's log without times."""
    times = {"seconds", "cpu_seconds", "steps_per_second"}
    return [{key: row[key] for key in row.keys() - times} for row in log_lines(out)]


def stop_after(monkeypatch, updates: int, number: signal.Signals = signal.SIGINT) -> None:
    """Send a signal to runs of this process while they make an update."""
    from starmine.training import Run

    begin_update = Run.begin_update

    def interrupted(run: Run) -> bool:
        if run.updates == updates - 1:
            signal.raise_signal(number)
        return begin_update(run)

    monkeypatch.setattr(Run, "begin_update", interrupted)


def assert_resumes_to_the_same_bits(main, arguments, tmp_path: Path, monkeypatch) -> dict:
    """Compare a run of six updates with one that is stopped after three and resumed; the checkpoint."""
    main(arguments(out=tmp_path / "whole"))
    with monkeypatch.context() as patched:
        stop_after(patched, 3)
        main(arguments(out=tmp_path / "stopped"))
    assert checkpoint(tmp_path / "stopped")["progress"][1] == 3
    main(arguments(out=tmp_path / "stopped", resume=True))
    assert_same_checkpoints(tmp_path / "stopped", tmp_path / "whole")
    assert log_without_clock(tmp_path / "stopped") == log_without_clock(tmp_path / "whole")
    return checkpoint(tmp_path / "whole")
