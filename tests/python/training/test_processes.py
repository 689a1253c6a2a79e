"""Two processes of torchrun that train together: they share weights, resume to the same bits and end together."""

import subprocess
import sys

import pytest
from paths import ROOT
from training_runs import (
    TrainingError,
    assert_same_checkpoints,
    checkpoint,
    finish,
    log_without_clock,
    needs_train_extra,
)

pytestmark = [pytest.mark.slow, needs_train_extra]

# What each process runs. To start them takes most of the time, so there is one script for all checks.
TOGETHER = """
import sys
from pathlib import Path
examples, helpers, out = sys.argv[1:]
sys.path[:0] = [examples, helpers]
out = Path(out)
import torch.distributed as dist
from ppo_distributed import Args, main
from tiny_runs import Walk, tiny_args
from starmine._util.durable import FolderLock
from starmine.training import Run, process_group

def share_weights_and_resume():
    given = dict(variant="small", num_envs=8, rollout=8, epochs=1, minibatch=32, hidden=(8, 8), num_threads=1)
    given |= dict(lr_end=0.0007, lost_points_share=0.0, eval_every=2, eval_games=4, final_games=4)
    for name, updates, resume in (("whole", 4, False), ("half", 2, False), ("half", 4, True)):
        main(Args(**given, out=out / name, total_steps=updates * 2 * 64, resume=resume))
        dist.barrier()  # the first process writes
    held = FolderLock(out / "half") if dist.get_rank() == 0 else None
    try:
        main(Args(**given, out=out / "half", total_steps=4 * 64, resume=True))
    except Exception as refused:
        (out / f"refused.{dist.get_rank()}").write_text(f"{type(refused).__name__}: {refused}")

def end_in_update_2(measures):
    if measures["update"] == 2:
        raise ZeroDivisionError("mine")

def end_with_the_first():
    for name, on_update in (("stopped", end_in_update_2), ("unsaved", None)):
        try:
            learner = Walk()
            with Run("walk", tiny_args(out / name, total_steps=20), learner, on_update=on_update) as run:
                while run.begin_update():
                    if on_update is None and dist.get_rank() == 0:
                        (out / name / "checkpoint.pt").mkdir()
                    run.end_update(learner.update(), steps=1)
        except Exception as error:
            (out / f"{name}.{dist.get_rank()}").write_text(f"{type(error).__name__}: {error}")

def diverge():
    learner = Walk()
    learner.weight += dist.get_rank()
    try:
        with Run("walk", tiny_args(out / "apart", total_steps=20), learner) as run:
            while run.begin_update():
                run.end_update(learner.update(), steps=1)
    except Exception as error:
        (out / f"apart.{dist.get_rank()}").write_text(f"{type(error).__name__}: {error}")

with process_group():
    diverge()
    share_weights_and_resume()
    end_with_the_first()
"""


def said(out, name):
    """What each process wrote."""
    return [(out / f"{name}.{rank}").read_text() for rank in (0, 1)]


def check_shared_weights(out, printed):
    assert printed.count("greedy policy, 4 games: score") == 3
    assert_same_checkpoints(out / "half", out / "whole")
    assert log_without_clock(out / "half") == log_without_clock(out / "whole")
    whole = checkpoint(out / "whole")
    assert whole["progress"][:2] == (4 * 2 * 64, 4)
    refused = said(out, "refused")
    assert refused[0].startswith("FolderBusyError: ")
    assert refused[1].startswith("TrainingError: ")
    first, second = whole["processes"]
    assert first["state"]["batch"] != second["state"]["batch"]


def check_ends(out):
    assert said(out, "stopped") == [
        "ZeroDivisionError: mine",
        "TrainingError: the first process has ended the run: ZeroDivisionError: mine",
    ]
    assert checkpoint(out / "stopped")["progress"][1] == 2
    unsaved = said(out, "unsaved")
    assert unsaved[0].startswith("IsADirectoryError: ")
    assert unsaved[1].startswith("TrainingError: the first process has ended the run: IsADirectoryError: ")
    for line in said(out, "apart"):
        assert line == "TrainingError: update 1: the processes' weights differ; it is not saved"


def test_processes_train_together(tiny, tmp_path):
    import ppo_distributed

    script = tmp_path / "together.py"
    script.write_text(TOGETHER)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    folders = [ROOT / "examples", ROOT / "tests" / "python" / "helpers", tmp_path]
    command = [*launcher, str(script), *map(str, folders)]
    output = subprocess.PIPE
    printed = finish(subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, text=True, cwd=tmp_path))
    check_shared_weights(tmp_path, printed)
    check_ends(tmp_path)
    with pytest.raises(TrainingError):
        ppo_distributed.main(tiny(ppo_distributed, out=tmp_path / "half", resume=True))
