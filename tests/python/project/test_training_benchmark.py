"""benchmarks/training_speed.py measures each of its ways to train and writes a line for each."""

import sys

import pytest
from training_runs import needs_train_extra

pytestmark = [pytest.mark.nightly, needs_train_extra]


def test_each_way_to_train_is_measured(tmp_path, monkeypatch):
    import training_speed

    monkeypatch.setattr(training_speed, "GAMES", 16)
    monkeypatch.setattr(training_speed, "TURNS", 4)
    monkeypatch.setitem(training_speed.PLAIN, "minibatch", 8)
    monkeypatch.setattr(training_speed.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(training_speed, "processes", lambda count, seconds: 1.0)
    monkeypatch.setattr(sys, "argv", ["training.py", "--quick", "--folder", str(tmp_path)])
    training_speed.main()
    (page,) = tmp_path.glob("training*.md")
    lines = [line for line in page.read_text().splitlines() if line.startswith("| starmine")]
    assert len(lines) == len(training_speed.ways(2)) + 1
