"""What a training run is made of: `config.json` in its output folder."""

from __future__ import annotations

import inspect
import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from starmine._util.durable import replace_file
from starmine._util.keywords import check_names
from starmine.training.checkpoint import OWN, DataclassInstance, digest, error_line
from starmine.training.distributed import process_count
from starmine.training.script import TrainingError

CONFIG = "config.json"
ONCE = ("begun", "start_weights", "resumed")  # entries that a resumed run does not change
SECONDS = 10  # that git may take

Entries = dict[str, Any]


def describe(program: str, args: DataclassInstance, learner: Any, resolved: Mapping[str, Any]) -> Entries:
    """What a run is made of, as JSON can represent it.

    The commit is that of the clone with the learner's source file. `resolved` has the values that the script chose for
    arguments that leave the choice to it.

    Raises:
        UnknownNameError: there is no such argument.
    """
    arguments = asdict(args)
    check_names("resolved", resolved, arguments)
    if "num_threads" in arguments:
        arguments["num_threads"] = torch.get_num_threads()
    commit, uncommitted = commit_of(source_folder(learner))
    return {
        "program": program,
        "command": sys.orig_argv,
        "arguments": plain(arguments | dict(resolved)),
        "starmine": version("starmine"),
        "commit": commit,
        "uncommitted_changes": uncommitted,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "processor": processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_initialized() else None,  # type: ignore[no-untyped-call]
        "processes": process_count(),
    }


def start_weights(state: Mapping[str, Any]) -> str:
    """The SHA-256 checksum of all tensors of a learner's state, except those of this process alone."""
    return digest({name: value for name, value in state.items() if name != OWN})


def begun(described: Entries, start: str | None) -> Entries:
    """The contents of the file of a run that begins now."""
    return {**described, "start_weights": start, "begun": now(), "resumed": []}


def resumed(path: Path, described: Entries, updates: int) -> Entries:
    """The contents of the file of a run that goes on: what they were, and at the end what has changed.

    Args:
        path: of the file. Where there is none, the contents are of a run that begins now, with a word to the user.
        described: what `describe` returns.
        updates: completed updates.

    Raises:
        OSError: the file cannot be read.
        TrainingError: it is not the configuration of a run.
    """
    try:
        stored: Entries = json.loads(path.read_text(encoding="utf-8"))
        before = latest(stored)
        changed = changes(before, described)
        if "arguments" in changed:
            changed["arguments"] = changes(before["arguments"], described["arguments"])
    except FileNotFoundError:
        print(f"{path} was missing: the new one describes the run from here")
        stored, changed = begun(described, None), {}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        what = f"{path} is not the configuration of a run ({error_line(error)})"
        raise TrainingError(f"{what}; to go on without it, move it away") from error
    changed.pop("command", None)
    entry = {"update": updates, "begun": now(), "command": described["command"], "changed": changed}
    return stored | {"resumed": [*stored["resumed"], entry]}


def write(path: Path, contents: Entries) -> None:
    """Replace the file as a whole.

    Raises:
        OSError: it cannot be written; the earlier one is still there.
    """
    replace_file(path, f"{json.dumps(contents, indent=1, allow_nan=False)}\n".encode())


def latest(contents: Entries) -> Entries:
    """What the run was made of when it was last begun or resumed."""
    entries = {name: value for name, value in contents.items() if name not in ONCE}
    for entry in contents["resumed"]:
        arguments = entries["arguments"] | entry["changed"].get("arguments", {})
        entries = entries | entry["changed"] | {"arguments": arguments}
    return entries


def changes(before: Entries, after: Entries) -> Entries:
    """The entries that have another value, or are new."""
    return {name: value for name, value in after.items() if name not in before or before[name] != value}


def plain(value: Any) -> Any:
    """A value as JSON can represent it: numbers that are not finite, paths and other objects as text."""
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


def now() -> str:
    """The time, as ISO 8601 has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def source_folder(learner: Any) -> Path:
    """The folder of a learner's source file; the current one where it has none."""
    try:
        return Path(inspect.getfile(type(learner))).resolve().parent
    except (TypeError, OSError):
        return Path.cwd()


@cache
def commit_of(folder: Path) -> tuple[str | None, bool | None]:
    """The commit of the git clone that a folder belongs to, and whether files of the clone differ from it.

    Both are None where there is no clone, no commit or no git.
    """
    line = ["git", "-C", str(folder), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, env=environment)
    except (OSError, subprocess.SubprocessError):
        return None, None
    commit = done.stdout.strip()
    if done.returncode != 0 or not commit:
        return None, None
    return commit.removesuffix("-dirty"), commit.endswith("-dirty")
