"""The benchmark of games on disk reads what it says: every turn once, the same from every kind of storage."""

from collections import Counter

import billion
import data_speed as benchmark
import numpy as np
import pytest
import stored_rows
from measuring import Row

import starmine.data
from starmine.data import Dataset
from starmine.torch import GamesDataset

GAMES = 200


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    starmine.data.generate(["smart", "smart"], GAMES, folder, progress=False)
    return Dataset(folder)


def rows(minibatches):
    """How often each row comes."""
    found = Counter()
    for minibatch in minibatches:
        columns = [np.asarray(minibatch[name]).reshape(len(minibatch["action"]), -1) for name in stored_rows.OUTPUTS]
        found.update(zip(*[[row.tobytes() for row in column.astype(np.uint8)] for column in columns], strict=True))
    return found


@pytest.mark.parametrize("kind", [stored_rows.ParquetRows, stored_rows.MemoryMaps])
def test_rows_are_those_of_the_replay_shuffled(kind, games, tmp_path, monkeypatch):
    monkeypatch.setattr(stored_rows, "ROW_GROUP", 1024)
    stored = kind(games, tmp_path)
    assert (stored.games, stored.turns) == (GAMES, games.turns)
    assert stored.bytes == sum(file.stat().st_size for file in tmp_path.iterdir())
    expected = rows(GamesDataset(games, dtype="bits", outputs=stored_rows.OUTPUTS))
    assert rows(stored.minibatches(0)) == expected
    assert sum(expected.values()) == games.turns
    first, other = (next(stored.minibatches(seed))["obs"] for seed in (0, 1))
    assert len(first) == stored_rows.MINIBATCH
    assert not (first == other).all()


def test_steps_and_replays_are_measured_with_recorded_games():
    found = [(case.more["kind"], case.measure(0)) for case in benchmark.replay_cases(2, 64)]
    assert [kind for kind, _ in found] == ["step_into", "replay", "replay, all lengths"]
    assert all(speed > 0 for _, speed in found)


def test_the_tables_have_a_line_for_each_row_and_compare_with_the_base():
    def row(what, speed, **more):
        return Row(what, 2, 1024, "bits", 1, more, speed, speed, speed)

    measured = [
        row("play_games", 1000.0, kind="play_games", stored=None),
        row("generate", 900.0, kind="generate", stored=64.25),
        row("step", 50e6, kind="step_into"),
        row("replay", 40e6, kind="replay"),
        row("dataset", 6e6, kind="read", stored=1.0),
        row("maps", 2e6, kind="read", stored=113.0),
    ]
    generation, replay, reading = (
        [[cell.strip() for cell in line.strip("|").split("|")] for line in table(measured).splitlines()[2:]]
        for table in (benchmark.generation_table, benchmark.replay_table, benchmark.reading_table)
    )
    assert [line[-2:] for line in generation] == [["", ""], ["90%", "64.2"]]
    assert [line[-1] for line in replay] == ["", "0.80"]
    assert [line[-1] for line in reading] == ["1.0 x", "3.0 x"]


def test_a_pass_reads_every_turn_once(games):
    folder = games.files[0].path.parent
    assert billion.verify(folder) == games.turns
    for read in (billion.replay, billion.shuffled):
        assert sum(read(folder, 3, number) for number in range(3)) == games.turns


@pytest.mark.slow
def test_the_processes_of_all_passes_agree(tmp_path):
    made = billion.passes(tmp_path / "games", 5000)
    assert [row.more["pass"] for row in made] == list(billion.PASSES)
    assert len({row.more["turns"] for row in made}) == 1
    assert 4000 < made[0].more["turns"] < 6000
    assert all(2**20 < row.more["start"] <= row.more["peak"] < 2**33 for row in made)
    assert len(billion.table(made).splitlines()) == 2 + len(made)
