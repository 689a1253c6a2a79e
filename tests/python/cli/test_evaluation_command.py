"""`starmine eval`: it prints what the function returns, refuses in one line, and goes on after an interrupt."""

import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from evaluation_runs import interrupt_after, stored
from two_policies import GOOD

import starmine
from starmine import evaluate
from starmine.cli import main
from starmine.data import Dataset


def command(*arguments, **options):
    """Runs `python -m starmine`."""
    line = [sys.executable, "-m", "starmine", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, encoding="utf-8", **options)


def test_the_command_prints_what_the_function_returns(tmp_path, capsys):
    line = ["iggi", "mine=rules: play-safe; discard-oldest", "--variant", "mini", "--games", "1_000"]
    assert main(["eval", *line, "--output", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    bots = {"iggi": "iggi", "mine": "rules: play-safe; discard-oldest"}
    evaluation = evaluate(bots, 1000, variant="mini", output=tmp_path)  # goes on, so has the same times
    assert printed.out.startswith(str(evaluation))
    assert (tmp_path / "eval.png").exists()


def test_help_comes_within_a_second_of_processor_time(capsys):
    code = "import time, starmine.cli\ntry: starmine.cli.main(['--help'])\nfinally: print(time.process_time())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    *shown, seconds = done.stdout.splitlines()
    assert all(any(f"• {name} " in line for line in shown) for name in ("eval", "play", "replay", "data", "generate"))
    assert float(seconds) < 2  # 0.7 seconds where nothing else runs


@pytest.mark.parametrize("path", ["smart.safetensors", "smart", "smart/policy.safetensors", "ippo-2p.safetensors"])
def test_a_file_or_folder_with_the_name_of_a_bot_is_shown_by_its_path(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    file = Path("runs", path) / "policy.safetensors" if path == "smart" else Path("runs", path)
    file.parent.mkdir(parents=True)
    file.write_bytes(GOOD)
    bots = ["iggi", f"runs/{path}"]
    assert main(["eval", *bots, "--variant", "mini", "--games", "2", "--quiet", "--output", "out"]) == 0
    assert [player["name"] for player in stored(Path("out"))["players"]] == bots


@pytest.mark.parametrize(
    ("partners", "held_out", "partners_and_held_out"),
    [
        (["a=iggi", "piers"], ["a"], (["a", "piers"], ["a"])),
        (["piers"], ["a=iggi"], (["piers", "a"], ["a"])),
        (["a=iggi", "piers"], ["a", "flawed"], (["a", "piers", "flawed"], ["a", "flawed"])),
        (["BOT:Student", "piers"], ["Student"], (["Student", "piers"], ["Student"])),
    ],
)
def test_partners_are_held_out_by_their_names(partners, held_out, partners_and_held_out, tmp_path, capsys):
    path = tmp_path / "held_out_bots.py"
    path.write_text("class Student:\n    def act(self, view): return view.legal_actions()[0]\n")
    partners = [text.replace("BOT", str(path)) for text in partners]
    line = ["--variant", "mini", "--games", "2", "--quiet", "--no-figure", "--output", str(tmp_path / "out")]
    assert main(["eval", "random", "--with", *partners, "--hold-out", *held_out, *line]) == 0
    settings = stored(tmp_path / "out")["settings"]
    assert (settings["partners"], settings["hold_out"]) == partners_and_held_out


def test_the_command_ends_with_its_status():
    done = command("eval", "nosuch")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r'starmine eval: bot="nosuch" is not known: expected one of .*\n', done.stderr)


def test_help_names_every_bot(capsys):
    with pytest.raises(SystemExit):
        main(["eval", "--help"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in starmine.bots())


@pytest.mark.parametrize("has_output", [True, False])
def test_an_interrupt_says_how_to_go_on(tmp_path, monkeypatch, capsys, has_output):
    interrupt_after(monkeypatch, 0)
    output = ["--output", str(tmp_path), "--fresh"] if has_output else []
    status = main(["eval", "iggi", "--variant", "mini", "--no-figure", *output])
    said = f"the same command, without --fresh, goes on from {tmp_path}" if has_output else "nothing is kept without"
    printed, errors = capsys.readouterr()
    assert (status, printed) == (130, "")
    assert said in errors
    assert errors.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_control_c_ends_the_command_and_keeps_what_was_played(tmp_path):
    line = [sys.executable, "-m", "starmine", "eval", "smart", "information", "--games", "3000000", "--no-figure"]
    line += ["--output", str(tmp_path)]
    heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also where the tests run in the background
    running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeds)
    deadline = time.monotonic() + 60
    played = 0
    while not played and time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.05)
        played = len(Dataset(tmp_path)) if (tmp_path / "shard-000000.parquet").exists() else 0
    running.send_signal(signal.SIGINT)
    try:
        output, errors = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, output) == (130, "")
    assert errors == f"starmine eval: interrupted; the same command goes on from {tmp_path}\n"
    assert len(Dataset(tmp_path)) >= played > 0


def test_lost_games_may_keep_their_points(capsys):
    line, shown = ["eval", "flawed", "--games=20", "--quiet", "--variant"], []
    for rules in ("mini", "mini, lost_game_score=fireworks"):
        assert main([*line, rules]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] != shown[1]


@pytest.fixture
def mini_run(tmp_path):
    """The folder of a run with a policy of the variant "mini"."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "policy.safetensors").write_bytes(GOOD)
    return folder


def test_rules_and_seats_are_those_of_the_policies(mini_run, capsys):
    assert starmine.load_policy(mini_run).variant.lost_game_score == "fireworks"  # in training, not in evaluations
    line = ["--games", "2", "--quiet"]
    for players, options in (
        ([str(mini_run), "iggi"], ["--variant", "mini"]),
        (["iggi", "--with", "ippo-3p-small"], ["--players", "3"]),
    ):
        shown = []
        for more in ([], options):
            assert main(["eval", *players, *more, *line]) == 0
            shown.append(capsys.readouterr().out.splitlines()[:6])
        assert shown[0] == shown[1]
    assert main(["eval", str(mini_run), "--variant", "standard", *line]) == 2  # an option counts
    assert main(["eval", str(mini_run), "ippo-2p-small", *line]) == 2  # policies of different rules
