"""Results are never read back for other players than those that are asked for."""

import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch
from two_policies import BAD, GOOD, RULES

import starmine
from starmine import StarmineError, evaluate
from starmine.cli import player_files
from starmine.cli.command import main
from starmine.data import Dataset, generate
from starmine.games.identity import identity
from starmine.games.players import resolve_player

BOT = """\
from helper_of_students import CHOICE

class Student:
    def act(self, view):
        return view.legal_actions()[CHOICE]
"""
FEW = {"variant": RULES, "figure": False}
QUIET = {"progress": False}


def known(player):
    return identity(resolve_player(player, "player"))


def run(*arguments, folder):
    """The command as users have it: a process of its own."""
    command = [sys.executable, "-m", "starmine", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_an_evaluation_does_not_go_on_with_other_weights(tmp_path):
    path, output = tmp_path / "p.st", tmp_path / "out"
    path.write_bytes(GOOD)
    first = evaluate({"mine": f"policy: {path}"}, 20, output=output, **FEW)
    again = evaluate({"mine": f"policy: {path}"}, 20, output=output, **FEW)
    assert again.scores.tolist() == first.scores.tolist()
    assert (
        evaluate({"mine": starmine.load_policy(path)}, 20, output=output, **FEW).scores.tolist()
        == first.scores.tolist()
    )
    path.write_bytes(BAD)
    for mine in (f"policy: {path}", starmine.load_policy(path), f"policy: {path}"):
        with pytest.raises(
            StarmineError, match=r"another mine .*: its weights, .* have changed: choose another folder"
        ) as told:
            evaluate({"mine": mine}, 20, output=output, **FEW)
        assert "\n" not in str(told.value)
    second = evaluate({"mine": f"policy: {path}"}, 20, output=output, fresh=True, **FEW)
    assert second.scores.tolist() != first.scores.tolist()
    stored = json.loads((output / "eval.json").read_text())["settings"]["identities"]
    assert stored == {"mine": f"policy: {sha256(BAD).hexdigest()}"}


def test_an_evaluation_goes_on_with_the_same_weights_in_another_file(tmp_path):
    for name in ("a.st", "b.st"):
        (tmp_path / name).write_bytes(GOOD)
    output = tmp_path / "out"
    first = evaluate({"mine": f"policy: {tmp_path / 'a.st'}"}, 20, output=output, **FEW)
    again = evaluate({"mine": f"policy: {tmp_path / 'b.st'}"}, 20, output=output, **FEW)
    assert again.seconds.tolist() == first.seconds.tolist()  # nothing was played


@pytest.mark.parametrize("changed", ["mybot.py", "helper_of_students.py"])
def test_the_command_does_not_go_on_with_a_changed_python_file(tmp_path, changed):
    (tmp_path / "mybot.py").write_text(BOT)
    (tmp_path / "helper_of_students.py").write_text("CHOICE = 0\n")
    command = ["eval", "mybot.py:Student", "--games", "20", "--output", "out", "--no-figure", "--quiet"]
    first = run(*command, folder=tmp_path)
    assert first.returncode == 0, first.stderr
    assert run(*command, folder=tmp_path).stdout == first.stdout
    text = (tmp_path / changed).read_text()
    (tmp_path / changed).write_text(text.replace("CHOICE = 0", "CHOICE = -1").replace("[CHOICE]", "[-1]"))
    refused = run(*command, folder=tmp_path)
    assert refused.returncode == 2
    assert "another Student" in refused.stderr
    assert "Traceback" not in refused.stderr
    fresh = run(*command, "--fresh", folder=tmp_path)
    assert fresh.returncode == 0
    assert fresh.stdout != first.stdout


def test_a_changed_file_is_run_again_in_one_process(tmp_path):
    path = tmp_path / "mybot_that_changes.py"
    (tmp_path / "helper_of_students.py").write_text("CHOICE = 0\n")
    path.write_text(BOT)
    text = f"{path}:Student"
    old = player_files.player_of(text)
    assert player_files.player_of(text) is old
    was = known(old)
    path.write_text(BOT.replace("[CHOICE]", "[-1]"))
    new = player_files.player_of(text)
    assert new is not old
    assert known(new).text not in (None, was.text)
    assert "mybot_that_changes.py has changed since" in known(old).problem
    path.write_text(BOT)
    assert known(player_files.player_of(text)).text == was.text


def test_files_of_one_name_are_told_apart(tmp_path):
    found = []
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "same_name.py").write_text(f"class Student:\n    def act(self, view):\n        return {number}\n")
        found.append(player_files.player_of(f"{folder / 'same_name.py'}:Student"))
    assert len({known(player).text for player in found}) == 3
    assert None not in {known(player).text for player in found}


class Chooser:
    """A player in Python that has a state."""

    def __init__(self, choice=0):
        self.choice = choice

    def act(self, view):
        return view.legal_actions()[self.choice]


class Forgetful(Chooser):
    """A player whose state changes while it plays."""

    turns = 0

    def act(self, view):
        self.turns += 1
        return super().act(view)

    def __getstate__(self):
        return {"choice": self.choice}


def made(choice):
    class Local:
        def act(self, view):
            return view.legal_actions()[choice]

    return Local


def test_the_identity_of_a_python_player_has_its_state():
    assert known(Chooser()).text == known(Chooser(0)).text != known(Chooser(1)).text
    assert known(Chooser).text not in (None, known(Chooser()).text)
    assert known(Chooser).text != known(Forgetful).text
    assert known(made(0)).text == known(made(0)).text != known(made(1)).text
    assert None not in {known(made(0)).text, known(Chooser()).text}
    torch.manual_seed(0)
    module = torch.nn.Bilinear(3, 2, 2)  # of two arguments
    before = known(module)
    assert before.text == known(module).text is not None
    with torch.no_grad():
        module.bias += 1
    assert known(module).text not in (None, before.text)


def test_an_object_whose_state_changed_is_refused(tmp_path):
    player = Chooser()
    evaluate({"mine": player}, 10, output=tmp_path / "one", **FEW)
    evaluate({"mine": Chooser()}, 10, output=tmp_path / "one", **FEW)
    player.choice = -1
    with pytest.raises(StarmineError, match=r"another mine .*Chooser.* have changed"):
        evaluate({"mine": player}, 10, output=tmp_path / "one", **FEW)
    forgetful = Forgetful()
    for _ in range(2):
        evaluate({"mine": forgetful}, 10, output=tmp_path / "two", **FEW)
    assert forgetful.turns > 0


def test_a_player_of_unknown_identity_is_not_resumed(tmp_path):
    names = {"__name__": "no_module"}
    exec("class Typed:\n    def act(self, view):\n        return view.legal_actions()[0]\n", names)
    typed = names["Typed"]
    assert known(typed).problem == "Typed has no source file"
    evaluate({"mine": typed}, 10, output=tmp_path / "eval", **FEW)
    said = "mine .*which may be another player now: Typed has no source file"
    with pytest.raises(StarmineError, match=said):
        evaluate({"mine": typed}, 10, output=tmp_path / "eval", **FEW)
    evaluate({"mine": typed}, 10, output=tmp_path / "eval", fresh=True, **FEW)
    with pytest.raises(StarmineError, match=r"entrants mine \(no_module\.Typed\) instead of mine"):
        evaluate({"mine": Chooser}, 10, output=tmp_path / "eval", **FEW)
    generate([typed, typed], 10, tmp_path / "games", RULES, **QUIET)
    with pytest.raises(StarmineError, match=r"no_module\.Typed.*, which may be another player now: Typed has no"):
        generate([typed, typed], 10, tmp_path / "games", RULES, **QUIET)

    class Unpicklable(Chooser):
        def __init__(self):
            self.choice, self.lock = 0, threading.Lock()

    assert "its state cannot be pickled (TypeError: cannot pickle" in known(Unpicklable()).problem


def test_replays_are_those_of_the_players_that_played(tmp_path):
    path, output = tmp_path / "p.st", tmp_path / "out"
    path.write_bytes(GOOD)
    evaluate({"mine": f"policy: {path}", "iggi": "iggi"}, 20, output=output, **FEW)
    before = [game.actions.tolist() for game in Dataset(output)]
    assert {player["name"] for game in Dataset(output) for player in game.players} == {"mine", "iggi"}
    path.write_bytes(BAD)
    assert [game.actions.tolist() for game in Dataset(output)] == before
    hashes = {player["name"]: player["hash"] for player in Dataset(output).players}
    assert hashes == {"mine": sha256(GOOD).hexdigest(), "iggi": None}


def test_a_search_is_compared_with_the_blueprint_of_its_weights(tmp_path):
    path = tmp_path / "p.st"
    path.write_bytes(GOOD)
    old = starmine.load_policy(path)
    search = resolve_player(f"search: policy: {path}; rollouts=20", "search")
    path.write_bytes(BAD)
    new = starmine.load_policy(path)
    shown = str(evaluate({"search": search, "old": old, "new": new}, 4, variant=RULES))
    assert "beside old" in shown
    assert "beside new" not in shown


def test_generated_games_have_the_hash_of_all_weights(tmp_path):
    path = tmp_path / "p.st"
    path.write_bytes(BAD)
    weights, shipped = sha256(BAD).hexdigest(), sha256(GOOD).hexdigest()
    tables = {
        "search": [f"search: policy: {path}; rollouts=10", "ippo-mini"],
        "noisy": [f"noisy: 0.5; policy: {path}; sampled", "noisy: 0.5; ippo-mini"],
        "more": ["search: ippo-mini; rollouts=10", "iggi"],
        "python": [Chooser, Chooser(1)],
    }
    generate(tables, 8, tmp_path / "games", RULES, **QUIET)
    found = {player["name"]: player["hash"] for player in Dataset(tmp_path / "games").players}
    expected = [weights, shipped, weights, shipped, shipped, None, known(Chooser).hash, known(Chooser(1)).hash]
    assert list(found.values()) == expected
    noisy = generate([f"policy: {path}"] * 2, 8, tmp_path / "more", RULES, epsilon=0.5, **QUIET)
    assert [player["hash"] for player in Dataset(noisy.folder).players] == [weights]
    path.write_bytes(GOOD)
    with pytest.raises(StarmineError, match=f"another 'search: policy: {path}; rollouts=10': its weights, .* changed"):
        generate(tables, 8, tmp_path / "games", RULES, **QUIET)


def test_shards_have_the_players_of_the_call(tmp_path, monkeypatch):
    from starmine.data.generation import driver

    path = tmp_path / "p.st"
    path.write_bytes(GOOD)
    plain = driver.make_shard

    def overwritten(*arguments):
        path.write_bytes(BAD)
        return plain(*arguments)

    monkeypatch.setattr(driver, "make_shard", overwritten)
    generate([f"policy: {path}"] * 2, 20, tmp_path / "games", RULES, shard_size=7, **QUIET)
    expected = starmine.play_games(["ippo-mini"] * 2, 20, seed=1, variant=RULES).scores
    assert (
        np.concatenate([games.scores for games in Dataset(tmp_path / "games").tables()]).tolist() == expected.tolist()
    )


def test_the_quick_start_command_notices_another_policy(tmp_path, capsys):
    path = tmp_path / "policy.safetensors"
    path.write_bytes(GOOD)
    command = ["eval", f"mine=policy: {path}", "--games", "10", "--variant", "mini", "--output", str(tmp_path / "out")]
    command += ["--no-figure", "--quiet"]
    assert main(command) == 0
    path.write_bytes(BAD)
    capsys.readouterr()
    assert main(command) == 2
    assert "another mine (policy: " in capsys.readouterr().err
    assert Path(tmp_path / "out").is_dir()


@dataclass
class Settings:
    """What a player is made of."""

    choice: int = 0


@dataclass
class Composed:
    """A player of generated methods and other objects."""

    settings: Settings = field(default_factory=Settings)
    choose: Callable = len

    def act(self, view):
        return view.legal_actions()[self.settings.choice]


def test_the_identity_has_the_parts_of_a_player():
    assert known(Composed()).text == known(Composed()).text is not None
    others = [Composed(Settings(1)), Composed(choose=lambda view: 0), Composed(choose=made), Composed]
    assert len({known(player).text for player in [Composed(), *others]}) == 5
    assert None not in {known(player).text for player in others}


class Drawing:
    """A bot that reads its weights, and draws random numbers."""

    path = None

    def __init__(self):
        self.rng, self.other = [np.random.default_rng(), np.random.RandomState(), torch.Generator()], random.Random()
        self.rng[2].seed()
        self.weights = np.load(self.path)

    def act(self, view):
        return self.other.choice(view.legal_actions())


class DrawingPolicy(Drawing):
    def act_batch(self, turns):
        return turns.action_mask.argmax(1)


@pytest.mark.parametrize("kind", [Drawing, DrawingPolicy])
def test_the_identity_of_a_class_has_the_weights_that_it_reads(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(Drawing, "path", str(tmp_path / "weights.npy"))
    np.save(Drawing.path, np.zeros(3))
    evaluate({"mine": kind}, 5, output=tmp_path / "out", **FEW)
    evaluate({"mine": kind}, 5, output=tmp_path / "out", **FEW)
    before = known(kind())
    assert before.text == known(kind()).text is not None
    np.save(Drawing.path, np.ones(3))
    assert known(kind()).text != before.text
    with pytest.raises(StarmineError, match=r"another mine .*have changed"):
        evaluate({"mine": kind}, 5, output=tmp_path / "out", **FEW)
