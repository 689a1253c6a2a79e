"""Generated data sets: the games of play_games, whoever makes which shard in which chunks."""

import pickle
import re
import sys

import numpy as np
import pytest

import starmine
from starmine import StarmineError, play_games

pytest.importorskip("pyarrow")

from generated_games import rows, run, tables_of

from starmine.data import Dataset, generate, info, verify
from starmine.data.files import GamesFile, write_file
from starmine.data.generation import shard
from starmine.data.generation.configuration import Configuration
from starmine.data.generation.shard import distinct_rows
from starmine.data.schema import ROW_GROUP, shard_name
from starmine.games import play_table
from starmine.games.draws import choose_legal, draw
from starmine.games.seeds import EVALUATION_SEEDS

QUIET = {"progress": False, "num_threads": 1}
VARIANTS = ("mini", "avalanche", "timed-display")


def same_games(folder, games, first=0):
    """Compare the games of a folder with those of play_games: whole, and column by column as pyarrow reads them."""
    assert Dataset(folder)[:] == games
    found, played = rows(folder), games
    assert found["game"] == found["index"] == list(range(first, first + len(games)))
    assert found["deck"] == [deck.tobytes() for deck in played.decks]
    assert found["first_player"] == played.start_players.tolist()
    assert found["actions"] == [
        played.actions[start:end].tobytes() for start, end in zip(played.offsets[:-1], played.offsets[1:], strict=True)
    ]
    for name, values in (("score", games.scores), ("fireworks", games.fireworks), ("ending", games.endings)):
        assert found[name] == values.tolist()
    assert found["length"] == games.lengths.tolist()


@pytest.mark.parametrize("variant", ["standard", *VARIANTS])
def test_a_table_plays_the_games_of_play_games(tmp_path, variant):
    made = generate(["iggi", "piers"], 300, tmp_path, variant, seed=7, shard_size=128, **QUIET)
    games = play_games(["iggi", "piers"], 300, 7, variant)
    same_games(tmp_path, games)
    assert (made.made, made.kept, made.games) == ([0, 1, 2], [], 300)
    assert made.score == pytest.approx(games.scores.mean())
    assert set(rows(tmp_path)["seed"]) == {7}
    assert set(rows(tmp_path)["episode"]) == {0}
    assert verify(tmp_path, deal=True).holds


@pytest.mark.parametrize("seed", EVALUATION_SEEDS)
def test_the_decks_of_evaluations_are_generated_only_on_request(tmp_path, seed, capsys):
    """Seed 0 of the tables in the docs, and the default seed of `play_games` and `evaluate`."""
    output = tmp_path / "games"
    with pytest.raises(StarmineError):
        generate(["iggi", "iggi"], 20, output, "mini", seed, **QUIET)
    assert run("iggi", "iggi", "--seed", seed, "--output", output) == 2
    assert "--evaluation-decks" in capsys.readouterr().err
    assert not output.exists()
    generate(["iggi", "iggi"], 100, output, "mini", seed, evaluation_decks=True, **QUIET)
    same_games(output, play_games(["iggi", "iggi"], 100, seed, "mini"))
    assert run("iggi", "iggi", "--seed", seed, "--evaluation-decks", "--output", output) == 0  # the same data set


def test_a_shard_does_not_depend_on_chunks_threads_or_the_other_shards(tmp_path, monkeypatch):
    players, games = [["iggi", ("piers", 2), "random"]] * 2, 500
    generate(players, games, tmp_path / "whole", "mini", shard_size=200, **QUIET)
    monkeypatch.setattr(play_table, "FIRST_GAMES_A_THREAD", 7)
    monkeypatch.setattr(shard.ChunkSize, "took", lambda pace, *_: setattr(pace, "games", pace.games % 13 + 1))
    for chosen in ([2], [0, 1]):
        generate(
            players, games, tmp_path / "parts", "mini", shard_size=200, shards=chosen, num_threads=2, progress=False
        )
    for number in range(3):
        name = shard_name(number)
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_row_groups_are_written_as_they_come(tmp_path, monkeypatch):
    from pyarrow.parquet import ParquetFile

    monkeypatch.setattr(shard, "ROW_GROUP", 64)
    generate(["random", "random"], 200, tmp_path, "mini", **QUIET)
    with ParquetFile(tmp_path / shard_name(0)) as file:
        assert [file.metadata.row_group(group).num_rows for group in range(4)] == [64, 64, 64, 8]
    assert ROW_GROUP == 65_536


def check_each_table(folder, seed, variant):
    """Compare each game with the one that play_games plays at its table."""
    found = rows(folder)
    tables = tables_of(folder)
    for game in range(0, len(tables), 7):
        alone = play_games(list(tables[game]), 1, seed, variant, first_game=game)
        assert found["actions"][game] == alone.actions.tobytes()
        assert found["deck"][game] == alone.decks[0].tobytes()
    return tables


def test_a_mixture_is_drawn_for_each_seat(tmp_path):
    generate([[("iggi", 3), "piers"]] * 3, 2000, tmp_path, "very-small", seed=1, **QUIET)
    found = check_each_table(tmp_path, 1, "very-small")
    assert verify(tmp_path).holds
    assert len(set(found)) == 8
    for seat in range(3):
        assert abs([table[seat] for table in found].count("iggi") - 1500) < 100
    assert abs(found.count(("piers", "piers", "iggi")) - 2000 * 3 / 64) < 50


def test_a_seat_is_drawn_and_the_others_are_not(tmp_path):
    generate(["random", [("iggi", 3), "piers"]], 1000, tmp_path, "very-small", seed=1, **QUIET)
    found = check_each_table(tmp_path, 1, "very-small")
    assert abs(found.count(("random", "iggi")) - 750) < 80
    assert found.count(("random", "piers")) == 1000 - found.count(("random", "iggi"))
    assert {table.name for table in info(tmp_path).tables} == {"random + iggi", "random + piers"}
    assert Dataset(tmp_path).metadata[0].extra["configuration"]["seats"] == [0, [[1, 3.0], [2, 1.0]]]


def test_other_seeds_draw_other_tables(tmp_path):
    for seed in (1, 2):
        generate([["iggi", "piers"]] * 2, 200, tmp_path / str(seed), "mini", seed, **QUIET)
    assert tables_of(tmp_path / "1") != tables_of(tmp_path / "2")


class Counting:
    """A policy that draws one of the legal actions, and notes how many games it was asked for at once."""

    def __init__(self):
        self.asked = []

    def act_batch(self, turns):
        self.asked.append(len(turns.game))
        wanted = np.floor(turns.uniform * turns.action_mask.sum(1))
        return np.argmax(turns.action_mask.cumsum(1) > wanted[:, None], axis=1)


class First:
    """A bot that plays the first legal action."""

    def act(self, view):
        return view.legal_actions()[0]


def test_policies_and_python_bots_play_in_batches(tmp_path):
    policy = Counting()
    generate([policy, First], 200, tmp_path / "one", "mini", **QUIET)
    assert max(policy.asked) > 150
    again = Counting()
    generate([again, First], 200, tmp_path / "two", "mini", **QUIET)
    assert rows(tmp_path / "one") == rows(tmp_path / "two")
    assert [player.name.rpartition(".")[2] for player in Dataset(tmp_path / "one").roster] == ["Counting", "First"]
    assert verify(tmp_path / "one", deal=True).holds


def test_a_chunk_of_python_players_is_always_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(shard, "PYTHON_CHUNK", 64)
    for threads in (1, 2):
        generate([Counting(), "iggi"], 300, tmp_path / str(threads), "mini", num_threads=threads, progress=False)
    assert rows(tmp_path / "1") == rows(tmp_path / "2")


def test_a_torch_module_plays_and_its_weights_are_in_the_players_table(tmp_path):
    torch = pytest.importorskip("torch")
    rules = starmine.variant("mini")
    size = len(rules.new_game(seed=0).encode(0))

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(size, rules.num_actions)

        def forward(self, observations, action_mask):
            return self.linear(observations)

    torch.manual_seed(0)
    net = Net()
    generate([[net, "iggi"]] * 2, 100, tmp_path / "one", "mini", **QUIET)
    players = Dataset(tmp_path / "one").roster
    assert [player.name.rpartition(".")[2] for player in players] == ["Net", "iggi"]
    assert len(players[0].checksum) == 64
    assert verify(tmp_path / "one", deal=True).holds
    with torch.no_grad():
        net.linear.bias += 1
    with pytest.raises(StarmineError):
        generate([[net, "iggi"]] * 2, 100, tmp_path / "one", "mini", **QUIET)


def test_policies_have_the_checksum_of_their_file(tmp_path):
    import hashlib

    file = tmp_path / "mine.safetensors"
    file.write_bytes(starmine.load_policy("ippo-mini").data)
    expected = hashlib.sha256(file.read_bytes()).hexdigest()
    table = ["ippo-mini", f"policy: {file}; sampled"]
    generate(table, 20, tmp_path / "games", "mini", **QUIET)
    assert [player.checksum for player in Dataset(tmp_path / "games").roster] == [expected, expected]
    same_games(tmp_path / "games", play_games(table, 20, 1, "mini"))
    file.write_bytes(starmine.load_policy("ippo-mini").data + b" ")
    with pytest.raises(starmine.SerializationError):
        generate(table, 20, tmp_path / "games", "mini", **QUIET)


def test_a_module_that_changes_meanwhile_is_told(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    rules = starmine.variant("mini")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(len(rules.new_game(seed=0).encode(0)), rules.num_actions)

        def forward(self, observations, action_mask):
            return self.linear(observations)

    net, play_chunk = Net(), shard.play_chunk

    def train(*arguments):
        with torch.no_grad():
            net.linear.bias += 1
        return play_chunk(*arguments)

    monkeypatch.setattr(shard, "play_chunk", train)
    with pytest.raises(StarmineError):
        generate([net, net], 20, tmp_path, "mini", **QUIET)
    assert not list(tmp_path.glob("*.parquet*"))


def test_noise_is_that_of_play_games(tmp_path):
    seats = ["iggi", "noisy: 0.1; piers"]
    generate(seats, 200, tmp_path / "one", "mini", **QUIET)
    same_games(tmp_path / "one", play_games(seats, 200, 1, "mini"))
    assert [(player.name, player.identity) for player in Dataset(tmp_path / "one").roster] == [
        (name, name) for name in seats
    ]
    assert run(*seats, "--output", tmp_path / "two") == 0
    assert rows(tmp_path / "two")["actions"] == rows(tmp_path / "one")["actions"][:100]


def test_failing_players_make_no_shard(tmp_path):
    class Failing:
        def act(self, view):
            raise RuntimeError("no idea")

    with pytest.raises(starmine.BotError) as failed:
        generate(["iggi", Failing], 5, tmp_path, "mini", **QUIET)
    assert [failure.game for failure in failed.value.failures] == list(range(5))
    assert isinstance(failed.value.__cause__, RuntimeError)
    assert [path.name for path in tmp_path.glob("*.parquet*")] == []


def test_the_metadata_say_what_was_played(tmp_path):
    generate(["iggi", "piers"], 100, tmp_path, "mini", 5, shard_size=64, **QUIET)
    metadata = [file.metadata for file in Dataset(tmp_path).files]
    assert [(one.seed, one.shard, one.shards, one.version) for one in metadata] == [
        (5, shard, 2, starmine.__version__) for shard in range(2)
    ]
    found = metadata[0].extra["configuration"]
    assert (found["games"], found["shard_size"], found["seats"]) == (100, 64, [0, 1])
    assert metadata[0].variant == starmine.variant("mini")


def test_the_progress_shows_speed_and_mean_score(tmp_path, monkeypatch, capsys):
    from starmine._util import progress

    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    generate(["iggi", "iggi"], 300, tmp_path, "mini", num_threads=1, progress=True)
    assert re.search(r"^300 of 300 games, [\d,]+ games/s: mean score \d", capsys.readouterr().err, re.MULTILINE)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    generate(["iggi", "iggi"], 300, tmp_path / "again", "mini", num_threads=1, progress=True)
    assert capsys.readouterr().err == ""


def mixed(number):
    """The finaliser of SplitMix64, with Python's integers."""
    number = (number + 0x9E3779B97F4A7C15) % 2**64
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
    return number ^ number >> 31


def test_draws_are_those_of_a_plain_reference():
    seed, purpose = 2**64 - 1, 2
    found = draw(seed, purpose, np.array([0, 2**32], np.uint64)[:, None], np.arange(2))
    first = mixed((seed + purpose * 0x9E3779B97F4A7C15) % 2**64)
    expected = [[mixed(mixed(first ^ mixed(game)) ^ mixed(seat)) for seat in (0, 1)] for game in (0, 2**32)]
    assert found.tolist() == expected


def test_legal_actions_are_drawn_evenly():
    masks = np.array([[False, True, False], [True, False, True]])
    drawn = np.array([choose_legal(draw(seed, 1, [0, 1]), masks) for seed in range(400)])
    assert set(drawn[:, 0]) == {1}
    assert 150 < (drawn[:, 1] == 0).sum() < 250
    assert set(drawn[:, 1]) == {0, 2}


def test_a_configuration_travels_to_other_processes(tmp_path):
    found = Configuration.of(["iggi", First], "mini", 100, 0, 10)
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()


def test_players_are_told_apart_by_their_place(tmp_path):
    one, other = First(), First()
    generate([one, other], 20, tmp_path, "mini", **QUIET)
    assert [player.name.rpartition(".")[2] for player in Dataset(tmp_path).roster] == ["First", "First (2)"]


@pytest.mark.parametrize(("table", "seats"), [(1, 2), (3, 5), (40, 3), (32_000, 5)])
def test_the_tables_of_a_chunk_are_its_distinct_rows_of_players(table, seats):
    players = np.random.default_rng(0).integers(0, table, (500, seats), np.int16)
    players[::7] = players[3]
    rows, row = distinct_rows(players)
    assert np.array_equal(rows, np.unique(players, axis=0))
    assert np.array_equal(rows[row], players)


def test_a_module_that_samples_is_another_player_than_one_that_does_not(tmp_path):
    torch = pytest.importorskip("torch")
    from starmine.torch import ColorNetwork, ModulePolicy

    torch.manual_seed(1)
    network = ColorNetwork(starmine.variant("mini"), hidden=(4, 4))
    options = {"games": 4, "output": tmp_path / "games", "variant": "mini", "progress": False}
    generate([ModulePolicy(network), "iggi"], **options)
    with pytest.raises(starmine.StarmineError):
        generate([ModulePolicy(network, sampled=True), "iggi"], **options)


def test_a_file_that_is_given_twice_is_one_player(tmp_path, monkeypatch):
    """Also a policy that PyTorch plays: of two rows of one player, joined chunks would keep one."""
    pytest.importorskip("torch")
    from starmine.torch import PolicyNetwork

    PolicyNetwork(starmine.variant("mini"), hidden=(4, 4)).save(tmp_path / "mine.safetensors")
    monkeypatch.setattr(shard, "PYTHON_CHUNK", 3)
    seats = [str(tmp_path / "mine.safetensors")] * 2
    generate(seats, 8, tmp_path / "games", "mini", **QUIET)
    assert [player.name for player in Dataset(tmp_path / "games").roster] == seats[:1]


def test_a_shard_with_other_games_than_its_own_is_made_again(tmp_path):
    """A tool may have taken games out of it, or written those of another shard under its metadata."""
    generate(["iggi", "piers"], 20, tmp_path, "mini", shard_size=10, **QUIET)
    whole, path = Dataset(tmp_path)[:], tmp_path / shard_name(1)
    metadata = GamesFile.open(path).metadata
    for kept in (whole[10:15], whole[:10], whole[[*range(10, 19), 9]]):
        write_file(path, metadata, kept)
        assert generate(["iggi", "piers"], 20, tmp_path, "mini", shard_size=10, **QUIET).made == [1]
        assert Dataset(tmp_path)[:] == whole
