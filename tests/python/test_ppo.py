"""examples/ppo.py: that it runs, and that a stopped run goes on to the same bits."""

import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "ppo.py"
EXTRA = ("torch", "tensorboard", "matplotlib", "tqdm", "tyro")
MISSING = [name for name in EXTRA if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not found: pip install 'starmine[train]'")

UPDATES = 80
PATIENCE = 300  # seconds: far more than a run needs, for a machine that does other things
TINY = (
    "--variant=small --num-envs=32 --rollout=8 --epochs=1 --minibatch=128 --hidden 16 16 --threads=1 "
    f"--eval-every=20 --eval-games=8 --final-games=20 --total-steps={UPDATES * 32 * 8}"
).split()


def start(out: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), *TINY, f"--out={out}", *arguments]
    environment = os.environ | {"PYTHONWARNINGS": "default"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=out.parent
    )


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == code, output
    return output


def after_its_first_checkpoint(process: subprocess.Popen[str], out: Path) -> subprocess.Popen[str]:
    deadline = time.monotonic() + PATIENCE
    while not (out / "checkpoint.pt").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    return process


def checkpoint(out: Path) -> dict:
    import torch

    return torch.load(out / "checkpoint.pt", weights_only=True)


def assert_same_bits(found, expected, where=""):
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
    """What two runs of the same steps must share, which is all but their arguments and times."""
    times = {"seconds", "steps_per_second"}
    curve = [{key: row[key] for key in row.keys() - times} for row in state["curve"]]
    return {**state, "args": None, "progress": state["progress"][:2], "curve": curve}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """By name, the folder and the output of a run to its end and of two that were stopped.

    Starting takes them most of their time, so they start together.
    """
    folder = tmp_path_factory.mktemp("runs")
    outs = {name: folder / name for name in ("whole", "killed", "interrupted")}
    outs["whole"].mkdir()
    (outs["whole"] / "checkpoint.pt").write_text("of an earlier run")
    processes = {name: start(out) for name, out in outs.items()}
    try:
        after_its_first_checkpoint(processes["killed"], outs["killed"]).kill()
        after_its_first_checkpoint(processes["interrupted"], outs["interrupted"]).send_signal(signal.SIGINT)
        codes = {"whole": 0, "killed": -signal.SIGKILL, "interrupted": 0}
        return {name: (outs[name], finish(process, codes[name])) for name, process in processes.items()}
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()


def test_a_run_leaves_its_results(runs):
    out, printed = runs["whole"]
    scores = r"score \d+\.\d\d ± \d\.\d\d, perfect \d+\.\d%, lost \d+\.\d% \(points of lost games kept: \d+\.\d\d\)"
    assert re.search(rf"^random policy, 20 games: {scores}$", printed, re.MULTILINE)
    assert re.search(rf"^greedy policy, 20 games: {scores}$", printed, re.MULTILINE)
    assert re.search(r"^  1  seat 0: (play|discard|hint) ", printed, re.MULTILINE)
    assert "steps/s" in printed
    assert "Warning" not in printed
    assert (out / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert list(out.glob("events.out.tfevents.*"))
    assert not (out / "checkpoint.tmp").exists()
    state = checkpoint(out)
    assert state["progress"][:2] == (UPDATES * 32 * 8, UPDATES)
    assert [row["steps"] for row in state["curve"] if "greedy" in row] == [k * 20 * 32 * 8 for k in (1, 2, 3, 4)]


def test_an_interrupted_run_says_where_it_stopped(runs):
    out, printed = runs["interrupted"]
    assert f"stopped after update {checkpoint(out)['progress'][1]}: --resume goes on" in printed


def test_stopped_runs_resume_to_the_same_bits(runs):
    stopped = [runs[name][0] for name in ("killed", "interrupted")]
    for out in stopped:
        assert 1 <= checkpoint(out)["progress"][1] < UPDATES
    resumed = [start(out, "--resume") for out in stopped]
    try:
        for process in resumed:
            finish(process)
    finally:
        for process in resumed:
            process.kill()
            process.communicate()
    expected = without_clock(checkpoint(runs["whole"][0]))
    for out in stopped:
        assert_same_bits(without_clock(checkpoint(out)), expected)


def test_a_checkpoint_of_another_run_is_refused(runs):
    out, _ = runs["whole"]
    before = (out / "checkpoint.pt").read_bytes()
    other = ("--variant=hard", "--players=3", "--encoder=canonical-minimal", "--hidden=8", "--num-envs=16")
    printed = finish(start(out, "--resume", *other), code=1)
    for difference in (
        "variant='small', not 'hard'",
        "players=2, not 3",
        "encoder='canonical', not 'canonical-minimal'",
        "hidden=(16, 16), not (8,)",
        "num_envs=32, not 16",
    ):
        assert difference in printed
    assert "Traceback" not in printed
    assert (out / "checkpoint.pt").read_bytes() == before


def test_a_fresh_run_moves_the_earlier_one_aside(runs):
    out, printed = runs["whole"]
    aside = out.with_name("whole.1")
    assert f"the earlier run in {out} is kept in {aside}" in printed
    assert (aside / "checkpoint.pt").read_text() == "of an earlier run"
