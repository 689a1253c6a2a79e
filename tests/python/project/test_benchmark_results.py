"""The tables in benchmarks/results are what the benchmarks write today of the figures that were measured."""

import json

import billion
import bots
import compare
import data_speed
import presets
import pytest
import sweep
import worlds
from measuring import RESULTS, Row

TABLES = {
    "compare": [compare.beside_table, compare.threads_table, compare.single_table, compare.extra_table],
    "presets": [presets.table],
    "sweep": [sweep.table],
    "worlds": [worlds.table],
    "bots": [bots.games_table, bots.partners_table],
    "data": [data_speed.generation_table, data_speed.replay_table, data_speed.reading_table],
    "data_billion": [billion.table],
}
RECORDED = sorted(path for name in TABLES for path in RESULTS.glob(f"*/{name}.json"))


def read(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_page_shows_the_recorded_figures(path):
    page, recorded = read(path.with_suffix(".md")), json.loads(read(path))
    rows = [Row(**row) for row in recorded.pop("rows")]
    assert page.startswith(", ".join(f"{key} {value}" for key, value in recorded.items()))
    for table in TABLES[path.stem]:
        assert table(rows) in page


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*/training.json")), ids=lambda path: path.parent.name)
def test_the_page_of_training_shows_the_recorded_figures(path):
    for row in json.loads(read(path))["rows"]:
        assert f"| {row['median']:,.0f} |" in read(path.with_suffix(".md"))


def test_results_are_recorded():
    assert {path.stem for path in RECORDED} >= {"compare", "presets", "sweep", "bots", "data", "data_billion", "worlds"}


def test_every_recorded_file_is_checked():
    assert {path.stem for path in RESULTS.glob("*/*.json")} <= {*TABLES, "training"}
