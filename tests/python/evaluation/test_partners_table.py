"""Tables of players with partners: their numbers are those of a plain computation over the stored games."""

import csv
import json
import re
import shlex
import shutil
from itertools import pairwise

import numpy as np
import pytest
import torch
from evaluation_runs import interrupt_after, stored
from paths import ROOT

from starmine import StarmineError, evaluate, play_games, variant
from starmine._util.equality import is_equal
from starmine.cli import main
from starmine.data import Dataset, verify
from starmine.torch import PolicyNetwork

EGO = {"a-1": "iggi", "a-2": "piers", "a-3": "simple", "alone": "outer"}
PARTNERS = {"iggi": "iggi", "noisy": "noisy: 0.3; piers"}
HELD_OUT = {"van": "van-den-bergh", "internal": "internal"}
OPTIONS = {"games": 40, "variant": "mini", "seed": 3, "figure": False}


def plain_scores(folder):
    """By player and partner the scores of each deck, from the stored games and the names in their seats."""
    found = {}
    for game in Dataset(folder):
        names = [game.roster[row].name for row in game.players[0]]
        # The one that sits alone is the player; of two seats, each is once.
        for name in dict.fromkeys(names):
            others = [other for other in names if other != name] or [name]
            if names.count(name) == 1 or len(set(names)) == 1:
                scores = found.setdefault((name, others[0]), {})
                scores.setdefault(int(game.index[0]), []).append(int(game.scores[0]))
    return found


def clustered(scores, pairs):
    """The mean of decks' means and its standard error, over the games of some pairs."""
    decks = {}
    for pair in pairs:
        for deck, values in scores[pair].items():
            decks.setdefault(deck, []).extend(values)
    means = [sum(values) / len(values) for values in decks.values()]
    return spread(means)


def spread(values):
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, (variance / len(values)) ** 0.5


@pytest.mark.parametrize("players", [2, 3])
def test_every_number_is_that_of_a_plain_computation_over_the_stored_games(tmp_path, players):
    options = OPTIONS | {"players": players, "output": tmp_path}
    found = evaluate(EGO, partners=PARTNERS, hold_out=HELD_OUT, methods=["a"], **options)
    scores = plain_scores(tmp_path)
    partners = {name: [name] for name in PARTNERS | HELD_OUT}
    columns = partners | {"mean": list(PARTNERS), "mean (held out)": list(HELD_OUT)}
    assert found.table.rows == [*EGO, "a", "self-play"]
    assert found.table.columns == [*PARTNERS, "mean", *HELD_OUT, "mean (held out)", "self-play"]
    cells = {(mean.row, mean.column): mean for row in found.table.means for mean in row}
    for row in EGO:
        for column, names in columns.items():
            expected = clustered(scores, [(row, name) for name in names])
            assert (cells[row, column].score, cells[row, column].standard_error) == pytest.approx(expected)
            seatings = 2 if players == 2 else 1
            assert (cells[row, column].games, cells[row, column].failed) == (40 * seatings * len(names), 0)
        own = cells[row, "self-play"]
        assert (own.score, own.standard_error) == pytest.approx(clustered(scores, [(row, row)]))
    seeds = ["a-1", "a-2", "a-3"]
    for column, names in columns.items():
        expected = clustered(scores, [(seed, name) for seed in seeds for name in names])
        each = [clustered(scores, [(seed, name) for name in names])[0] for seed in seeds]
        mean = cells["a", column]
        assert (mean.score, mean.standard_error) == pytest.approx(expected)
        assert mean.seeds_standard_error == mean.shown_error == pytest.approx(spread(each)[1])
    for column, names in columns.items():
        mean = cells["self-play", column]
        assert (mean.score, mean.standard_error) == pytest.approx(clustered(scores, [(name, name) for name in names]))
    (method,) = found.methods
    own = [clustered(scores, [(seed, seed)])[0] for seed in seeds]
    assert (method.self_play, method.self_play_error) == pytest.approx(spread(own))
    pair = [("a-1", "a-2"), ("a-2", "a-1")]
    assert (method.cross_play, method.cross_play_error, method.pairs) == (clustered(scores, pair)[0], None, 1)
    crossed = [clustered(scores, [(one, other), (other, one)])[0] for one, other in [*pairwise(seeds), ("a-1", "a-3")]]
    expected = (np.mean(crossed), min(crossed), max(crossed))
    assert (method.all_pairs, method.lowest, method.highest) == pytest.approx(expected)


def test_cross_play_of_seeds_is_over_disjoint_pairs_in_both_seatings():
    bots = ["iggi", "piers", "simple", "outer", "internal"]
    found = evaluate({f"m-{index}": bot for index, bot in enumerate(bots, 1)}, methods=["m"], **OPTIONS)
    scores = found.scores
    pairs = [(scores[0, 1] + scores[1, 0]) / 2, (scores[2, 3] + scores[3, 2]) / 2]
    (method,) = found.methods
    assert method.pairs == 2
    assert method.cross_play == pytest.approx(np.mean(pairs))
    assert method.cross_play_error == pytest.approx(np.std(pairs, ddof=1) / np.sqrt(2))
    assert found.table.rows == found.table.columns == found.names
    assert f"{method.cross_play:.2f} ±{method.cross_play_error:.2f}" in str(found)


def test_a_player_that_is_one_of_the_partners_plays_with_itself_but_not_in_the_mean():
    found = evaluate(["iggi", "piers"], partners=["iggi", "outer"], hold_out=["iggi"], **OPTIONS)
    cells = {(mean.row, mean.column): mean for row in found.table.means for mean in row}
    assert found.table.columns == ["outer", "mean", "iggi", "mean (held out)", "self-play"]
    assert cells["iggi", "iggi"].score == found.pairing("iggi", "iggi").score == cells["iggi", "self-play"].score
    assert np.isnan(cells["iggi", "mean (held out)"].score)
    assert cells["piers", "mean (held out)"].score == cells["piers", "iggi"].score
    assert "nan" not in str(found)


def test_the_folder_has_the_table_in_every_form(tmp_path):
    found = evaluate(
        EGO,
        partners={"i_g|g&i": "iggi"},
        hold_out=HELD_OUT,
        methods=["a"],
        **OPTIONS | {"figure": True},
        output=tmp_path,
    )
    means = [mean for row in found.table.means for mean in row]
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    told = json.loads((tmp_path / "eval.json").read_text(encoding="utf-8"))
    assert told["methods"][0]["seeds"] == ["a-1", "a-2", "a-3"]
    for mean, row, cell in zip(means, rows, told["table"], strict=True):
        assert (row["row"], row["column"]) == (cell["row"], cell["column"]) == (mean.row, mean.column)
        if mean.games:
            assert float(row["score"]) == cell["score"] == mean.score
            assert float(row["standard_error"]) == cell["standard_error"] == mean.standard_error
        else:
            assert (row["score"], cell["score"]) == ("", None)
    shown = [[mean for mean in row if mean.games] for row in found.table.means]
    texts = [[f"{mean.score:.2f} ±{mean.shown_error:.2f}" for mean in row] for row in shown]
    lines = str(found).splitlines()
    head = next(number for number, line in enumerate(lines) if "i_g|g&i" in line)
    assert re.split(r" {2,}|(?<=n) (?=m)", lines[head].strip())[0].endswith("i_g|g&i")
    assert [re.findall(r"[\d.]+ ±[\d.]+", line) for line in lines[head + 1 : head + 1 + len(texts)]] == texts
    assert (tmp_path / "eval.png").read_bytes().startswith(b"\x89PNG")
    assert verify(tmp_path, deal=True).holds


def test_only_the_pairings_of_the_table_are_played(tmp_path):
    evaluate(["iggi", "piers"], partners=["outer"], **OPTIONS, output=tmp_path)
    pairs = {(pairing["player"], pairing["partner"]) for pairing in stored(tmp_path)["pairings"]}
    own = {(name, name) for name in ("iggi", "piers", "outer")}
    assert pairs == own | {("iggi", "outer"), ("outer", "iggi"), ("piers", "outer"), ("outer", "piers")}
    assert len(Dataset(tmp_path)) == 40 * len(pairs)


def test_what_is_reported_may_change_without_playing_again(tmp_path, monkeypatch):
    names = {"a-1": "iggi", "a-2": "piers"}
    evaluate(names, partners=["outer", "internal"], **OPTIONS, output=tmp_path)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 0, error=AssertionError)
        again = evaluate(names, partners=["outer", "internal"], hold_out=["internal"], **OPTIONS, output=tmp_path)
    assert again.table.columns == ["outer", "mean", "internal", "mean (held out)", "self-play"]
    seeds = evaluate(names, partners=["outer", "internal"], methods=["a"], **OPTIONS, output=tmp_path)
    assert seeds.methods[0].pairs == 1
    assert len(Dataset(tmp_path)) == 40 * (4 + 8 + 2)
    fewer = evaluate(names, partners=["outer", "internal"], **OPTIONS, output=tmp_path)
    assert len(fewer.pairings) == 12
    assert verify(tmp_path, deal=True).holds
    with pytest.raises(StarmineError):
        evaluate(
            {"a-1": "iggi"},
            partners={"a-2": "piers", "outer": "outer", "internal": "internal"},
            **OPTIONS,
            output=tmp_path,
        )


class Fails:
    """Fails late in a game."""

    def act(self, view):
        if view.deck_size < 3:
            raise RuntimeError("no idea")
        return view.legal_actions()[0]


def test_games_that_fail_are_counted_and_left_out():
    with pytest.warns(UserWarning, match=r"^iggi with fails, game 0.*\(every game failed in 1 of 4 pairings\)$"):
        found = evaluate({"fails": Fails}, partners=["iggi"], **OPTIONS)
    mean = found.table.means[0][0]
    ended = [found.outcomes[cell][0][found.outcomes[cell][3] > 0] for cell in ((0, 1), (1, 0))]
    assert mean.failed == 80 - sum(map(len, ended)) > 0
    assert "*" in str(found)


def test_the_command_prints_what_the_function_returns(tmp_path, capsys, monkeypatch):
    for seed in (1, 2):
        torch.manual_seed(seed)
        folder = tmp_path / "results" / f"mine-{seed}"
        folder.mkdir(parents=True)
        PolicyNetwork(variant("mini"), hidden=(8,)).save(folder / "policy.safetensors")
    monkeypatch.chdir(tmp_path)
    options = ["--variant", "mini", "--games", "20", "--output", "out", "--quiet"]
    line = [
        "eval",
        "results/mine-1",
        "results/mine-2",
        "other=piers",
        "--with",
        "iggi",
        "outer",
        "--hold-out",
        "outer",
        "internal",
    ]
    assert main([*line, "--methods", "mine", *options]) == 0
    policies = {f"mine-{seed}": f"policy: results/mine-{seed}/policy.safetensors" for seed in (1, 2)}
    found = evaluate(
        policies | {"other": "piers"},
        20,
        partners=["iggi", "outer"],
        hold_out=["outer", "internal"],
        methods=["mine"],
        variant="mini",
        output="out",
    )
    assert capsys.readouterr().out.startswith(str(found))
    assert main(["eval", "results/mine-3", "--with", "iggi", "--quiet"]) == 2
    assert "such as results/mine-1, results/mine-2\n" in capsys.readouterr().err  # the runs that there are
    (tmp_path / "results" / "begun").mkdir()
    assert main(["eval", "results/begun", "--with", "iggi", "--quiet"]) == 2
    assert "such as results/mine-1, results/mine-2;" in capsys.readouterr().err


def test_the_command_of_the_page_makes_the_table_of_the_page(tmp_path, capsys, monkeypatch):
    page = (ROOT / "docs" / "partners.md").read_text(encoding="utf-8")
    line, with_seeds = re.findall(r"^starmine (eval .*--with .*)$", page, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "results" / "best-response-smart", tmp_path / "results" / "best-response-smart")
    assert main([*shlex.split(line.replace("--games 1000", "--games 2")), "--no-figure", "--quiet"]) == 0
    with (tmp_path / "runs" / "partners" / "table.csv").open(encoding="utf-8", newline="") as file:
        cells = [(cell["row"], cell["column"]) for cell in csv.DictReader(file)]
    shown = page[page.index("|  | smart") :].split("\n\n")[0]
    heads, _, *rows = ([text.strip(" ‡") for text in line.split("|")[1:-1]] for line in shown.splitlines())
    assert cells == [(row[0], column) for row in rows for column in heads[1:]]
    own = play_games(["iggi", "iggi"])
    assert f"| {own.mean:.2f} ± {own.standard_error:.2f} |" in shown.splitlines()[-1]
    for seed in (1, 2):
        (tmp_path / "runs" / f"mine-{seed}").mkdir(parents=True)
        PolicyNetwork(variant("standard"), hidden=(8,)).save(tmp_path / "runs" / f"mine-{seed}" / "policy.safetensors")
    capsys.readouterr()
    assert main([*shlex.split(with_seeds), "--games", "2", "--quiet"]) == 0
    assert re.search(r"^mine +2 ", capsys.readouterr().out, re.MULTILINE)


def test_a_player_is_held_out_or_not():
    options = {"games": 2, "figure": False}
    with pytest.raises(StarmineError):
        evaluate(["iggi"], partners={"a": "smart"}, hold_out={"b": "smart"}, **options)
    with pytest.raises(StarmineError):
        evaluate(["iggi"], partners=["smart"], hold_out={"smart": "holmes"}, **options)
    found = evaluate(["iggi"], partners=["smart", "holmes"], hold_out=["holmes"], **options)
    assert found.settings.hold_out == ("holmes",)


@pytest.mark.parametrize("players", [2, 3])
def test_an_evaluation_grows_by_players(tmp_path, players):
    """Only the pairings that are missing are played, and the result is that of an evaluation of all."""
    options = OPTIONS | {"players": players}
    evaluate(["iggi"], partners=["outer"], **options, output=tmp_path / "grown")
    before = {path.name for path in (tmp_path / "grown").glob("shard-*")}
    told = {"evaluated": ["piers", "iggi"], "partners": ["van-den-bergh", "outer"], "hold_out": ["outer"]}
    grown = evaluate(**told, **options, output=tmp_path / "grown")
    whole = evaluate(**told, **options, output=tmp_path / "whole")
    assert before < {path.name for path in (tmp_path / "grown").glob("shard-*")}
    assert is_equal(grown.outcomes, whole.outcomes)
    assert grown.table == whole.table
    assert plain_scores(tmp_path / "grown") == plain_scores(tmp_path / "whole")
    assert verify(tmp_path / "grown", deal=True).holds
    assert (tmp_path / "grown" / "table.csv").read_text() == (tmp_path / "whole" / "table.csv").read_text()


def test_a_matrix_grows_and_does_not_shrink(tmp_path, monkeypatch):
    evaluate(["iggi", "piers"], **OPTIONS, output=tmp_path)
    grown = evaluate(["iggi", "cheater", "piers"], **OPTIONS, output=tmp_path)
    assert len(Dataset(tmp_path)) == 40 * 9
    assert grown.settings.cheaters == ("cheater",)
    with pytest.raises(StarmineError):
        evaluate(["iggi", "piers"], **OPTIONS, output=tmp_path)
    with pytest.raises(StarmineError):
        evaluate(["iggi", "cheater"], partners=["piers"], **OPTIONS, output=tmp_path)
    interrupt_after(monkeypatch, 0, error=AssertionError)
    again = evaluate(["iggi", "cheater", "piers"], **OPTIONS, output=tmp_path)
    assert is_equal(again.outcomes, grown.outcomes)


def test_seeds_of_a_method_are_different_players():
    with pytest.raises(StarmineError):
        evaluate({"m-1": "iggi", "m-2": "piers", "m-3": "iggi"}, methods=["m"], **OPTIONS)
