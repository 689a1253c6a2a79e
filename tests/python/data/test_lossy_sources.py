"""Sources from which games could be lost, doubled or changed in silence: an error says so, or nothing is lost."""

import numpy as np
import pytest
from format_games import games_of

import starmine
from starmine.cli import main
from starmine.data import read_games, write_games

pytest.importorskip("pyarrow")
STANDARD = starmine.Variant(players=2)


def test_a_folder_with_parquet_and_other_games_is_refused(tmp_path):
    write_games(games_of(STANDARD, count=2), tmp_path / "first.json")
    assert len(read_games(tmp_path)) == 2
    write_games(games_of(STANDARD, count=1), tmp_path / "all.parquet")
    with pytest.raises(starmine.StarmineError):
        read_games(tmp_path)
    assert len(read_games(tmp_path, "hanab-live")) == 2
    assert len(read_games(tmp_path, "parquet")) == 1


def test_folders_that_starmine_wrote_are_read_beside_their_json(tmp_path):
    starmine.data.generate(["smart", "smart"], games=3, output=tmp_path / "made", progress=False)
    assert len(read_games(tmp_path / "made")) == 3
    starmine.evaluate(["smart", "iggi"], games=2, output=tmp_path / "judged", figure=False)
    assert (tmp_path / "judged" / "eval.json").exists()
    assert len(read_games(tmp_path / "judged")) == 8


def test_a_flipped_bit_of_a_parquet_file_is_found(tmp_path):
    path = tmp_path / "games.parquet"
    write_games(games_of(STANDARD, count=50), path)
    whole, generator = path.read_bytes(), np.random.default_rng(0)
    expected = read_games(path)
    for place, bit in zip(generator.integers(4, len(whole) - 4, 60), generator.integers(0, 8, 60), strict=True):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(bit)
        path.write_bytes(damaged)
        try:
            found = read_games(path)
        except starmine.StarmineError:
            continue
        # A bit outside the pages, such as in the name of the writing program, changes no game.
        np.testing.assert_array_equal(found.actions, expected.actions)
        np.testing.assert_array_equal(found.decks, expected.decks)


@pytest.mark.parametrize("source", ["games.json", "."])
@pytest.mark.parametrize("command", ["data convert {source} {target} --fresh", "replay {source} --html {target}"])
def test_a_command_does_not_replace_its_source(command, source, tmp_path, capsys):
    path = tmp_path / "games.json"
    write_games(games_of(STANDARD, count=2), path)
    before = path.read_bytes()
    assert main(command.format(source=tmp_path / source, target=path).split()) == 2
    assert "games.json" in capsys.readouterr().err
    assert path.read_bytes() == before
    missing = command.format(source=tmp_path / source, target=tmp_path / "missing" / "games.json")
    assert main(missing.split()) == 2 or (tmp_path / "missing" / "games.json").exists()


def test_games_are_equal_after_a_round_trip_by_parquet(tmp_path):
    starmine.data.generate(["smart", "smart"], games=5, output=tmp_path / "made", progress=False)
    games = read_games(tmp_path / "made")
    write_games(games, tmp_path / "again.parquet")
    again = read_games(tmp_path / "again.parquet")
    assert games == again
    assert again == games
