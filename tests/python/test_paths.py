"""An empty path is refused wherever a path is taken: `Path("")` would be the current folder."""

import os
import re
from pathlib import Path

import pytest

import starmine
from starmine.cli import main

data = pytest.importorskip("starmine.data", exc_type=ImportError)
pytest.importorskip("pyarrow")

RECORDED = starmine.play_games(["iggi"] * 2, 2, variant="mini", record=True)


def save_network(path):
    torch = pytest.importorskip("torch")
    from starmine.torch import PolicyNetwork

    torch.manual_seed(0)
    PolicyNetwork(starmine.variant("mini"), hidden=(4,)).save(path)


FUNCTIONS = {
    "generate": lambda path: data.generate(["iggi"] * 2, 2, path, "mini", progress=False),
    "evaluate": lambda path: starmine.evaluate(["iggi"], 1, variant="mini", output=path, figure=False),
    "draw": lambda path: starmine.evaluate(["iggi"], 1, variant="mini").draw(path),
    "write_games": lambda path: data.write_games(RECORDED, path, "parquet"),
    "read_games": data.read_games,
    "verify": data.verify,
    "info": data.info,
    "Dataset": data.Dataset,
    "Datasets": lambda path: data.Dataset([path]),
    "transcript": lambda path: starmine.text.ChatPlayer(str, transcript=path),
    "network": save_network,
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current folder, which holds games."""
    data.generate(["iggi"] * 2, 2, tmp_path, "mini", progress=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("path", ["", "a\0b"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_refuses_an_empty_path(here, name, path):
    before = contents(here)
    expected = re.escape(f"={path!r} is not allowed: expected the path of a file or folder")
    with pytest.raises(starmine.StarmineError, match=expected):
        FUNCTIONS[name](path)
    assert contents(here) == before


@pytest.mark.parametrize("path", [b"bytes", 5])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "Datasets"])
def test_a_function_refuses_what_is_no_path(here, name, path):
    before = contents(here)
    with pytest.raises(TypeError):
        FUNCTIONS[name](path)
    assert contents(here) == before


SHARD = "shard-000000.parquet"
COMMANDS = [
    ["eval", "iggi", "--games=1", "--variant=mini", "--output", ""],
    ["generate", "iggi", "iggi", "--games=2", "--variant=mini", "--output", ""],
    ["play", "--variant=mini", "--no-browser", "--save", ""],
    ["replay", "", "--html", "page.html"],
    ["replay", SHARD, "--html", ""],
    ["data", "verify", ""],
    ["data", "info", ""],
    ["data", "convert", "", "games.json"],
    ["data", "convert", SHARD, "", "--to=hanab-live"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_refuses_an_empty_path(here, capsys, command):
    before = contents(here)
    assert main(command) == 2
    assert re.search(r"='' is not allowed: expected the path of a file or folder\n$", capsys.readouterr().err)
    assert contents(here) == before


def test_a_path_of_any_kind_is_taken(here):
    class Named(os.PathLike):
        def __fspath__(self):
            return str(here)

    assert len(data.Dataset(Named())) == len(data.Dataset(Path())) == len(data.Dataset(".")) == 2
