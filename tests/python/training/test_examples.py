"""Every script of examples/ trains, stops, resumes to the same bits and refuses checkpoints of other runs.

A new algorithm needs a file there and its name in EXAMPLES.
"""

import contextlib
import io
import re
import signal
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from paths import ROOT
from training_runs import (
    TURNS,
    TrainingError,
    assert_same_checkpoints,
    checkpoint,
    finish,
    log_lines,
    log_without_clock,
    needs_train_extra,
    parsed,
    start,
    wait_for_first_checkpoint,
)
from two_policies import BAD, GOOD

import starmine
from starmine._util.durable import FolderBusyError

EXAMPLES = [
    "ppo",
    "ppo_distributed",
    "ppo_recurrent",
]
# The other examples have their own test files: test_behaviour_cloning.py, text/test_language_model.py, ...
OTHERS = [
    *("behaviour_cloning", "language_model", "mappo", "obl", "ppo_minimal"),
]

pytestmark = [pytest.mark.slow, needs_train_extra]


@dataclass
class Runs:
    example: str
    stopped: Path
    whole: Path
    printed: str
    stopped_at: int
    updates: int


def kill(example, out, *options):
    """Starts a run in its own process, checks that no other run can use its folder meanwhile, and kills it."""
    module = import_module(example)
    process = start(example, out, *options)
    try:
        wait_for_first_checkpoint(process, out)
        process.send_signal(signal.SIGSTOP)
        for resume in ((), ("--resume",)):
            with pytest.raises(FolderBusyError):
                module.main(parsed(module, *resume, f"--out={out}"))
        assert process.poll() is None
    finally:
        process.kill()
    finish(process, -signal.SIGKILL)


def interrupt(example, out, *options):
    """Starts a run in its own process, stops it by Ctrl-C, and checks the update that it names."""
    process = start(example, out, *options)
    wait_for_first_checkpoint(process, out)
    process.send_signal(signal.SIGINT)
    printed = finish(process)
    assert f"stopped after update {checkpoint(out)['progress'][1]}: --resume goes on" in printed
    assert "Warning" not in printed


def end(example, out, *options):
    """A run in this process whose budget is spent."""
    module = import_module(example)
    module.main(parsed(module, *options, f"--total-steps={3 * TURNS}", f"--out={out}"))


# How a run stops that then goes on. To start a process takes seconds, so each way has one script.
STOPS = {"ppo": kill, "ppo_recurrent": interrupt, "ppo_distributed": end}


def stopped_and_whole(example, folder):
    """A run of a script that stopped and was resumed, and one of as many updates that did not stop."""
    module = import_module(example)
    stopped, whole = folder / "stopped", folder / "whole"
    # The budgets differ, so no setting may depend on the spent part of it.
    options = ["--lost-points-share=0"] if hasattr(module.Args, "lost_points_share") else []
    STOPS[example](example, stopped, *options)
    stopped_at = checkpoint(stopped)["progress"][1]

    updates = stopped_at + 20
    options.append(f"--total-steps={updates * TURNS}")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        module.main(parsed(module, *options, f"--out={whole}"))
    module.main(parsed(module, *options, "--resume", f"--out={stopped}"))
    return Runs(example, stopped, whole, printed.getvalue(), stopped_at, updates)


def test_every_example_is_tested():
    assert sorted(path.stem for path in (ROOT / "examples").glob("*.py")) == sorted(EXAMPLES + OTHERS)


def check_results(runs):
    out, printed = runs.whole, runs.printed
    scores = (
        r"score \d+\.\d\d ± \d\.\d\d, perfect \d+\.\d%, lost \d+\.\d% \(\d+\.\d\d if lost games kept their points\)"
    )
    assert re.search(rf"^random policy, 20 games: {scores}$", printed, re.MULTILINE)
    assert re.search(rf"^greedy policy, 20 games: {scores}$", printed, re.MULTILINE)
    assert re.search(r"^  1  seat 0: (play|discard|hint) ", printed, re.MULTILINE)
    assert (out / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert "A greedy game" in (out / "game.html").read_text(encoding="utf-8")
    assert list(out.glob("events.out.tfevents.*"))
    assert not list(out.glob("*.part"))
    assert checkpoint(out)["progress"][:2] == (runs.updates * TURNS, runs.updates)
    evaluated = [row["steps"] for row in log_lines(out) if "greedy" in row]
    assert evaluated == list(range(20 * TURNS, runs.updates * TURNS + 1, 20 * TURNS))


def check_policy_file(runs):
    policy = starmine.load_policy(runs.whole / "policy.safetensors")
    assert policy.about["steps"] == runs.updates * TURNS
    assert policy.about["arguments"]["variant"] == "small"
    games = starmine.play_games([policy, policy], 20, variant="small")
    assert len(games) == 20


def check_bits(runs):
    assert 1 <= runs.stopped_at < runs.updates
    assert_same_checkpoints(runs.stopped, runs.whole)


def check_log(runs):
    found = log_without_clock(runs.stopped)
    assert [row["update"] for row in found] == list(range(1, runs.updates + 1))
    assert found == log_without_clock(runs.whole)


def check_refusal_of_other_arguments(runs):
    module, before = import_module(runs.example), (runs.whole / "checkpoint.pt").read_bytes()
    other = (
        *("--variant=hard", "--players=3", "--partners=piers", "--encoder=canonical-minimal", "--hidden=8"),
        *(["--network=plain"] if hasattr(module.Args, "network") else []),
        "--num-envs=16",
    )
    with pytest.raises(TrainingError) as refused:
        module.main(parsed(module, "--resume", *other, "--total-steps=10000000", f"--out={runs.whole}"))
    for difference in (
        "variant='small', not 'hard'",
        "players=2, not 3",
        "partners=None, not 'piers'",
        "encoder='canonical', not 'canonical-minimal'",
        "hidden=[16, 16], not [8]",
        "num_envs=32, not 16",
    ):
        assert difference in str(refused.value)
    assert (runs.whole / "checkpoint.pt").read_bytes() == before


def check_refusal_of_a_used_folder(runs):
    before = (runs.whole / "checkpoint.pt").read_bytes()
    with pytest.raises(TrainingError):
        import_module(runs.example).main(parsed(import_module(runs.example), f"--out={runs.whole}"))
    assert (runs.whole / "checkpoint.pt").read_bytes() == before


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_stopped_run_goes_on_to_the_results_of_an_undisturbed_one(example, tmp_path):
    """One test for all checks: several would let each process of pytest make the runs anew."""
    runs = stopped_and_whole(example, tmp_path)
    check_results(runs)
    check_policy_file(runs)
    check_bits(runs)
    check_log(runs)
    check_refusal_of_other_arguments(runs)
    check_refusal_of_a_used_folder(runs)


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_policy_trains_beside_a_partner(example, tiny, capsys):
    module = import_module(example)
    module.main(tiny(module, partners="piers", total_steps=2 * 64))
    assert re.search(r"^greedy policy, 4 games: score", capsys.readouterr().out, re.MULTILINE)
    with pytest.raises(TrainingError):
        module.main(tiny(module, resume=True))


@pytest.mark.parametrize("minibatch", [32, 64], ids=["in a loss", "in the next rollout"])
@pytest.mark.parametrize("example", EXAMPLES)
def test_numbers_that_are_not_finite_stop_the_run(example, minibatch, tiny, tmp_path):
    from starmine.training import DivergedError

    module = import_module(example)
    with pytest.raises(DivergedError):
        module.main(tiny(module, minibatch=minibatch, lr=1e30))
    if (tmp_path / "run" / "checkpoint.pt").exists():
        weights = checkpoint(tmp_path / "run")["state"]["policy"]
        assert all(tensor.isfinite().all() for tensor in weights.values())


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_run_goes_on_beside_the_same_weights_only(example, tiny, tmp_path):
    module, path = import_module(example), tmp_path / "p.st"
    path.write_bytes(GOOD)
    arguments = {"variant": "mini", "partners": f"policy: {path}"}
    module.main(tiny(module, **arguments, total_steps=2 * 64))
    module.main(tiny(module, **arguments, total_steps=4 * 64, resume=True))
    path.write_bytes(BAD)
    with pytest.raises(starmine.StarmineError):
        module.main(tiny(module, **arguments, total_steps=6 * 64, resume=True))
