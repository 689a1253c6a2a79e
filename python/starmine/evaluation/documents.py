"""The table of an evaluation as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from starmine._util.numbers import without_nan
from starmine.evaluation.grid import caption, method_grids, score_grid

if TYPE_CHECKING:
    from starmine.evaluation.evaluation import Evaluation

SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "§": r"\S{}",
}


def table_text(results: Evaluation) -> str:
    """A line for each cell of the table; nan and None are empty fields."""
    means = [mean for row in results.table.means for mean in row]
    return csv_text([asdict(mean) for mean in means])


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of equal keys as CSV; nan and None are empty fields."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(without_nan, rows))
    return text.getvalue()


def to_markdown(results: Evaluation) -> str:
    """The table in Markdown, with one for the seeds of methods, and what they show."""
    parts = []
    for grid in [score_grid(results), *method_grids(results)]:
        lines = [[cell.replace("|", "\\|") for cell in line] for line in grid]
        lines.insert(1, ["---"] * len(grid[0]))
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join([*parts, f"{'. '.join(caption(results))}."]) + "\n"


def to_latex(results: Evaluation) -> str:
    """The tables as `tabular`s, which need no package; what they show stands in comments before them."""
    parts = ["\n".join(f"% {line}" for line in caption(results))]
    for grid in [score_grid(results), *method_grids(results)]:
        head, *body = [" & ".join(_latex(cell) for cell in line) + r" \\" for line in grid]
        columns = "l" + "r" * (len(grid[0]) - 1)
        parts.append("\n".join([rf"\begin{{tabular}}{{{columns}}}", head, r"\hline", *body, r"\end{tabular}"]))
    return "\n\n".join(parts) + "\n"


def _latex(text: str) -> str:
    """A text with LaTeX's special characters escaped."""
    return "".join(SPECIAL.get(character, character) for character in text).replace(" ± ", r" $\pm$ ")
