"""The picture of a run."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from operator import mul
from pathlib import Path

from starmine._util.durable import replace_file
from starmine.games.results import Games
from starmine.training.log import Row

# Column of the log: label, colour and style of its line.
LINES = {
    "kept": ("in training, points of lost games kept", "tab:blue", "-"),
    "score": ("in training, lost games count zero", "tab:orange", "-"),
    "greedy": ("greedy, lost games count zero", "black", "o-"),
}


def draw_learning_curve(path: Path, rows: Sequence[Row], title: str, random: Games) -> None:
    """Draw mean scores over turns and training time as a PNG file.

    Args:
        path: of the file.
        rows: of the log, at least one.
        title: of the picture.
        random: the games of a random policy, in which a lost game scores 0, drawn as dotted lines.

    Raises:
        OSError: the file cannot be written; the earlier one is still there.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for key, (label, color, style) in LINES.items():
        points = [(row["steps"], row[key]) for row in rows if key in row]
        if points:
            axes.plot([x for x, _ in points], [y for _, y in points], style, color=color, label=label)
    axes.axhline(random.fireworks.mean(), color="tab:blue", linestyle=":", label="random policy, points kept")
    axes.axhline(random.mean, color="tab:orange", linestyle=":", label="random policy")
    axes.set(xlabel="environment steps (turns)", ylabel="mean score", ylim=(-0.2, None))
    accuracy = [(row["steps"], row["held_out_accuracy"]) for row in rows if "held_out_accuracy" in row]
    if accuracy:
        right = axes.twinx()
        right.plot(*zip(*accuracy, strict=True), "s--", color="tab:green")
        right.set_ylabel("accuracy on games that were held out (green)", color="tab:green")
    minutes_per_step = rows[-1]["seconds"] / 60 / rows[-1]["steps"]
    functions = (partial(mul, minutes_per_step), partial(mul, 1 / minutes_per_step))
    axes.secondary_xaxis("top", functions=functions).set_xlabel("training time (minutes)")
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.legend()
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    replace_file(path, picture.getvalue())
