"""benchmarks/training.py measures each of its ways to train and writes a line for each."""

import sys

import pytest
from training_runs import needs_train_extra

pytestmark = [pytest.mark.slow, needs_train_extra]


def test_each_way_to_train_is_measured(tmp_path, monkeypatch):
    import training

    monkeypatch.setattr(training, "GAMES", 16)
    monkeypatch.setattr(training, "TURNS", 4)
    monkeypatch.setitem(training.PLAIN, "minibatch", 8)
    monkeypatch.setattr(training.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(training, "processes", lambda count, seconds: 1.0)
    monkeypatch.setattr(sys, "argv", ["training.py", "--quick", "--folder", str(tmp_path)])
    training.main()
    (page,) = tmp_path.glob("training*.md")
    lines = [line for line in page.read_text().splitlines() if line.startswith("| starmine")]
    assert len(lines) == len(training.ways(2)) + 1
