"""Evaluations mark scores with moves of a fallback, also of games that were played before an interruption."""

import csv
import json

import numpy as np
import pytest
from chat_models import first_move
from evaluation_runs import interrupt_after

from starmine import evaluate
from starmine.evaluation import run
from starmine.text import ChatPlayer

QUICK = {"variant": "mini", "figure": False}


def ask(messages):
    """A model that sometimes chats."""
    return "Hello." if sum(map(ord, messages[-1]["content"])) % 16 == 0 else first_move(messages)


def model(**options):
    player = ChatPlayer(ask, replies=1, fallback="random", **options)
    player.version = "1"
    return player


@pytest.mark.parametrize("games_before", [0, 1, 4])
def test_an_interrupted_evaluation_counts_the_fallbacks_of_the_games_that_it_holds(tmp_path, monkeypatch, games_before):
    player = model()
    whole = evaluate({"model": player, "iggi": "iggi"}, 5, output=tmp_path / "whole", **QUICK)
    assert sum(pairing.fallbacks for pairing in whole.pairings) == player.fallbacks > 0
    with monkeypatch.context() as interrupted:
        interrupt_after(interrupted, games_before)
        with pytest.raises(KeyboardInterrupt):
            evaluate({"model": model(), "iggi": "iggi"}, 5, output=tmp_path / "parts", **QUICK)
    parts = evaluate({"model": model(), "iggi": "iggi"}, 5, output=tmp_path / "parts", **QUICK)
    assert parts.fallbacks == whole.fallbacks
    again = evaluate({"model": model(), "iggi": "iggi"}, 5, output=tmp_path / "parts", **QUICK)
    assert str(again) == str(parts)


@pytest.mark.parametrize("with_partners", [False, True])
def test_scores_with_moves_of_a_fallback_are_marked(tmp_path, with_partners):
    player, rest = model(), {"partners": {"iggi": "iggi"}} if with_partners else {}
    players = {"model": player} | ({} if with_partners else {"iggi": "iggi"})
    found = evaluate(players, 4, output=tmp_path, variant="mini", **rest)
    assert found.pairing("iggi", "iggi").fallbacks == 0
    assert sum(each.fallbacks for each in found.pairings) == player.fallbacks > 0
    cells = {(mean.row, mean.column): mean for row in found.table.means for mean in row}
    marked = {place for place, mean in cells.items() if "§" in mean.marks}
    assert marked == {place for place, mean in cells.items() if "model" in place and not np.isnan(mean.score)}
    with (tmp_path / "eval.csv").open(newline="") as file:
        rows = {(row["player"], row["partner"]): int(row["fallbacks"]) for row in csv.DictReader(file)}
    assert rows == {(each.player, each.partner): each.fallbacks for each in found.pairings}
    stored = json.loads((tmp_path / "eval.json").read_text())["pairings"]
    assert [pairing["fallbacks"] for pairing in stored] == [each.fallbacks for each in found.pairings]
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = {(row["row"], row["column"]): int(row["fallbacks"]) for row in csv.DictReader(file)}
    assert rows == {place: mean.fallbacks for place, mean in cells.items()}
    score = cells["model", "iggi"]
    assert f"{score.score:.2f} ±{score.standard_error:.2f}§" in str(found)
    assert "\n§ a fallback chose" in str(found)
    assert "§" not in str(evaluate(["iggi"], 2, variant="mini"))


@pytest.mark.parametrize(("options", "sizes"), [({}, [1] * 5), ({"concurrency": 3}, [3, 2])])
def test_an_interruption_loses_no_more_games_than_are_played_at_the_same_time(monkeypatch, options, sizes):
    found, play_table = [], run.play_table

    def play(variant, seats, games, *rest, **options):
        found.append(games)
        return play_table(variant, seats, games, *rest, **options)

    monkeypatch.setattr(run, "play_table", play)
    evaluate({"model": model(**options)}, 5, variant="mini")
    assert found == sizes
