"""What the subcommands share: types and groups of options, and the rules that a text gives."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from tyro.conf import arg
from tyro.constructors import PrimitiveConstructorSpec

from starmine._core import StarmineError, Variant, variants
from starmine.data import SkippedGame, read_games
from starmine.data.formats.exchange import FORMATS
from starmine.games.games import Games
from starmine.games.variants import FORM, variant

PRESETS = f"presets: {', '.join(variants())}"
REFUSED, INTERRUPTED = 2, 130  # exit statuses


def _whole_number(texts: list[str]) -> int:
    try:
        return int(texts[0].replace(",", "_"))
    except ValueError:
        raise ValueError(f"{texts[0]!r} is not allowed: expected a whole number") from None


# A whole number, such as 10000, 10_000 or 10,000.
Integer = Annotated[
    int,
    PrimitiveConstructorSpec(
        nargs=1,
        metavar="N",
        instance_from_str=_whole_number,
        is_instance=lambda value: isinstance(value, int),
        str_from_instance=lambda value: [f"{value:,}"],
    ),
]


def _one_or_none(texts: list[str]) -> bool | str:
    if len(texts) > 1:
        raise ValueError(f"{len(texts)} addresses are not allowed: expected one, or none")
    return texts[0] if texts else True


# The address of a Ray cluster; True for a cluster on this machine, which the option without a value chooses.
Ray = Annotated[
    bool | str,
    PrimitiveConstructorSpec(
        nargs="*",
        metavar="[ADDRESS]",
        instance_from_str=_one_or_none,
        is_instance=lambda value: isinstance(value, bool | str),
        str_from_instance=lambda value: [] if value is True else [str(value)],
    ),
    arg(
        help="make each shard in a Ray task, on the cluster of this address, or on this machine's",
        help_behavior_hint="(default: without Ray)",
    ),
]
Seats = Annotated[
    Integer | None,
    arg(metavar="N", help="seats, 2 to 5", help_behavior_hint="(default: as --variant says, or 2)"),
]
Rules = Annotated[str, arg(metavar="RULES", help=f"rules: {FORM}; {PRESETS}")]
Threads = Annotated[Integer | None, arg(metavar="N", help="threads", help_behavior_hint="(default: one for each core)")]
Quiet = Annotated[bool, arg(help="no progress on standard error", help_behavior_hint="")]


class Command:
    """A subcommand: a dataclass whose fields are its options, and whose first lines of help are its docstring."""

    name: ClassVar[str]  # such as "data verify"

    def run(self) -> int:
        """Do what the options say, and return the exit status."""
        raise NotImplementedError

    def complain(self, message: str) -> None:
        """Print a message on standard error, in one line."""
        print(f"starmine {self.name}: {' '.join(message.split())}", file=sys.stderr)


@dataclass(kw_only=True)
class SourceGames(Command):
    """Which games of a source are read, and by which rules."""

    variant: Annotated[
        str | None,
        arg(
            metavar="RULES",
            help=f"read the games of these rules only: {FORM}; {PRESETS}",
            help_behavior_hint="(default: as the games say)",
        ),
    ] = None
    players: Annotated[
        Integer | None,
        arg(metavar="N", help="seats of these rules, 2 to 5", help_behavior_hint="(default: as RULES say, or 2)"),
    ] = None
    skip: Annotated[
        bool, arg(help="leave out games and files that do not hold, and name them", help_behavior_hint="")
    ] = False

    def rules(self) -> Variant | None:
        """The rules that the options choose, or None."""
        if self.variant is None and self.players is None:
            return None
        return rules_of_text(self.variant or "standard", self.players)

    def read(self, source: list[str], format: str | None = None) -> Games:
        """The games of a source; those that are left out are named on standard error."""

        def say(skipped: SkippedGame) -> None:
            print(f"skipped {skipped}", file=sys.stderr)

        return read_games(source, format, variant=self.rules(), on_skip=say if self.skip else None)


def rules_of_text(text: str, players: int | None = None) -> Variant:
    """The variant of a text, as `starmine.variant` takes it.

    Args:
        text: such as "standard" or "avalanche, players=3".
        players: number of seats. None stands for the number that the text gives, or 2.
    """
    return variant(text) if players is None else variant(text, players=players)


def refuse_source(target: Path, sources: Iterable[str]) -> None:
    """Refuse a file to write that is one of the sources, or a file of games in a folder among them.

    Raises:
        StarmineError: it is.
    """
    suffixes = [suffix for module in FORMATS.values() for suffix in module.SUFFIXES]
    for source in map(Path, sources) if target.exists() else ():
        is_read = source.is_dir() and target.suffix.lower() in suffixes and target.absolute().parent.samefile(source)
        if is_read or (source.exists() and source.samefile(target)):
            raise StarmineError(f"{target} is the source, too: expected another file to write")
