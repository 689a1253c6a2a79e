"""examples/ppo.py: that it runs, and that a stopped run goes on to the same bits."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "ppo.py"
EXTRA = ("torch", "tensorboard", "matplotlib", "tqdm", "tyro")
MISSING = [name for name in EXTRA if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not found: pip install 'starmine[train]'")

PATIENCE = 300  # seconds: far more than a run needs, for a machine that does other things
TURNS = 32 * 8  # of each update
TINY = [
    *("--variant=small", "--num-envs=32", "--rollout=8", "--epochs=1", "--minibatch=128"),
    *("--hidden", "16", "16", "--threads=1", "--eval-every=20", "--eval-games=8", "--final-games=20"),
]


def start(out: Path, *arguments: str, updates: int = 10**6) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), *TINY, f"--total-steps={updates * TURNS}", f"--out={out}", *arguments]
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


def finish_all(processes: dict[str, subprocess.Popen[str]], codes: dict[str, int]) -> dict[str, str]:
    try:
        return {name: finish(process, codes.get(name, 0)) for name, process in processes.items()}
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()


def signal_after_first_checkpoint(process: subprocess.Popen[str], out: Path, number: signal.Signals) -> None:
    deadline = time.monotonic() + PATIENCE
    while not (out / "checkpoint.pt").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(number)


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


@dataclass
class Runs:
    outs: dict[str, Path]
    printed: dict[str, str]
    stopped_at: dict[str, int]
    updates: int


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs that were stopped and resumed, and one of as many updates that was not.

    Starting takes them most of their time, so they start together.
    """
    folder = tmp_path_factory.mktemp("runs")
    outs = {name: folder / name for name in ("killed", "interrupted", "whole")}
    stopped = {name: start(outs[name]) for name in ("killed", "interrupted")}
    signal_after_first_checkpoint(stopped["killed"], outs["killed"], signal.SIGKILL)
    signal_after_first_checkpoint(stopped["interrupted"], outs["interrupted"], signal.SIGINT)
    printed = finish_all(stopped, {"killed": -signal.SIGKILL})
    stopped_at = {name: checkpoint(outs[name])["progress"][1] for name in stopped}

    updates = max(stopped_at.values()) + 20
    outs["whole"].mkdir()
    (outs["whole"] / "checkpoint.pt").write_text("of an earlier run")
    whole = {"whole": start(outs["whole"], updates=updates)}
    resumed = {f"{name} resumed": start(outs[name], "--resume", updates=updates) for name in stopped}
    return Runs(outs, printed | finish_all(whole | resumed, {}), stopped_at, updates)


def test_a_run_leaves_its_results(runs):
    out, printed = runs.outs["whole"], runs.printed["whole"]
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
    assert state["progress"][:2] == (runs.updates * TURNS, runs.updates)
    evaluated = [row["steps"] for row in state["curve"] if "greedy" in row]
    assert evaluated == list(range(20 * TURNS, runs.updates * TURNS + 1, 20 * TURNS))


def test_an_interrupted_run_says_where_it_stopped(runs):
    updates = runs.stopped_at["interrupted"]
    assert f"stopped after update {updates}: --resume goes on" in runs.printed["interrupted"]


@pytest.mark.parametrize("name", ["killed", "interrupted"])
def test_a_stopped_run_resumes_to_the_same_bits(runs, name):
    assert 1 <= runs.stopped_at[name] < runs.updates
    found, expected = checkpoint(runs.outs[name]), checkpoint(runs.outs["whole"])
    assert_same_bits(without_clock(found), without_clock(expected))


def test_a_checkpoint_of_another_run_is_refused(runs):
    out = runs.outs["whole"]
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
    out, printed = runs.outs["whole"], runs.printed["whole"]
    aside = out.with_name("whole.1")
    assert f"the earlier run in {out} is kept in {aside}" in printed
    assert (aside / "checkpoint.pt").read_text() == "of an earlier run"


def test_a_best_response_trains_with_a_partner(tmp_path):
    printed = finish(start(tmp_path / "run", "--partner=piers", updates=3))
    assert re.search(r"^greedy policy, 20 games: score", printed, re.MULTILINE)
    printed = finish(start(tmp_path / "run", "--resume", updates=4), code=1)
    assert "partner='piers', not None" in printed
    printed = finish(start(tmp_path / "other", "--partner=smrat", updates=1), code=1)
    assert 'did you mean "smart"' in printed
