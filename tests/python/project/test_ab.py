"""benchmarks/ab.py: rows of two commits beside each other."""

import io
import re
import shutil
import sys
from pathlib import Path

import ab
import measuring
import pytest
from paths import ROOT

BENCHMARK = """
import sys
from pathlib import Path

import measuring
import tyro
from measuring import BenchmarkArgs, Case, run, write

wanted = tyro.cli(BenchmarkArgs, default=BenchmarkArgs(seconds=1.0)).effort
for names in ("ab", "NAMES"):
    rows = run([Case(name, 2, lambda seconds, name=name: RATES[name]) for name in names], wanted)
    print([row.median for row in rows])
"""


def commit_with(folder, rates, names):
    """A folder as `ab.built` makes it, whose benchmark has these rows and rates."""
    benchmarks = folder / "tree" / "benchmarks"
    benchmarks.mkdir(parents=True)
    (folder / "environment" / "bin").mkdir(parents=True)
    (folder / "environment" / "bin" / "python").symlink_to(sys.executable)
    (folder / "environment" / "pyvenv.cfg").write_text((Path(sys.prefix) / "pyvenv.cfg").read_text())
    (folder / "environment" / "lib").symlink_to(Path(sys.prefix) / "lib")
    shutil.copy(ROOT / "benchmarks" / "measuring.py", benchmarks)
    (benchmarks / "sweep.py").write_text(f"RATES = {rates}\n{BENCHMARK.replace('NAMES', names)}")
    return folder


def test_rows_of_both_commits_are_measured_in_turn(tmp_path):
    places = [
        commit_with(tmp_path / "old", {"a": 10, "b": 4, "c": 1}, "c"),
        commit_with(tmp_path / "new", {"a": 20, "b": 3, "d": 1}, "d"),
    ]
    rounds = ab.measured(places, "sweep", 3, 0.1, io.StringIO())
    assert {key[0]: pairs for key, pairs in rounds.items()} == {"a": [(10, 20)] * 3, "b": [(4, 3)] * 3}


def test_rows_that_were_measured_stay_when_a_benchmark_fails_later(tmp_path):
    places = [
        commit_with(tmp_path / "old", {"a": 10, "b": 4}, "c"),  # the second list has a row without a rate
        commit_with(tmp_path / "new", {"a": 20, "b": 3, "d": 1}, "d"),
    ]
    progress = io.StringIO()
    assert [key[0] for key in ab.measured(places, "sweep", 1, 0.1, progress)] == ["a", "b"]
    assert "KeyError: 'c'" in progress.getvalue()


def test_a_benchmark_that_fails_is_named(tmp_path):
    places = [commit_with(tmp_path / name, {"a": 1}, "a") for name in ("old", "new")]
    with pytest.raises(SystemExit, match="KeyError: 'b'"):
        ab.measured(places, "sweep", 1, 0.1, io.StringIO())


def test_ratios_are_taken_within_a_round():
    key = ("step", 2, 1024, "bits", 1, "{}")
    rounds = {key: [(10.0, 20.0), (100.0, 210.0), (1.0, 2.5), (1.0, 9.0), (1.0, 1.0)]}
    assert ab.beside(rounds) == [(key, 1.0, 9.0, 2.1, 2.0, 2.5)]
    text = ab.text_of("compare", ["x", "y"], rounds)
    assert "| step | 2 | 1024 | bits | 1 | 1 | 9 | 2.100 | 2.000 to 2.500 |" in text


def test_every_benchmark_that_writes_a_table_can_be_compared():
    programs = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks").glob("*.py")}
    writing = {name for name, text in programs.items() if "\n    write(" in text}
    # The table of `data_speed.py --billion` is not compared.
    assert set(ab.TABLES) == {name.removesuffix("_speed") for name in writing - {"billion"}}


def test_a_table_that_a_commit_lacks_is_left_out(tmp_path):
    for commit in ("old", "new"):
        (tmp_path / commit / "tree" / "benchmarks").mkdir(parents=True)
    (tmp_path / "new" / "tree" / "benchmarks" / "sweep.py").touch()
    assert ab.lacking("sweep", [tmp_path / "old", tmp_path / "new"]) == ["old"]
    assert ab.lacking("sweep", [tmp_path / "new"]) == []


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
