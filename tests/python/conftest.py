"""Options and fixtures of the Python tests."""

import os
import subprocess
from pathlib import Path

# Before numpy and torch are imported: two processes of tests fill two cores, and more threads only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis_profiles  # noqa: F401  # registers the profiles
import pytest

# Name, default and meaning of each option.
OPTIONS = [
    ("--hle-games", 2000, "games to compare with HLE"),
    ("--hle-seed", 0, "seed of the comparison with HLE"),
    ("--oracle-games", 8, "games of each variant to compare with the oracle"),
    ("--oracle-seed", 0, "seed of the comparison with the oracle"),
    ("--fuzz-runs", 150, "batches to call with hostile memory"),
    ("--fuzz-seed", 0, "seed of the calls with hostile memory"),
]


def pytest_addoption(parser):
    group = parser.getgroup("random cases")
    for name, default, meaning in OPTIONS:
        group.addoption(name, type=int, default=default, help=f"{meaning} (default {default})")


def pytest_report_header(config):
    return "random cases: " + " ".join(f"{name}={config.getoption(name)}" for name, _, _ in OPTIONS)


def pytest_terminal_summary(terminalreporter):
    """Append the reasons of skipped tests to the file that the variable SKIPPED names."""
    if path := os.environ.get("SKIPPED"):
        reasons = {report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])}
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(f"Skipped: test: {reason}\n" for reason in sorted(reasons))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", tmp_path], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted")
    yield tmp_path
    subprocess.run(["umount", "-l", tmp_path], check=True)


@pytest.fixture
def tiny(tmp_path):
    """Arguments of six tiny updates of an example script, given as a module, except for those given by name."""
    import torch

    def arguments(module, **given):
        sizes = {"num_envs": 8, "rollout": 8, "epochs": 1, "minibatch": 32, "hidden": (8, 8), "total_steps": 6 * 64}
        games = {"eval_every": 4, "eval_games": 4, "final_games": 4, "num_threads": 1, "checkpoint_seconds": 0.0}
        return module.Args(**({"variant": "small", "out": tmp_path / "run"} | sizes | games | given))

    threads = torch.get_num_threads()
    yield arguments
    torch.set_num_threads(threads)
