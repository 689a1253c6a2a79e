"""Evaluations keep what became of the calls of chat players, also of those before an interruption."""

import csv
import json
import sys
from collections import Counter

import numpy as np
import pytest
from chat_models import first_move
from evaluation_runs import interrupt_after

import starmine
from starmine import evaluate
from starmine.cli import main, player_files
from starmine.evaluation import run
from starmine.text import Answer, ChatPlayer

QUICK = {"variant": "mini", "figure": False}
ASKED = Counter()  # calls of `ask`


def ask(messages):
    """A model that sometimes chats, discards with all tokens, or raises."""
    ASKED["ask"] += 1
    kind = sum(map(ord, messages[-1]["content"])) % 16
    if kind == 2:
        raise KeyError("<plan>")
    reply = {0: "Hello.", 1: "MOVE: discard slot 0"}.get(kind, first_move(messages))
    return Answer(reply, usage={"prompt_tokens": 7, "cost": 0.5})


def model(**options):
    player = ChatPlayer(ask, name="not shown", replies=2, fallback="random", **options)
    player.version = "1"
    return player


def told(calls):
    """Totals without the measured time."""
    return {name: value for name, value in calls.items() if name != "seconds"}


def pairings_in(folder):
    """The totals by pairing in `eval.json`, without the measured time."""
    found = json.loads((folder / "eval.json").read_text())["pairings"]
    return {
        (pairing["player"], pairing["partner"]): {name: told(calls) for name, calls in pairing["calls"].items()}
        for pairing in found
    }


def test_the_calls_are_those_that_the_players_made(tmp_path):
    player = model()
    found = evaluate({"model": player, "iggi": "iggi"}, 5, output=tmp_path, **QUICK)
    whole = player.totals()
    assert {"move", "unreadable", "illegal", "failed"} == set(whole["outcomes"])
    assert whole["fallbacks"] > 0
    assert found.calls_of("iggi") is None
    assert {"player": "not shown"} | found.calls_of("model") == whole | {"seconds": pytest.approx(whole["seconds"])}
    own = found.pairing("model", "model").calls["model"]
    assert own["calls"] == sum(own["outcomes"].values()) > 0
    assert found.pairing("iggi", "iggi").calls == {}
    stored = json.loads((tmp_path / "eval.json").read_text())
    assert [player["calls"] for player in stored["players"]] == [found.calls_of("model"), None]
    assert pairings_in(tmp_path)["model", "iggi"] == {"model": told(found.pairing("model", "iggi").calls["model"])}


@pytest.mark.parametrize("games_before", [0, 1, 4])
def test_an_interrupted_evaluation_has_the_calls_of_the_games_that_it_holds(tmp_path, monkeypatch, games_before):
    whole = evaluate({"model": model(), "iggi": "iggi"}, 5, output=tmp_path / "whole", **QUICK)
    with monkeypatch.context() as interrupted:
        interrupt_after(interrupted, games_before)
        with pytest.raises(KeyboardInterrupt):
            evaluate({"model": model(), "iggi": "iggi"}, 5, output=tmp_path / "parts", **QUICK)
    parts = evaluate({"model": model(), "iggi": "iggi"}, 5, output=tmp_path / "parts", **QUICK)
    assert pairings_in(tmp_path / "parts") == pairings_in(tmp_path / "whole")
    assert told(parts.calls_of("model")) == told(whole.calls_of("model"))
    before = ASKED["ask"]
    again = evaluate({"model": model(), "iggi": "iggi"}, 5, output=tmp_path / "parts", **QUICK)
    assert ASKED["ask"] == before
    assert str(again) == str(parts)


def test_games_that_were_given_up_count(tmp_path):
    player = ChatPlayer(ask, replies=1)
    found = evaluate({"model": player}, 4, output=tmp_path, **QUICK)
    assert found.pairing("model", "model").failed > 0
    assert found.calls_of("model")["calls"] == len(player.exchanges)


@pytest.mark.parametrize("with_partners", [False, True])
def test_scores_with_moves_of_a_fallback_are_marked_and_have_their_share(tmp_path, with_partners):
    player, rest = model(), {"partners": {"iggi": "iggi"}} if with_partners else {}
    players = {"model": player} | ({} if with_partners else {"iggi": "iggi"})
    found = evaluate(players, 4, output=tmp_path, variant="mini", **rest)
    calls = found.pairing("model", "iggi").calls["model"]
    share = calls["fallbacks"] / (calls["fallbacks"] + calls["outcomes"]["move"])
    assert found.pairing("model", "iggi").fallback_share == share > 0
    assert found.pairing("iggi", "iggi").fallback_share == 0
    cells = {(mean.row, mean.column): mean for row in found.table.means for mean in row}
    if not with_partners:
        assert cells["model", "iggi"].fallback_share == share
    marked = {place for place, mean in cells.items() if mean.fallback_share}
    assert marked == {place for place, mean in cells.items() if "model" in place and not np.isnan(mean.score)}
    with (tmp_path / "eval.csv").open(newline="") as file:
        rows = {(row["player"], row["partner"]): float(row["fallback_share"]) for row in csv.DictReader(file)}
    assert rows == {(each.player, each.partner): each.fallback_share for each in found.pairings}
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = {(row["row"], row["column"]): float(row["fallback_share"]) for row in csv.DictReader(file)}
    assert rows == {place: mean.fallback_share for place, mean in cells.items()}
    most = max(each.fallback_share for each in found.pairings)
    assert f"§ a fallback chose some moves of a chat player: {most:.1%} of them" in str(found)
    score = cells["model", "iggi"]
    assert f"{score.score:.2f} ±{score.standard_error:.2f}§" in str(found)
    assert "§" not in str(evaluate(["iggi"], 2, variant="mini"))


MODELS = """
import chat_models
from starmine.text import ChatPlayer


def ask(messages):
    if "Turn 3." in messages[1]["content"]:
        raise KeyError("<plan>")
    return chat_models.first_move(messages)


model = ChatPlayer(ask, fallback="random")
"""


def test_the_command_shows_the_calls_also_when_nothing_is_played(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    file, folder = tmp_path / "models_of_calls.py", tmp_path / "out"
    file.write_text(MODELS)
    command = ["eval", f"<b>={file}:model", "iggi", "--games", "3", "--variant", "mini", "--output", str(folder)]
    command += ["--no-figure", "--quiet"]
    assert main(command) == 0
    first = capsys.readouterr().out
    calls = json.loads((folder / "eval.json").read_text())["players"][0]["calls"]
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in calls["outcomes"].items())
    moves = "move" if calls["fallbacks"] == 1 else "moves"
    told = f"<b>: {calls['calls']} calls: {outcomes}; {calls['fallbacks']} {moves} of the fallback; "
    assert told in first
    problem = f"KeyError: '<plan>' at {file}:8"
    assert problem.replace(" ", "") in "".join(first.split())
    sys.modules.pop("models_of_calls", None)
    assert main(command) == 0
    assert capsys.readouterr().out == first
    assert main(["eval", "iggi", "--games", "3", "--output", str(tmp_path / "bots"), *command[-2:]]) == 0
    assert "calls" not in capsys.readouterr().out


def test_a_pairing_without_chat_players_has_no_calls():
    found = starmine.evaluate(["iggi"], 2, variant="mini")
    assert (found.calls, found.pairing("iggi", "iggi").calls) == ({}, {})


def strange(messages):
    """A model that counts with numbers that are none, and fails with text that is none."""
    if "Turn 1." in messages[1]["content"]:
        usage = {"nan": float("nan"), "inf": float("inf"), "much": 10**400, "half": np.float32(0.5), "<b>": 1, 3: True}
        return Answer(first_move(messages), usage=usage)
    raise KeyError("\udc80\0<script>" + "x" * 100_000)


@pytest.mark.filterwarnings("ignore:no call of")
def test_strange_usage_and_problems_do_not_stop_an_evaluation(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(player_files, "player_of", lambda text: ChatPlayer(strange, fallback="random"))
    command = ["eval", "m.py:model", "--games", "2", "--variant", "mini", "--output", str(tmp_path / "out")]
    assert main([*command, "--no-figure", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 100
    (player,) = json.loads((tmp_path / "out" / "eval.json").read_text())["players"]
    turns = player["calls"]["outcomes"]["move"]
    assert player["calls"]["usage"] == {"half": turns / 2, "<b>": turns}


@pytest.mark.parametrize(
    ("player", "sizes"),
    [
        (lambda: ChatPlayer(ask, fallback="random"), [1] * 5),
        (lambda: ChatPlayer(ask, fallback="random", concurrency=3), [3, 2]),
    ],
)
def test_an_interruption_loses_no_more_games_than_are_played_at_the_same_time(tmp_path, monkeypatch, player, sizes):
    found = []

    def play(seats, games, *rest):
        found.append(games)
        return starmine.play_games(seats, games, *rest)

    monkeypatch.setattr(run, "play_games", play)
    evaluate({"model": player()}, 5, variant="mini")
    assert found == sizes
