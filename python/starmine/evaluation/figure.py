"""The results of an evaluation as a heat map."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from starmine._core import StarmineError
from starmine._util.durable import replace_file
from starmine.evaluation.pairing import Pairing
from starmine.evaluation.report import CHEATS_NOTE, marked, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

    from starmine.evaluation.evaluation import Evaluation

LONGEST_NAME = 20
# Up to this many entrants, cells are large enough for the standard error.
ROOM_FOR_ERRORS = 8
LARGE_SIDE, SMALL_SIDE = 0.95, 0.6  # of a cell, in inches
LETTER = 0.085  # width of a letter, in inches


def draw(results: Evaluation, path: Path) -> None:
    """Write the heat map of the mean scores as a PNG file.

    Raises:
        StarmineError: matplotlib is missing.
        OSError: the file cannot be written; the earlier one is still there.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise StarmineError(
            "the figure needs matplotlib, which is not installed: expected it (pip install 'starmine[eval]')"
        ) from error
    count = len(results.names)
    side = LARGE_SIDE if count <= ROOM_FOR_ERRORS else SMALL_SIDE
    # At least as wide as the title.
    size = (max(5.8, 2.9 + side * count), max(3.4, 2.0 + side * count))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(results.scores, vmin=0, vmax=results.settings.variant.max_score)
    label_axes(results, axes, side)
    for row, player in enumerate(results.names):
        for column, partner in enumerate(results.names):
            write_cell(axes, image, row, column, results.pairing(player, partner), count <= ROOM_FOR_ERRORS)
    figure.colorbar(image, ax=axes, label="mean score", shrink=0.9)
    figure.suptitle(title(results), fontsize=11)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150, bbox_inches="tight", pad_inches=0.15)
    replace_file(path, picture.getvalue())


def title(results: Evaluation) -> str:
    """Variant, players and games, on two lines, and a third one where an entrant sees its own hand."""
    settings = results.settings
    games = f"{settings.games:,} games a pairing, decks of seed {settings.seed}"
    note = f"\n{CHEATS_NOTE}" if settings.cheaters else ""
    return f"Cross-play: {shorten(settings.described, 64)}\n{games}{note}"


def label_axes(results: Evaluation, axes: Axes, side: float) -> None:
    """Names on both axes, slanted where they are wider than a cell, and white lines between the cells."""
    names = marked(results, LONGEST_NAME)
    if max(len(name) for name in names) * LETTER < side:
        axes.set_xticks(range(len(names)), names)
    else:
        axes.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    two = results.settings.variant.players == 2
    axes.set_ylabel("seat 0" if two else "one seat, each in turn")
    axes.set_xlabel("seat 1" if two else "all other seats")
    borders = np.arange(1, len(names)) - 0.5
    axes.set_xticks(borders, minor=True)
    axes.set_yticks(borders, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


def write_cell(axes: Axes, image: AxesImage, row: int, column: int, pairing: Pairing, has_room: bool) -> None:
    """The mean score, its standard error if there is room, and the number of failed games."""
    if math.isnan(pairing.score):
        lines, color = [] if pairing.failed else ["-"], "black"
    else:
        red, green, blue, _ = image.to_rgba(np.array([pairing.score]))[0]
        lines = [f"{pairing.score:.2f}"]
        color = "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
    if has_room and pairing.standard_error is not None:
        lines.append(f"±{pairing.standard_error:.2f}")
    if pairing.failed:
        lines += [f"{pairing.failed:,} failed"] if has_room else [f"{pairing.failed:,}", "failed"]
    size = 9.5 if has_room else 9 - min(2, len(lines) - 1)
    axes.text(column, row, "\n".join(lines), ha="center", va="center", color=color, fontsize=size)
