"""The output folder of a training run: one run at a time, and earlier runs kept beside it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from starmine._util.durable import LOCK, FolderLock, sync_folder
from starmine.training.distributed import in_first_process
from starmine.training.script import TrainingError

CHECKPOINT, PREVIOUS = "checkpoint.pt", "checkpoint.previous.pt"
LOG = "log.jsonl"
COLLECTED = ".earlier"  # holds the entries of an earlier run while they are moved aside


def claim_folder(folder: Path, resume: bool) -> FolderLock | None:
    """Lock the output folder of a run and prepare it. Every process calls this; the first one holds the lock.

    A new run makes the folder, and moves what an earlier run left in it to NAME.1, NAME.2, ... The lock file stays.

    Returns:
        The lock, or None in all other processes and where there is no folder to resume from.

    Raises:
        TrainingError: another process writes to the folder, or it cannot be written. Nothing has been moved.
    """
    try:
        return in_first_process(lambda: prepare_folder(folder, resume))
    except OSError as error:
        raise TrainingError(f"{folder} cannot be the output folder: {error}") from error


def prepare_folder(folder: Path, resume: bool) -> FolderLock | None:
    """Lock the folder of a new run, without what an earlier one left, or of a run that goes on."""
    if resume and not folder.exists():
        return None
    if not resume:
        folder.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(folder)
    try:
        if resume:
            undo_move(folder)
        else:
            move_aside(folder)
    except BaseException:
        lock.release()
        raise
    return lock


def move_aside(folder: Path) -> None:
    """Move the entries of an earlier run into a new folder beside this one, except the lock.

    They go one by one into a folder inside, which is moved at last, so that an interrupted move is completed or undone
    by the next run.

    Raises:
        OSError: they cannot be moved; they are where they were.
    """
    collected = folder / COLLECTED
    if not any((folder / name).exists() for name in (CHECKPOINT, PREVIOUS, COLLECTED)):
        return
    try:
        collected.mkdir(exist_ok=True)
        for name in run_entries(folder):
            (folder / name).rename(collected / name)
        number = 1
        while (aside := sibling(folder, f".{number}")).exists():
            number += 1
        collected.rename(aside)
    except OSError:
        with suppress(OSError):
            undo_move(folder)
        raise
    sync_folder(aside.parent)
    print(f"the earlier run in {folder} is kept in {aside}")


def undo_move(folder: Path) -> None:
    """Move back the entries of a move that was interrupted."""
    collected = folder / COLLECTED
    if collected.exists():
        for name in reversed(run_entries(collected)):
            (collected / name).rename(folder / name)
        collected.rmdir()


def run_entries(folder: Path) -> list[str]:
    """The names of a folder's entries, except those of the lock and the move; the log and the checkpoints are last."""
    last = [LOG, PREVIOUS, CHECKPOINT]
    names = sorted(entry.name for entry in folder.iterdir() if entry.name not in (LOCK, COLLECTED, *last))
    return names + [name for name in last if (folder / name).exists()]


def sibling(folder: Path, suffix: str) -> Path:
    """The folder's path with a suffix after its name, also where the path itself has no name, such as "."."""
    named = folder if folder.name not in ("", "..") else folder.resolve()
    return named.with_name(named.name + suffix)
