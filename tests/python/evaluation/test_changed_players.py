"""Results are never read back for other players than those that are asked for."""

import json
import subprocess
import sys
from hashlib import sha256

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
class Student:
    def act(self, view):
        return view.legal_actions()[0]
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
        with pytest.raises(StarmineError) as told:
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
    assert again.seconds == first.seconds  # nothing was played


def test_the_command_does_not_go_on_with_a_changed_python_file(tmp_path):
    path = tmp_path / "mybot.py"
    path.write_text(BOT)
    command = ["eval", "mybot.py:Student", "--games", "20", "--output", "out", "--no-figure", "--quiet"]
    first = run(*command, folder=tmp_path)
    assert first.returncode == 0, first.stderr
    assert run(*command, folder=tmp_path).stdout == first.stdout
    path.write_text(BOT.replace("[0]", "[-1]"))
    refused = run(*command, folder=tmp_path)
    assert refused.returncode == 2
    assert "another Student" in refused.stderr
    assert "Traceback" not in refused.stderr
    fresh = run(*command, "--fresh", folder=tmp_path)
    assert fresh.returncode == 0
    assert fresh.stdout != first.stdout


WEIGHTS = """\
import pathlib

import starmine.torch
import torch

LAST = int(pathlib.Path("weights.txt").read_text())


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.arange(100.0) * LAST)

    def forward(self, obs, mask):
        return self.bias[: mask.shape[1]].expand(mask.shape)


class Holds:
    def __init__(self):
        self.net = Net()

    def act_batch(self, turns):
        mask = torch.from_numpy(turns.action_mask)
        return self.net(None, mask).masked_fill(~mask, -1e9).argmax(1).numpy()


class Hides:
    def act_batch(self, turns):
        mask = turns.action_mask[:, ::LAST]
        return mask.argmax(1) if LAST == 1 else mask.shape[1] - 1 - mask.argmax(1)


class Shares:
    net = Net()

    def act(self, view):
        return view.legal_actions()[(1 - LAST) // 2]


def make():
    return Net()


def make_holder():
    return Holds()


held, policy = Holds(), starmine.torch.ModulePolicy(Net())
"""


@pytest.fixture
def own(tmp_path, monkeypatch, capsys):
    """Evaluates a player of own.py, as a new process does: status, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(player_files, "FOLDERS", set())
    (tmp_path / "own.py").write_text(WEIGHTS)

    def evaluated(name, weights):
        (tmp_path / "weights.txt").write_text(weights)
        player_files._run.cache_clear()
        sys.modules.pop("own", None)
        options = ["--variant", "mini", "--games", "20", "--output", name, "--no-figure", "--quiet"]
        return main(["eval", f"own.py:{name}", *options]), *capsys.readouterr()

    yield evaluated
    sys.modules.pop("own", None)


BEFORE = f"20 games were played before and are shown as stored. {player_files.NOT_TOLD}"


@pytest.mark.parametrize("name", ["Net", "Holds", "Shares", "make", "make_holder", "held", "policy"])
def test_the_command_does_not_go_on_with_other_weights_of_a_module_of_a_python_file(own, name):
    status, first, said = own(name, "1")
    assert (status, said) == (0, "")
    status, again, said = own(name, "1")
    assert (status, again) == (0, first), said
    assert BEFORE in said
    status, _, said = own(name, "-1")
    assert (status, f"another {name}" in said) == (2, True), said


def test_a_changed_file_is_run_again_in_one_process(tmp_path):
    path = tmp_path / "mybot_that_changes.py"
    path.write_text(BOT)
    text = f"{path}:Student"
    old = player_files.player_of(text)
    assert player_files.player_of(text) is old
    was = known(old)
    path.write_text(BOT.replace("[0]", "[-1]"))
    new = player_files.player_of(text)
    assert new is not old
    assert known(new).text not in (None, was.text)
    assert known(old) == was
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

    def __init__(self, choice=0, version=None):
        self.choice = choice
        if version is not None:
            self.version = version

    def act(self, view):
        return view.legal_actions()[self.choice]


class Versioned(Chooser):
    """A class with a version."""

    version = "1"


def network(seed=0):
    from starmine.torch import PolicyNetwork

    torch.manual_seed(seed)
    return PolicyNetwork(RULES, hidden=(8,))


def test_an_object_in_memory_is_known_by_its_version_only():
    """Neither its type nor its state or its source tell it from others."""
    for player in (Chooser(), Chooser, lambda: Chooser(), torch.nn.Bilinear(3, 2, 2)):
        assert known(player).text is None
        assert known(player).problem
    assert known(Chooser(0, "1")) == known(Chooser(1, "1")) == known(Chooser(0, "1"))
    assert known(Chooser(0, "1")).text not in (None, known(Chooser(0, "2")).text, known(Versioned()).text)
    assert known(Versioned).text == known(Versioned()).text
    assert known(Chooser(0, 2)).text is not None
    assert known(Chooser(0, object())).text is None

    def make():
        return Chooser()

    make.version = "3"
    assert known(make).text.endswith("make, version 3")
    module = torch.nn.Bilinear(3, 2, 2)  # of two arguments
    module.version = "4"
    was = known(module)
    assert "version 4, torch.nn.modules.linear.Bilinear, " in was.text
    with torch.no_grad():
        module.bias += 1
    assert known(module).text not in (None, was.text)


def test_what_a_module_is_given_belongs_to_its_identity():
    from starmine.torch import ModulePolicy

    class Net(torch.nn.Module):
        version = "1"

        def forward(self, observations, action_mask, **extra):
            return action_mask

    module = Net()
    given = [{}, {"dtype": "bits"}, {"extra_outputs": ("card_features",)}, {"extra_outputs": ("public_marginals",)}]
    players = [ModulePolicy(module, recurrent=False, **arguments) for arguments in given]
    assert len({known(player).text for player in players} - {None}) == 4


def test_a_network_of_starmine_is_known_by_its_weights_and_settings():
    from starmine.torch import ModulePolicy

    policy = ModulePolicy(network())
    assert known(policy) == known(network()) == known(ModulePolicy(network()))
    others = [ModulePolicy(network(), sampled=True), ModulePolicy(network(), sampled=True, seed=1), network(1)]
    assert len({known(player).text for player in [policy, *others]}) == 4
    with torch.no_grad():
        policy.module.heads.bias += 1
    assert known(policy).text != known(network()).text is not None

    class Own(ModulePolicy):
        pass

    assert known(Own(network())).text is None


def test_an_object_without_a_version_is_played_anew(tmp_path):
    evaluate({"mine": Chooser()}, 10, output=tmp_path / "eval", **FEW)
    with pytest.raises(StarmineError):
        evaluate({"mine": Chooser()}, 10, output=tmp_path / "eval", **FEW)
    evaluate({"mine": Chooser(-1)}, 10, output=tmp_path / "eval", fresh=True, **FEW)
    with pytest.raises(StarmineError):
        evaluate({"mine": Versioned()}, 10, output=tmp_path / "eval", **FEW)
    generate([Chooser(), "iggi"], 10, tmp_path / "games", RULES, **QUIET)
    with pytest.raises(StarmineError):
        generate([Chooser(), "iggi"], 10, tmp_path / "games", RULES, **QUIET)


def test_an_object_with_a_version_goes_on(tmp_path):
    first = evaluate({"mine": Chooser(0, "1")}, 10, output=tmp_path / "eval", **FEW)
    again = evaluate({"mine": Chooser(0, "1")}, 20, output=tmp_path / "other", **FEW)
    assert evaluate({"mine": Chooser(0, "1")}, 10, output=tmp_path / "eval", **FEW) == first != again
    with pytest.raises(StarmineError):
        evaluate({"mine": Chooser(0, "2")}, 10, output=tmp_path / "eval", **FEW)
    for _ in range(2):
        generate([Chooser(0, "1"), "iggi"], 10, tmp_path / "games", RULES, **QUIET)
    with pytest.raises(StarmineError):
        generate([Chooser(0, "2"), "iggi"], 10, tmp_path / "games", RULES, **QUIET)


def test_replays_are_those_of_the_players_that_played(tmp_path):
    path, output = tmp_path / "p.st", tmp_path / "out"
    path.write_bytes(GOOD)
    evaluate({"mine": f"policy: {path}", "iggi": "iggi"}, 20, output=output, **FEW)
    before = Dataset(output)[:]
    path.write_bytes(BAD)
    assert Dataset(output)[:] == before
    hashes = {player.name: player.checksum for player in Dataset(output).roster}
    assert hashes == {"mine": sha256(GOOD).hexdigest(), "iggi": None}


def test_a_search_is_compared_with_the_blueprint_of_its_weights(tmp_path):
    path = tmp_path / "p.st"
    path.write_bytes(GOOD)
    old = starmine.load_policy(path)
    search = resolve_player(f"search: policy: {path}; rollouts=20", "search")
    path.write_bytes(BAD)
    new = starmine.load_policy(path)
    shown = str(evaluate({"search": search, "old": old, "new": new}, 4, variant=RULES))
    assert "with old" in shown
    assert "with new" not in shown


def test_generated_games_have_the_hash_of_all_weights(tmp_path):
    path = tmp_path / "p.st"
    path.write_bytes(BAD)
    weights, shipped = sha256(BAD).hexdigest(), sha256(GOOD).hexdigest()
    seats = [
        f"search: policy: {path}; rollouts=10",
        ["ippo-mini", f"noisy: 0.5; policy: {path}; sampled", "noisy: 0.5; ippo-mini"],
    ]
    generate(seats, 8, tmp_path / "games", RULES, **QUIET)
    hashes = [player.checksum for player in Dataset(tmp_path / "games").roster]
    assert hashes == [weights, shipped, weights, shipped]
    generate(["search: ippo-mini; rollouts=10", "iggi"], 8, tmp_path / "more", RULES, **QUIET)
    assert [player.checksum for player in Dataset(tmp_path / "more").roster] == [shipped, None]
    generate([Versioned, Chooser(1, "1")], 8, tmp_path / "python", RULES, **QUIET)
    hashes = [player.checksum for player in Dataset(tmp_path / "python").roster]
    assert hashes == [known(Versioned).checksum, known(Chooser(1, "1")).checksum]
    path.write_bytes(GOOD)
    with pytest.raises(StarmineError):
        generate(seats, 8, tmp_path / "games", RULES, **QUIET)


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
