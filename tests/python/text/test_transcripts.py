"""A transcript has a line for each call; those of evaluations name the players and the game."""

import json
from collections import Counter

import pytest
from chat_models import first_move

import starmine
from starmine import evaluate
from starmine.text import ChatPlayer

QUICK = {"variant": "mini", "figure": False}


def ask(messages):
    return "Hello." if "Turn 3." in messages[-1]["content"] else first_move(messages)


def model(path, **options):
    player = ChatPlayer(ask, name="model", transcript=path, **options)
    player.version = "1"
    return player


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def place(row):
    return (*row["players"], row["game"], row["turn"], row["attempt"])


def test_lines_name_the_players_and_the_game_of_an_evaluation(tmp_path):
    path = tmp_path / "talk.jsonl"
    player = model(path)
    evaluate({"mine": player, "iggi": "iggi"}, 3, output=tmp_path / "out", **QUICK)
    rows = lines(path)
    assert [row["players"] for row in rows] == [exchange.players for exchange in player.exchanges]
    assert {tuple(row["players"]) for row in rows} == {("mine", "mine"), ("mine", "iggi"), ("iggi", "mine")}
    assert {row["game"] for row in rows} == {0, 1, 2}
    assert all(row["players"][row["seat"]] == "mine" for row in rows)
    assert max(Counter(map(place, rows)).values()) == 1
    games = starmine.data.Dataset(tmp_path / "out")
    names = [player.name for player in games.roster]
    stored = {
        (names[one], names[other], int(index))
        for (one, other), index in zip(games.players, games[:].index, strict=True)
    }
    assert {place(row)[:3] for row in rows} <= stored


def test_of_three_players_each_seat_is_named(tmp_path):
    evaluate({"mine": model(tmp_path / "talk.jsonl"), "iggi": "iggi"}, 3, players=3, **QUICK)
    found = {tuple(row["players"]): row["game"] for row in lines(tmp_path / "talk.jsonl") if "iggi" in row["players"]}
    alone = {players: game for players, game in found.items() if players.count("mine") == 1}
    assert alone == {("mine", "iggi", "iggi"): 0, ("iggi", "mine", "iggi"): 1, ("iggi", "iggi", "mine"): 2}
    evaluate({"mine": model(tmp_path / "more.jsonl"), "iggi": "iggi"}, 3, players=3, output=tmp_path / "out", **QUICK)
    before = (tmp_path / "more.jsonl").read_bytes()
    evaluate({"mine": model(tmp_path / "more.jsonl"), "iggi": "iggi"}, 3, players=3, output=tmp_path / "out", **QUICK)
    assert (tmp_path / "more.jsonl").read_bytes() == before


def test_other_games_have_no_names(tmp_path):
    path = tmp_path / "talk.jsonl"
    starmine.play_games([model(path), "iggi"], 2, variant="mini")
    assert {row["players"] for row in lines(path)} == {None}


def test_lines_are_added_to_those_of_an_earlier_player(tmp_path):
    path = tmp_path / "talk.jsonl"
    evaluate({"mine": model(path)}, 1, **QUICK)
    before = lines(path)
    player = model(path)
    evaluate({"mine": player}, 1, **QUICK)
    assert lines(path)[: len(before)] == before
    assert len(lines(path)) == len(before) + len(player.exchanges)


def test_a_half_line_of_a_killed_process_damages_no_later_line(tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text('{"player": "mod')
    player = model(path)
    starmine.play_games([player, "iggi"], 1, variant="mini")
    half, *rows = path.read_text().splitlines()
    assert half == '{"player": "mod'
    assert len([json.loads(row) for row in rows]) == len(player.exchanges)


def test_a_folder_is_no_transcript(tmp_path):
    with pytest.raises(starmine.StarmineError):
        model(tmp_path)


@pytest.mark.parametrize("options", [{}, {"fallback": "random"}], ids=str)
def test_a_transcript_that_cannot_be_written_ends_the_games(tmp_path, options):
    path = tmp_path / "folder" / "talk.jsonl"
    path.parent.mkdir()
    player = ChatPlayer(first_move, transcript=path, **options)
    path.unlink()
    path.parent.rmdir()
    with pytest.raises(starmine.BotError):
        starmine.play_games([player, "iggi"], 2, variant="mini")


@pytest.mark.parametrize("text", ["my notes\n", '{"id": 7}\n', "[]\n", "7", "\n"])
def test_a_file_that_is_no_transcript_is_refused_and_left_as_it_is(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(starmine.StarmineError):
        ChatPlayer(first_move, transcript=path)
    assert path.read_text() == text
