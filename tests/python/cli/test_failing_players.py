"""Commands whose games failed say so by their exit status."""

import pytest

from starmine.cli import main

FAILS = """
class Bad:
    def act(self, view):
        raise ValueError("no idea")

class Exits:
    def act(self, view):
        raise SystemExit(0)

class ExitsOdd:
    def act(self, view):
        raise SystemExit(256)

class Sometimes:
    def act(self, view):
        if len(view.history) > 4 and [card for hand in view.hands for card in hand if card][0].rank == 0:
            raise ValueError("no idea")
        return view.legal_actions()[-1]
"""


@pytest.fixture
def mybot(tmp_path):
    path = tmp_path / "failing_bots.py"
    path.write_text(FAILS)
    return path


@pytest.mark.parametrize("others", [["random"], ["random", "--with", "iggi"]])
def test_an_evaluation_with_a_pairing_that_always_failed_has_exit_status_1(mybot, others, capsys):
    line = ["eval", f"{mybot}:Bad", *others, "--variant", "mini", "--games", "10", "--quiet"]
    assert main(line) == 1
    shown = capsys.readouterr()
    assert "starmine eval: every game of Bad with " in shown.err
    assert "10 of 10, such as game 0" in shown.out


def test_an_evaluation_in_which_some_games_were_played_ends_well(mybot):
    assert main(["eval", f"{mybot}:Sometimes", "random", "--variant", "mini", "--games", "50", "--quiet"]) == 0


@pytest.mark.parametrize(("others", "status"), [(["random"], 1), ([], 2)])
def test_a_finished_evaluation_of_failed_games_fails_again(mybot, tmp_path, others, status, capsys):
    line = ["eval", f"{mybot}:Bad", *others, "--variant", "mini", "--games", "10", "--quiet", "--no-figure"]
    line += ["--output", str(tmp_path / "out")]
    assert [main(line), main(line)] == [status, status]
    assert "every game" in capsys.readouterr().err


def test_generated_games_that_fail_are_refused(mybot, tmp_path, capsys):
    line = ["generate", f"{mybot}:Bad", "random", "--variant", "mini", "--games", "10", "--quiet"]
    assert main([*line, "--output", str(tmp_path / "out")]) == 2
    assert "no idea" in capsys.readouterr().err


@pytest.mark.parametrize("player", ["Exits", "ExitsOdd"])
@pytest.mark.parametrize("command", [["eval", "--no-figure"], ["generate"]])
def test_a_player_that_ends_the_program_is_not_a_success(mybot, tmp_path, capsys, command, player):
    line = [command[0], f"{mybot}:{player}", "random", "--variant", "mini", "--games", "4", "--quiet", *command[1:]]
    assert main([*line, "--output", str(tmp_path / "out")]) == 2
    assert "a player has ended the program" in capsys.readouterr().err


def test_two_players_of_one_file_are_two_players(tmp_path, capsys):
    path = tmp_path / "students.py"
    path.write_text(
        "class Student:\n"
        "    def __init__(self, last): self.last = last\n"
        "    def act(self, view): return view.legal_actions()[-1 if self.last else 0]\n"
        "first, last = Student(False), Student(True)\n"
    )
    line = ["--variant", "mini", "--games", "4", "--quiet", "--no-figure", "--output", str(tmp_path / "out")]
    assert main(["eval", f"mine={path}:first", *line]) == 0
    assert main(["eval", f"mine={path}:last", *line]) == 2
    assert "holds another evaluation" in capsys.readouterr().err
