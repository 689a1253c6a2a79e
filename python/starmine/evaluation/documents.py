"""The table of an evaluation as CSV and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from starmine._util.numbers import without_nan
from starmine.evaluation.grid import caption, method_grids, score_grid
from starmine.evaluation.matrix import table_of
from starmine.evaluation.results import Results


def table_text(results: Results) -> str:
    """A line for each cell of the table; nan and None are empty fields."""
    means = [mean for row in table_of(results).means for mean in row]
    return csv_text([asdict(mean) for mean in means])


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of equal keys as CSV; nan and None are empty fields."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(without_nan, rows))
    return text.getvalue()


def to_markdown(results: Results) -> str:
    """The table in Markdown, with one for the seeds of methods, and what they show."""
    parts = []
    for grid in [score_grid(results), *method_grids(results)]:
        lines = [[cell.replace("|", "\\|") for cell in line] for line in grid]
        lines.insert(1, ["---"] * len(grid[0]))
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join([*parts, f"{'. '.join(caption(results))}."]) + "\n"
