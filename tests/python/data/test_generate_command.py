"""`starmine generate`, and what `starmine data` says of its games."""

import pytest

from starmine.cli import main

pytest.importorskip("pyarrow")

from generated_games import rows, run

from starmine.data.schema import shard_name


def test_the_command_line_generates_sums_up_and_verifies(tmp_path, capsys):
    assert run("iggi", "iggi", "--output", tmp_path, "--shard-size", 30, "--shards", "0-1,3") == 0
    assert "3 of 3 shards (3 made now), 70 games" in capsys.readouterr().out
    assert main(["data", "verify", str(tmp_path), "--quiet"]) == 1
    assert f"1 shard missing, the first {shard_name(2)}" in capsys.readouterr().out
    assert run("iggi", "iggi", "--output", tmp_path, "--shard-size", 30) == 0
    assert "4 of 4 shards (1 made now), 100 games" in capsys.readouterr().out
    assert main(["data", "verify", str(tmp_path), "--quiet", "--deal"]) == 0
    assert "4 files, 100 games" in capsys.readouterr().out
    assert main(["data", "info", str(tmp_path)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].endswith(": mini, players=2")
    assert shown[1].startswith("100 games, ")
    assert all(len(line) <= 80 for line in shown[1:])
    assert any("#####" in line for line in shown)


def test_the_command_line_takes_rules(tmp_path):
    rules = "mini, lost_game_score=fireworks"
    command = ["generate", "iggi", "iggi", "--games", "100", "--variant", rules, "--seed", "4", "--quiet"]
    assert main([*command, "--output", str(tmp_path)]) == 0
    assert rows(tmp_path)["score"] == rows(tmp_path)["fireworks"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "players=0"),
        (["iggi"], "players=1"),
        (["iggi", "iggi", "--shards", "3-1"], "such as 0-99"),
        (["iggi", "iggi", "--shards", "a"], "such as 0-99"),
        (["iggi", "iggi", "--shards", "0-99999999999"], "such as 0-99"),
        (["iggi", "iggi", "--shards", "5"], "expected 0 to 0"),
    ],
)
def test_a_bad_option_is_one_line(tmp_path, capsys, arguments, said):
    assert run(*arguments, "--output", tmp_path / "games") == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1


def test_no_games_or_no_pyarrow_are_one_line(tmp_path, capsys, monkeypatch):
    assert main(["data", "info", str(tmp_path)]) == 2
    assert "holds no games" in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert run("iggi", "iggi", "--output", tmp_path) == 2
    assert "starmine.data needs pyarrow: pip install 'starmine[data]'" in capsys.readouterr().err
