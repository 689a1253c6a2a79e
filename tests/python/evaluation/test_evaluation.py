"""Evaluations: their numbers are those of games played by hand, they go on after an interrupt, and they refuse."""

import csv
import json
import re
import struct
import sys
from itertools import pairwise

import numpy as np
import pytest
from evaluation_runs import interrupt_after, stored

import starmine
from starmine import StarmineError, UnknownNameError, VariantError, evaluate, play_games
from starmine._util.equality import is_equal
from starmine.data import Dataset, generate, info, verify
from starmine.evaluation import run

SHARD = "shard-000000.parquet"
QUICK = {"variant": "mini", "games": 50, "seed": 0, "figure": False}


class FirstLegal:
    """Plays the first legal action, and fails in some games."""

    version = "1"

    def __init__(self, fails_at=None):
        self.fails_at = fails_at

    def act(self, view):
        if view.deck_size == self.fails_at:
            raise RuntimeError("no idea\nat all")
        return view.legal_actions()[0]


class Fails(FirstLegal):
    """Fails in every game."""

    def act(self, view):
        raise RuntimeError("no idea\nat all")


class Uniform:
    """A policy that is asked for many games at once."""

    version = "1"

    def __init__(self, encoder="canonical"):
        self.encoder = encoder
        self.asked = []

    def act_batch(self, turns):
        self.asked.append(len(turns.game))
        return turns.action_mask.argmax(axis=1)


# --- The text ---------------------------------------------------------------------------------------------


def heads_of(lines):
    """The heads of a table, whose words may stand below each other, and its first row's cells."""
    row = next(number for number, line in enumerate(lines) if re.match(r"\S+ .*\d\.\d\d( |$)", line))
    ends = [0, *(cell.end() for cell in re.finditer(r"\S+(?: ±\S+)?", lines[row]))]
    parts = [[line[a:b].strip() for a, b in pairwise(ends)] for line in lines[:row]]
    return ["".join(column) for column in zip(*parts, strict=True)][1:]


@pytest.mark.parametrize(
    "bots",
    [
        ["smart", "van-den-bergh"],
        ["iggi", "van-den-bergh", "internal", "outer", "information"],
        ["iggi", "van-den-bergh", "internal", "outer", "information", "piers", "smart", "holmes"],
    ],
    ids=len,
)
def test_eighty_columns_show_the_names_of_all_players_in_the_heads(bots):
    shown = str(evaluate(bots, 20)).split("\n\n")
    table = [line for line in shown[1].splitlines() if not line.startswith("Standard errors")]
    assert heads_of(table) == bots
    assert max(map(len, table)) <= 80


# --- The numbers ------------------------------------------------------------------------------------------


def test_two_players_sit_in_both_orders():
    evaluation = evaluate(["simple", "piers"], **QUICK | {"seed": 5})
    for player in evaluation.names:
        for partner in evaluation.names:
            games = play_games([player, partner], 50, 5, "mini")
            pairing = evaluation.pairing(player, partner)
            mean, error = np.mean(games.scores), np.std(games.scores, ddof=1) / np.sqrt(50)
            assert (pairing.score, pairing.standard_error) == pytest.approx((mean, error))
            assert pairing.fireworks == pytest.approx(np.mean(games.fireworks))
            assert pairing.fireworks_standard_error == pytest.approx(np.std(games.fireworks, ddof=1) / np.sqrt(50))
            assert (pairing.perfect, pairing.lost) == (games.share("perfect"), games.share("lost"))
            assert pairing.length == pytest.approx(np.mean(games.lengths))
            assert (pairing.games, pairing.failed, pairing.seats) == (50, 0, [])
            assert pairing.games_per_second == pytest.approx(50 / pairing.seconds)
    assert evaluation.scores[0, 1] == evaluation.pairing("simple", "piers").score
    assert evaluation.scores[0, 1] != evaluation.scores[1, 0]


def test_of_three_players_one_takes_each_seat_for_a_share_of_the_games():
    evaluation = evaluate(["simple", "piers"], 50, seed=0, players=3, variant="mini")
    scores, seats = [], []
    for seat, start, end in [(0, 0, 17), (1, 17, 34), (2, 34, 50)]:
        table = ["piers"] * 3
        table[seat] = "simple"
        games = play_games(table, end - start, 0, "mini", first_game=start)
        scores += games.scores.tolist()
        seats.append((seat, end - start, pytest.approx(np.mean(games.scores))))
    pairing = evaluation.pairing("simple", "piers")
    assert pairing.score == pytest.approx(np.mean(scores))
    assert [(seat["seat"], seat["games"], seat["score"]) for seat in pairing.seats] == seats
    own = evaluation.pairing("piers", "piers")
    assert own.score == pytest.approx(np.mean(play_games(["piers"] * 3, 50, 0, "mini").scores))
    assert own.seats == []


def test_threads_and_chunks_change_nothing(monkeypatch):
    whole = evaluate(["iggi", "random"], **QUICK)
    monkeypatch.setattr(run, "GAMES_A_THREAD", 7)
    parts = evaluate(["iggi", "random"], **QUICK, num_threads=1)
    assert is_equal(whole.outcomes, parts.outcomes)


class SlowGames:
    """Plays real games under a clock by which each of them takes a given time on each of two threads."""

    def __init__(self, monkeypatch, seconds):
        self.seconds, self.now, self.chunks = seconds, 0.0, []
        monkeypatch.setattr(run.time, "perf_counter", lambda: self.now)
        self.play_table = run.play_table
        monkeypatch.setattr(run, "play_table", self.play)

    def play(self, variant, seats, number, *rest, **options):
        self.chunks.append(number * self.seconds / 2)
        self.now += self.chunks[-1]
        return self.play_table(variant, seats, number, *rest, **options)


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("seconds", [0.005, 0.02])
def test_a_chunk_of_slow_bots_takes_about_a_second(monkeypatch, players, seconds):
    settings = {"variant": "mini", "games": 3000, "players": players, "num_threads": 2}
    whole = evaluate(["iggi", "random"], **settings)
    slow = SlowGames(monkeypatch, seconds)
    parts = evaluate(["iggi", "random"], **settings)
    assert max(slow.chunks) < 1.5
    assert np.mean(slow.chunks) > 0.2
    assert is_equal(whole.outcomes, parts.outcomes)


def test_fast_bots_play_in_large_chunks(monkeypatch):
    fast = SlowGames(monkeypatch, 1e-5)
    evaluate(["random"], 20_000, variant="mini", num_threads=2)
    assert len(fast.chunks) <= 7


def test_cross_play_is_compared_deck_by_deck():
    evaluation = evaluate(["simple", "piers", "iggi"], **QUICK)
    scores = {
        (p.player, p.partner): play_games([p.player, p.partner], 50, 0, "mini").scores for p in evaluation.pairings
    }
    means = np.mean([scores["simple", "piers"], scores["simple", "iggi"]], axis=0)
    assert evaluation.as_player("simple") == pytest.approx((means.mean(), means.std(ddof=1) / np.sqrt(50)))
    means = np.mean([scores["piers", "simple"], scores["iggi", "simple"]], axis=0)
    assert evaluation.as_partner("simple") == pytest.approx((means.mean(), means.std(ddof=1) / np.sqrt(50)))
    differences = scores["iggi", "iggi"] - scores["piers", "iggi"]
    expected = differences.mean(), differences.std(ddof=1) / np.sqrt(50)
    assert evaluation.difference(("iggi", "iggi"), ("piers", "iggi")) == pytest.approx(expected)
    with pytest.raises(UnknownNameError):
        evaluation.pairing("igi", "iggi")


def test_every_bot_that_sees_only_its_own_side_plays_by_default():
    names = evaluate(games=1, variant="mini").names
    assert {"simple", "iggi"} <= set(names)
    assert not {"random", "cheater", "smart"} & set(names)
    assert "smart" in evaluate(games=1).names


def test_python_players_and_policies_are_evaluated_alike(monkeypatch):
    monkeypatch.setattr("starmine.evaluation.run.CHUNK", 30)
    policy = Uniform()
    players = {"first": FirstLegal, "uniform": policy, "iggi": "iggi"}
    evaluation = evaluate(players, **QUICK)
    by_hand = play_games([FirstLegal, policy], 50, 0, "mini")
    assert evaluation.pairing("first", "uniform").fireworks == pytest.approx(np.mean(by_hand.fireworks))
    assert evaluation.settings.players["iggi"] == "iggi"
    assert evaluation.settings.players["first"].endswith("FirstLegal")
    assert max(policy.asked[:-1]) <= 50


def test_a_player_that_fails_ends_only_that_game():
    players = {"fails": FirstLegal(fails_at=9), "random": "random"}
    evaluation = evaluate(players, **QUICK)
    pairing = evaluation.pairing("fails", "random")
    games = evaluation.outcomes[0, 1]
    assert 0 < pairing.failed < 50
    assert pairing.failed == (games[3] == 0).sum()
    assert pairing.fireworks == pytest.approx(games[1][games[3] > 0].mean())
    assert len(pairing.failures) == 3
    assert f"fails with random: {pairing.failed} of 50, such as game" in str(evaluation)
    assert "no idea at all" in str(evaluation)
    assert evaluation.pairing("random", "random").failed == 0
    assert "* without the games in which a player failed" in str(evaluation)
    assert f" {pairing.score:.2f} ±{pairing.standard_error:.2f}*" in str(evaluation)


def test_a_player_that_always_fails_has_no_numbers(tmp_path):
    reason = r"^fails with fails, game \d+, seat .*no idea at all.*\(every game failed in 3 of 4 pairings\)$"
    with pytest.warns(UserWarning, match=reason) as told:
        evaluation = evaluate({"fails": Fails(), "random": "random"}, 20, variant="mini", output=tmp_path)
    assert told[0].filename == __file__
    assert np.isnan(evaluation.pairing("fails", "fails").score)
    assert stored(tmp_path)["pairings"][0]["score"] is None
    assert "nan" not in str(evaluation)
    assert evaluation.pairing("fails", "fails").failed == 20


def test_an_evaluation_without_a_game_that_counts_raises_as_play_games_does(tmp_path):
    with pytest.raises(StarmineError, match="no idea at all"):
        evaluate({"fails": Fails()}, 20, variant="mini", output=tmp_path)
    assert (Dataset(tmp_path)[:].failures != "").all()


# --- The folder -------------------------------------------------------------------------------------------


def test_json_csv_and_picture_agree_with_the_result(tmp_path):
    evaluation = evaluate(["simple", "iggi"], 20, variant="mini", players=3, output=tmp_path / "deep" / "down")
    folder = tmp_path / "deep" / "down"
    found = json.loads((folder / "eval.json").read_text(encoding="utf-8"))
    assert found["settings"]["version"] == starmine.__version__
    assert found["settings"]["variant"]["players"] == 3
    assert found["players"][0]["as_player"] == evaluation.as_player("simple")[0]
    with (folder / "eval.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    for row, pairing, stored_pairing in zip(rows, evaluation.pairings, found["pairings"], strict=True):
        assert stored_pairing["seats"] == pairing.seats
        assert row == {name: str(value) for name, value in pairing.row().items()}
        assert {name: str(stored_pairing[name]) for name in row} == row
    picture = (folder / "eval.png").read_bytes()
    width, height = struct.unpack(">II", picture[16:24])
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(picture) > 10_000
    assert 400 < width < 2000
    assert 300 < height < 2000
    assert sorted(path.name for path in folder.iterdir()) == [
        ".lock",
        "eval.csv",
        "eval.json",
        "eval.png",
        "shard-000000.parquet",
        "table.csv",
    ]


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("calls", [0, 4, 8])
def test_an_interrupted_evaluation_goes_on(tmp_path, monkeypatch, players, calls):
    names = {"random": "random", "fails": FirstLegal(fails_at=5), "iggi": "iggi"}
    monkeypatch.setattr("starmine.evaluation.run.CHUNK", 20)
    options = {**QUICK, "players": players}
    whole = evaluate(names, **options, output=tmp_path / "whole")
    with monkeypatch.context() as patch:
        interrupt_after(patch, calls)
        with pytest.raises(KeyboardInterrupt):
            evaluate(names, **options, output=tmp_path / "parts")
    begun = len(Dataset(tmp_path / "parts")) if calls else 0
    assert 0 < begun + (calls == 0) < 9 * 50
    assert not (tmp_path / "parts" / "eval.csv").exists()
    resumed = evaluate(names, **options, output=tmp_path / "parts")
    assert stored(tmp_path / "parts") == stored(tmp_path / "whole")
    assert is_equal(resumed.outcomes, whole.outcomes)
    assert (tmp_path / "parts" / "table.csv").read_bytes() == (tmp_path / "whole" / "table.csv").read_bytes()
    cells = resumed.settings.cells_of(Dataset(tmp_path / "parts")[:])
    assert len(np.unique(np.column_stack([cells, Dataset(tmp_path / "parts")[:].index]), axis=0)) == len(cells) == 450


def test_a_finished_evaluation_is_not_played_again(tmp_path, monkeypatch):
    first = evaluate(["iggi", "simple"], **QUICK, output=tmp_path)
    interrupt_after(monkeypatch, 0, error=AssertionError)
    again = evaluate(["iggi", "simple"], **QUICK, output=tmp_path)
    assert str(again) == str(first)


@pytest.mark.parametrize(
    "changed",
    [
        {"games": 51},
        {"seed": 1},
        {"players": 3},
        {"variant": "small"},
        {"evaluated": ["iggi", "piers"]},
        {"evaluated": {"iggi": "piers", "simple": "simple"}},
    ],
)
def test_a_folder_with_another_evaluation_is_refused(tmp_path, changed):
    arguments = {**QUICK, "evaluated": ["iggi", "simple"], "output": tmp_path}
    evaluate(**arguments)
    before = (tmp_path / "eval.json").read_bytes()
    with pytest.raises(StarmineError) as refused:
        evaluate(**{**arguments, **changed})
    assert str(tmp_path) in str(refused.value)
    assert "--fresh" in str(refused.value)
    assert (tmp_path / "eval.json").read_bytes() == before
    fresh = evaluate(**{**arguments, **changed}, fresh=True)
    assert {pairing.games for pairing in fresh.pairings} == {fresh.settings.games}


def truncate(path):
    path.write_bytes(path.read_bytes()[:200])


@pytest.mark.parametrize("damage", [truncate, lambda path: path.write_bytes(b"PAR1" * 100)])
def test_a_damaged_folder_is_refused(tmp_path, damage):
    evaluate(["iggi", "simple"], **QUICK, output=tmp_path)
    damage(tmp_path / SHARD)
    with pytest.raises(StarmineError):
        evaluate(["iggi", "simple"], **QUICK, output=tmp_path)
    fresh = evaluate(["iggi", "simple"], **QUICK, output=tmp_path, fresh=True)
    assert {pairing.games for pairing in fresh.pairings} == {50}


def test_games_of_a_lost_file_are_played_again(tmp_path):
    first = evaluate(["iggi", "simple"], **QUICK, output=tmp_path)
    (tmp_path / SHARD).unlink()
    again = evaluate(["iggi", "simple"], **QUICK, output=tmp_path)
    assert (again.stored, len(Dataset(tmp_path))) == (0, 200)
    assert is_equal(again.outcomes, first.outcomes)


def test_a_folder_is_a_data_set_of_all_games(tmp_path):
    players = {"fails": FirstLegal(fails_at=9), "iggi": "iggi"}
    with pytest.warns(UserWarning, match=r"^fails with fails, game 0.*\(every game failed in 2 of 4 pairings\)$"):
        evaluation = evaluate(players, **QUICK | {"players": 3}, output=tmp_path)
    data = Dataset(tmp_path)
    assert len(data) == 200
    assert verify(tmp_path, deal=True).holds
    total = info(tmp_path).total
    assert total.games + total.failed == 200
    assert {player.name for player in data.roster} == {"fails", "iggi"}
    own = data.filter(players="iggi")
    assert own.scores.tolist() == evaluation.outcomes[1, 1][0].tolist()
    decks = play_games(["iggi"] * 3, 50, 0, "mini").decks
    assert np.array_equal(own[:].decks, decks)
    outcomes = np.concatenate([evaluation.outcomes[cell] for cell in evaluation.settings.cells], axis=1)
    finished = outcomes[0][outcomes[3] > 0]
    assert sorted(data.filter(ending=starmine.endings()).scores.tolist()) == sorted(finished.tolist())
    assert (data.failures == "").sum() == len(finished) == data.summary()["games"] < 200
    assert data.mean == pytest.approx(finished.mean())


def test_the_statistics_are_derived_from_the_games(tmp_path):
    first = evaluate(["iggi", "simple"], **QUICK, output=tmp_path)
    before = stored(tmp_path)
    (tmp_path / "eval.json").unlink()
    again = evaluate(["iggi", "simple"], **QUICK, output=tmp_path)
    assert again == first  # also where one of them has computed its pairings
    str(first)
    assert again == first
    assert stored(tmp_path) == before


def test_an_interruption_at_any_line_stores_no_game_twice(tmp_path):
    """Ctrl-C may come between any two lines that save games."""
    from starmine.evaluation import folder

    places = {folder.Folder.save.__code__, folder.Folder.add.__code__, run.play_all.__code__}
    expected = evaluate(["iggi"], 4, variant="mini", figure=False)

    def interrupted_at(line, output):
        left = iter(range(line))

        def trace(frame, event, _):
            if frame.f_code not in places:
                return None
            if event == "line" and next(left, None) is None:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            evaluate(["iggi"], 4, variant="mini", figure=False, output=output)
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    line = 0
    while interrupted_at(line, output := tmp_path / str(line)):
        again = evaluate(["iggi"], 4, variant="mini", figure=False, output=output)
        assert is_equal(again.outcomes, expected.outcomes)
        assert sorted(Dataset(output)[:].index.tolist()) == [0, 1, 2, 3], f"interrupted at line {line}"
        line += 1
    assert line > 30


def test_outcomes_take_memory_for_the_pairings_that_are_played():
    partners = {f"partner {number}": "iggi" for number in range(100)}
    evaluation = evaluate({"one": "simple"}, 10, partners=partners, variant="mini")
    assert len(evaluation.outcomes) == 301
    assert sum(outcomes.nbytes for outcomes in evaluation.outcomes.values()) == 301 * 4 * 10 * 2


@pytest.mark.parametrize("fresh", [False, True])
def test_other_games_of_a_folder_are_left_alone(tmp_path, fresh):
    generate(["iggi", "iggi"], 20, tmp_path, "mini", progress=False)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(StarmineError):
        evaluate(["iggi"], **QUICK, output=tmp_path, fresh=fresh)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != ".lock"}
    assert after == before
    evaluate(["iggi"], **QUICK, output=tmp_path / "eval")
    with pytest.raises(StarmineError):
        generate(["iggi", "iggi"], 20, tmp_path / "eval", "mini", progress=False)


class OfMini:
    """A policy of other rules than those that are played."""

    variant = starmine.variant("mini")

    def act_batch(self, turns):
        raise AssertionError("it was asked")


@pytest.mark.parametrize("player", [OfMini(), OfMini, lambda: OfMini()])
def test_a_policy_of_other_rules_is_refused_before_any_game(player, monkeypatch):
    monkeypatch.setattr(run, "play_table", lambda *_, **__: pytest.fail("a game was played"))
    with pytest.raises(VariantError):
        evaluate({"smart": "smart", "other": player}, 10)


# --- Players in a list ------------------------------------------------------------------------------------


def test_objects_of_a_list_are_called_by_their_names_or_classes():
    named = Uniform()
    named.name = "mine"
    found = evaluate(["iggi", FirstLegal, named, Uniform()], **QUICK)
    assert found.names == ["iggi", "FirstLegal", "mine", "Uniform"]
    again = evaluate({"iggi": "iggi", "FirstLegal": FirstLegal, "mine": named, "Uniform": Uniform()}, **QUICK)
    assert np.array_equal(found.scores, again.scores)


def test_a_module_of_a_list_plays():
    torch = pytest.importorskip("torch")

    class Module(torch.nn.Module):
        def forward(self, obs, mask):
            return mask.float()

    found = evaluate([Module()], partners=["iggi"], **QUICK)
    assert (found.names, found.pairing("Module", "iggi").games) == (["Module", "iggi"], 50)


def test_two_objects_of_one_name_are_refused():
    with pytest.raises(StarmineError):
        evaluate([Uniform(), Uniform()], **QUICK)


def test_a_held_out_object_is_no_partner_of_its_name():
    with pytest.raises(StarmineError):
        evaluate(["iggi"], partners={"Uniform": "piers"}, hold_out=[Uniform()], **QUICK)
