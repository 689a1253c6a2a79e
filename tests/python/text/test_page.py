"""The commands of the page about language models run as they stand there, one after the other."""

import json
import re
import shlex
import sys

import pytest
from paths import ROOT

from starmine.cli import main

PAGE = (ROOT / "docs" / "language_models.md").read_text(encoding="utf-8")
MODELS = """
import chat_models
from starmine.text import ChatPlayer

model = ChatPlayer(chat_models.first_move, transcript="talk.jsonl")
"""


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_commands_of_the_page_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "models.py").write_text(MODELS)
    blocks = re.findall(r"^```bash\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    commands = [shlex.split(line) for block in blocks for line in block.splitlines()]
    assert [command[1] for command in commands] == ["eval", "generate", "text", "generate", "text"]
    for command in commands:
        assert main([*command[1:], *["--quiet"] * (command[1] != "text")]) == 0
    sys.modules.pop("models", None)
    assert "warning" not in capsys.readouterr().err
    assert main(["text", "export", "evaluation", "evaluated.jsonl"]) == 0
    assert "warning: 64 of 64 games have decks of evaluations" in capsys.readouterr().err
    assert {pair["points"] >= 0.25 for pair in lines(tmp_path / "pairs.jsonl")} == {True}
    pairings = {("model", "model"), ("model", "smart"), ("smart", "model")}
    assert {tuple(line["players"]) for line in lines(tmp_path / "talk.jsonl") if line["players"]} == pairings
    assert {tuple(line["players"]) for line in lines(tmp_path / "evaluated.jsonl")} == {*pairings, ("smart", "smart")}
    assert {line["players"][1] for line in lines(tmp_path / "train.jsonl")} == {"smart"}
