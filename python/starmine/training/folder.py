"""The output folder of a training run: one run a folder, and one process that writes to it."""

from __future__ import annotations

from pathlib import Path

from starmine._util.durable import FolderLock, remove_parts
from starmine.training.distributed import in_first_process
from starmine.training.script import TrainingError

CHECKPOINT = "checkpoint.pt"
LOG = "log.jsonl"


def claim_folder(folder: Path, resume: bool) -> FolderLock | None:
    """Lock the output folder of a run. Every process calls this; the first one holds the lock.

    A new run makes the folder where there is none.

    Returns:
        The lock, or None in all other processes and where there is no folder to resume from.

    Raises:
        TrainingError: another process writes to the folder, it cannot be written, or a new run finds the checkpoint of
            another one. Nothing has been changed.
    """
    try:
        return in_first_process(lambda: lock_folder(folder, resume))
    except OSError as error:
        raise TrainingError(f"{folder} cannot be the output folder: {error}") from error


def lock_folder(folder: Path, resume: bool) -> FolderLock | None:
    """Lock the folder of a new run or of one that goes on, and remove the parts of files that a killed run left."""
    if resume and not folder.exists():
        return None
    if not resume:
        folder.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(folder)
    try:
        if not resume and (folder / CHECKPOINT).exists():
            raise TrainingError(
                f"{folder} holds a run: --resume goes on with it; a new run needs another folder (--out), or this one "
                "removed"
            )
        remove_parts(folder)
    except BaseException:
        lock.release()
        raise
    return lock
