"""The log of a run: a row for each update, as JSON lines, in TensorBoard's format and as a progress bar."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType

from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

SCORES = ("kept", "score", "greedy")  # shown beside the progress bar
BAR = "{percentage:3.0f}%|{bar}| {elapsed}{postfix}"

Row = dict[str, float]


class Log:
    """Writes `log.jsonl` and TensorBoard's event files into a folder and shows a progress bar on standard error.

    Args:
        folder: of the run, which exists. The rows of `log.jsonl` up to `updates` are kept, later ones cut off: they
            were written after the checkpoint that the run resumes from.
        updates: updates made so far.
        steps: turns played so far.
        fraction: the spent part of the budget, where the progress bar starts.

    Attributes:
        rows: all rows, those before a resume included.
    """

    def __init__(self, folder: Path, updates: int = 0, steps: int = 0, fraction: float = 0.0) -> None:
        path = folder / "log.jsonl"
        self.rows = read_log(path, updates)
        self._file = path.open("a")
        self._writer = SummaryWriter(str(folder), purge_step=steps + 1)
        self._bar = tqdm(total=1.0, initial=min(fraction, 1.0), bar_format=BAR)

    def add(self, row: Row, fraction: float) -> None:
        """Write the row of an update and show it.

        Args:
            row: numbers by name, among them "update", "steps", "seconds" and "steps_per_second".
            fraction: the spent part of the budget.

        Raises:
            OSError: the file cannot be written.
        """
        self.rows.append(row)
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()
        for name in row.keys() - {"update", "steps", "seconds"}:
            self._writer.add_scalar(name, row[name], int(row["steps"]))
        self._bar.update(min(fraction, 1.0) - self._bar.n)
        rate = f"{row['steps_per_second']:,.0f} steps/s"
        self._bar.set_postfix_str(", ".join([f"{key} {row[key]:.2f}" for key in SCORES if key in row] + [rate]))

    def close(self) -> None:
        """Close the files and the progress bar."""
        self._bar.close()
        self._writer.close()
        self._file.close()

    def __enter__(self) -> Log:
        """The log."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close it."""
        self.close()


def read_log(path: Path, updates: int) -> list[Row]:
    """The rows of the first updates; the rest of the file, also an incomplete last line, is cut off."""
    rows: list[Row] = []
    length = 0
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else []:
        if not line.endswith(b"\n") or json.loads(line)["update"] > updates:
            os.truncate(path, length)
            break
        rows.append(json.loads(line))
        length += len(line)
    return rows
