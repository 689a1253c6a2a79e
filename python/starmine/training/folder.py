"""The output folder of a run: one run a folder, one process that writes to it, and what the run is made of."""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from starmine._util.durable import FolderLock, remove_parts, replace_file
from starmine.training.distributed import process_count
from starmine.training.script import ScriptArgs, TrainingError, plain

CHECKPOINT = "checkpoint.pt"
CONFIG = "config.json"


def lock_folder(folder: Path, resume: bool) -> FolderLock:
    """Lock the folder of a new run or of one that goes on, and remove the parts of files that a killed run left.

    Raises:
        TrainingError: a new run finds the checkpoint of another one, or a run that goes on finds none. Nothing has been
            changed.
        OSError: another process writes to the folder, or it cannot be written.
    """
    if resume and not (folder / CHECKPOINT).exists():
        raise TrainingError(f"{folder / CHECKPOINT} does not exist: expected the checkpoint of the run to resume")
    folder.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(folder)
    if not resume and (folder / CHECKPOINT).exists():
        lock.release()
        raise TrainingError(
            f"{folder} holds a run: --resume goes on with it; a new run needs another folder (--out), or this one "
            "removed"
        )
    remove_parts(folder)
    return lock


def write_config(folder: Path, program: str, args: ScriptArgs, updates: int) -> None:
    """Write what a run is made of. A run that goes on is appended as an entry of "resumed".

    Args:
        folder: of the run.
        program: the script's name.
        args: its arguments.
        updates: completed updates; 0 for a run that begins.

    Raises:
        OSError: the file cannot be read or written; the earlier one is still there.
        ValueError: it is no JSON.
    """
    cuda = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    start: dict[str, Any] = {
        "program": program,
        "command": sys.orig_argv,
        "arguments": plain(asdict(args)),
        "starmine": version("starmine"),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "gpu": torch.cuda.get_device_name() if cuda else None,
        "threads": torch.get_num_threads(),
        "processes": process_count(),
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    contents = start | {"resumed": []}
    if updates:
        contents = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        contents["resumed"].append({"update": updates} | start)
    replace_file(folder / CONFIG, f"{json.dumps(contents, indent=1)}\n".encode())
