"""The commands of results/runs.csv run with the options of today's scripts."""

import csv
import shlex
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from paths import ROOT
from training_runs import needs_train_extra

import starmine

pytestmark = needs_train_extra


def rows():
    with (ROOT / "results" / "runs.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


ROWS = rows()
RUNS = [name for name, row in ROWS.items() if row["command"]]


def policies(text):
    """The policy files that an argument names."""
    return [Path(word) for word in (text or "").replace("=", ",").split(",") if word.endswith(".safetensors")]


def arguments(name):
    """The module of the script of a run, and its arguments."""
    import tyro

    python, script, *words = shlex.split(ROWS[name]["command"])
    assert python == "python"
    module = import_module(Path(script).stem)
    return module, tyro.cli(module.Args, args=words)


def chain(name):
    """The runs that lead to a policy, the first one first."""
    before = ROWS[name]["after"]
    return [*(chain(before) if before else []), name]


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_command_has_options_that_exist(name):
    _, args = arguments(name)
    row = ROWS[name]
    assert args.out == Path("runs") / name
    assert (args.variant, args.players, args.seed) == (row["variant"], int(row["players"]), int(row["seed"]))
    assert (getattr(args, "partners", None) or "") == row["partner"]
    start = getattr(args, "start", None) or getattr(args, "below", None)
    assert start == (f"runs/{row['after']}/policy.safetensors" if row["after"] else None)
    for path in policies(getattr(args, "partners", None)):
        # The file is in the repository, or a command makes it.
        assert (ROOT / path).is_file() or ROWS[path.parent.name]["command"]


def test_every_shipped_policy_has_a_row():
    assert all(ROWS[name]["command"] for name in starmine.policies.shipped())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "ippo-mini" else pytest.mark.nightly)
        for name in starmine.policies.shipped()
    ],
)
def test_the_commands_that_lead_to_a_shipped_policy_run_for_two_updates(name, tmp_path, monkeypatch):
    """Each run of a chain starts with the policy that the run before wrote. Games are few and minibatches small."""
    monkeypatch.chdir(tmp_path)
    for run in chain(name):
        module, args = arguments(run)
        size = {"num_envs": 16, "minibatch": 64, "minutes": module.Args.minutes, "total_steps": 2 * 16 * args.rollout}
        on_cpu = {"device": "cpu", "compile": False} if args.device == "cuda" else {}
        module.main(replace(args, **size, **on_cpu, eval_games=4, final_games=4, eval_every=2))
    policy = starmine.load_policy(tmp_path / "runs" / name / "policy.safetensors")
    assert policy.variant.players == int(ROWS[name]["players"])
    assert policy.options["hidden"] == starmine.load_policy(name).options["hidden"]
