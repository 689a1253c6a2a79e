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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eval", "nosuch"], 'bot="nosuch" is not known: expected one of'),
        (["eval", "a=iggi", "a=piers"], "bot='a=piers' is not allowed: expected the name 'a' once"),
        (["eval", "smart", "--variant", "mini"], "does not play this variant"),
        (["eval", "--games", "0"], "games=0 is not allowed: expected 1 to"),
        (["eval", "--players", "1"], "players=1 is not allowed: expected 2 to 5"),
        (["eval", "--fresh"], "fresh=True without output is not allowed"),
        (["eval", "--output", "/dev/null"], "output='/dev/null' cannot be written"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments, said, capsys):
    status = main(arguments)
    output, errors = capsys.readouterr()
    assert (status, output) == (2, "")
    assert said in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "eval, generate, play, replay, data, text"),
        (["evl"], "evl"),
        (["text"], "export"),
        (["eval", "smart", "--gmes", "3"], "--games N"),
        (["eval", "smart", "--hold-ot", "iggi"], "--hold-out"),
        (["eval", "smart", "--game", "3"], "--games N"),
        (["eval", "--games"], "--games"),
        (["eval", "--games", "many"], "'many' is not allowed: expected a whole number"),
        (["generate", "smart", "smart", "--output", "x"], "--games N"),
        (["generate", "smart", "smart", "--games", "3", "--output", "x", "--ray", "a", "b"], "2 addresses"),
        (["data", "convert", "a", "b", "--skp"], "--skip"),
        (["text", "export", "a", "b", "--kind", "preferred"], "preference"),
        (["replay", "x", "--html", "y", "--wrst", "3"], "--worst N"),
    ],
)
def test_the_parser_refuses_with_what_it_expects(arguments, said, capsys):
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    output, errors = capsys.readouterr()
    assert (refused.value.code, output) == (2, "")
    assert said in errors


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


def test_options_of_a_search_are_no_name(capsys):
    search = "search: simple; rollouts=20; hands=8"
    assert main(["eval", search, f"mine={search}", "--games", "2", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "search: sim" in shown
    assert "mine" in shown


def test_the_command_ends_with_its_status():
    done = command("eval", "nosuch")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r'starmine eval: bot="nosuch" is not known: expected one of .*\n', done.stderr)


def test_help_names_every_bot(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["eval", "--help"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in starmine.bots())


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"starmine {starmine.__version__}\n"


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
    line = [sys.executable, "-m", "starmine", "eval", "smart", "info", "--games", "3000000", "--no-figure"]
    line += ["--output", str(tmp_path)]
    heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also where the tests run in the background
    running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeds)
    deadline = time.monotonic() + 60
    played = 0
    while not played and time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.05)
        played = stored(tmp_path)["pairings"][0]["games"] if (tmp_path / "eval.json").exists() else 0
    running.send_signal(signal.SIGINT)
    try:
        output, errors = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, output) == (130, "")
    assert errors == f"starmine eval: interrupted; the same command goes on from {tmp_path}\n"
    assert stored(tmp_path)["pairings"][0]["games"] >= played > 0


def test_conditions_of_a_rule_list_are_no_name(capsys):
    rules = "rules: play-probably-safe 0.5 if life_tokens = 3; discard-oldest"
    assert main(["eval", rules, f"mine={rules}", "--games=5", "--variant=mini", "--quiet"]) == 0
    assert "mine" in capsys.readouterr().out


def test_lost_games_may_keep_their_points(capsys):
    line, shown = ["eval", "flawed", "--games=20", "--quiet", "--variant"], []
    for rules in ("mini", "mini, lost_game_score=fireworks"):
        assert main([*line, rules]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] != shown[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eval", "smrat"], 'bot="smrat" is not known: did you mean "smart"?'),
        (["replay", "x", "--html", "y", "--ending", "lst"], 'ending="lst" is not known: did you mean "lost"?'),
        (
            ["text", "export", "x", "y", "--conventions", "smrt"],
            'conventions="smrt" is not known: did you mean "smart"?',
        ),
        (["data", "convert", "x", "y", "--to", "parkuet"], '"parkuet" is not known: did you mean "parquet"?'),
    ],
)
def test_the_command_suggests_the_nearest_name(capsys, arguments, said):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == 1


def test_a_held_out_bot_with_the_name_of_another_partner_is_refused(capsys):
    assert main(["eval", "piers", "--with", "friend=smart", "--hold-out", "friend=random", "--games", "2"]) == 2
    assert "friend" in capsys.readouterr().err
