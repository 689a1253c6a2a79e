"""`write_games` takes games in memory and on disk, and keeps what is known of them."""

from dataclasses import replace

import numpy as np
import pytest
from format_games import assert_equal_games
from stored_games import played_table, store

import starmine
from starmine import StarmineError
from starmine.data import Dataset, read_games, write_games
from starmine.games.roster import names_by_seat

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def table():
    return played_table(12, seed=3)


@pytest.fixture(scope="module")
def data(table, tmp_path_factory):
    return Dataset(store(tmp_path_factory.mktemp("held") / "games.parquet", table))


@pytest.mark.parametrize(
    ("held", "games"),
    [
        (lambda data: data, range(12)),
        (lambda data: data.select([2, 5, 7]), [2, 5, 7]),
        (lambda data: data[:4], range(4)),
        (lambda data: data[3], [3]),
        (lambda data: data[[8, 1]], [8, 1]),
    ],
    ids=["data set", "view", "slice", "game", "indices"],
)
@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_stored_games_are_written(suffix, held, games, data, table, tmp_path):
    write_games(held(data), tmp_path / f"games.{suffix}")
    found = read_games(tmp_path / f"games.{suffix}")
    assert_equal_games(found, table[list(games)])


def test_players_names_are_kept(data, tmp_path):
    for suffix in ("json", "parquet"):
        write_games(data.select([4, 7]), tmp_path / f"games.{suffix}")
        found = read_games(tmp_path / f"games.{suffix}")
        assert names_by_seat(found.roster, found.players) == [["player 0", "player 1"], ["player 1", "player 0"]]


@pytest.fixture(scope="module")
def dealt(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dealt")
    starmine.data.generate(["noisy: 0.25; iggi", "piers"], 20, folder, "mini", 3, shard_size=8, num_threads=1)
    return Dataset(folder)


@pytest.mark.parametrize(
    ("held", "games"),
    [
        (lambda data: data, range(20)),
        (lambda data: data.select([2, 5, 17]), [2, 5, 17]),
        (lambda data: read_games(data.files[0].path.parent), range(20)),
        (lambda data: data[[8, 1]], [8, 1]),
    ],
    ids=["data set", "view", "read", "indices"],
)
def test_deals_players_and_noise_are_kept_in_our_own_files(held, games, dealt, tmp_path):
    write_games(held(dealt), tmp_path / "games.parquet")
    found, expected = Dataset(tmp_path / "games.parquet")[:], dealt[list(games)]
    for name in ("seed", "index", "episode", "players"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert found.roster == expected.roster
    assert [player.name for player in found.roster] == ["noisy: 0.25; iggi", "piers"]
    assert starmine.data.verify(tmp_path / "games.parquet", deal=True).holds


def test_games_that_were_changed_have_lost_their_deals(dealt, tmp_path):
    read = read_games(dealt.files[0].path)
    changed = starmine.data.permute_colors(read, np.roll(np.arange(read.variant.colors), 1))
    write_games(changed, tmp_path / "games.parquet")
    assert Dataset(tmp_path / "games.parquet")[:].seed is None


@pytest.mark.parametrize("suffix", [".json", ".safetensors"])
def test_a_game_in_which_a_player_failed_is_kept_in_our_own_files_alone(suffix, tmp_path):
    """Other formats do not tell it, so that it would count as a game that people gave up."""
    games = starmine.play_games(["iggi", "piers"], 3)
    failed = replace(games, failures=np.array(["", "it raised", ""], np.object_))
    write_games(failed, tmp_path / "games.parquet")
    assert read_games(tmp_path / "games.parquet").mean == failed.mean
    with pytest.raises(StarmineError):
        write_games(failed, tmp_path / f"games{suffix}")
    write_games(failed[failed.failures == ""], tmp_path / f"games{suffix}")
    assert len(read_games(tmp_path / f"games{suffix}")) == 2


def test_names_that_are_no_numbers_are_kept(tmp_path):
    names = ["p2v0s1", "17", "007", "0", "\u0663", "9" * 5000]
    games = replace(starmine.play_games(["iggi", "piers"], len(names)), names=np.array(names, np.object_))
    write_games(games, tmp_path / "games.json")
    assert read_games(tmp_path / "games.json").names.tolist() == names
    write_games(games[1:3], tmp_path / "games.safetensors")  # this format has numbers alone
    assert read_games(tmp_path / "games.safetensors").names.tolist() == ["0", "1"]


def test_a_suffix_in_capitals_is_that_of_a_file(table, tmp_path):
    write_games(table, tmp_path / "games.PARQUET")
    assert (tmp_path / "games.PARQUET").is_file()


def test_the_rules_are_those_of_the_first_game(table, tmp_path):
    write_games(starmine.play_games(["random"] * 3, 1)[:0], tmp_path / "0.parquet")
    write_games(table, tmp_path / "1.parquet")
    assert len(read_games(tmp_path)) == len(table)


@pytest.mark.parametrize("column", ["scores", "fireworks", "endings"])
@pytest.mark.parametrize("suffix", [".json", ".safetensors", ".parquet"])
def test_an_outcome_that_the_rules_do_not_give_is_refused(suffix, column, tmp_path):
    games = starmine.play_games(["iggi", "piers"], 3)
    wrong = replace(games, **{column: np.where(np.arange(3) == 1, 9, getattr(games, column))})
    with pytest.raises(StarmineError):
        write_games(wrong, tmp_path / f"games{suffix}")
    assert not list(tmp_path.iterdir())
