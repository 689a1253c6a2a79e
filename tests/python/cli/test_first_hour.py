"""`starmine examples` and `starmine speed`, for whoever has a wheel and no clone."""

import re
import subprocess
import sys

import pytest
from paths import ROOT

from starmine.cli import main

SCRIPTS = {path.name: path for path in (ROOT / "examples").glob("*.py")}


def test_the_list_has_a_line_for_each_script(capsys):
    assert main(["examples"]) == 0
    lines = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    assert [f"{line.split()[0]}.py" for line in lines] == sorted(SCRIPTS)
    assert "one page" in next(line for line in lines if line.startswith("ppo_minimal "))


@pytest.mark.parametrize(
    ("name", "files"),
    [("ppo", {"ppo.py"}), ("ppo_recurrent.py", {"ppo_recurrent.py", "ppo.py"}), ("mappo", {"mappo.py"})],
)
def test_a_script_is_copied_with_the_scripts_that_it_imports(name, files, tmp_path, capsys):
    folder = tmp_path / "new" / "scripts"
    assert main(["examples", name, "--to", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == files
    assert all((folder / file).read_bytes() == SCRIPTS[file].read_bytes() for file in files)
    assert main(["examples", name, "--to", str(folder)]) == 0  # again, over equal files


def test_a_copied_script_runs(tmp_path, capsys):
    pytest.importorskip("torch")
    main(["examples", "mappo", "--to", str(tmp_path)])
    done = subprocess.run([sys.executable, "mappo.py", "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--players" in done.stdout


def test_a_changed_script_is_not_replaced(tmp_path, capsys):
    (tmp_path / "ppo.py").write_text("mine\n")
    assert main(["examples", "ppo_recurrent", "--to", str(tmp_path)]) == 2
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"ppo.py": "mine\n"}
    assert main(["examples", "ppoo"]) == 2
    assert "ppo" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "nearest"), [(["example"], "examples"), (["evl", "smart"], "eval"), (["data", "verfy", "x"], "verify")]
)
def test_a_misspelt_command_gets_the_nearest_name(given, nearest, capsys):
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    assert f'did you mean "{nearest}"?' in capsys.readouterr().err


@pytest.mark.parametrize(("command", "positional"), [("examples", "[NAME]"), ("eval", "[BOT ...]")])
def test_the_help_says_what_may_be_left_out(command, positional, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert positional in capsys.readouterr().out


@pytest.mark.parametrize("players", [2, 5])
def test_the_speed_of_everything_is_measured(players, capsys):
    assert main(["speed", "--seconds", "0", "--players", str(players)]) == 0
    printed = capsys.readouterr().out
    rates = {
        line[:40].strip(): float(line[40:52].replace(",", "")) for line in printed.splitlines() if "/s" in line[40:]
    }
    assert all(rate > 0 for rate in rates.values())
    measured = {"HanabiVectorEnv.step, float32", "play_games, smart", f"play_games, ippo-{players}p"}
    measured |= {f"Batch.step_into, {dtype}" for dtype in ("float32", "float16", "uint8", "bits")}
    measured |= {f"Batch.step_into, bits, {name}" for name in ("card_features", "public_marginals", "own_hand")}
    assert measured <= set(rates)
    assert max(map(len, printed.splitlines())) <= 80
    hle = rates.get("HLE's Python environment")
    assert ("x HLE's Python" in printed) == (hle is not None)
    if hle:
        shown = float(re.search(r"Batch.step_into, bits  .* ([\d,.]+)\n", printed)[1].replace(",", ""))
        assert shown == pytest.approx(rates["Batch.step_into, bits"] / hle, rel=0.05)
