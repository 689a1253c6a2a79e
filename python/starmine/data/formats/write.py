"""Games are written in the format that is asked for, or that their path tells."""

from __future__ import annotations

from pathlib import Path

from starmine._util.durable import given_path
from starmine._util.keywords import check_names
from starmine.data.formats.any_games import AnyGames, imported
from starmine.data.formats.read import ON_ERROR
from starmine.data.formats.records import SkippedGame, refuse
from starmine.data.formats.registry import named, told_by_suffix


def write_games(
    games: AnyGames, path: str | Path, format: str | None = None, *, on_error: str = "raise"
) -> tuple[SkippedGame, ...]:
    """Write games in a format of others, or in Starmine's own.

    Args:
        games: what is written: `Trajectories`, the result of `play_games` with `record=True`, `ImportedGames`, a
            `Dataset` or a view of one, a `GameTable` such as `data[:20]`, a `Game` such as `data[3]`, or a list of
            these. Names, ids and players' names are kept where there are some and the format has a place for them.
        path: of the file or folder.
        format: one of `starmine.data.FORMATS`; None to tell it from the path's suffix.
        on_error: "raise" for an error about a game that is invalid, as for `read_games`, or that the format cannot
            express, such as a game without actions on hanab.live; "skip" to leave such games out.

    Returns:
        The games that were left out.

    Raises:
        StarmineError: these are no games, a game may not be skipped, or the format cannot express the variant.
        UnknownNameError: there is no such format.
        ImportError: a library that the format needs is not installed.
        OSError: the files cannot be written.
    """
    check_names("on_error", [on_error], ON_ERROR)
    path = given_path("path", path)
    if format is None and path.is_dir():
        format = "parquet"
    row = told_by_suffix(path) if format is None else named(format)
    held = imported(games, on_error)
    reasons = {} if row.unwritable is None else row.unwritable(held)
    left = tuple(SkippedGame(game, _name(held.names[game], game), reason) for game, reason in reasons.items())
    if left and on_error == "raise":
        refuse(left, len(held), "the games")
    row.write(held.without(left), path)
    return (*(() if held is games else held.skipped), *left)


def _name(name: str, game: int) -> str:
    """A game's name, unless it is its position."""
    return "" if name == str(game) else name
