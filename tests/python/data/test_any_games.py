"""`write_games` takes games in every form in which the package hands them out."""

import numpy as np
import pytest
from format_games import assert_equal_games
from stored_games import played_table, store

import starmine
from starmine.data import Dataset, read_games, write_games

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
        (lambda data: [data[8], data[1]], [8, 1]),
        (lambda data: tuple(data), range(12)),
    ],
    ids=["data set", "view", "table", "game", "list", "tuple"],
)
@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_stored_games_are_written(suffix, held, games, data, table, tmp_path):
    write_games(held(data), tmp_path / f"games.{suffix}")
    found = read_games(tmp_path / f"games.{suffix}")
    assert_equal_games(found.trajectories, table.trajectories[list(games)])
    if suffix == "parquet":
        assert found.names == tuple(map(str, games))


def test_players_names_of_data_sets_and_games_are_kept(data, tmp_path):
    for name, held in {"view": data.select([4, 7]), "games": [data[4], data[7]]}.items():
        write_games(held, tmp_path / f"{name}.parquet")
        assert read_games(tmp_path / f"{name}.parquet").players == (("player 0", "player 1"), ("player 1", "player 0"))


def test_recorded_results_are_written(tmp_path):
    played = starmine.play_games(["iggi", "iggi"], games=3, record=True)
    write_games(played, tmp_path / "games.parquet")
    assert_equal_games(read_games(tmp_path / "games.parquet").trajectories, played.trajectories)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (lambda data: "games", r"games='games' is not allowed: expected .*a GameTable such as data\[:20\]"),
        (lambda data: None, "games=None is not allowed"),
        (lambda data: data[3].actions, "games=ndarray is not allowed"),
        (lambda data: data[3].state(), "games=State is not allowed"),
        (lambda data: [data[3], 4], r"games=\[int, \.\.\.\] is not allowed"),
        (lambda data: [], r"games=\[\] is not allowed"),
        (lambda data: starmine.play_games(["iggi", "iggi"], games=1), "not recorded: expected .*record=True"),
    ],
    ids=["text", "None", "array", "state", "list", "empty", "results"],
)
def test_what_holds_no_games_is_refused_by_name(held, said, data, tmp_path):
    with pytest.raises(starmine.StarmineError, match=said):
        write_games(held(data), tmp_path / "games.json")
    assert not (tmp_path / "games.json").exists()


def test_a_stored_score_that_the_rules_do_not_give_is_refused(table, tmp_path):
    wrong = table[:2]
    np.add(wrong.scores, 1, out=wrong.scores)
    with pytest.raises(starmine.StarmineError, match="the games: 2 of 2 games do not hold: game 0: its recorded score"):
        write_games(wrong, tmp_path / "games.json")


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
        (lambda data: [data[8], data[1]], [8, 1]),
    ],
    ids=["data set", "view", "read", "list"],
)
def test_deals_players_and_noise_are_kept_in_our_own_files(held, games, dealt, tmp_path):
    write_games(held(dealt), tmp_path / "games.parquet")
    found = Dataset(tmp_path / "games.parquet")
    for game, written in zip(games, found, strict=True):
        for name in ("seed", "index", "episode"):
            assert getattr(written.table, name) == getattr(dealt[game].table, name)
        assert written.players == dealt[game].players
        assert [player["name"] for player in written.players] == ["noisy: 0.25; iggi", "piers"]
    assert starmine.data.verify(tmp_path / "games.parquet", deal=True).holds


def test_the_deals_of_a_table_are_kept_and_its_players_are_unknown(dealt, tmp_path):
    write_games(dealt[4:7], tmp_path / "games.parquet")
    found = Dataset(tmp_path / "games.parquet")
    assert found[:].index.tolist() == [4, 5, 6]
    assert found.players == [{"name": "unknown", "hash": None}]


def test_games_that_were_changed_have_lost_their_deals(dealt, tmp_path):
    read = read_games(dealt.files[0].path)
    changed = starmine.data.permute_colors(read.trajectories, np.roll(np.arange(read.variant.colors), 1))
    write_games(changed, tmp_path / "games.parquet")
    assert Dataset(tmp_path / "games.parquet")[:].seed is None
