"""The results of an evaluation as a heat map."""

from __future__ import annotations

import io
import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from starmine._core import StarmineError
from starmine._util.durable import replace_file
from starmine.evaluation.matrix import table_of
from starmine.evaluation.report import caption, largest_error, marked, mean_text, notes
from starmine.games.scores import with_error

if TYPE_CHECKING:
    from starmine.evaluation.evaluation import Evaluation

LONGEST_LINE = 72  # of the title, in letters
ROOM_FOR_ERRORS = 8  # rows or columns up to which cells have standard errors
CELL = 0.95  # side of a cell, in inches


def draw(results: Evaluation, path: Path) -> None:
    """Write the heat map of the table as a PNG file.

    Raises:
        StarmineError: the path does not end in ".png".
        ImportError: matplotlib is missing.
        OSError: a file cannot be written; the earlier one is still there.
    """
    if path.suffix != ".png":
        raise StarmineError(f"path={str(path)!r} is not allowed: expected a name that ends in .png")
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise ImportError("the figure needs matplotlib: install starmine with the extra eval") from missing
    table, settings = table_of(results), results.settings
    rows, columns = len(table.rows), len(table.columns)
    has_room = max(rows, columns) <= ROOM_FOR_ERRORS
    figure = Figure(figsize=(2.9 + CELL * max(columns, 3), 2.0 + CELL * max(rows, 2)), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(
        np.array([[mean.score for mean in row] for row in table.means]), vmin=0, vmax=settings.variant.max_score
    )
    axes.set_xticks(range(columns), marked(results, table.columns), rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(rows), marked(results, table.rows))
    two, square = settings.variant.players == 2, not settings.partners
    axes.set_ylabel(("seat 0" if two else "one seat, each in turn") if square else "player")
    axes.set_xlabel(("seat 1" if two else "all other seats") if square else "partner")
    for row, means in enumerate(table.means):
        for column, mean in enumerate(means):
            is_light = math.isnan(mean.score) or mean.score > 0.6 * settings.variant.max_score
            text = mean_text(mean).replace(" ± ", "\n±") if has_room else with_error(mean.score, None, digits=2)
            color = "black" if is_light else "white"
            axes.text(column, row, text, ha="center", va="center", color=color, fontsize=9)
    figure.colorbar(image, ax=axes, label="mean score", shrink=0.9)
    figure.suptitle(title(results, has_room), fontsize=11)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150, bbox_inches="tight", pad_inches=0.15)
    replace_file(path, picture.getvalue())


def title(results: Evaluation, has_room: bool) -> str:
    """What the table shows, then what its marks mean. Without room for standard errors, a line has the largest."""
    lines = [caption(results)[0], *([] if has_room else largest_error(results)), *notes(results)]
    return "\n".join(textwrap.fill(line, LONGEST_LINE) for line in lines)
