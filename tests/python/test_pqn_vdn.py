"""examples/pqn_vdn.py: its values and returns, that it runs, and that a stopped run goes on to the same bits."""

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

SCRIPT = Path(__file__).parents[2] / "examples" / "pqn_vdn.py"
EXTRA = ("torch", "tensorboard", "matplotlib", "tqdm", "tyro")
MISSING = [name for name in EXTRA if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not found: pip install 'starmine[train]'")

PATIENCE = 300  # seconds: far more than a run needs, for a machine that does other things
TURNS = 32 * 8  # of each update
TINY = [
    *("--variant=small", "--num-envs=32", "--rollout=8", "--epochs=1", "--minibatch=128", "--epsilon-steps=4000"),
    "--lr-schedule=constant",  # the budgets differ
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


def kill_after_first_checkpoint(process: subprocess.Popen[str], out: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not (out / "checkpoint.pt").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.kill()


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


@pytest.fixture(scope="module")
def pqn():
    """The script as a module."""
    import matplotlib.pyplot  # noqa: F401 - before the tests that count its warnings as errors

    spec = spec_from_file_location("pqn_script", SCRIPT)
    module = module_from_spec(spec)
    sys.modules["pqn_script"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tiny(pqn, tmp_path):
    """Arguments of a tiny run; the main program's, but for those given."""
    import torch

    def arguments(**given):
        sizes = {"num_envs": 8, "rollout": 8, "epochs": 1, "minibatch": 32, "hidden": (8,), "total_steps": 6 * 64}
        games = {"eval_every": 4, "eval_games": 4, "final_games": 4, "threads": 1}
        return pqn.Args(**({"variant": "small", "out": tmp_path / "run"} | sizes | games | given))

    threads = torch.get_num_threads()
    yield arguments
    torch.set_num_threads(threads)


@dataclass
class Runs:
    killed: Path
    whole: Path
    printed: str
    stopped_at: int
    updates: int


@pytest.fixture(scope="module")
def runs(pqn, tmp_path_factory):
    """A run that was killed and resumed, and one of as many updates that was not, which prints.

    Starting takes a process most of its time, so the resumed one is none.
    """
    folder = tmp_path_factory.mktemp("runs")
    killed, whole = folder / "killed", folder / "whole"
    process = start(killed)
    kill_after_first_checkpoint(process, killed)
    finish(process, -signal.SIGKILL)
    stopped_at = checkpoint(killed)["progress"][1]

    updates = stopped_at + 20
    whole.mkdir()
    (whole / "checkpoint.pt").write_text("of an earlier run")
    printed = finish(start(whole, updates=updates))
    pqn.main(parsed(pqn, "--resume", f"--total-steps={updates * TURNS}", f"--out={killed}"))
    return Runs(killed, whole, printed, stopped_at, updates)


def parsed(pqn, *arguments: str):
    import tyro

    return tyro.cli(pqn.Args, args=[*TINY, *arguments])


def test_a_run_leaves_its_results(runs):
    out, printed = runs.whole, runs.printed
    scores = r"score \d+\.\d\d ± \d\.\d\d, perfect \d+\.\d%, lost \d+\.\d% \(points of lost games kept: \d+\.\d\d\)"
    assert re.search(rf"^random policy, 20 games: {scores}$", printed, re.MULTILINE)
    assert re.search(rf"^greedy policy, 20 games: {scores}$", printed, re.MULTILINE)
    assert re.search(r"^  1  seat 0: (play|discard|hint) ", printed, re.MULTILINE)
    assert "steps/s" in printed
    assert "Warning" not in printed
    assert (out / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "policy.safetensors").exists()
    assert list(out.glob("events.out.tfevents.*"))
    assert not (out / "checkpoint.tmp").exists()
    assert checkpoint(out)["progress"][:2] == (runs.updates * TURNS, runs.updates)
    evaluated = [row["steps"] for row in log_lines(out) if "greedy" in row]
    assert evaluated == list(range(20 * TURNS, runs.updates * TURNS + 1, 20 * TURNS))


def test_a_policy_file_plays_as_the_network(pqn, runs):
    import torch

    import starmine

    out = runs.whole
    saved = starmine.load_policy(out / "policy.safetensors")
    assert saved.about["method"] == "PQN-VDN"
    assert saved.about["arguments"]["variant"] == "small"
    network = pqn.QNetwork(parsed(pqn), saved.variant)
    network.load_state_dict(checkpoint(out)["network"])
    variant = starmine.variant("small")
    rng = np.random.default_rng(0)
    bits = []
    for seed in range(40):
        state = variant.new_game(seed=seed)
        while not state.is_terminal:
            bits.append(state.encode(state.current_player))
            state.apply(int(rng.choice(state.legal_actions())))
    observations = np.stack(bits)
    logits, _, _ = saved.logits(observations)
    with torch.no_grad():
        values = network(torch.from_numpy(observations)[:, None].float())[:, 0, :-1].numpy()
    np.testing.assert_allclose(logits, values, atol=0.02 * np.abs(values).max())  # weights are float16
    assert (logits.argmax(1) == values.argmax(1)).mean() > 0.95


def test_a_killed_run_resumes_to_the_same_bits(runs):
    assert 1 <= runs.stopped_at < runs.updates
    found, expected = checkpoint(runs.killed), checkpoint(runs.whole)
    assert_same_bits(without_clock(found), without_clock(expected))


def test_the_log_goes_on_without_gaps(runs):
    found, expected = log_without_clock(runs.killed), log_without_clock(runs.whole)
    assert [row["update"] for row in found] == list(range(1, runs.updates + 1))
    assert found == expected


def test_a_checkpoint_of_another_run_is_refused(pqn, runs):
    before = (runs.whole / "checkpoint.pt").read_bytes()
    other = ("--variant=hard", "--players=3", "--partner=piers", "--mixing=none", "--hidden=8", "--num-envs=16")
    with pytest.raises(SystemExit) as refused:
        pqn.main(parsed(pqn, "--resume", *other, f"--out={runs.whole}"))
    for difference in (
        "variant='small', not 'hard'",
        "players=2, not 3",
        "partner=None, not 'piers'",
        "mixing='vdn', not 'none'",
        "hidden=(16, 16), not (8,)",
        "num_envs=32, not 16",
    ):
        assert difference in str(refused.value)
    assert (runs.whole / "checkpoint.pt").read_bytes() == before


def test_a_fresh_run_moves_the_earlier_one_aside(runs):
    out, printed = runs.whole, runs.printed
    aside = out.with_name("whole.1")
    assert f"the earlier run in {out} is kept in {aside}" in printed
    assert (aside / "checkpoint.pt").read_text() == "of an earlier run"


def test_the_teams_value_is_the_sum_over_the_seats(pqn):
    import torch

    # Two games of three seats, each with the values of actions 0, 1 and 2, and of the no-op.
    values = torch.tensor(
        [
            [[1.0, 5.0, 2.0, 90.0], [80.0, 80.0, 80.0, 0.25], [80.0, 80.0, 80.0, 0.5]],
            [[-4.0, -1.0, -3.0, 90.0], [80.0, 80.0, 80.0, -2.0], [80.0, 80.0, 80.0, 7.0]],
        ]
    )
    mask = torch.tensor([[True, False, True], [True, False, True]])
    assert pqn.of_team(values, torch.tensor([0, 1])).tolist() == [1.75, 4.0]
    action, expected = pqn.best(values, mask)
    assert action.tolist() == [2, 2]
    assert expected.tolist() == [2.75, 2.0]
    # Without the other seats it is the actor's value alone.
    assert pqn.best(values[:, :1], mask)[1].tolist() == [2.0, -3.0]


@pytest.mark.parametrize("players", [1, 2, 5])
def test_the_teams_best_is_the_sum_of_each_seats_best_legal_action(pqn, players):
    """As in JaxMARL, where every seat has a mask, and those that wait can choose the no-op alone."""
    import torch

    generator = torch.Generator().manual_seed(players)
    values = torch.randn(50, players, 8, generator=generator)
    mask = torch.rand(50, 7, generator=generator) < 0.4
    mask[:, 3] = True
    action, expected = pqn.best(values, mask)
    for game in range(50):
        total = 0.0
        for seat in range(players):
            legal = [*mask[game].tolist(), False] if seat == 0 else [False] * 7 + [True]
            total += max(value for value, allowed in zip(values[game, seat].tolist(), legal, strict=True) if allowed)
        assert mask[game, action[game]]
        assert expected[game].item() == pytest.approx(total, abs=1e-5)
    assert torch.equal(expected, pqn.of_team(values, action))


def test_an_illegal_action_is_never_chosen(pqn):
    import torch

    torch.manual_seed(0)
    mask = torch.rand(500, 20) < 0.2
    mask[:, 7] |= ~mask.any(1)
    values = torch.where(mask, -1e6, 1e6)[:, None]  # whatever the values are
    action, _ = pqn.best(torch.cat([values, torch.zeros(500, 1, 1)], 2), mask)
    for epsilon in (0.0, 0.5, 1.0):
        chosen = pqn.explore(action, mask, epsilon)
        assert mask.gather(1, chosen[:, None]).all()
        explored = (chosen != action).float().mean().item()
        assert explored == 0 if epsilon == 0 else explored > 0.3 * epsilon


def test_exploration_takes_all_legal_actions_alike(pqn):
    import torch

    torch.manual_seed(0)
    mask = torch.tensor([False, True, True, False, True]).repeat(30_000, 1)
    counts = pqn.explore(torch.ones(30_000, dtype=torch.long), mask, 1.0).bincount(minlength=5)
    assert counts[[0, 3]].tolist() == [0, 0]
    assert counts[[1, 2, 4]].tolist() == pytest.approx([10_000] * 3, abs=400)  # five deviations


@pytest.mark.parametrize("q_lambda", [0.0, 0.65, 1.0])
def test_returns_are_those_of_a_naive_loop(pqn, q_lambda):
    import torch

    steps, games, gamma = 6, 40, 0.9
    rng = np.random.default_rng(3)
    reward, value = rng.normal(size=(2, steps, games))
    last_value = rng.normal(size=games)
    terminated = rng.random((steps, games)) < 0.2
    rollout = pqn.RolloutBuffer(steps, games, 5, 3, players=2)
    for step in range(steps):
        rollout.add(
            obs=np.zeros((games, 2, 8), np.uint8),
            action_mask=np.ones((games, 3), np.bool_),
            action=np.zeros(games, np.int64),
            log_prob=np.zeros(games),
            value=value[step],
            reward=reward[step],
            terminated=terminated[step],
        )
    found = pqn.q_lambda_returns(rollout, torch.from_numpy(last_value), gamma, q_lambda)
    for game in range(games):
        following, best = last_value[game], last_value[game]
        for step in reversed(range(steps)):
            ahead = q_lambda * following + (1 - q_lambda) * best
            following = reward[step, game] + (0 if terminated[step, game] else gamma * ahead)
            best = value[step, game]
            assert found[step, game].item() == pytest.approx(following, abs=1e-5)


def test_the_actor_comes_first_then_the_others_in_turn(pqn):
    obs = np.arange(3 * 4, dtype=np.uint8).reshape(3, 4, 1)
    found = pqn.actor_first(obs, np.array([0, 1, 3], np.int32))[:, :, 0]
    assert found.tolist() == [[0, 1, 2, 3], [5, 6, 7, 4], [11, 8, 9, 10]]


def test_the_first_row_is_what_the_actor_alone_would_see(pqn, tiny):
    mixed, alone = (pqn.Run(tiny(players=3, num_envs=16, mixing=mixing)) for mixing in ("vdn", "none"))
    rng = np.random.default_rng(0)
    for _ in range(30):
        all_seats, actor = mixed.batch.observe(), alone.batch.observe()
        assert mixed.seen(all_seats).shape[1] == 3
        assert np.array_equal(mixed.seen(all_seats)[:, :1], alone.seen(actor))
        action = (rng.random(actor["action_mask"].shape) * actor["action_mask"]).argmax(1)
        mixed.batch.step(action)
        alone.batch.step(action)


OPTIONS = {
    "three players": {"players": 3},
    "no mixing": {"mixing": "none", "players": 3},
    "every option": {
        **{"partner": "piers", "lr_schedule": "cosine", "lr_end": 1e-4, "epsilon": 0.5, "epsilon_steps": 200},
        **{"lost_game_score": "zero", "card_features": False, "epochs": 2, "minibatch": 24},
    },
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_options_resume_to_the_same_bits(pqn, tiny, tmp_path, options):
    pqn.main(tiny(**options, out=tmp_path / "whole"))
    whole = checkpoint(tmp_path / "whole")

    first = pqn.Run(tiny(**options))
    first.args.out.mkdir()
    for _ in range(3):
        first.update()
    first.save(first.args.out / "checkpoint.pt")
    pqn.main(tiny(**options, resume=True))
    assert_same_bits(without_clock(checkpoint(tmp_path / "run")), without_clock(whole))
    weights = whole["network"]["heads.weight"]
    assert not np.array_equal(weights.numpy(), pqn.Run(tiny(**options)).network.heads.weight.detach())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_update_and_the_run(pqn, tiny, tmp_path, monkeypatch, capsys, number):
    pqn.main(tiny(out=tmp_path / "whole"))
    update = pqn.Run.update

    def interrupted(run):
        if run.updates == 2:
            signal.raise_signal(number)
        return update(run)

    before = signal.getsignal(number)
    with monkeypatch.context() as patched:
        patched.setattr(pqn.Run, "update", interrupted)
        pqn.main(tiny())
    assert signal.getsignal(number) is before
    path = tmp_path / "run" / "checkpoint.pt"
    assert f"stopped after update 3: --resume goes on from {path}\n" in capsys.readouterr().out
    assert not (tmp_path / "run" / "learning_curve.png").exists()
    pqn.main(tiny(resume=True))
    assert_same_bits(without_clock(checkpoint(tmp_path / "run")), without_clock(checkpoint(tmp_path / "whole")))
    assert log_without_clock(tmp_path / "run") == log_without_clock(tmp_path / "whole")


def test_a_resumed_run_takes_the_new_learning_rate(pqn, tiny, tmp_path, capsys):
    pqn.main(tiny(total_steps=64, lr_schedule="constant"))
    pqn.main(tiny(total_steps=2 * 64, lr_schedule="constant", lr=1e-5, resume=True))
    assert "resuming with lr=1e-05 instead of 0.0005" in capsys.readouterr().out
    assert [row["lr"] for row in log_lines(tmp_path / "run")] == [5e-4, 1e-5]


def test_a_log_beyond_its_checkpoint_is_cut(pqn, tmp_path):
    path = tmp_path / "log.jsonl"
    assert pqn.read_log(path, 0) == []
    lines = [json.dumps({"update": update, "steps": 8 * update}) + "\n" for update in (1, 2, 3)]
    path.write_text("".join(lines) + '{"update": 4, "st')
    assert [row["update"] for row in pqn.read_log(path, 3)] == [1, 2, 3]
    assert path.read_text() == "".join(lines)
    assert [row["update"] for row in pqn.read_log(path, 2)] == [1, 2]
    assert path.read_text() == "".join(lines[:2])


def test_schedules_go_from_start_to_end(pqn, tiny, tmp_path):
    spent = [0, 0.25, 0.5, 1]
    wanted = {"constant": [3, 3, 3, 3], "linear": [3, 2.5, 2, 1], "cosine": [3, 2 + 0.5**0.5, 2, 1]}
    for schedule, numbers in wanted.items():
        assert [pqn.scheduled(schedule, 3, 1, part) for part in spent] == pytest.approx(numbers)
    pqn.main(tiny(lr_schedule="linear", epsilon=0.5, epsilon_end=0.1, epsilon_steps=4 * 64))
    rows = log_lines(tmp_path / "run")
    assert [row["lr"] for row in rows] == pytest.approx([5e-4 * (6 - update) / 6 for update in range(6)])
    assert [row["epsilon"] for row in rows] == pytest.approx([0.5, 0.4, 0.3, 0.2, 0.1, 0.1])


@pytest.mark.parametrize("minibatch", [32, 64], ids=["in a loss", "in the next rollout"])
def test_numbers_that_are_not_finite_stop_the_run(pqn, tiny, tmp_path, minibatch):
    path = tmp_path / "run" / "checkpoint.pt"
    pqn.main(tiny(minibatch=minibatch, total_steps=2 * 64))
    before = path.read_bytes()
    with pytest.raises(SystemExit, match=r"stopped in update [34]: .* (is|not) (not )?(nan|inf|finite)") as stopped:
        pqn.main(tiny(minibatch=minibatch, lr=1e30, resume=True))
    assert f"{path} is of the last good update" in str(stopped.value)
    updates = checkpoint(tmp_path / "run")["progress"][1]
    assert f"stopped in update {updates + 1}:" in str(stopped.value)
    assert len(log_lines(tmp_path / "run")) == updates
    if updates == 2:
        assert path.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_keeps_the_checkpoint(pqn, tiny, tmp_path):
    path = tmp_path / "run" / "checkpoint.pt"
    pqn.main(tiny(total_steps=2 * 64))
    before = path.read_bytes()
    path.with_suffix(".tmp").symlink_to("/dev/full")
    with pytest.raises(SystemExit, match=r"update 3 could not be saved: .*No space left") as stopped:
        pqn.main(tiny(resume=True))
    assert str(path) in str(stopped.value)
    assert path.read_bytes() == before
    pqn.main(tiny(resume=True))
    assert [row["update"] for row in log_lines(tmp_path / "run")] == [1, 2, 3, 4, 5, 6]


def test_a_checkpoint_of_another_program_is_refused(pqn, tiny, tmp_path, monkeypatch):
    import torch

    path = tmp_path / "run" / "checkpoint.pt"
    pqn.main(tiny(total_steps=64))
    with monkeypatch.context() as patched:
        patched.setattr(pqn.starmine, "__version__", "99.0.0")
        with pytest.raises(SystemExit, match=r"it has starmine='.*', not '99\.0\.0'"):
            pqn.main(tiny(resume=True))
    state = checkpoint(tmp_path / "run")
    del state["identity"]["program"]  # as those of ppo.py
    torch.save(state, path)
    with pytest.raises(SystemExit, match="it has program=None, not 'pqn_vdn'"):
        pqn.main(tiny(resume=True))
    path.write_text("of another program")
    with pytest.raises(SystemExit, match="is no checkpoint of this program"):
        pqn.main(tiny(resume=True))


def test_it_names_what_is_wrong_with_the_arguments(pqn, tiny, tmp_path):
    with pytest.raises(SystemExit, match="expected a budget above 0"):
        pqn.main(tiny(total_steps=0))
    with pytest.raises(SystemExit, match=r"checkpoint\.pt does not exist"):
        pqn.main(tiny(resume=True))
    with pytest.raises(Exception, match='did you mean "smart"'):
        pqn.main(tiny(partner="smrat"))
    assert not (tmp_path / "run").exists()
