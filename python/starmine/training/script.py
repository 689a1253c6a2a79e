"""Training scripts: the arguments that all have, and their command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from starmine._core import StarmineError

INTERRUPTED = 130  # the exit status after Ctrl-C

Args = TypeVar("Args")


@dataclass
class ScriptArgs:
    """The arguments that training scripts share; a script's own class adds the output folder `out` and others."""

    minutes: float = 3.0
    """training time, with evaluations while training and the time before a resume; the update in progress then ends, and
    the final evaluation comes on top"""
    total_steps: int | None = None
    """turns to train for, instead of minutes"""
    resume: bool = False
    """go on with the run in the output folder"""
    seed: int = 1
    """of the first weights, the games and the actions"""
    num_threads: int | None = None
    """CPU threads of the network; None for torch's default"""
    eval_games: int = 200
    """games of each evaluation while training"""
    final_games: int = 1000
    """games of each evaluation at the end"""


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
