"""The log of a run: a row for each update, as JSON lines, in TensorBoard's format and as a progress bar."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType

from tqdm import tqdm

from starmine._util.durable import AppendedFile, DamagedFileError
from starmine.training.events import EventFile
from starmine.training.folder import LOG

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

    Raises:
        DamagedFileError: a line of `log.jsonl` is no row.
        OSError: a file cannot be opened.
    """

    def __init__(self, folder: Path, updates: int = 0, steps: int = 0, fraction: float = 0.0) -> None:
        self.rows, length = read_log(folder / LOG, updates)
        self._file = AppendedFile(folder / LOG, length)
        try:
            self._events = EventFile(folder, purge_step=steps + 1)
        except OSError:
            self._file.close()
            raise
        self._bar = tqdm(total=1.0, initial=min(fraction, 1.0), bar_format=BAR)

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
        measures = {name: value for name, value in row.items() if name not in ("update", "steps", "seconds")}
        self._events.add(measures, int(row["steps"]))
        self._bar.update(min(fraction, 1.0) - self._bar.n)
        rate = f"{row['steps_per_second']:,.0f} steps/s"
        self._bar.set_postfix_str(", ".join([f"{key} {row[key]:.2f}" for key in SCORES if key in row] + [rate]))

    def close(self) -> None:
        """Close the files and the progress bar."""
        self._bar.close()
        self._events.close()
        self._file.close()

    def __enter__(self) -> Log:
        """The log."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close it."""
        self.close()


def read_log(path: Path, updates: int) -> tuple[list[Row], int]:
    """The rows of the first updates, and the length of their lines in bytes; an incomplete last line is left out.

    Raises:
        DamagedFileError: a line is no row.
        OSError: the file cannot be read.
    """
    rows: list[Row] = []
    length = 0
    lines = path.read_bytes().splitlines(keepends=True) if updates and path.exists() else []
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            break
        try:
            row = json.loads(line)
            if row["update"] > updates:
                break
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedFileError(
                f'{path}, line {number}, is no row of a log: expected JSON with an "update"'
            ) from error
        rows.append(row)
        length += len(line)
    return rows, length
