"""benchmarks/ab.py: rows of two commits beside each other."""

import re

import ab
import measuring
import pytest
from paths import ROOT

A, B, C = (("step", 2, 1024, "bits", 1, (("table", name),)) for name in "abc")


def test_ratios_are_taken_within_a_round():
    rounds = [({A: 10.0, B: 1.0}, {A: 20.0, C: 1.0}), ({A: 100.0, B: 1.0}, {A: 210.0, B: 1.0}), ({A: 1.0}, {A: 2.5})]
    assert ab.beside(rounds) == [(A, 10.0, 20.0, 2.1, 2.0, 2.5)]
    text = ab.text_of("compare", ["x", "y"], rounds)
    assert "| step | 2 | 1024 | bits | 1 | 10 | 20 | 2.100 | 2.000 to 2.500 |" in text


def test_rows_that_differ_in_anything_but_their_figures_are_told_apart():
    row = {"what": "step", "players": 2, "games": 1024, "dtype": "bits", "threads": 1, "more": {"simd": None}}
    assert ab.key_of(row | {"median": 1.0}) == ab.key_of(row | {"median": 2.0})
    assert ab.key_of(row) != ab.key_of(row | {"more": {"simd": "avx2"}})


def test_every_benchmark_that_writes_a_table_can_be_compared():
    programs = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks").glob("*.py")}
    writing = {name for name, text in programs.items() if "\n    write(" in text}
    # The table of `data_speed.py --billion` is not compared.
    assert set(ab.TABLES) == {name.removesuffix("_speed") for name in writing - {"billion"}}


def test_a_table_that_a_commit_lacks_is_left_out(tmp_path):
    for commit in ("old", "new"):
        (tmp_path / commit / "tree" / "benchmarks").mkdir(parents=True)
    (tmp_path / "new" / "tree" / "benchmarks" / "search.py").touch()
    assert ab.lacking("search", [tmp_path / "old", tmp_path / "new"]) == ["old"]
    assert ab.lacking("search", [tmp_path / "new"]) == []


def test_a_revision_that_is_none_is_refused():
    with pytest.raises(SystemExit, match="'no-such-name' is no commit of this repository"):
        ab.commit_of("no-such-name")


def test_results_carry_version_commit_and_machine_class():
    facts = measuring.facts(measuring.Effort(1, 0.1, measuring.SHORT_LOOK, quick=True))
    assert facts["starmine"]
    assert facts["machine class"] == measuring.machine_class()
    assert facts["commit"]


def test_every_version_of_the_changelog_has_its_row_of_speeds():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    history = (ROOT / "benchmarks" / "HISTORY.md").read_text(encoding="utf-8").split("## Releases", 1)[1]
    versions = re.findall(r"^## \[(\d\S*)\]", changelog, re.MULTILINE)
    assert versions
    assert set(versions) == set(re.findall(r"^\| (\d\S*) \|", history, re.MULTILINE))
