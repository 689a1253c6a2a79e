"""A transcript has the lines of each game once, also after an interruption, and belongs to one evaluation."""

import json
import subprocess
import sys
from collections import Counter

import pytest
from chat_models import first_move
from evaluation_runs import interrupt_after

import starmine
from starmine import StarmineError, evaluate
from starmine.text import ChatPlayer

QUICK = {"variant": "mini", "figure": False, "chunk": 2}
ASKED = Counter()  # calls of `ask`


def ask(messages):
    ASKED["ask"] += 1
    return "Hello." if "Turn 3." in messages[-1]["content"] else first_move(messages)


def model(path, **options):
    player = ChatPlayer(ask, name="model", transcript=path, **options)
    player.version = "1"
    return player


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def said(path):
    """The lines without what differs from run to run, in a fixed order."""
    rows = [{key: value for key, value in row.items() if key not in ("seconds", "evaluation")} for row in lines(path)]
    return sorted(rows, key=lambda row: (row["players"], row["game"], row["turn"], row["attempt"]))


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
    (evaluation,) = {row["evaluation"] for row in rows}
    assert len(evaluation) == 32
    games = starmine.data.Dataset(tmp_path / "out")
    stored = [(game.players[0]["name"], game.players[1]["name"], int(game.table.index[0])) for game in games]
    assert {place(row)[:3] for row in rows} <= set(stored)


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
    assert {(row["players"], row["evaluation"]) for row in lines(path)} == {(None, None)}


@pytest.mark.parametrize("same_player", [False, True])
@pytest.mark.parametrize("chunks_before", [0, 1, 3])
def test_a_resumed_evaluation_has_each_line_once(tmp_path, monkeypatch, chunks_before, same_player):
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    evaluate({"mine": model(whole), "iggi": "iggi"}, 3, output=tmp_path / "whole", **QUICK)
    player = model(parts)
    players = {"mine": player, "iggi": "iggi"}
    with monkeypatch.context() as interrupted:
        interrupt_after(interrupted, chunks_before, after_game=True)
        with pytest.raises(KeyboardInterrupt):
            evaluate(players, 3, output=tmp_path / "parts", **QUICK)
    assert len(lines(parts)) > 0
    if not same_player:
        players["mine"] = model(parts)
    evaluate(players, 3, output=tmp_path / "parts", **QUICK)
    assert said(parts) == said(whole)
    assert len({row["evaluation"] for row in lines(parts)}) == 1
    before = ASKED["ask"], parts.read_bytes()
    evaluate({"mine": model(parts), "iggi": "iggi"}, 3, output=tmp_path / "parts", **QUICK)
    assert (ASKED["ask"], parts.read_bytes()) == before


def test_an_empty_file_is_a_new_one(tmp_path):
    """It is left by a command that was refused after it had loaded the player."""
    path = tmp_path / "talk.jsonl"
    model(path)
    assert path.read_bytes() == b""
    evaluate({"mine": model(path)}, 1, output=tmp_path / "out", **QUICK)
    assert len({place(row) for row in lines(path)}) == len(lines(path)) > 0


def test_a_line_that_was_cut_short_is_left_out(tmp_path, monkeypatch):
    path = tmp_path / "talk.jsonl"
    evaluate({"mine": model(path)}, 2, output=tmp_path / "out", **QUICK)
    before = path.read_bytes()
    path.write_bytes(before + before[:100])
    evaluate({"mine": model(path)}, 2, output=tmp_path / "out", **QUICK)
    assert path.read_bytes() == before


def test_an_evaluation_that_starts_over_discards_its_lines(tmp_path):
    path = tmp_path / "talk.jsonl"
    evaluate({"mine": model(path), "iggi": "iggi"}, 3, output=tmp_path / "out", **QUICK)
    evaluate({"mine": model(path)}, 2, output=tmp_path / "out", fresh=True, **QUICK)
    assert {(*row["players"], row["game"]) for row in lines(path)} == {("mine", "mine", 0), ("mine", "mine", 1)}
    assert max(Counter(map(place, lines(path))).values()) == 1


def of_an_evaluation(path):
    evaluate({"mine": model(path)}, 1, output=path.parent / "other", **QUICK)


def of_games(path):
    starmine.play_games([model(path), "iggi"], 1, variant="mini")


OTHERS = {
    "of another evaluation": of_an_evaluation,
    "of an evaluation that was not stored": lambda path: evaluate({"mine": model(path)}, 1, **QUICK),
    "of games": of_games,
    "text": lambda path: path.write_text("MOVE: play slot 0\n"),
    "text without an end of line": lambda path: path.write_text("{"),
    "another table": lambda path: path.write_text('{"player": "model", "evaluation": "1"}\n'),
    "bytes": lambda path: path.write_bytes(b"\xff\x00\n" * 10),
    "a folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("state", ["new", "stored", "fresh"])
def test_a_transcript_of_something_else_is_refused_before_anything_changes(tmp_path, kind, state):
    path, output = tmp_path / "talk.jsonl", tmp_path / "out"
    if state != "new":
        evaluate({"mine": model(None)}, 1, output=output, **QUICK)
    OTHERS[kind](path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    asked = ASKED["ask"]
    with pytest.raises(StarmineError, match=r"talk\.jsonl' is not allowed: expected a file that does not exist"):
        evaluate({"mine": model(path)}, 2, output=output, fresh=state == "fresh", **QUICK)
    assert ASKED["ask"] == asked
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def test_the_transcript_of_an_evaluation_is_used_by_nothing_else(tmp_path):
    path = tmp_path / "talk.jsonl"
    of_an_evaluation(path)
    before, asked = path.read_bytes(), ASKED["ask"]
    player = model(path)
    with pytest.raises(StarmineError, match="expected a file that does not exist"):
        starmine.play_games([player, "iggi"], 2, variant="mini")
    with pytest.raises(StarmineError, match="expected a file that does not exist"):
        player.act(starmine.variant("mini").new_game(seed=1).view(0))
    with pytest.raises(StarmineError, match="expected a file that does not exist"):
        evaluate({"mine": player}, 1, **QUICK)
    assert (path.read_bytes(), ASKED["ask"]) == (before, asked)


def test_a_foreign_line_among_those_of_the_evaluation_is_refused(tmp_path):
    path = tmp_path / "talk.jsonl"
    evaluate({"mine": model(path)}, 2, output=tmp_path / "out", **QUICK)
    with path.open("a") as file:
        file.write(path.read_text().splitlines()[0].replace(lines(path)[0]["evaluation"], "0" * 32) + "\n")
    before = path.read_bytes()
    with pytest.raises(StarmineError, match="expected a file that does not exist"):
        evaluate({"mine": model(path)}, 2, output=tmp_path / "out", **QUICK)
    assert path.read_bytes() == before


MODELS = """
import os
from starmine.text import ChatPlayer

asked = 0


def ask(messages):
    global asked
    asked += 1
    if asked == 60 and os.environ.get("STOPS"):
        os._exit(3)
    return "MOVE: " + messages[1]["content"].split("Your legal moves:\\n- ")[1].splitlines()[0]


model = ChatPlayer(ask, transcript="talk.jsonl")
"""


def test_the_same_command_goes_on_after_the_process_was_killed(tmp_path, monkeypatch):
    (tmp_path / "models.py").write_text(MODELS)
    command = [sys.executable, "-m", "starmine", "eval", "models.py:model", "iggi", "--variant", "mini"]
    command += ["--games", "4", "--quiet", "--no-figure", "--output", "found"]
    monkeypatch.setenv("STOPS", "1")
    killed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert killed.returncode == 3, killed.stderr
    path = tmp_path / "talk.jsonl"
    assert len(lines(path)) == 59
    monkeypatch.delenv("STOPS")
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    counts = Counter(map(place, lines(path)))
    assert max(counts.values()) == 1
    assert {key[:3] for key in counts} >= {("model", "iggi", game) for game in range(4)}
    other = subprocess.run([*command[:-1], "other"], cwd=tmp_path, capture_output=True, text=True)
    assert other.returncode == 2
    assert other.stderr.count("\n") == 1
    assert "transcript='talk.jsonl' is not allowed: expected a file that does not exist" in other.stderr


@pytest.mark.parametrize("options", [{}, {"batched": True}, {"fallback": "random"}], ids=str)
def test_a_transcript_that_cannot_be_written_ends_the_games(tmp_path, options):
    path = tmp_path / "folder" / "talk.jsonl"
    path.parent.mkdir()
    said = (lambda batch: [first_move(messages) for messages in batch]) if "batched" in options else first_move
    player = ChatPlayer(said, transcript=path, **options)
    path.unlink()
    path.parent.rmdir()
    with pytest.raises(starmine.BotError, match=r"FileNotFoundError: .*talk\.jsonl"):
        starmine.play_games([player, "iggi"], 2, variant="mini")
