"""`starmine data convert`."""

import dataclasses

import numpy as np
import pytest
from format_games import assert_equal_games, games_of

import starmine
from starmine.cli import main
from starmine.data import Dataset, info, read_games, write_games


def test_games_go_from_format_to_format(tmp_path, capsys):
    games = games_of(starmine.Variant(players=3), count=4)
    first = tmp_path / "games.parquet"
    write_games(games, first)
    for name in ("games.json", "games.safetensors", "last.parquet"):
        following = tmp_path / name
        assert main(["data", "convert", str(first), str(following)]) == 0
        said = capsys.readouterr()
        assert said.out.startswith(f"4 games, {len(games.actions)} turns written to {following}; mean score ")
        assert not said.err
        first = following
    assert_equal_games(read_games(first), games)


def test_games_become_a_data_set_of_ours(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    games = games_of(starmine.Variant(players=3), count=4)
    write_games(games, tmp_path / "games.safetensors")
    arguments = ["data", "convert", str(tmp_path / "games.safetensors"), str(tmp_path / "ours"), "--to", "parquet"]
    assert main([*arguments, "--players", "2"]) == 2
    assert "there is no game of Variant(players=2)" in capsys.readouterr().err
    assert not (tmp_path / "ours").exists()
    assert main([*arguments, "--from", "ah2ac2", "--variant", "standard", "--players", "3"]) == 0
    from starmine.data.dataset import Dataset

    stored = Dataset(tmp_path / "ours")
    assert len(stored) == 4
    assert stored.variant == games.variant
    capsys.readouterr()
    assert main(["data", "verify", str(tmp_path / "ours"), "--quiet"]) == 0
    assert "4 games" in capsys.readouterr().out


def test_games_that_break_the_rules_are_skipped_on_request(tmp_path, capsys):
    games = games_of(starmine.Variant(), count=3)
    safetensors = pytest.importorskip("safetensors.numpy")
    source, target = tmp_path / "games.safetensors", tmp_path / "games.json"
    write_games(games, source)
    arrays = safetensors.load_file(source)
    arrays["actions"][1, 0, 0] = 0
    safetensors.save_file(arrays, source)
    assert main(["data", "convert", str(source), str(target)]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("starmine data convert: ")
    assert said.err.count("\n") == 1
    assert "games.safetensors, game 1 (1): turn 0: action 0 (discard slot 0) is not legal" in said.err
    assert not target.exists()
    assert main(["data", "convert", str(source), str(target), "--skip"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith(f"skipped {source}, game 1 (1): turn 0: action 0")
    assert len(read_games(target)) == 2


def test_a_file_is_replaced_on_request_and_an_empty_folder_is_a_target(tmp_path, capsys):
    write_games(games_of(starmine.Variant(), count=2), tmp_path / "games.parquet")
    source, target = str(tmp_path / "games.parquet"), tmp_path / "games.json"
    target.write_text("before")
    assert main(["data", "convert", source, str(target)]) == 2
    assert target.read_text() == "before"
    assert main(["data", "convert", source, str(target), "--fresh"]) == 0
    assert len(read_games(target)) == 2
    (tmp_path / "empty").mkdir()
    assert main(["data", "convert", source, str(tmp_path / "empty"), "--to", "parquet"]) == 0
    assert len(starmine.data.Dataset(tmp_path / "empty")) == 2


def test_failed_games_are_told_from_stopped_ones(tmp_path, capsys):
    games = starmine.play_games(["smart", "smart"], games=4, seed=1)
    failed = dataclasses.replace(games, failures=np.array(["", "gave up", "", "gave up"], object))
    write_games(failed, tmp_path / "failed.parquet")
    data = Dataset(tmp_path / "failed.parquet")
    mean = games.scores[[0, 2]].mean()
    assert data.read(0, optional=False).mean == data.mean == mean
    assert info(tmp_path / "failed.parquet").total.turns == games.lengths[[0, 2]].sum()
    assert main(["data", "convert", str(tmp_path / "failed.parquet"), str(tmp_path / "copy.parquet")]) == 0
    said = capsys.readouterr().out
    assert f"mean score {mean:.2f}" in said
    assert "failed in 2" in said
    assert "stopped" not in said
