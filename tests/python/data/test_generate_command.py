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
