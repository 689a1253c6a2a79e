"""What all subcommands share: parsing of arguments, and refusal in one line."""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from pathlib import Path
from typing import Any, NoReturn

from starmine._core import StarmineError, Variant, _unknown_name, variants
from starmine._util.keywords import RULES, check_keywords
from starmine.data import ImportedGames, format_names, read_games
from starmine.games.seeds import EVALUATION_SEED
from starmine.games.variants import variant

# How rules may be written, and the presets.
FORMS = "a preset, with parameters after it ('standard, colors=6'), JSON, or Variant(...) as messages print it"
PRESETS = f"presets: {', '.join(variants())}"
NO_OUTPUT, REFUSED, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141  # exit statuses


class Parser(argparse.ArgumentParser):
    """An argument parser that refuses in one line and suggests the nearest choice."""

    def error(self, message: str) -> NoReturn:
        """Print the message and where to read on, and exit."""
        refuse(self.prog, f"{message} (see {self.prog} --help)")
        raise SystemExit(REFUSED)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse options that do not exist before argparse looks for what is missing."""
        given = list(sys.argv[1:] if args is None else args)
        if self._subparsers is None:
            for text in given[: given.index("--")] if "--" in given else given:
                name = text.partition("=")[0]
                if name.startswith("--") and " " not in text and name not in self._option_string_actions:
                    known = [known for known in self._option_string_actions if known.startswith("--")]
                    self.error(str(_unknown_name("option", name, known)))
        return super().parse_known_args(given, namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        # argparse calls this for subcommands and for options with choices.
        if action.choices is not None and value not in action.choices:
            name = str(action.metavar or action.dest).lower()
            raise argparse.ArgumentError(None, str(_unknown_name(name, str(value), list(map(str, action.choices)))))


def refuse(command: str, message: str) -> None:
    """Print a message on standard error, in one line."""
    print(f"{command}: {' '.join(message.split())}", file=sys.stderr)


def add_command(commands: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    """Add a subcommand, whose description keeps its lines and whose options cannot be abbreviated."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def add_seats(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number of seats."""
    parser.add_argument("--players", type=integer, metavar="N", help="seats, 2 to 5 (default: as --variant says, or 2)")


def add_variant(parser: argparse.ArgumentParser) -> None:
    """Add the option for the variant."""
    parser.add_argument(
        "--variant", default="standard", metavar="RULES", help=f"rules: {FORMS}; {PRESETS} (default: standard)"
    )


def add_rules(parser: argparse.ArgumentParser, seed: int = EVALUATION_SEED) -> None:
    """Add the options for the rules and the decks of games that are played; `seed` is the default of theirs."""
    add_variant(parser)
    parser.add_argument(
        "--lost-game-score",
        choices=("zero", "fireworks"),
        help="what a lost game scores (default: the variant's: zero)",
    )
    told = "decks that nothing trains on by default" if seed == EVALUATION_SEED else seed
    parser.add_argument("--seed", type=integer, default=seed, metavar="N", help=f"seed of the decks (default: {told})")


def add_rules_of(parser: argparse.ArgumentParser, source: str) -> None:
    """Add the options that choose among the rules of games which are read, or give them where the source does not."""
    parser.add_argument(
        "--variant",
        metavar="RULES",
        help=f"read the games of these rules only: {FORMS}; {PRESETS} (default: as {source} says)",
    )
    parser.add_argument(
        "--players", type=integer, metavar="N", help="seats of these rules, 2 to 5 (default: as RULES say, or 2)"
    )


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the options of `starmine data convert` and `starmine text export` for the games that are read."""
    parser.add_argument("--from", choices=format_names(), dest="source_format", metavar="FORMAT", help="format of IN")
    add_rules_of(parser, "IN")
    add_skip(parser)


def add_skip(parser: argparse.ArgumentParser) -> None:
    """Add the option to leave games out."""
    parser.add_argument("--skip", action="store_true", help="leave out games and files that do not hold, and name them")


def read_source(options: argparse.Namespace, source: list[str], format: str | None = None) -> ImportedGames:
    """The games of a source, by the options of `add_rules_of` and `add_skip`; those that are left out are named."""
    games = read_games(source, format, variant=rules_of(options), on_error="skip" if options.skip else "raise")
    for skipped in games.skipped:
        print(f"skipped {skipped}", file=sys.stderr)
    return games


def refuse_without(options: argparse.Namespace, needed: str, *names: str) -> None:
    """Refuse options, whose default is None or False, that do nothing without another one."""
    for name in names:
        if getattr(options, name) not in (None, False) and getattr(options, needed) in (None, False):
            given, other = (f"--{one.replace('_', '-')}" for one in (name, needed))
            raise StarmineError(f"{given} without {other} is not allowed: expected both or neither")


def refuse_source(target: str, sources: list[str]) -> None:
    """Refuse to write to a file that is also read."""
    for source in sources:
        if source != "-" and Path(source).exists() and Path(target).exists() and Path(source).samefile(target):
            raise StarmineError(f"{target} is the source, too: expected another file to write")


def rules_of(options: argparse.Namespace) -> Variant | None:
    """The rules that the options of `add_rules_of` choose, or None."""
    if options.variant is None and options.players is None:
        return None
    return rules_of_text(options.variant or "standard", options.players)


def rules_of_text(text: str, players: int | None = None, lost_game_score: str | None = None) -> Variant:
    """The variant of a text: a preset's name, which parameters may follow; a JSON object; or `Variant(...)`.

    Args:
        text: such as "standard", "avalanche, players=3", '{"colors": 4}' or "Variant(players=2, colors=6)".
        players: number of seats; None for that of the text, or 2.
        lost_game_score: what lost games score; None for that of the text.
    """
    called = re.fullmatch(r"\s*Variant\((?P<parameters>.*)\)\s*", text, re.DOTALL)
    name = None
    if text.lstrip().startswith("{"):
        parameters = _object(text)
    elif called is not None:
        parameters = _keywords(called["parameters"], text)
    else:
        name, _, following = (part.strip() for part in text.partition(","))
        parameters = _keywords(following, text)
    for key, value in (("players", players), ("lost_game_score", lost_game_score)):
        if value is not None and parameters.setdefault(key, value) != value:
            option = f"--{key.replace('_', '-')} {value}"
            raise StarmineError(f"--variant {text!r} and {option} contradict each other")
    try:
        check_keywords("Variant", parameters, RULES)
        return Variant(**parameters) if name is None else variant(name, **parameters)
    except (TypeError, OverflowError) as error:
        raise StarmineError(f"--variant {text!r} is not allowed: {error}") from error


def _object(text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StarmineError(f"--variant {text!r} is not allowed: it is not JSON ({error})") from error
    return found


def _keywords(parameters: str, text: str) -> dict[str, Any]:
    """Parameters as Python's calls have them; true, false and texts need no quotation marks."""
    try:
        call = ast.parse(f"f({parameters})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(each.arg is None for each in call.keywords):
            raise ValueError
        return {str(each.arg): _literal(each.value) for each in call.keywords}
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise StarmineError(
            f"--variant {text!r} is not allowed: expected a preset, with parameters after it such as "
            "'standard, players=3, colors=6', a JSON object, or Variant(...)"
        ) from error


def _literal(value: ast.expr) -> Any:
    if isinstance(value, ast.Name):
        return {"true": True, "false": False}.get(value.id, value.id)
    return ast.literal_eval(value)


def integer(text: str) -> int:
    """An integer, such as 10000, 10_000 or 10,000."""
    try:
        return int(text.replace(",", "_"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed: expected a whole number") from None
