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
from starmine.evaluation.grid import caption, largest_error, marked, notes, shorten
from starmine.evaluation.matrix import Mean, table_of
from starmine.evaluation.results import Results
from starmine.games.results import with_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

LONGEST_NAME, LONGEST_LINE = 20, 72
# Up to this many players, cells are large enough for the standard error.
ROOM_FOR_ERRORS = 8
LARGE_SIDE, SMALL_SIDE = 0.95, 0.6  # of a cell, in inches
LETTER = 0.085  # width of a letter, in inches


def draw(results: Results, path: Path) -> None:
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
        raise ImportError("the figure needs matplotlib: pip install 'starmine[eval]'") from missing
    table = table_of(results)
    rows, columns = len(table.rows), len(table.columns)
    has_room = max(rows, columns) <= ROOM_FOR_ERRORS
    side = LARGE_SIDE if has_room else SMALL_SIDE
    # At least as wide as the title.
    size = (max(5.8, 2.9 + side * columns), max(3.4, 2.0 + side * rows))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    scores = np.array([[mean.score for mean in row] for row in table.means])
    image = axes.imshow(scores, vmin=0, vmax=results.settings.variant.max_score)
    label_axes(results, axes, side)
    for row, means in enumerate(table.means):
        for column, mean in enumerate(means):
            write_cell(axes, image, row, column, mean, has_room)
    figure.colorbar(image, ax=axes, label="mean score", shrink=0.9)
    figure.suptitle(title(results, has_room), fontsize=11)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150, bbox_inches="tight", pad_inches=0.15)
    replace_file(path, picture.getvalue())


def title(results: Results, has_room: bool) -> str:
    """The first sentence of the caption, wrapped to the figure's width. Then the notes on marks, one line each.

    Without room for the standard errors in the cells, a line before the notes has the largest.
    """
    lines = textwrap.wrap(caption(results)[0], LONGEST_LINE)
    lines += [] if has_room else largest_error(results)
    return "\n".join([*lines, *(shorten(note, LONGEST_LINE) for note in notes(results))])


def label_axes(results: Results, axes: Axes, side: float) -> None:
    """Names on both axes, slanted where they are wider than a cell, and white lines between the cells."""
    table = table_of(results)
    rows, columns = (marked(results, names, LONGEST_NAME) for names in (table.rows, table.columns))
    if max(len(name) for name in columns) * LETTER < side:
        axes.set_xticks(range(len(columns)), columns)
    else:
        axes.set_xticks(range(len(columns)), columns, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    two = results.settings.variant.players == 2
    square = not results.settings.partners
    axes.set_ylabel(("seat 0" if two else "one seat, each in turn") if square else "player")
    axes.set_xlabel(("seat 1" if two else "all other seats") if square else "partner")
    axes.set_xticks(np.arange(1, len(columns)) - 0.5, minor=True)
    axes.set_yticks(np.arange(1, len(rows)) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


def write_cell(axes: Axes, image: AxesImage, row: int, column: int, mean: Mean, has_room: bool) -> None:
    """The mean score, and its standard error in a second line if there is room."""
    color = "black"
    if not math.isnan(mean.score):
        red, green, blue, _ = image.to_rgba(np.array([mean.score]))[0]
        color = "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
    text = with_error(mean.score, mean.shown_error if has_room else None, digits=2).replace(" ± ", "\n±") + mean.marks
    axes.text(column, row, text, ha="center", va="center", color=color, fontsize=9.5 if has_room else 9)
