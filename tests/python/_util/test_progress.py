"""Progress without a terminal: whole lines, at most one every ten seconds."""

import re

import pytest

from starmine._util import progress


@pytest.fixture
def clock(monkeypatch):
    """The time in seconds, which a test sets."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_without_a_terminal_a_line_comes_every_ten_seconds(clock, capsys):
    with progress.progress_of(1000, 400, shown=True) as advance:
        for second in range(1, 26):
            clock[0] = second
            advance(20, f"pairing {second}")
    errors = capsys.readouterr().err
    assert errors == ("600 of 1,000 games, 20 games/s: pairing 10\n800 of 1,000 games, 20 games/s: pairing 20\n")
    assert not re.search(r"[\r\x1b]", errors)


@pytest.mark.parametrize(("done", "shown"), [(400, False), (1000, True)])
def test_nothing_is_printed_where_nothing_is_to_be_shown(done, shown, clock, capsys):
    with progress.progress_of(1000, done, shown=shown) as advance:
        clock[0] = 100.0
        advance(1, "")
    assert capsys.readouterr().err == ""
