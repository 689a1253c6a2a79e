"""`verify` names what does not hold: file, row, game and what it is; `info` sums up."""

import math
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import starmine
from starmine import StarmineError, play_games
from starmine.cli import main

pytest.importorskip("pyarrow")

from starmine.data import DamagedFileError, Dataset, generate, info, read_games, verify, write_games
from starmine.data.files import write_file
from starmine.data.metadata import Metadata
from starmine.data.schema import shard_name
from starmine.games import RosterPlayer

GAMES, SIZE, FILE, ROW = 90, 40, shard_name(1), 17
GAME = SIZE + ROW


@pytest.fixture
def folder(tmp_path):
    """Three shards of games without surprises."""
    generate(["iggi", "iggi"], GAMES, tmp_path, "mini", 3, shard_size=SIZE, num_threads=1, progress=False)
    return tmp_path


def change(path, name, value):
    """Change a column in one row of a shard, or all of it; its checksums are not changed."""
    import pyarrow
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        table, metadata = file.read(), file.metadata.metadata
    column = table[name].to_pylist()
    column[ROW] = value(column[ROW]) if callable(value) else value
    field = table.schema.field(name)
    changed = table.set_column(table.schema.names.index(name), field, pyarrow.array(column, field.type))
    kept = {key: value for key, value in metadata.items() if key.startswith(b"starmine")}
    parquet.write_table(changed.replace_schema_metadata(kept), path)


@pytest.mark.parametrize("threads", [1, 3])
def test_whole_games_hold(folder, threads):
    found = verify(folder, deal=True, num_threads=threads)
    assert found.holds
    assert (found.files, found.games, found.problems) == (3, GAMES, [])
    assert str(found) == f"{folder}: 3 files, {GAMES} games, {found.turns:,} turns: all hold"
    assert verify(folder / FILE).games == SIZE


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("score", lambda score: score + 1, "score is "),
        ("fireworks", lambda score: score + 1, "fireworks is "),
        ("ending", 5, "ending is 'no_legal_action': expected "),
        ("ending", 77, "ending is 77: expected "),
        ("first_player", 2, "start_player=2 is not allowed: expected 0 to 1"),
        ("deck", lambda deck: bytes(len(deck)), "copies of R1: expected "),
        ("deck", lambda deck: b"\xff" * len(deck), "deck[0]=255 is not a card of this variant"),
        ("actions", lambda actions: b"\xff" + actions[1:], "turn 0: action 255 is not allowed"),
        ("actions", lambda actions: actions + b"\0", "the game is over"),
        ("actions", lambda actions: actions[:-1], ": expected None"),
        ("actions", lambda actions: b"", ": expected None"),
    ],
)
def test_what_does_not_hold_is_named(folder, capsys, column, value, said):
    change(folder / FILE, column, value)
    if column == "actions":
        change(folder / FILE, "length", lambda length: len(value(bytes(length))))
    found = verify(folder)
    rows = [problem for problem in found.problems if problem.row is not None]
    assert {(problem.file, problem.row, problem.game) for problem in rows} == {(FILE, ROW, GAME)}
    assert any(said in problem.what for problem in rows)
    files = [problem.what for problem in found.problems if problem.row is None]
    assert any("its games do not have the checksum in its metadata" in what for what in files)
    assert main(["data", "verify", str(folder), "--quiet"]) == 1
    assert f"{FILE}, row {ROW}, game " in capsys.readouterr().out


def test_lengths_that_are_not_those_of_the_actions_are_damage(folder):
    change(folder / FILE, "length", lambda length: length + 1)
    said = [str(problem) for problem in verify(folder).problems]
    assert any(line.startswith(f"{FILE}: it cannot be read (") and "length" in line for line in said)


@pytest.mark.parametrize(("column", "value", "said"), [("seed", 4, "deck is "), ("episode", 1, "episode is 1: ")])
def test_another_seed_is_found_by_dealing(folder, column, value, said):
    change(folder / FILE, column, value)
    problems = [problem.what for problem in verify(folder, deal=True).problems if problem.row == ROW]
    assert any(what.startswith(said) for what in problems)


def test_another_deck_of_the_same_cards_is_found_by_dealing(folder):
    change(folder / FILE, "deck", lambda deck: deck[:-2] + deck[-1:] + deck[-2:-1])
    change(folder / FILE, "deck", lambda deck: deck[:-3] + bytes(sorted(deck[-3:])))
    problems = [problem.what for problem in verify(folder, deal=True).problems if problem.row == ROW]
    assert any(what.startswith("deck is ") for what in problems)


def test_cut_and_strange_files_are_named(folder):
    (folder / shard_name(0)).unlink()
    (folder / FILE).write_bytes((folder / FILE).read_bytes()[:-100])
    (folder / shard_name(2)).replace(folder / shard_name(7))
    said = [str(problem) for problem in verify(folder).problems]
    assert f"{shard_name(7)}: it cannot be read (it is damaged: its name is that of another shard" in "\n".join(said)
    assert any(line.startswith(f"{FILE}: it cannot be read (") for line in said)
    assert all("\n" not in line for line in said)


def test_missing_shards_are_told(folder):
    (folder / FILE).unlink()
    assert [problem.file for problem in verify(folder).problems] == [folder.name]
    with pytest.warns(UserWarning, match="1 of 3 shards are missing"):
        assert len(Dataset(folder)) == GAMES - SIZE


def test_many_problems_are_counted(folder, capsys):
    from pyarrow import parquet

    for number in range(3):
        path = folder / shard_name(number)
        with parquet.ParquetFile(path) as file:
            table, metadata = file.read(), file.metadata.metadata
        column = table.schema.names.index("score")
        wrong = table.set_column(column, table.schema.field("score"), [np.full(len(table), 200, np.uint8)])
        kept = {key: value for key, value in metadata.items() if key.startswith(b"starmine")}
        parquet.write_table(wrong.replace_schema_metadata(kept), path)
    found = verify(folder)
    assert found.count >= GAMES
    lines = str(found).splitlines()
    assert len(lines) == 22
    assert lines[-2] == f"and {found.count - 20} more"


def forged(metadata):
    """Metadata of a generated file with each entry in turn replaced."""
    configuration = metadata.extra["configuration"]
    for value in (None, -1, 1.5, "x", [], {}, [None], [[]], [{}], 10**30):
        yield replace(metadata, extra={"configuration": value})
        yield replace(metadata, roster=(RosterPlayer(value),))
        yield replace(metadata, shards=10**30)
        for name in configuration:
            yield replace(metadata, extra={"configuration": configuration | {name: value}})


def test_forged_metadata_are_told_and_raise_nothing(folder):
    from pyarrow import parquet

    from starmine.data.metadata import KEY

    path = folder / FILE
    with parquet.ParquetFile(path) as file:
        table, metadata = file.read(), Metadata.of(file.metadata.metadata)
    for changed in forged(metadata):
        parquet.write_table(table.replace_schema_metadata({KEY: changed.to_json().encode()}), path)
        found = verify(path)
        assert all("\n" not in str(problem) for problem in found.problems)
        try:
            assert info(path).total.games == SIZE
        except StarmineError as error:
            assert "it is damaged: " in str(error)  # noqa: PT017


def test_games_that_were_not_generated_are_verified_too(tmp_path):
    games = play_games(["iggi", "iggi"], 50)
    games = replace(games, roster=(RosterPlayer("somebody"),), seed=None, index=None, episode=None)
    write_file(tmp_path / "people.parquet", Metadata(games.variant, games.roster), games)
    assert verify(tmp_path).holds
    dealt = verify(tmp_path, deal=True)
    assert {problem.what for problem in dealt.problems} == {"seed, index or episode is missing: it cannot be dealt"}
    assert info(tmp_path).tables[0].name == "somebody + somebody"


def test_a_changed_bit_of_the_metadata_is_damage_to_every_reader(folder, tmp_path):
    """The metadata lie in the file twice, as text and in Arrow's schema as base64."""
    path = tmp_path / "copied.parquet"
    data = (folder / FILE).read_bytes()
    text = data.rindex(b'"max_information_tokens"')
    arrow = data.index(b"ARROW:schema")
    for place in (*range(text - 400, text + 60, 20), *range(arrow + 500, arrow + 900, 20)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert not verify(path).holds, place
        for read in (Dataset, info, read_games):
            with pytest.raises(DamagedFileError):
                read(path)


def test_files_that_cannot_be_read_are_no_games(folder):
    (folder / FILE).write_bytes(b"PAR1")
    with pytest.raises(DamagedFileError):
        read_games(folder)
    skipped = []
    assert len(read_games(folder, on_skip=skipped.append)) == 50
    assert [game.path.name for game in skipped] == [FILE]


def test_a_shard_under_the_name_of_another_is_refused(folder):
    shutil.copy(folder / shard_name(0), folder / FILE)
    for read in (Dataset, info, read_games):
        with pytest.raises(StarmineError):
            read(folder)


# --- Summing up -------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_the_games(folder):
    found, games = info(folder), play_games(["iggi", "iggi"], GAMES, 3, "mini")
    assert (found.total.games, found.total.turns) == (GAMES, games.lengths.sum())
    assert found.total.mean == pytest.approx(games.scores.mean())
    assert found.total.standard_error == pytest.approx(games.scores.std(ddof=1) / math.sqrt(GAMES))
    assert found.bytes == sum(path.stat().st_size for path in folder.glob("*.parquet"))
    assert (found.files, found.missing, found.variant) == (3, 0, starmine.variant("mini"))
    assert np.array_equal(found.total.counts, np.bincount(games.scores, minlength=256))
    (folder / FILE).unlink()
    assert (info(folder).files, info(folder).missing) == (2, 1)
    assert "2 files (1 shard missing)" in str(info(folder))


@pytest.mark.parametrize("name", ["none.parquet", "none"])
def test_files_without_games_are_whole(folder, tmp_path, name):
    """Such as those of a conversion that has left all games out."""
    path = tmp_path / name
    write_games(read_games(folder)[:0], path, "parquet")
    found = info(path)
    assert (found.total.games, found.tables) == (0, [])
    assert "0 games, 0 turns" in str(found)
    assert str(verify(path)) == f"{path}: 1 file, 0 games, 0 turns: all hold"
    assert len(Dataset(path)) == 0


def test_generating_verifying_and_reading_do_not_import_pandas(tmp_path):
    code = f"""
import sys, starmine.data
starmine.data.generate(["smart", "smart"], 100, {str(tmp_path)!r}, progress=False)
verified = starmine.data.verify({str(tmp_path)!r})
games = starmine.data.Dataset({str(tmp_path)!r})
rows = sum(len(rows["action"]) for rows in games.replay(dtype="bits"))
print(rows == verified.turns, len(games[[99, 3]]), "pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "2", "False"]


def test_games_that_stopped_or_failed_are_counted(folder, tmp_path_factory):
    class Failing:
        version = 1

        def act(self, view):
            raise KeyError("plan")

    output = tmp_path_factory.mktemp("evaluation")
    with pytest.raises(StarmineError):
        starmine.evaluate({"failing": Failing}, 3, variant="mini", output=output, figure=False)
    found = info(output)
    assert (found.total.games, found.total.failed, found.total.stopped) == (0, 3, 0)
    assert "3 games in which a player failed; the means leave them out" in str(found)
    played = play_games(["iggi", "iggi"], 4, 0, "mini")
    cut = starmine.Games(played.variant, *played[:1].played()[:2], played.actions[:5], np.array([0, 5]))
    write_games(starmine.Games.concatenate([cut, played]), output / "cut.parquet")
    (output / "shard-000000.parquet").unlink()
    found = info(output)
    assert (found.total.games, found.total.failed, found.total.stopped) == (5, 0, 1)
    assert found.total.mean == Dataset(output).mean
    assert "1 game stopped before the end; the means include its score" in str(found)
    assert "before the end" not in str(info(folder))


def test_players_of_one_name_have_a_table_each(tmp_path):
    """Files of two runs may call different policies alike."""
    games = play_games(["iggi", "iggi"], 20, 3, "mini")
    for shard, checksum in enumerate(("ab", "cd", "ab")):
        roster = (RosterPlayer("mine", checksum * 32),)
        metadata = Metadata(games.variant, roster, shard=shard, shards=3)
        write_file(tmp_path / shard_name(shard), metadata, replace(games, roster=roster))
    assert {table.name: table.games for table in info(tmp_path).tables} == {
        "mine (1) + mine (1)": 40,
        "mine (2) + mine (2)": 20,
    }
