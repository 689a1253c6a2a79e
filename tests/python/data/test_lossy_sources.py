"""Sources from which games could be lost, doubled or changed in silence: an error says so, or nothing is lost."""

import dataclasses
import json
import os
import pathlib
import threading

import numpy as np
import pytest
from format_games import games_of, imported

import starmine
from starmine.cli import main
from starmine.data import Dataset, read_games, write_games
from starmine.data.end_reasons import ended_by_name
from starmine.data.files import write_file
from starmine.data.formats.parquet import table_of
from starmine.data.metadata import Metadata

pytest.importorskip("pyarrow")
STANDARD = starmine.Variant(players=2)


def test_a_folder_with_parquet_and_other_games_is_refused(tmp_path):
    write_games(games_of(STANDARD, count=2), tmp_path / "first.json")
    assert len(read_games(tmp_path)) == 2
    write_games(games_of(STANDARD, count=1), tmp_path / "all.parquet")
    with pytest.raises(starmine.StarmineError, match=r"all\.parquet.*first\.json.*format="):
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
            found = read_games(path, on_error="skip")
        except starmine.StarmineError:
            continue
        # A bit outside the pages, such as in the name of the writing program, changes no game.
        np.testing.assert_array_equal(found.trajectories.actions, expected.trajectories.actions)
        np.testing.assert_array_equal(found.trajectories.decks, expected.trajectories.decks)


def test_a_flipped_bit_in_a_page_is_an_error(tmp_path):
    path = tmp_path / "games.parquet"
    write_games(games_of(STANDARD, count=50), path)
    data = bytearray(path.read_bytes())
    data[data.index(b"PAR1") + 400] ^= 1
    path.write_bytes(data)
    with pytest.raises(starmine.StarmineError, match=r"games\.parquet: .*CRC"):
        read_games(path)


def begun_game():
    """The begin of a game of hanab.live's form: seat 0 has the only red five in its oldest slot."""
    suits = [(suit, rank) for suit in range(5) for rank in (1, 1, 1, 2, 2, 3, 3, 4, 4, 5)]
    suits.remove((0, 5))
    deck = [{"suitIndex": suit, "rank": rank} for suit, rank in [(0, 5), *suits]]
    hint = {"type": 3, "target": 1, "value": 2}  # the other player has a card of this rank
    return {"id": 7, "players": ["Ann", "Ben"], "deck": deck, "actions": [hint]}


def test_the_end_of_a_speedrun_that_a_file_tells_is_written_back(tmp_path):
    game = begun_game()
    # The red five is lost.
    game["actions"] += [
        {"type": 3, "target": 0, "value": 1},
        {"type": 1, "target": 0, "value": 0},
    ]  # the red five is lost
    game["actions"] += [{"type": 4, "target": -1, "value": 5}]
    (tmp_path / "told.json").write_text(json.dumps(game))
    told = read_games(tmp_path / "told.json")
    assert [ended_by_name(code) for code in told.ended_by.tolist()] == ["speedrun_fail"]
    write_games(told, tmp_path / "stored.parquet")
    write_games(read_games(tmp_path / "stored.parquet"), tmp_path / "again.json")
    again = read_games(tmp_path / "again.json")
    assert again.ended_by.tolist() == told.ended_by.tolist()
    assert again.site_scores.tolist() == [0]
    with pytest.raises(starmine.StarmineError, match="speedrun_fail"):
        write_games(told, tmp_path / "lost.links")


def test_the_end_of_a_speedrun_without_a_lost_card_is_refused(tmp_path):
    game = begun_game()
    game["actions"] += [{"type": 4, "target": -1, "value": 5}]
    (tmp_path / "false.json").write_text(json.dumps(game))
    with pytest.raises(starmine.StarmineError, match="speedrun_fail"):
        read_games(tmp_path / "false.json")


@pytest.mark.parametrize("name", ["empty.json", "empty.links"])
@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_file_is_an_error_and_nothing_is_replaced(name, text, tmp_path, capsys):
    source, target = tmp_path / name, tmp_path / "out.parquet"
    source.write_text(text)
    target.write_bytes(b"before")
    assert main(["data", "convert", str(source), str(target)]) == 2
    assert "it is empty" in capsys.readouterr().err
    assert target.read_bytes() == b"before"


def test_convert_does_not_replace_its_source(tmp_path, capsys):
    path = tmp_path / "games.json"
    write_games(games_of(STANDARD, count=2), path)
    before = path.read_bytes()
    assert main(["data", "convert", str(path), str(tmp_path / "." / "games.json")]) == 2
    assert "games.json" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_games_that_end_for_an_unknown_reason_can_be_chosen(tmp_path):
    games = games_of(STANDARD, count=4)
    offsets = np.append(games.offsets[:4], games.offsets[3] + 2)
    arrays = games.to_dict() | {"actions": games.actions[: offsets[-1]], "offsets": offsets}
    stopped = starmine.Trajectories(STANDARD, **arrays)
    write_games(imported(stopped), tmp_path / "games.parquet")
    data = Dataset(tmp_path)
    assert len(data.filter(ended_by="unknown")) == 1
    assert len(data.filter(ended_by=["unknown", "rules"])) == 4
    assert len(data.filter(ended_by="rules")) == 3


def test_links_name_no_players(tmp_path):
    path = pathlib.Path(tmp_path / "games.links")
    write_games(games_of(STANDARD, count=1), path)
    assert read_games(path).players == ((),)


def test_a_filter_names_the_score_of_a_wrong_type(tmp_path):
    write_games(games_of(STANDARD, count=2), tmp_path / "games.parquet")
    with pytest.raises(TypeError, match="min_score='20'"):
        Dataset(tmp_path).filter(min_score="20")


def test_games_are_equal_after_a_round_trip_by_parquet(tmp_path):
    starmine.data.generate(["smart", "smart"], games=5, output=tmp_path / "made", progress=False)
    games = read_games(tmp_path / "made")
    write_games(games, tmp_path / "again.parquet")
    again = read_games(tmp_path / "again.parquet")
    assert games == again
    assert again == games


def test_games_of_several_files_are_held_once(tmp_path):
    for name in ("a", "b"):
        write_games(games_of(STANDARD, count=2), tmp_path / f"{name}.parquet")
    games = read_games([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert len(games) == 4
    assert games._stored[0].trajectories is games.trajectories


def test_names_of_old_files_belong_to_their_games(tmp_path):
    """Version 0.2 kept names of imported games in the metadata."""
    write_games(games_of(STANDARD, count=4), tmp_path / "new.parquet")
    table, players = table_of(read_games(tmp_path / "new.parquet"))
    table = dataclasses.replace(table, names=None)
    (tmp_path / "old").mkdir()
    for first in ("m", "n"):
        extra = {"names": [f"{first}{number}" for number in range(4)]}
        write_file(tmp_path / "old" / f"{first}.parquet", Metadata(STANDARD, players, extra=extra), table)
    assert read_games(tmp_path / "old" / "n.parquet").names == ("n0", "n1", "n2", "n3")
    write_games(Dataset(tmp_path / "old" / "n.parquet").select([1, 3]), tmp_path / "two.parquet")
    assert read_games(tmp_path / "two.parquet").names == ("n1", "n3")
    write_games(Dataset(tmp_path / "old").select(np.arange(2, 6)), tmp_path / "four.parquet")
    assert not set(read_games(tmp_path / "four.parquet").names) & {"m0", "m1", "n2", "n3"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("read", [Dataset, starmine.data.info, starmine.data.verify], ids=lambda it: it.__name__)
def test_a_pipe_is_no_data_set(read, tmp_path):
    """Parquet files are not read from their beginning to their end."""
    for name in ("games.parquet", "games"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(starmine.StarmineError, match=f"{name}'?: it is a pipe or a device: expected a Parquet"):
            read(tmp_path / name)
    with pytest.raises(starmine.StarmineError, match="it is a pipe or a device"):
        read_games(tmp_path / name, "parquet")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_once(tmp_path):
    whole = tmp_path / "whole.json"
    games = starmine.play_games(["iggi", "piers"], 200, record=True).trajectories
    write_games(games, whole)
    pipe = tmp_path / "games.json"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(whole.read_bytes()))
    writer.start()
    assert read_games(pipe).trajectories == games
    writer.join()
