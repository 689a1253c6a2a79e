"""Checkpoints: everything that a stopped run needs to go on to the same bits."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import Field, asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor

from starmine.training.distributed import all_gather, process_count, rank

FORMAT = 3
FREE = ("out", "resume", "minutes", "total_steps")  # may change from one start to the next
OWN = "process"  # the entry of a learner's state that each process has of its own


class DataclassInstance(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class Progress(NamedTuple):
    """How far a run has come.

    Attributes:
        steps: turns played, in all processes.
        updates: completed updates.
        seconds: training time.
    """

    steps: int
    updates: int
    seconds: float


@dataclass(frozen=True)
class Checkpoint:
    """What `save_checkpoint` wrote.

    Attributes:
        progress: of the run.
        state: the learner's `state_dict()`, with the "process" entry of this process.
        random: the states of torch's random number generators in this process: of the CPU, and of the GPU or None.
    """

    progress: Progress
    state: dict[str, Any]
    random: tuple[Tensor, Tensor | None]

    def restore_random(self) -> None:
        """Put torch's random number generators into the state that they were saved in."""
        cpu, cuda = self.random
        torch.set_rng_state(cpu)
        if cuda is not None:
            torch.cuda.set_rng_state(cuda)


def save_checkpoint(
    path: Path, program: str, args: DataclassInstance, progress: Progress, state: dict[str, Any]
) -> None:
    """Replace the checkpoint. Every process calls this; the first one writes.

    Args:
        path: of the file.
        program: the script's name, which `load_checkpoint` compares.
        args: the script's arguments.
        progress: of the run.
        state: the learner's `state_dict()`. The entry "process" is saved for every process; all else must be equal in
            all processes and is saved once.

    Raises:
        SystemExit: the processes' states differ.
        OSError: the file cannot be written; the earlier one is still there.
    """
    shared = {name: value for name, value in state.items() if name != OWN}
    cuda = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]
    own = {"random": (torch.get_rng_state(), cuda), "digest": digest(shared), "state": state.get(OWN)}
    processes = all_gather(own)
    if len({process["digest"] for process in processes}) > 1:
        raise SystemExit(f"update {progress.updates}: the processes' weights differ; {path} is of the update before")
    if rank() > 0:
        return
    data = io.BytesIO()
    contents = {
        "identity": identity(program),
        "args": {name: str(value) if isinstance(value, Path) else value for name, value in asdict(args).items()},
        "progress": tuple(progress),
        "state": shared,
        "processes": processes,
    }
    torch.save(contents, data)
    write_file(path, data.getbuffer())


def load_checkpoint(path: Path, program: str, args: DataclassInstance, fixed: Sequence[str] = ()) -> Checkpoint:
    """Read the checkpoint of a run that goes on, after a check that it fits the script and its arguments.

    Arguments that differ from the saved ones are printed, except those that set the budget and the folder.

    Args:
        path: of the file.
        program: the script's name.
        args: the script's arguments.
        fixed: names of the arguments that must be as they were saved.

    Raises:
        SystemExit: there is no such file, it is no checkpoint, or it differs in the program, the checkpoint format,
            starmine's version, the number of processes or a fixed argument; the message says in what.
    """
    if not path.exists():
        raise SystemExit(f"{path} does not exist: expected the checkpoint of the run to resume")
    try:
        contents: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        found = contents["args"] | contents.get("identity", {})
    except (RuntimeError, pickle.UnpicklingError, EOFError, TypeError, KeyError) as error:
        raise SystemExit(f"{path} is no checkpoint of this program: {error}") from error
    expected = identity(program) | asdict(args)
    changed = [name for name in expected if name not in FREE and expected[name] != found.get(name)]
    refused = [name for name in changed if name in fixed or name in identity(program)]
    if refused:
        differences = "; ".join(f"{name}={found.get(name)!r}, not {expected[name]!r}" for name in refused)
        raise SystemExit(f"{path} cannot be resumed with these arguments: it has {differences}")
    for name in changed:
        print(f"resuming with {name}={expected[name]!r} instead of {found.get(name)!r}")
    process = contents["processes"][rank()]
    return Checkpoint(Progress(*contents["progress"]), contents["state"] | {OWN: process["state"]}, process["random"])


def prepare_folder(folder: Path, resume: bool) -> None:
    """Make the output folder of a run; a new run renames a folder that holds a checkpoint to NAME.1, NAME.2, ..."""
    if not resume and (folder / "checkpoint.pt").exists():
        number = 1
        while (aside := folder.with_name(f"{folder.name}.{number}")).exists():
            number += 1
        folder.rename(aside)
        print(f"the earlier run in {folder} is kept in {aside}")
    folder.mkdir(parents=True, exist_ok=True)


def identity(program: str) -> dict[str, Any]:
    """What a checkpoint must share with the script that reads it, besides the fixed arguments."""
    return {"program": program, "format": FORMAT, "starmine": version("starmine"), "processes": process_count()}


def digest(state: Any) -> str:
    """A hash of all tensors of a state."""
    found = sha256()
    for tensor in tensors(state):
        found.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


def tensors(state: Any) -> Iterator[Tensor]:
    """The tensors of nested dicts, lists and tuples."""
    if isinstance(state, Tensor):
        yield state.reshape(-1)
    elif isinstance(state, dict | list | tuple):
        for value in state.values() if isinstance(state, dict) else state:
            yield from tensors(value)


def write_file(path: Path, data: memoryview) -> None:
    """Replace a file as a whole: write it under another name, flush it to the disk, and rename it.

    Raises:
        OSError: it cannot be written; the earlier file is still there.
    """
    aside = path.with_suffix(".tmp")
    try:
        with aside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
