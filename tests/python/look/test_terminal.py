"""`starmine play` at the terminal: whole games by typed moves, take back, advice, watching, and saved games."""

import dataclasses
import itertools
import re

import pytest

import starmine
from starmine.cli import main
from starmine.data import read_games
from starmine.look import Table, mistakes, verdict
from starmine.look.terminal import Terminal


class Person:
    """Types lines, and keeps what was said."""

    def __init__(self, lines):
        self.lines = iter(lines)
        self.said = []

    def ask(self, prompt):
        try:
            return next(self.lines)
        except StopIteration:
            raise EOFError from None

    def terminal(self, table, adviser="smart"):
        return Terminal(table, adviser, self.ask, self.said.append)


def reference(variant, seed):
    """A game of `smart` in all seats."""
    return starmine.play_games(["smart"] * variant.players, 1, seed, variant, record=True).trajectories.state(0)


@pytest.mark.parametrize("players", [2, 3])
def test_a_whole_game_by_typed_moves(players):
    variant = starmine.variant("standard", players=players)
    whole = reference(variant, 3)
    own = [variant.action_meaning(event.action) for event in whole.history if event.seat == 1]
    table = Table(variant, ["smart", None] + ["smart"] * (players - 2), seed=3)
    person = Person(own)
    assert person.terminal(table).play()
    assert table.state == whole
    text = "\n".join(person.said)
    assert f"Score {whole.score} of 25 after {whole.length} turns" in text
    assert f"\n{verdict(whole)}\n" in text
    assert all(mistake.text in text for mistake in mistakes(whole, table.names))
    boards = [said for said in person.said if "your move" not in said and "seat 1 you" in said]
    assert len(boards) == len(own)
    for board in boards:
        assert re.search(r"^seat 1 you ->   (\?\?\[..\] ?)+$", board, re.M), board


def test_numbers_of_the_list_are_moves():
    table = Table(starmine.Variant(), [None, "smart"], seed=3)
    legal = table.view.legal_actions()
    person = Person(["3", "0", "99"])
    assert not person.terminal(table).play()
    assert table.history[0].action == legal[2]
    assert len(table.history) == 2
    assert sum("there is no move" in said for said in person.said) == 2


@pytest.mark.parametrize("players", [2, 5])
def test_every_hint_can_be_typed_without_the_plus_sign(players):
    variant = starmine.Variant(players=players)
    whole = Table(variant, [None] + ["smart"] * (players - 1), seed=3).view
    hints = [action for action in whole.legal_actions() if variant.move(action).kind.endswith("_hint")]
    for action in hints:
        for text in (variant.action_meaning(action), str(variant.move(action))):
            for typed in (text, text.replace("+", ""), text.replace("+", "").upper()):
                table = Table(variant, [None] + ["smart"] * (players - 1), seed=3)
                Person([typed]).terminal(table).play()
                assert [event.action for event in table.history[:1]] == [action], typed


def test_a_typed_move_that_is_not_legal_is_told_from_one_that_cannot_be_read():
    table = Table(starmine.Variant(), [None, "smart"], seed=3)
    unreadable = ["fold", "hint 1 violet", "hint 1", "hint 1 red red", "play two", "play"]
    illegal = ["discard 0", "play 5", "hint 2 red", "hint +2 red", "play 2 red"]
    person = Person(unreadable + illegal)
    assert not person.terminal(table).play()
    said = [line for line in person.said if line.startswith("'")]
    legal = [table.variant.action_meaning(action) for action in table.view.legal_actions()]
    assert said == [f"{text!r} cannot be read: expected one of {legal}" for text in unreadable] + [
        f"{text!r} is not legal: expected one of {legal}" for text in illegal
    ]


def test_undo_and_advice_and_lists():
    table = Table(starmine.Variant(), [None, "smart"], seed=3)
    advised = table.variant.action_meaning(table.advice("smart"))
    person = Person(
        ["undo", "hint", "hint info", "hint nobody", "hint cheater", "Play 4", "undo", "log", "moves", "help", ""]
    )
    assert not person.terminal(table).play()
    assert table.state.length == 0
    assert len(table.taken_back) == 1
    said = person.said
    assert f"smart would: {advised}" in said
    assert any(line.startswith("info would: ") for line in said)
    assert any("no move of yours" in line for line in said)
    assert any("'nobody'" in line or '"nobody"' in line for line in said)
    assert any("sees all hands" in line for line in said)


def test_what_is_typed_wrongly_changes_nothing():
    table = Table(starmine.Variant(), [None, "smart"], seed=3)
    person = Person(["play 9", "discard 0", "hint 1 violet", "fold", "HINT +7 red", "1e9", "play", "undo undo"])
    assert not person.terminal(table).play()
    assert table.state.length == 0
    assert sum("expected one of" in said for said in person.said) == 8


def test_watching():
    table = Table(starmine.Variant(), ["smart", "info"], seed=3)
    person = Person(["", "log", "all"])
    assert person.terminal(table).play()
    assert table.state == starmine.play_games(["smart", "info"], 1, 3, record=True).trajectories.state(0)
    assert sum(said.startswith(f"turn {table.state.length}, ") for said in person.said) == 1
    assert not Person(["", "quit"]).terminal(Table(starmine.Variant(), ["smart", "info"])).play()


def typed(monkeypatch, lines):
    """Let `input` return these lines, then end."""
    person = Person(lines)
    monkeypatch.setattr("builtins.input", person.ask)
    monkeypatch.setattr(Terminal.__init__, "__defaults__", ("smart", person.ask, print))


@pytest.mark.parametrize("suffix", ["json", "parquet", "links"])
def test_the_command_saves_what_replay_opens(monkeypatch, capsys, tmp_path, suffix):
    variant = starmine.variant("standard", players=3)
    whole = reference(variant, 8)
    own = [variant.action_meaning(event.action) for event in whole.history if event.seat == 2]
    typed(monkeypatch, own)
    path = tmp_path / f"game.{suffix}"
    assert main(["play", "--players", "3", "--seat", "2", "--seed", "8", "--save", str(path)]) == 0
    assert f"Score {whole.score} of 25" in capsys.readouterr().out
    games = read_games(path, variant=variant)
    assert games.trajectories.state(0) == whole
    if suffix == "json":
        assert games.players == (("smart", "smart", "you"),)
    page = tmp_path / "game.html"
    assert main(["replay", str(path), "--html", str(page), "--players", "3"]) == 0
    assert "<main" in page.read_text()


def with_moves_taken_back(monkeypatch, save, seed="3"):
    """A game that is left after four turns: two were played and taken back, then one turn of the rest."""
    typed(monkeypatch, ["play 4", "1", "undo", "2", "undo", "undo", "play 0", "quit"])
    assert main(["play", "--seed", seed, "--save", str(save)]) == 0


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_the_command_keeps_games_as_data_with_the_moves_that_were_taken_back(monkeypatch, capsys, tmp_path, kind):
    save = tmp_path / ("game.parquet" if kind == "file" else "")
    tables = []
    begin = Table.__init__
    monkeypatch.setattr(Table, "__init__", lambda self, *a, **k: (tables.append(self), begin(self, *a, **k))[1])
    with_moves_taken_back(monkeypatch, save)
    (played,) = [table for table in tables if table.taken_back]
    place = save if kind == "file" else tmp_path / "standard-2p"
    (game,) = starmine.data.Dataset(place)
    assert game.state() == played.state
    assert [str(player["name"]) for player in game.players] == ["you", "smart"]
    taken = game.taken_back
    assert taken == played.taken_back
    assert [(entry["turn"], len(entry["actions"])) for entry in taken] == [(2, 2), (2, 2), (0, 2)]
    variant = starmine.Variant()
    assert variant.action_meaning(taken[2]["actions"][0]) == "play slot 4"
    assert main(["data", "info", str(place)]) == 0
    assert main(["data", "verify", str(place)]) == 0
    assert main(["replay", str(place), "--html", str(tmp_path / "out.html")]) == 0
    capsys.readouterr()
    starmine.data.write_games(read_games(place), tmp_path / "again.parquet")
    assert starmine.data.Dataset(tmp_path / "again.parquet")[0].taken_back == taken
    if kind == "folder":
        with_moves_taken_back(monkeypatch, save, seed="4")
        assert [len(game.taken_back) for game in starmine.data.Dataset(place)] == [3, 3]
        assert main(["data", "verify", str(place)]) == 0


def test_a_format_without_moves_taken_back_says_so(monkeypatch, capsys, tmp_path):
    with_moves_taken_back(monkeypatch, tmp_path / "game.json")
    assert "The moves that were taken back are not in it" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "{}x",
        '[{"turn": 0}]',
        '[{"turn": 0, "actions": [true]}]',
        '[{"turn": 99, "actions": [1]}]',
        '[{"turn": 1, "actions": [255]}]',
        '[{"turn": 0, "actions": [0]}]',  # a discard with all tokens
    ],
)
def test_moves_taken_back_that_do_not_hold_are_found(tmp_path, capsys, text):
    played = starmine.play_games(["smart", "smart"], 1, seed=3, record=True).trajectories
    whole = read_games_of(played, tmp_path)
    starmine.data.write_games(dataclasses.replace(whole, taken_back=(text,)), tmp_path / "forged.parquet")
    assert main(["data", "verify", str(tmp_path / "forged.parquet")]) == 1
    assert "its moves that were taken back do not hold" in capsys.readouterr().out


def read_games_of(played, folder):
    """Games as they are read."""
    starmine.data.write_games(played, folder / "games.json")
    return read_games(folder / "games.json")


def test_the_command_without_a_file_gives_a_link(monkeypatch, capsys):
    typed(monkeypatch, itertools.repeat("1", 3))
    assert main(["play", "--seed", "1"]) == 0
    text = capsys.readouterr().out
    assert "The game was left after 6 turns." in text
    games = read_games(text.split()[-1])
    assert games.trajectories.lengths.tolist() == [6]


def test_the_command_watches_any_variant(monkeypatch, capsys):
    typed(monkeypatch, [])
    assert main(["play", "--watch", "--variant", "avalanche", "--players", "4", "--seed", "1"]) == 0
    assert "seat 3: piers" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seat", "2"], "--seat 2 is not allowed: expected 0 to 1"),
        (["--watch", "--seat", "1"], "--watch and --seat 1 are not allowed together"),
        (["--web", "--watch", "--seat", "0"], "--watch and --seat 0 are not allowed together"),
        (["--partner", "smrt"], 'did you mean "smart"'),
        (["--partner", "smart", "--partner", "smart"], "2 partners are not allowed"),
        (["--save", "missing/x.json"], "there is no such folder"),
        (["--save", "x.doc"], "'x.doc' cannot be told"),
        (["--variant", "timed-display", "--save", "x.json"], "no counterpart on hanab.live"),
        (["--seed", "-1"], "seed"),
        (["--variant", "avalanche", "--partner", "smart"], "does not play this variant"),
    ],
)
def test_refusals_come_before_the_game(monkeypatch, capsys, tmp_path, arguments, words):
    monkeypatch.chdir(tmp_path)
    typed(monkeypatch, ["1"])
    assert main(["play", *arguments]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_game_is_kept(monkeypatch, capsys, tmp_path):
    lines = ["1"]

    def interrupted(prompt):
        if not lines:
            raise KeyboardInterrupt
        return lines.pop()

    monkeypatch.setattr(Terminal.__init__, "__defaults__", ("smart", interrupted, print))
    path = tmp_path / "game.json"
    assert main(["play", "--seed", "1", "--save", str(path)]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert read_games(path).trajectories.lengths.tolist() == [2]
