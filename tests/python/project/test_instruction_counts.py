"""The guard of the instruction counts: what it lets pass, what it tells and what it fails."""

import json

import instructions
import pytest

TABLE = json.loads(instructions.TABLE.read_text())


def test_the_recorded_table_has_every_workload():
    assert list(TABLE["counts"]) == instructions.workloads(instructions.COUNTED_SETS)
    assert TABLE["steps"] == instructions.STEPS
    assert min(TABLE["counts"].values()) > TABLE["steps"]


@pytest.mark.parametrize("change", [0.98, 1.0, 1.02])
def test_a_small_change_passes(change):
    counted = {name: round(count * change) for name, count in TABLE["counts"].items()}
    assert instructions.compare(TABLE["counts"], counted) == instructions.Verdict()


def test_a_workload_that_grew_fails(capsys):
    counted = {**TABLE["counts"], "avx2 bits 2": round(TABLE["counts"]["avx2 bits 2"] * 1.05)}
    verdict = instructions.compare(TABLE["counts"], counted)
    assert len(verdict.failures) == 1
    assert verdict.failures[0].startswith("avx2 bits 2: ")
    assert "(+5.00%)" in verdict.failures[0]
    assert not verdict.notes
    assert instructions.judge(TABLE["counts"], counted) == 1
    assert "`make instructions` records the table anew" in capsys.readouterr().err


def test_a_workload_that_shrank_is_told(capsys):
    counted = {**TABLE["counts"], "avx2 bits 2": round(TABLE["counts"]["avx2 bits 2"] * 0.95)}
    assert instructions.judge(TABLE["counts"], counted) == 0
    printed = capsys.readouterr().out
    assert "(-5.00%)" in printed
    assert "`make instructions` records the table anew" in printed


def test_an_unknown_workload_fails():
    assert instructions.compare({}, {"avx2 bits 2": 1}).failures


def test_another_compiler_is_skipped():
    ours = {"rustc": "rustc 1.0.0", "host": "x86_64-unknown-linux-gnu"}
    assert instructions.reason_to_skip(ours, ours) is None
    reason = instructions.reason_to_skip({**ours, "rustc": "rustc 1.1.0"}, ours)
    assert reason == "the table is of rustc 1.1.0, this is rustc 1.0.0"


def test_the_count_is_read():
    assert instructions.total("events: Ir\nsummary: 12\n\ntotals: 12\n") == 12


@pytest.mark.parametrize("text", ["", "totals: 0\n"])
def test_a_measure_of_nothing_fails(text):
    with pytest.raises(SystemExit, match="counted nothing"):
        instructions.total(text)
