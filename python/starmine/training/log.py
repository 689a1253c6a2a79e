"""The log of a run: a row for each update, as JSON lines, in TensorBoard's format, as a progress bar and a picture."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from operator import mul
from pathlib import Path

from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from starmine._util.durable import AppendedFile, replace_file
from starmine._util.progress import Lines
from starmine.games.games import Games

LOG = "log.jsonl"
SCORES = {  # shown next to the progress bar
    "kept": "mean score of the training games if lost games kept their points",
    "score": "with lost games as 0",
    "greedy": "of an evaluation, with likeliest moves and lost games as 0",
}
BAR = "{percentage:3.0f}%|{bar}| {elapsed}{postfix}"
# Column of the log: label, colour and style of its line.
LINES = {
    "kept": ("in training, points of lost games kept", "tab:blue", "-"),
    "score": ("in training, lost games count zero", "tab:orange", "-"),
    "greedy": ("greedy, lost games count zero", "black", "o-"),
}

Row = dict[str, float]


class Log:
    """Writes `log.jsonl` and TensorBoard's event files into a folder and shows the progress on standard error.

    Args:
        folder: of the run, which exists. The rows of `log.jsonl` up to `updates` are kept, later ones cut off: they
            were written after the checkpoint that the run resumes from.
        updates: updates made so far.
        steps: turns played so far.
        fraction: the spent part of the budget, where the progress bar starts.

    Attributes:
        rows: all rows, those before a resume included.

    Raises:
        OSError: a file cannot be opened.
        ValueError, KeyError: a line of `log.jsonl` is no row.
    """

    def __init__(self, folder: Path, updates: int = 0, steps: int = 0, fraction: float = 0.0) -> None:
        self.rows, length = read_log(folder / LOG, updates)
        self._file = AppendedFile(folder / LOG, length)
        try:
            self._events = SummaryWriter(folder, purge_step=steps + 1)
        except OSError:
            self._file.close()
            raise
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._bar = tqdm(total=1.0, initial=min(fraction, 1.0), bar_format=BAR, disable=not self._is_terminal)
        self._lines = Lines(wait=0.0)
        self._is_explained = False

    def add(self, row: Row, fraction: float) -> None:
        """Write the row of an update, which then is on the disk, and show it.

        Args:
            row: numbers by name, among them "update", "steps", "seconds" and "steps_per_second".
            fraction: the spent part of the budget.

        Raises:
            OSError: a file cannot be written.
        """
        self._file.write((json.dumps(row) + "\n").encode())
        self._file.sync()
        self.rows.append(row)
        for name, value in row.items():
            if name not in ("update", "steps", "seconds"):
                self._events.add_scalar(name, value, int(row["steps"]))
        if not self._is_explained and sys.stderr is not None:
            shown = [name for name in SCORES if name in row or name == "greedy"]
            tqdm.write("; ".join(f"{name}: {SCORES[name]}" for name in shown), file=sys.stderr)
            self._is_explained = True
        rate = f"{row['steps_per_second']:,.0f} turns/s"
        measures = ", ".join([f"{key} {row[key]:.2f}" for key in SCORES if key in row] + [rate])
        if self._is_terminal:
            self._bar.update(min(fraction, 1.0) - self._bar.n)
            self._bar.set_postfix_str(measures)
        elif sys.stderr is not None:
            self._lines.show(f"{min(fraction, 1.0):.0%} of the budget, {row['steps']:,.0f} turns: {measures}")

    def close(self) -> None:
        """Close the files and the progress bar."""
        self._bar.close()
        with suppress(OSError):  # of a full disk: the rows are in the other file
            self._events.close()
        self._file.close()

    def __enter__(self) -> Log:
        """The log."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def read_log(path: Path, updates: int) -> tuple[list[Row], int]:
    """The rows of the first updates, and the length of their lines in bytes; an incomplete last line is left out."""
    rows: list[Row] = []
    length = 0
    for line in path.read_bytes().splitlines(keepends=True) if updates and path.exists() else []:
        if not line.endswith(b"\n"):
            break
        row = json.loads(line)
        if row["update"] > updates:
            break
        rows.append(row)
        length += len(line)
    return rows, length


def draw_learning_curve(path: Path, rows: Sequence[Row], title: str, random: Games) -> None:
    """Draw mean scores over turns and training time, by the rows of a log, as a PNG file.

    The games of a random policy, in which a lost game scores 0, are drawn as dotted lines.

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
