"""Checkpoints: everything that a stopped run needs to go on; with a fixed number of threads, to the same bits."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import Field, asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor

from starmine._util.durable import DamagedFileError, replace_file, seal, unseal
from starmine._util.equality import equal_by_value
from starmine.training.distributed import all_gather, in_first_process, process_count, rank
from starmine.training.script import TrainingError

FORMAT = 4
FREE = ("out", "resume", "checkpoint_seconds")  # differ from one start to the next
BUDGET = ("minutes", "total_steps")
OWN = "process"  # the entry of a learner's state that differs between processes


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


@equal_by_value
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
    """Replace the checkpoint as a whole. Every process calls this; the first one writes. The file ends with a checksum.

    Args:
        path: of the file.
        program: the script's name, which `load_checkpoint` compares.
        args: the script's arguments.
        progress: of the run.
        state: the learner's `state_dict()`. The entry "process" is saved for every process; every other entry must be
            equal in all processes and is saved once.

    Raises:
        TrainingError: the processes' states differ.
        OSError: the file cannot be written; the earlier one is still there.
    """
    shared = {name: value for name, value in state.items() if name != OWN}
    cuda = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]
    own = {"random": (torch.get_rng_state(), cuda), "digest": digest(shared), "state": state.get(OWN)}
    processes = all_gather(own)
    if len({process["digest"] for process in processes}) > 1:
        raise TrainingError(f"update {progress.updates}: the processes' weights differ; it is not saved")
    contents = {
        "identity": script_identity(program),
        "args": {name: str(value) if isinstance(value, Path) else value for name, value in asdict(args).items()},
        "progress": tuple(progress),
        "state": shared,
        "processes": processes,
    }
    in_first_process(lambda: write_checkpoint(path, contents))


def write_checkpoint(path: Path, contents: dict[str, Any]) -> None:
    """Replace the file as a whole."""
    data = io.BytesIO()
    torch.save(contents, data)
    replace_file(path, seal(data.getbuffer()))


def load_checkpoint(path: Path, program: str, args: DataclassInstance, fixed: Sequence[str] = ()) -> Checkpoint:
    """Read the checkpoint of a run that goes on, after a check that it fits the script and its arguments.

    Arguments that differ from the saved ones are printed, except the folder. The `fixed` ones must not differ.

    Raises:
        TrainingError: with a line that says what is wrong: there is no such file, it is damaged or no checkpoint, or it
            differs in the program, the checkpoint format, starmine's version, the number of processes or a fixed
            argument.
    """
    contents = read_checkpoint(path)
    stored = contents["args"] | contents["identity"]
    expected = script_identity(program) | asdict(args)
    changed = [name for name in expected if name not in FREE and expected[name] != stored.get(name)]
    refused = [name for name in changed if name in fixed or name in script_identity(program)]
    if refused:
        differences = "; ".join(f"{name}={stored.get(name)!r}, not {expected[name]!r}" for name in refused)
        raise TrainingError(f"{path} cannot be resumed with these arguments: it has {differences}")
    for name in changed:
        note = "; schedules follow the new budget" if name in BUDGET else ""
        print(f"resuming with {name}={expected[name]!r} instead of {stored.get(name)!r}{note}")
    try:
        process = contents["processes"][rank()]
        progress, state = Progress(*contents["progress"]), contents["state"] | {OWN: process["state"]}
        return Checkpoint(progress, state, process["random"])
    except (KeyError, IndexError, TypeError) as error:
        raise refusal(path, f"is no checkpoint of this program: {error_line(error)}") from error


def read_checkpoint(path: Path) -> dict[str, Any]:
    """The contents of a checkpoint. The checksum is checked before anything is unpickled.

    Raises:
        TrainingError: there is no such file, it cannot be read, it is damaged or no checkpoint.
    """
    try:
        contents: dict[str, Any] = torch.load(
            io.BytesIO(unseal(path.read_bytes())), map_location="cpu", weights_only=True
        )
    except FileNotFoundError as error:
        raise refusal(path, "does not exist: expected the checkpoint of the run to resume") from error
    except OSError as error:
        raise refusal(path, f"cannot be read ({error.strerror or error})") from error
    except DamagedFileError as error:
        raise refusal(path, f"is damaged: {error}") from error
    except Exception as error:  # whatever unpickling of another program's file raises
        raise refusal(path, f"is no checkpoint of this program: {error_line(error)}") from error
    return contents


def refusal(path: Path, what: str) -> TrainingError:
    """Why a checkpoint is refused, in one line."""
    return TrainingError(f"{path} {what}")


def error_line(error: Exception) -> str:
    """An error of any library in one line."""
    line = " ".join(str(error).split())
    return f"the entry {line} is missing" if isinstance(error, KeyError) else line or type(error).__name__


def script_identity(program: str) -> dict[str, Any]:
    """What a checkpoint must share with the script that reads it, besides the fixed arguments."""
    return {"program": program, "format": FORMAT, "starmine": version("starmine"), "processes": process_count()}


def digest(state: Any) -> str:
    """A hash of all tensors of a state."""
    hashed = sha256()
    for tensor in tensors(state):
        if len(tensor):  # an empty one cannot be viewed as bytes
            hashed.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return hashed.hexdigest()


def tensors(state: Any) -> Iterator[Tensor]:
    """The tensors of nested dicts, lists and tuples."""
    if isinstance(state, Tensor):
        yield state.reshape(-1)
    elif isinstance(state, dict | list | tuple):
        for value in state.values() if isinstance(state, dict) else state:
            yield from tensors(value)
