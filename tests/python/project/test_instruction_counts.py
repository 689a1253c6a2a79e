"""The guard of the instruction counts: what it lets pass and what it fails."""

import json

import instructions
import pytest

TABLE = json.loads(instructions.TABLE.read_text())


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
