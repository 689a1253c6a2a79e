"""`starmine eval mybot.py:Student`: players of Python files on the command line."""

import sys
import tempfile

import pytest

import starmine
from starmine.cli import main, player_files
from starmine.cli.player_files import player_of

SOURCE = """
import dataclasses
import numpy as np


@dataclasses.dataclass
class Student:
    turns: int = 0

    def act(self, view):
        self.turns += 1
        return "play 0"


class Many:
    def act_batch(self, turns):
        return np.array([np.flatnonzero(mask)[0] for mask in turns.action_mask])


class Confused:
    def act(self, view):
        return {}["red"]


class Needs:
    def __init__(self, what):
        pass

    def act_batch(self, turns):
        return 0


student, number = Student(), 3
"""


FAILING = """
from starmine.text import ChatPlayer


def ask(messages):
    return {}["plan"]


class Unmade:
    def __init__(self):
        raise KeyError("plan")

    def act_batch(self, turns):
        return 0


model = ChatPlayer(ask)
"""


@pytest.fixture(autouse=True)
def as_in_a_new_process(monkeypatch):
    """Each test runs its files as a new process does."""
    known = set(sys.modules)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(player_files, "FOLDERS", set())
    yield
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(tempfile.gettempdir()):
            del sys.modules[name]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mybot.py"
    path.write_text(SOURCE)
    return path


def run(capsys, *arguments):
    status = main(["eval", *map(str, arguments), "--games", "4", "--quiet", "--variant", "very-small"])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def line_of(source, text):
    return 1 + source.splitlines().index(text)


def test_the_report_tells_where_a_player_failed(file, capsys):
    _, out, _ = run(capsys, f"{file}:Confused", "iggi")
    line = line_of(SOURCE, '        return {}["red"]')
    assert f"KeyError:'red'at{file}:{line}".replace(" ", "") in "".join(out.split())  # long paths are wrapped
    file.write_text(FAILING)
    _, _, err = run(capsys, f"{file}:model")  # where every game fails there is no table
    line = line_of(FAILING, '    return {}["plan"]')
    assert f"KeyError: 'plan' at {file}:{line}" in err


def test_a_refusal_tells_where_a_file_or_a_class_failed(file, capsys):
    file.write_text(FAILING)
    status, _, err = run(capsys, f"{file}:Unmade", "iggi")
    line = line_of(FAILING, '        raise KeyError("plan")')
    assert (status, f"cannot be made: KeyError: 'plan' at {file}:{line}\n" in err) == (2, True)
    broken = file.parent / "broken.py"
    broken.write_text('plans = {}\n\nplan = plans["plan"]\n')
    status, _, err = run(capsys, f"{broken}:Student")
    assert (status, f"cannot be run: KeyError: 'plan' at {broken}:3\n" in err) == (2, True)
    broken.write_text("plans = {}\nplans = [\n")
    assert "line 2" in run(capsys, f"{broken}:Student")[2]


def test_players_of_a_file_are_evaluated_beside_bots(file, capsys):
    status, out, _ = run(capsys, f"{file}:Student", f"all={file}:Many", f"{file}:student", "iggi")
    assert status == 0
    for name in ("Student", "all", "student", "iggi"):
        assert name in out
    assert str(file) not in out


def test_they_play_as_in_evaluate(file, capsys, tmp_path):
    output = tmp_path / "out"
    status, _, _ = run(capsys, f"{file}:Student", "iggi", "--output", output, "--no-figure")
    assert status == 0

    class Oldest:
        def act(self, view):
            return "play 0"

    expected = starmine.evaluate({"Student": Oldest, "iggi": "iggi"}, 4, variant="very-small")
    lines = (output / "eval.csv").read_text().splitlines()
    assert len(lines) == 5
    assert expected.names == ("Student", "iggi") or list(expected.names) == ["Student", "iggi"]
    # The same command resumes, so the players of a file keep their names from call to call.
    sys.modules.pop("mybot", None)
    again = run(capsys, f"{file}:Student", "iggi", "--output", output, "--no-figure")
    assert again[0] == 0, again[2]


NETWORK = """
from torch import nn


class Mine(nn.Module):
    def forward(self, obs, mask):
        return mask.float()


def make():
    return Mine()


def load(path):
    return Mine()


_one, another = Mine(), Mine()
"""


def test_what_may_be_meant_is_named(file, capsys):
    file.write_text(NETWORK)
    _, _, err = run(capsys, f"m={file}:mine")
    assert 'did you mean "Mine"? Expected one of Mine, make, another\n' in err
    file.write_text("number = 3\n")
    status, _, err = run(capsys, f"{file}:Student")
    assert (status, "has no player: expected " in err) == (2, True)


def test_players_of_a_file_generate_games(file, tmp_path):
    output = tmp_path / "games"
    options = ["--games", "6", "--output", str(output), "--quiet", "--variant", "very-small"]
    assert main(["generate", f"{file}:Student", "iggi", *options]) == 0
    stored = starmine.data.Dataset(output)
    assert ["Student" in player.name for player in stored.roster] == [True, False]
    histories = [stored.state(game).history for game in range(len(stored))]
    moves = {str(event.move) for history in histories for event in history if event.seat == 0}
    assert moves == {"play 0"}


def test_a_file_is_refused_in_python_too():
    with pytest.raises(starmine.StarmineError):
        starmine.play_games(["smart", "mybot.py:Student"], games=1)


def test_players_of_one_class_have_an_identity_each(tmp_path):
    """A version that was given to a class counts neither for its objects nor for its subclasses in other files."""
    from starmine.games.identity import identity

    (tmp_path / "base_player.py").write_text(
        "class A:\n    def __init__(self, slot=0):\n        self.slot = slot\n"
        "    def act(self, view):\n        return view.legal_actions()[self.slot]\n"
        "one, two = A(1), A(2)\n"
    )
    (tmp_path / "derived_player.py").write_text("from base_player import A\nclass B(A):\n    pass\n")
    (tmp_path / "own_version.py").write_text(
        "class C:\n    version = 'mine'\n    def act(self, view):\n        return 0\n"
    )
    texts = ["base_player.py:A", "base_player.py:one", "base_player.py:two", "derived_player.py:B"]
    found = [identity(player_of(f"{tmp_path}/{text}")).text for text in texts]
    assert len(set(found)) == 4
    assert [identity(player_of(f"{tmp_path}/{text}")).text for text in texts] == found
    assert identity(player_of(f"{tmp_path}/own_version.py:C")).text.endswith("version mine")


def test_generate_says_when_stored_games_of_a_file_are_kept(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reader.py").write_text("class R:\n    def act(self, view):\n        return view.legal_actions()[0]\n")
    command = ["generate", "reader.py:R", "reader.py:R", "--variant", "mini", "--games", "4", "--output", "made"]
    assert main(command) == 0
    assert player_files.NOT_TOLD not in capsys.readouterr().err
    assert main(command) == 0
    assert player_files.NOT_TOLD in capsys.readouterr().err


HELPED = {
    "a helper": "from own_helper import slot",
    "if": "if True: from own_helper import slot",
    "importlib": "import importlib\nslot = importlib.import_module('own_helper').slot",
    "indirectly": "from middle import slot",
    "late": "def slot():\n    import own_helper\n    return own_helper.slot",
}


def write_folder(folder, slot, helped):
    folder.mkdir()
    (folder / "own_helper.py").write_text(f"slot = {slot}\n")
    (folder / f"middle{slot}.py").write_text("from own_helper import slot\n")
    imports = HELPED[helped].replace("middle", f"middle{slot}")
    source = f"{imports}\nclass Bot:\n    slot = slot\n    def act(self, view):\n        return 0\n"
    (folder / f"bot{slot}.py").write_text(source)
    return f"{folder}/bot{slot}.py:Bot"


@pytest.mark.parametrize("helped", HELPED)
def test_players_of_two_folders_share_no_module(helped, tmp_path):
    first, second = (write_folder(tmp_path / f"folder{slot}", slot, helped) for slot in (1, 2))
    assert player_of(first)
    with pytest.raises(starmine.StarmineError):
        player_of(second)
    (tmp_path / "folder2" / "own_helper.py").unlink()
    (tmp_path / "folder2" / "bot2.py").write_text("import a_docstring_of_any_util_module as act\n")
    (tmp_path / "folder2" / "a_docstring_of_any_util_module.py").write_text("'import own_helper'\n")
    assert player_of(f"{tmp_path}/folder2/bot2.py:act")


def test_a_package_without_an_init_is_a_module_too(tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}" / "parts").mkdir(parents=True)
        (tmp_path / f"{number}" / "parts" / "slots.py").write_text(f"slot = {number}\n")
        (tmp_path / f"{number}" / f"player{number}.py").write_text("from parts import slots as act\n")
    assert player_of(f"{tmp_path}/1/player1.py:act").slot == 1
    with pytest.raises(starmine.StarmineError):
        player_of(f"{tmp_path}/2/player2.py:act")


def test_a_file_may_change_the_path(file, tmp_path):
    (tmp_path / "changing.py").write_text("import sys\nsys.path.pop(0)\nclass Bot:\n    act = None\n")
    assert player_of(f"{tmp_path}/changing.py:Bot")


def test_generate_names_a_model_and_tells_of_its_fallback(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talking.py").write_text(
        "from starmine.text import ChatPlayer\n\n"
        "model = ChatPlayer(lambda messages: 'Hello.', name='talker', replies=1, fallback='random')\n"
        "silent = ChatPlayer(lambda messages: 'Hello.', name='silent', replies=1)\n"
    )
    options = ["--variant", "very-small", "--games", "4", "--quiet", "--output"]
    assert main(["generate", "talking.py:model", "iggi", *options, "made"]) == 0
    stored = starmine.data.Dataset("made")
    assert [player.name for player in stored.roster] == ["talker", "iggi"]
    moves = sum(event.seat == 0 for game in range(len(stored)) for event in stored.state(game).history)
    assert f"a fallback chose {moves} of the moves of talker" in capsys.readouterr().err
    assert main(["generate", "talking.py:silent", "iggi", *options, "failed"]) == 2
    assert "no game of this shard is stored: a smaller --shard-size, in another folder," in capsys.readouterr().err
