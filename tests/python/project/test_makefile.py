"""The commands of the Makefile that a new user calls first."""

import shutil
import subprocess

import pytest
from paths import ROOT

# Stands for examples/ppo.py, which makes the folder of its run.
TRAINER = """#!/bin/sh
echo "$@"
while [ "$1" != --out ]; do shift; done
mkdir -p "$2"
"""


@pytest.fixture
def train(tmp_path):
    """Calls `make train` with the Makefile alone, in an environment that is ready."""
    if shutil.which("make") is None:
        pytest.skip("needs make")
    shutil.copy(ROOT / "Makefile", tmp_path)
    python = tmp_path / "ready" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(TRAINER)
    python.chmod(0o755)
    (tmp_path / "ready" / "release").touch()

    def call():
        command = ["make", "train", "VENV=ready", "--old-file=ready/release", "--silent"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return call


def test_every_call_of_make_train_has_a_folder_of_its_own(train, tmp_path):
    for run in (1, 2, 3):
        assert train() == [f"A new run in runs/train-{run}", f"examples/ppo.py --out runs/train-{run}"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["train-1", "train-2", "train-3"]
