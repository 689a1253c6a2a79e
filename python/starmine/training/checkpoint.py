"""Checkpoints: everything that a stopped run needs to go on; with a fixed number of threads, to the same bits."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import torch
from torch import Tensor

from starmine._util.durable import DamagedFileError, replace_file, seal, unseal
from starmine.training.distributed import all_gather, in_first_process, process_count, rank
from starmine.training.script import ScriptArgs, TrainingError, plain

FORMAT = 4
OWN = "process"  # the entry of a learner's state that differs between processes

# The arguments that a resumed run may change: those that do not change how it learns.
CHANGEABLE = {
    *("out", "resume", "minutes", "total_steps", "checkpoint_seconds", "num_threads", "eval_games", "final_games"),
}


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


class Learner(Protocol):
    """What a run trains."""

    def state_dict(self) -> dict[str, Any]:
        """All that training needs to go on, of types that `torch.load(weights_only=True)` reads.

        An entry "process" belongs to this process alone, such as its batch; every other entry must be the same in all
        processes. Torch's random number generators are saved, too.
        """

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned; tensors are on the CPU."""


def save_checkpoint(path: Path, program: str, args: ScriptArgs, progress: Progress, state: dict[str, Any]) -> None:
    """Replace the checkpoint as a whole. Every process calls this; the first one writes. The file ends with a checksum.

    Args:
        path: of the file.
        program: the script's name.
        args: the script's arguments.
        progress: of the run.
        state: the learner's `state_dict()`. The entry "process" is saved for every process; every other entry must be
            equal in all processes and is saved once.

    Raises:
        TrainingError: the processes' states differ, or the state has other types than `torch.load(weights_only=True)`
            reads.
        OSError: the file cannot be written; the earlier one is still there.
    """
    shared = {name: value for name, value in state.items() if name != OWN}
    if process_count() > 1 and len(set(all_gather(checksum(shared)))) > 1:
        raise TrainingError(f"update {progress.updates}: the processes' weights differ; it is not saved")
    cuda = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]
    processes = all_gather({"random": (torch.get_rng_state(), cuda), "state": state.get(OWN)})
    contents = {
        "identity": script_identity(program),
        "args": plain(asdict(args)),
        "progress": tuple(progress),
        "state": shared,
        "processes": processes,
    }

    def write() -> None:
        data = io.BytesIO()
        torch.save(contents, data)
        data.seek(0)
        try:
            torch.load(data, map_location="cpu", weights_only=True)
        except UnpicklingError as error:
            raise TrainingError(
                "the learner's state_dict() has a value that a resume could not read: "
                "expected tensors and Python's numbers, texts, lists and dicts"
            ) from error
        replace_file(path, seal(data.getbuffer()))

    in_first_process(write)


def load_checkpoint(path: Path, program: str, args: ScriptArgs, learner: Learner) -> Progress:
    """Put a learner and torch's random number generators into the state of a checkpoint.

    Raises:
        TrainingError: the file is damaged; or the checkpoint differs in the program, the format, starmine's version,
            the number of processes, or an argument that is not `CHANGEABLE`.
        OSError: the file cannot be read.
        Exception: whatever `learner.load_state_dict` raises.
    """
    contents = read_checkpoint(path)
    # An argument that came after the checkpoint was written has its default there.
    stored = plain(asdict(type(args)())) | contents["identity"] | plain(contents["args"])
    expected = script_identity(program) | plain(asdict(args))
    differences = [
        f"{name}={stored.get(name)!r}, not {value!r}"
        for name, value in expected.items()
        if name not in CHANGEABLE and value != stored.get(name)
    ]
    if differences:
        raise TrainingError(f"{path} cannot be resumed with these arguments: it has {'; '.join(differences)}")
    process = contents["processes"][rank()]
    learner.load_state_dict(contents["state"] | {OWN: process["state"]})
    cpu, cuda = process["random"]
    torch.set_rng_state(cpu)
    if cuda is not None:
        torch.cuda.set_rng_state(cuda)
    return Progress(*contents["progress"])


def read_checkpoint(path: Path) -> dict[str, Any]:
    """The contents of a checkpoint. The checksum is checked before anything is unpickled.

    Raises:
        TrainingError: the file is damaged, or another program wrote it.
        OSError: the file cannot be read.
    """
    try:
        data = unseal(path.read_bytes())
    except DamagedFileError as error:
        raise TrainingError(f"{path} is damaged: {error}") from error
    contents: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return contents


def script_identity(program: str) -> dict[str, Any]:
    """What a checkpoint must share with the script that reads it, besides the arguments."""
    return {"program": program, "format": FORMAT, "starmine": version("starmine"), "processes": process_count()}


def checksum(state: Any) -> int:
    """The CRC-32 checksum of all tensors of a state."""
    found = 0
    for tensor in tensors(state):
        if len(tensor):  # an empty one cannot be viewed as bytes
            found = crc32(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().data, found)
    return found


def tensors(state: Any) -> Iterator[Tensor]:
    """The tensors of nested dicts, lists and tuples, flat."""
    if isinstance(state, Tensor):
        yield state.reshape(-1)
    elif isinstance(state, dict | list | tuple):
        for value in state.values() if isinstance(state, dict) else state:
            yield from tensors(value)
