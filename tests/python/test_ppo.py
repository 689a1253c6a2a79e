"""examples/ppo.py: that it runs, and that a stopped run goes on to the same bits."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "ppo.py"
EXTRA = ("torch", "safetensors", "tensorboard", "matplotlib", "tqdm", "tyro")
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
    return {**state, "args": None, "progress": state["progress"][:2]}


def log_lines(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def log_without_clock(out: Path) -> list[dict]:
    times = {"seconds", "steps_per_second"}
    return [{key: row[key] for key in row.keys() - times} for row in log_lines(out)]


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
    assert checkpoint(out)["progress"][:2] == (runs.updates * TURNS, runs.updates)
    evaluated = [row["steps"] for row in log_lines(out) if "greedy" in row]
    assert evaluated == list(range(20 * TURNS, runs.updates * TURNS + 1, 20 * TURNS))


def test_an_interrupted_run_says_where_it_stopped(runs):
    updates = runs.stopped_at["interrupted"]
    assert f"stopped after update {updates}: --resume goes on" in runs.printed["interrupted"]


@pytest.mark.parametrize("name", ["killed", "interrupted"])
def test_a_stopped_run_resumes_to_the_same_bits(runs, name):
    assert 1 <= runs.stopped_at[name] < runs.updates
    found, expected = checkpoint(runs.outs[name]), checkpoint(runs.outs["whole"])
    assert_same_bits(without_clock(found), without_clock(expected))


@pytest.mark.parametrize("name", ["killed", "interrupted"])
def test_the_log_goes_on_without_gaps(runs, name):
    found, expected = log_without_clock(runs.outs[name]), log_without_clock(runs.outs["whole"])
    assert [row["update"] for row in found] == list(range(1, runs.updates + 1))
    assert found == expected


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


@pytest.fixture(scope="module")
def ppo():
    """The script as a module."""
    import matplotlib.pyplot  # noqa: F401 - before the tests that count its warnings as errors

    spec = spec_from_file_location("ppo_script", SCRIPT)
    module = module_from_spec(spec)
    sys.modules["ppo_script"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tiny(ppo, tmp_path):
    """Arguments of a tiny run; the main program's, but for those given."""
    import torch

    def arguments(**given):
        sizes = {"num_envs": 8, "rollout": 8, "epochs": 1, "minibatch": 32, "hidden": (8,), "total_steps": 6 * 64}
        games = {"eval_every": 4, "eval_games": 4, "final_games": 4, "threads": 1}
        return ppo.Args(**({"variant": "small", "out": tmp_path / "run"} | sizes | games | given))

    threads = torch.get_num_threads()
    yield arguments
    torch.set_num_threads(threads)


OPTIONS = {
    "recurrent": {"recurrent": True, "players": 3},
    "recurrent with a partner": {"recurrent": True, "partner": "piers"},
    "every option": {
        **{"recurrent": True, "lr_schedule": "linear", "entropy_schedule": "cosine", "value_clip": 0.2},
        **{"normalise_over": "minibatch", "dtype": "bfloat16", "epochs": 2, "minibatch": 24},
    },
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_options_resume_to_the_same_bits(ppo, tiny, tmp_path, options):
    ppo.main(tiny(**options, out=tmp_path / "whole"))
    whole = checkpoint(tmp_path / "whole")

    first = ppo.Run(tiny(**options))
    first.args.out.mkdir()
    for _ in range(3):
        first.update()
    first.save(first.args.out / "checkpoint.pt")
    ppo.main(tiny(**options, resume=True))
    assert_same_bits(without_clock(checkpoint(tmp_path / "run")), without_clock(whole))
    assert whole["processes"][0]["memory"].abs().sum() > 0
    weights = whole["policy"]["memory.from_state.weight"]
    assert not np.array_equal(weights.numpy(), ppo.Run(tiny(**options)).policy.memory.from_state.weight.detach())


def test_a_log_beyond_its_checkpoint_is_cut(ppo, tmp_path):
    path = tmp_path / "log.jsonl"
    assert ppo.read_log(path, 0) == []
    lines = [json.dumps({"update": update, "steps": 8 * update}) + "\n" for update in (1, 2, 3)]
    path.write_text("".join(lines) + '{"update": 4, "st')
    assert [row["update"] for row in ppo.read_log(path, 3)] == [1, 2, 3]
    assert path.read_text() == "".join(lines)
    assert [row["update"] for row in ppo.read_log(path, 2)] == [1, 2]
    assert path.read_text() == "".join(lines[:2])


def test_schedules_go_from_start_to_end(ppo, tiny, tmp_path):
    spent = [0, 0.25, 0.5, 1]
    wanted = {"constant": [3, 3, 3, 3], "linear": [3, 2.5, 2, 1], "cosine": [3, 2 + 0.5**0.5, 2, 1]}
    for schedule, numbers in wanted.items():
        assert [ppo.scheduled(schedule, 3, 1, part) for part in spent] == pytest.approx(numbers)
    ppo.main(tiny(lr_schedule="linear", entropy_schedule="cosine"))
    rows = log_lines(tmp_path / "run")
    assert [row["lr"] for row in rows] == pytest.approx([1e-3 * (6 - update) / 6 for update in range(6)])
    assert rows[3]["entropy_weight"] == pytest.approx(0.005)


@pytest.mark.parametrize("minibatch", [32, 64], ids=["in a loss", "in the next rollout"])
def test_numbers_that_are_not_finite_stop_the_run(ppo, tiny, tmp_path, minibatch):
    path = tmp_path / "run" / "checkpoint.pt"
    ppo.main(tiny(minibatch=minibatch, total_steps=2 * 64))
    before = path.read_bytes()
    with pytest.raises(SystemExit, match=r"stopped in update [34]: .* (is|not) (not )?(nan|inf|finite)") as stopped:
        ppo.main(tiny(minibatch=minibatch, lr=1e30, resume=True))
    assert f"{path} is of the last good update" in str(stopped.value)
    updates = checkpoint(tmp_path / "run")["progress"][1]
    assert f"stopped in update {updates + 1}:" in str(stopped.value)
    assert len(log_lines(tmp_path / "run")) == updates
    if updates == 2:
        assert path.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_keeps_the_checkpoint(ppo, tiny, tmp_path):
    path = tmp_path / "run" / "checkpoint.pt"
    ppo.main(tiny(total_steps=2 * 64))
    before = path.read_bytes()
    path.with_suffix(".tmp").symlink_to("/dev/full")
    with pytest.raises(SystemExit, match=r"update 3 could not be saved: .*No space left") as stopped:
        ppo.main(tiny(resume=True))
    assert str(path) in str(stopped.value)
    assert path.read_bytes() == before
    ppo.main(tiny(resume=True))
    assert [row["update"] for row in log_lines(tmp_path / "run")] == [1, 2, 3, 4, 5, 6]


def test_a_checkpoint_of_another_program_or_network_is_refused(ppo, tiny, tmp_path, monkeypatch):
    path = tmp_path / "run" / "checkpoint.pt"
    ppo.main(tiny(total_steps=64))
    with pytest.raises(SystemExit, match="it has recurrent=False, not True"):
        ppo.main(tiny(recurrent=True, resume=True))
    monkeypatch.setattr(ppo.starmine, "__version__", "99.0.0")
    with pytest.raises(SystemExit, match=r"it has starmine='.*', not '99\.0\.0'"):
        ppo.main(tiny(resume=True))
    path.write_text("of another program")
    with pytest.raises(SystemExit, match="is no checkpoint of this program"):
        ppo.main(tiny(resume=True))


def test_the_learner_sees_the_memories_that_the_player_had(ppo, tiny):
    import torch

    run = ppo.Run(tiny(recurrent=True, players=3, rollout=24))
    ended = 0
    for _ in range(3):
        advantage, _ = run.collect()
        ended += int(run.rollout.terminated.sum())
        for samples, recall in run.minibatches():
            log_probs, value, _ = run.policy(samples.obs, samples.action_mask, recall)
            assert torch.allclose(value, samples.value, atol=1e-6)
            assert torch.allclose(ppo.pick(log_probs, samples.action), samples.log_prob, atol=1e-5)
        fresh = run.rollout.terminated[-1]
        assert run.memory[fresh].abs().sum() == 0
        assert run.memory[~fresh].abs().sum() > 0
        run.learn(advantage, 0.01)
    assert ended > 0


# What each of two processes runs: starting takes them most of their time, so they train three times.
TOGETHER = """
import sys
from pathlib import Path
sys.path.insert(0, str(Path(sys.argv[1]).parent))
import torch.distributed as dist
from ppo import Args, main
given = dict(variant="small", num_envs=8, rollout=8, epochs=1, minibatch=32, hidden=(8,), recurrent=True, threads=1)
given |= dict(eval_every=2, eval_games=4, final_games=4)
for name, updates, resume in (("whole", 4, False), ("half", 2, False), ("half", 4, True)):
    main(Args(**given, out=Path(sys.argv[2]) / name, total_steps=updates * 2 * 64, resume=resume))
    dist.barrier()  # the first process writes
dist.destroy_process_group()
"""


def test_processes_share_their_weights_and_resume(ppo, tiny, tmp_path):
    script = tmp_path / "together.py"
    script.write_text(TOGETHER)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command = [*launcher, str(script), str(SCRIPT), str(tmp_path)]
    output = subprocess.PIPE
    printed = finish(subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, text=True, cwd=tmp_path))
    assert printed.count("greedy policy, 4 games: score") == 3
    whole = checkpoint(tmp_path / "whole")
    assert_same_bits(without_clock(checkpoint(tmp_path / "half")), without_clock(whole))
    assert log_without_clock(tmp_path / "half") == log_without_clock(tmp_path / "whole")
    assert whole["progress"][:2] == (4 * 2 * 64, 4)
    first, second = whole["processes"]
    assert first["batch"] != second["batch"]
    assert first["weights"] == second["weights"]
    with pytest.raises(SystemExit, match="processes=2, not 1"):
        ppo.main(tiny(recurrent=True, out=tmp_path / "half", resume=True))
