"""Training scripts: the arguments that all have, their command line, and the errors that end them."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import torch

from starmine._core import StarmineError, _unknown_name
from starmine._util.numbers import check_number, is_number

INTERRUPTED = 130  # the exit status after Ctrl-C

# Arguments of scripts by their range: at least 1, 0 to 1, and at least 0. None leaves the choice to the script.
COUNTS = (
    *("num_threads", "eval_games", "final_games", "eval_every", "num_envs", "groups", "rollout", "epochs", "minibatch"),
    *("minibatch_end", "games_per_update", "worlds", "candidates"),
)
SHARES = ("hold", "gamma", "gae_lambda", "epsilon", "lost_points_share")
AMOUNTS = ("lr", "lr_end", "entropy_weight", "entropy_end", "clip", "value_weight", "grad_norm", "lost_game_penalty")

Args = TypeVar("Args")


class TrainingError(StarmineError):
    """A training run cannot begin, go on or be saved; the message is one line that says why."""


class DivergedError(TrainingError):
    """The numbers of a training run are no longer finite, so that it was stopped before they were saved."""


@dataclass
class ScriptArgs:
    """The arguments that training scripts share; a script's own class adds the output folder `out` and others."""

    minutes: float = 3.0
    """training time, with evaluations while training and the time before a resume; the update in progress then ends,
    and the final evaluation comes on top"""
    total_steps: int | None = None
    """turns to train for, instead of minutes"""
    resume: bool = False
    """go on with the run in the output folder"""
    checkpoint_seconds: float = 10.0
    """training time between two checkpoints, of which a killed run loses what came after the last; 0 for a checkpoint
    after each update"""
    seed: int = 1
    """of the first weights, the games and the actions"""
    num_threads: int | None = None
    """CPU threads of the network; None for one on each core that other processes leave free, at most torch's default"""
    eval_games: int = 200
    """games of each evaluation while training"""
    final_games: int = 1000
    """games of each evaluation at the end"""


def prepare_torch(args: ScriptArgs) -> None:
    """Seed PyTorch's random number generators and set its number of threads, before a learner is made.

    Raises:
        TypeError: a count, such as `num_envs`, is not an integer.
        StarmineError: a number is out of its range, not finite or not a number; or `minutes` and `total_steps` are
            both given.
    """
    for name, value in vars(args).items():
        if name in COUNTS and value is not None:
            check_number(name, value, 1)
        most = 1.0 if name in SHARES else math.inf
        if name in SHARES + AMOUNTS and value is not None and not is_number(value, 0, most):
            expected = "0 to 1" if most == 1 else "a finite number, at least 0"
            raise StarmineError(f"{name}={value!r} is not allowed: expected {expected}")
    if args.total_steps is not None:
        refuse_without_effect(args, ("minutes",), "with total_steps")
    if args.num_threads is not None:
        torch.set_num_threads(args.num_threads)
    torch.manual_seed(args.seed)


def refuse_without_effect(args: Any, names: Sequence[str], when: str) -> None:
    """Refuse arguments that have another value than their default where this value would have no effect.

    A run that goes on keeps what it began with.

    Args:
        args: a dataclass.
        names: of the arguments.
        when: the case in which they have no effect, such as "with total_steps".

    Raises:
        StarmineError: one of them has another value.
    """
    for field in fields(args) if not getattr(args, "resume", False) else ():
        usual = field.default if field.default_factory is MISSING else field.default_factory()
        value = getattr(args, field.name)
        if field.name in names and value != usual:
            raise StarmineError(f"{field.name}={value!r} has no effect {when}: expected no {field.name}")


def by_device(args: Any, device: torch.device, defaults: Mapping[str, Mapping[str, Any]]) -> Any:
    """The arguments with the defaults of a device in place of None, and with the type of the device.

    Args:
        args: a dataclass with a field `device`.
        device: that the script runs on.
        defaults: by type of the device the values of the fields that may be None.
    """
    missing = {name: value for name, value in defaults[device.type].items() if getattr(args, name) is None}
    return replace(args, device=device.type, **missing)


def command_line(main: Callable[[Args], Any], arguments: type[Args]) -> None:
    """Call a script's `main` with the arguments of its command line.

    A value that is refused, a file that cannot be read or written and a run that diverges end the script in one line on
    standard error, with the exit status 1; Ctrl-C ends it with 130. Other exceptions are errors of the script and keep
    their traceback.

    Args:
        main: takes the arguments.
        arguments: their class, a dataclass as tyro takes it.

    Raises:
        SystemExit: the script ends early.
    """
    import tyro

    given = tyro.cli(arguments)
    try:
        main(given)
    except (StarmineError, OSError) as error:
        line = " ".join(f"{Path(sys.argv[0]).name}: {error}".split())
        rank = os.environ.get("RANK", "0")
        raise SystemExit(line if rank == "0" else f"process {rank}: {line}") from error
    except KeyboardInterrupt as error:
        raise SystemExit(INTERRUPTED) from error


def check_choices(args: Any) -> None:
    """Check a dataclass's fields of a `Literal` type, since a dataclass takes any value.

    Raises:
        UnknownNameError: a value is none of the choices.
    """
    for name, hint in get_type_hints(type(args)).items():
        kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        if not all(kind is type(None) or get_origin(kind) is Literal for kind in kinds):
            continue
        allowed = [choice for kind in kinds for choice in (get_args(kind) or (None,))]
        if (value := getattr(args, name)) not in allowed:
            raise _unknown_name(name, str(value), list(map(str, allowed)))
