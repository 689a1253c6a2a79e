"""The command and its list of subcommands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import tyro
from tyro.conf import DisallowNone, FlagCreatePairsOff, subcommand

from starmine._core import StarmineError, _unknown_name
from starmine.cli.convert import Convert
from starmine.cli.data import Info, Verify
from starmine.cli.eval import Eval
from starmine.cli.examples import Examples
from starmine.cli.generate import Generate
from starmine.cli.options import INTERRUPTED, REFUSED, Command
from starmine.cli.play import Play
from starmine.cli.replay import Replay
from starmine.cli.speed import Speed

NO_OUTPUT, PIPE_CLOSED = 1, 141  # exit statuses
DESCRIPTION = "The card game Hanabi: bots, their evaluation, and games on disk. --version prints the version."
DATA = Annotated[
    Annotated[Verify, subcommand("verify")]
    | Annotated[Info, subcommand("info")]
    | Annotated[Convert, subcommand("convert")],
    subcommand("data", description="Verify, sum up or convert stored games."),
]
NAMES = [command.name.split() for command in (Eval, Generate, Play, Replay, Verify, Info, Convert, Examples, Speed)]
SUBCOMMANDS = (
    Annotated[Eval, subcommand("eval")]
    | Annotated[Generate, subcommand("generate")]
    | Annotated[Play, subcommand("play")]
    | Annotated[Replay, subcommand("replay")]
    | DATA
    | Annotated[Examples, subcommand("examples")]
    | Annotated[Speed, subcommand("speed")]
)


def parse(arguments: Sequence[str] | None = None) -> Command:
    """The subcommand of a command line, with its options.

    Args:
        arguments: without the program's name; None for those of the process.

    Raises:
        SystemExit: help was asked for, or there is no such subcommand, option or value.
    """
    given = sys.argv[1:] if arguments is None else [*arguments]
    if given == ["--version"]:
        print(f"starmine {version('starmine')}")
        raise SystemExit(0)
    for place, name in enumerate(given[:2]):
        known = [*dict.fromkeys(names[place] for names in NAMES if names[:place] == given[:place] and names[place:])]
        if known and name not in known and not name.startswith("-"):
            print(f"starmine: {_unknown_name('command', name, known)}", file=sys.stderr)
            raise SystemExit(REFUSED)
    config = (FlagCreatePairsOff, DisallowNone)
    return tyro.cli(SUBCOMMANDS, prog="starmine", description=DESCRIPTION, args=given, config=config)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: without the program's name; None for those of the process.

    Returns:
        The exit status.

    Raises:
        SystemExit: as `parse`.
    """
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks, such as ±, is replaced.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    if sys.stdout is None:
        print("starmine: standard output is closed: expected it open", file=sys.stderr)
        return NO_OUTPUT
    try:
        command = parse(arguments)
    except BrokenPipeError:
        return pipe_closed()
    try:
        status = command.run()
        sys.stdout.flush()
    except (StarmineError, ImportError) as error:  # a library may be missing
        command.complain(str(error))
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit:
        command.complain("a player has ended the program: expected it to choose moves")
        return REFUSED
    except BrokenPipeError:
        return pipe_closed()
    except OSError as error:
        if error.filename is not None or error.errno is None:  # of another file than standard output
            named = "" if error.filename is None else f"{error.filename}: "
            command.complain(f"{named}{error.strerror or error}")
            return REFUSED
        command.complain(f"standard output cannot be written ({error.strerror or error})")
        discard_output()
        return NO_OUTPUT
    return status


def pipe_closed() -> int:
    """The exit status where the reader has closed the pipe of standard output."""
    discard_output()
    return PIPE_CLOSED


def discard_output() -> None:
    """Point standard output to nowhere, since Python flushes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
