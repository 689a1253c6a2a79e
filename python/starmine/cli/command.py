"""The command and its list of subcommands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from starmine._core import StarmineError
from starmine.cli import data, eval, generate, play, replay, search, text
from starmine.cli.arguments import INTERRUPTED, NO_OUTPUT, PIPE_CLOSED, REFUSED, Parser, refuse

SUBCOMMANDS = (eval, generate, play, replay, data, search, text)  # each has `add`, which sets `run` for its options


def parser() -> Parser:
    """The parser with all subcommands."""
    found = Parser(
        prog="starmine",
        description="The card game Hanabi: bots, their evaluation, and games on disk.",
        allow_abbrev=False,
    )
    found.add_argument("--version", action="version", version=f"starmine {version('starmine')}")
    commands = found.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for subcommand in SUBCOMMANDS:
        subcommand.add(commands)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: without the program's name; None for those of the process.

    Returns:
        The exit status.
    """
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks, such as ±, is replaced.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    options = parser().parse_args(arguments)
    if sys.stdout is None:
        refuse(f"starmine {options.command}", "standard output is closed: expected it open")
        return NO_OUTPUT
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except (StarmineError, ImportError) as error:  # a library may be missing
        refuse(f"starmine {options.command}", str(error))
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as error:
        if error.code == REFUSED:  # by the command itself
            raise
        refuse(f"starmine {options.command}", "a player has ended the program: expected it to choose moves")
        return REFUSED
    except BrokenPipeError:
        # The reader has closed the pipe. Python flushes standard output at exit, so point it elsewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        if error.filename is not None or error.errno is None:  # of another file than standard output
            named = "" if error.filename is None else f"{error.filename}: "
            refuse(f"starmine {options.command}", f"{named}{error.strerror or error}")
            return REFUSED
        refuse(f"starmine {options.command}", f"standard output cannot be written ({error.strerror or error})")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_OUTPUT
    return status
