"""Training scripts: the arguments that all have, their ranges, their command line, and the errors that end them."""

from __future__ import annotations

import json
import math
import operator
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, make_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import torch

from starmine._core import StarmineError, _unknown_name
from starmine._util.numbers import is_number

INTERRUPTED = 130  # the exit status after Ctrl-C

Args = TypeVar("Args")


class TrainingError(StarmineError):
    """A training run cannot begin, go on or be saved; the message is one line that says why."""


class DivergedError(TrainingError):
    """The numbers of a training run are no longer finite, so that it was stopped before they were saved."""


class Range(NamedTuple):
    """The values that a number among a script's arguments may have, as in `lr: Annotated[float, Range(0, 1)] = 1e-3`.

    `Count`, `Share` and `Amount` are the usual ranges.

    Attributes:
        least: the smallest value.
        most: the largest value.
    """

    least: float
    most: float = math.inf


Count = Annotated[int, Range(1)]
"""An integer of at least 1, for an argument of a script."""
Share = Annotated[float, Range(0, 1)]
"""A number from 0 to 1, for an argument of a script."""
Amount = Annotated[float, Range(0)]
"""A finite number of at least 0, for an argument of a script."""


@dataclass
class ScriptArgs:
    """Budget, output folder, evaluations and threads.

    The arguments that training scripts share. A script's own class adds its arguments, in its body or in further base
    classes, which are groups of its command line, see `command_line`.

    Two declared types are checked: a `Literal` takes only its choices, and a number with a `Range` must lie in it, also
    if the type is "... | None". Other types are not checked.

    Raises:
        UnknownNameError: a value is none of the choices of its `Literal`.
        StarmineError: a number is out of its range or not finite.
        TypeError: a number is no integer where an integer is declared.
    """

    out: Path = Path("runs/new")
    """output folder; without --resume, one that holds a run is refused"""
    minutes: Amount = 3.0
    """training time, with evaluations while training and the time before a resume; the update in progress then ends,
    and the final evaluation comes on top"""
    total_steps: Count | None = None
    """turns to train for, instead of minutes"""
    resume: bool = False
    """go on with the run in the output folder"""
    checkpoint_seconds: Amount = 10.0
    """seconds of training between two checkpoints; 0 for a checkpoint after each update. A killed run loses the
    training after its last checkpoint"""
    seed: int = 1
    """of the first weights, the games and the actions"""
    num_threads: Count | None = None
    """CPU threads of the network; None for one on each core that other processes leave free, at most torch's default"""
    eval_games: Count = 200
    """games of each evaluation while training"""
    eval_every: Count | None = None
    """updates between two evaluations while training"""
    final_games: Count = 1000
    """games of each evaluation at the end"""

    def __post_init__(self) -> None:
        """Check the arguments."""
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            value = getattr(self, name)
            kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
            if value is not None or NoneType not in kinds:
                check_argument(name, value, *[kind for kind in kinds if kind is not NoneType])


def check_argument(name: str, value: Any, kind: Any, *others: Any) -> None:
    """Check an argument against its declared `Literal` or `Range`. Other types are not checked."""
    if others:
        return
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise _unknown_name(name, str(value), [str(choice) for choice in get_args(kind)])
    number, *notes = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    for least, most in [note for note in notes if isinstance(note, Range)]:
        if number is int:
            operator.index(value)
        if not is_number(value, least, most):
            expected = f"at least {least}" if most == math.inf else f"{least} to {most}"
            raise StarmineError(f"{name}={value!r} is not allowed: expected a number, {expected}")


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """The values as JSON has them: tuples as lists, numpy's numbers as numbers, paths and other objects as text."""

    def of_others(value: Any) -> Any:
        return value.item() if isinstance(value, np.generic) else str(value)

    found: dict[str, Any] = json.loads(json.dumps(values, default=of_others))
    return found


def prepare_torch(args: ScriptArgs) -> None:
    """Seed PyTorch's random number generators and set its number of threads, before a learner is made.

    Raises:
        StarmineError: `minutes` and `total_steps` are both given.
    """
    if args.total_steps is not None:
        refuse_without_effect(args, ("minutes",), "with total_steps")
    if args.num_threads is not None:
        torch.set_num_threads(args.num_threads)
    torch.manual_seed(args.seed)


def refuse_without_effect(args: ScriptArgs, names: Sequence[str], when: str) -> None:
    """Refuse arguments that have another value than their default where this value would have no effect.

    Args:
        args: the arguments, each of which has a default.
        names: of the arguments to refuse.
        when: the case in which they have no effect, such as "with total_steps".

    Raises:
        StarmineError: one of them has another value.
    """
    usual = type(args)()
    for name in names:
        if (value := getattr(args, name)) != getattr(usual, name):
            raise StarmineError(f"{name}={value!r} has no effect {when}: expected no {name}")


def parse(arguments: type[Args], given: Sequence[str] | None = None) -> Args:
    """The arguments of a command line, whose help has a box for each group of them.

    A group is a base class of `arguments` that is a dataclass: its name is the title, the first line of its docstring
    the description. There are no groups if a class both inherits arguments and adds some.

    Args:
        arguments: a dataclass, in which each argument has a default.
        given: the command line without the program's name; None for that of the process.

    Raises:
        SystemExit: help was asked for, or there is no such option or value.
    """
    import tyro
    from tyro.conf import OmitArgPrefixes, arg

    groups = groups_of(arguments)
    if len(groups) < 2:
        return tyro.cli(arguments, args=given)
    usual = arguments()
    parts = [group(**{each.name: getattr(usual, each.name) for each in fields(group)}) for group in groups]
    nested = make_dataclass(
        arguments.__name__,
        [(group.__name__, Annotated[group, arg(name=title_of(group), help=first_line(group))]) for group in groups],
        namespace={"__doc__": arguments.__doc__},
    )
    found = tyro.cli(nested, args=given, default=nested(*parts), config=(OmitArgPrefixes,))
    return arguments(**{name: value for part in vars(found).values() for name, value in vars(part).items()})


def groups_of(arguments: type[Any]) -> list[Any]:
    """The base classes that the arguments of a script stand in, in order; none where they are no groups."""
    groups: list[Any] = []
    known: set[str] = set()
    for base in reversed(arguments.__mro__):
        if is_dataclass(base) and (added := {each.name for each in fields(base)} - known):
            if {each.name for each in fields(base)} != added:
                return []
            groups.append(base)
            known |= added
    return groups


def title_of(group: type[Any]) -> str:
    """The name of a group in the help, such as "played games" of `PlayedGames`."""
    return "run" if group is ScriptArgs else re.sub("(?<!^)(?=[A-Z])", " ", group.__name__).lower()


def first_line(group: type[Any]) -> str:
    """The first line of a class's docstring."""
    return (group.__doc__ or "").partition("\n")[0]


def command_line(main: Callable[[Args], Any], arguments: type[Args]) -> None:
    """Call a script's `main` with the arguments of its command line, which `parse` reads.

    A value that is refused, a file that cannot be read or written and a run that diverges end the script in one line on
    standard error, with the exit status 1; Ctrl-C ends it with 130. Other exceptions are errors of the script and keep
    their traceback.

    Args:
        main: takes the arguments.
        arguments: their class, a dataclass as tyro takes it.

    Raises:
        SystemExit: the script ends early.
    """
    try:
        main(parse(arguments))
    except (StarmineError, OSError) as error:
        line = " ".join(f"{Path(sys.argv[0]).name}: {error}".split())
        rank = os.environ.get("RANK", "0")
        raise SystemExit(line if rank == "0" else f"process {rank}: {line}") from error
    except KeyboardInterrupt as error:
        raise SystemExit(INTERRUPTED) from error
