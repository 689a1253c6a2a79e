"""The results of an evaluation as grids of texts and a caption, which every writer lays out in its own way."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeAlias

from starmine.evaluation.matrix import FAILURES, FALLBACK, Mean, methods_of, table_of
from starmine.evaluation.results import Results
from starmine.games.results import with_error
from starmine.games.variants import variant_text

CHEATS = "†"  # behind the name of a player that sees its own hand
HELD_OUT = "‡"  # behind the name of a partner that is held out
MOST_PAIRINGS = 10  # named in a note

# Texts in rows: the first row has the heads of the columns, the first column the names of the rows.
Grid: TypeAlias = list[list[str]]


def score_grid(results: Results) -> Grid:
    """The table of mean scores."""
    table = table_of(results)
    rows, columns = (marked(results, names) for names in (table.rows, table.columns))
    return [["", *columns], *([row, *map(mean_text, means)] for row, means in zip(rows, table.means, strict=True))]


def mean_text(mean: Mean) -> str:
    """A cell of the table of mean scores."""
    return with_error(mean.score, mean.shown_error, digits=2) + mean.marks


def largest_error(results: Results) -> list[str]:
    """What stands with a table whose cells have no room for standard errors; nothing where no cell has one."""
    errors = [mean.shown_error for row in table_of(results).means for mean in row if mean.shown_error is not None]
    return [f"Standard errors: at most {math.ceil(100 * max(errors)) / 100:.2f}"] if errors else []


def method_grids(results: Results) -> list[Grid]:
    """The table of methods, a row for each; none without methods."""
    rows = [
        [
            method.name,
            str(len(method.seeds)),
            with_error(method.self_play, method.self_play_error, digits=2),
            with_error(method.cross_play, method.cross_play_error, digits=2),
            str(method.pairs),
            f"{method.all_pairs:.2f} ({method.lowest:.2f} to {method.highest:.2f})",
        ]
        for method in methods_of(results)
    ]
    return [[["method", "seeds", "self-play", "cross-play", "pairs", "all pairs"], *rows]] if rows else []


def caption(results: Results) -> list[str]:
    """What the table shows, a sentence each: its games, how to read it, and the marks that occur in it."""
    settings = results.settings
    players, games = settings.variant.players, f"{settings.games:,} games a pairing"
    if settings.partners and players == 2:
        games = f"{settings.games:,} decks a pairing, each in both seatings"
    shares = f"each of {players} for a share of the games"
    if settings.partners:
        seats = "in both seat orders" if players == 2 else f"in all seats but one, {shares}"
        seats = f"Row: player; column: partner, {seats}; means leave self-play out"
    else:
        seats = "in seat 0; column: in seat 1" if players == 2 else f"in one seat, {shares}; column: in all others"
        seats = f"Row: {seats}" + "; diagonal: self-play" * (len(settings.players) > 1)
    over_seeds = ", of methods over seeds" if settings.methods else ""
    parts = [
        f"Mean scores of {games}, {variant_text(settings.variant)}, decks of seed {settings.seed}",
        f"At most {settings.variant.max_score}; ± standard error over decks{over_seeds}",
        seats,
    ]
    if settings.methods:
        parts.append("Cross-play: mean over disjoint pairs of seeds in both seatings, ± over these pairs")
    return parts + notes(results)


def notes(results: Results) -> list[str]:
    """What the marks behind names and scores mean, as far as they occur."""
    notes = [f"{CHEATS} sees its own hand: an upper bound, not a player"] * bool(results.settings.cheaters)
    notes += [f"{HELD_OUT} given as held out of training"] * bool(results.settings.hold_out)
    by_fallback = [
        f"{pairing.player} with {pairing.partner} {percent(pairing.fallback_share)}"
        for pairing in results.pairings
        if pairing.fallback_share
    ]
    if by_fallback:
        more = [f"and {len(by_fallback) - MOST_PAIRINGS:,} more pairings"] * (len(by_fallback) > MOST_PAIRINGS)
        listed = ", ".join([*by_fallback[:MOST_PAIRINGS], *more])
        notes.append(f"{FALLBACK} share of chat players' moves that a fallback chose: {listed}")
    if any(pairing.failed for pairing in results.pairings):
        notes.append(f"{FAILURES} without the games in which a player failed")
    return notes


def percent(share: float) -> str:
    """A share above 0, which is not shown as 0."""
    return f"{share:.1%}" if share >= 0.0005 else "below 0.1%"


# --- Names ------------------------------------------------------------------------------------------------


def marked(results: Results, names: Iterable[str], longest: int | None = None) -> list[str]:
    """Names of at most `longest` letters. A mark follows a player that sees its own hand, and one that is held out."""
    names = list(names)
    cheaters, held_out = results.settings.cheaters, results.settings.hold_out
    short = names if longest is None else [shorten(name, longest) for name in names]
    if longest is not None and len(set(short)) < len(
        set(names)
    ):  # the ends of names, such as numbers of seeds, tell them apart
        short = [middle_out(name, longest) for name in names]
    marks = [CHEATS * (name in cheaters) + HELD_OUT * (name in held_out) for name in names]
    return [name + mark for name, mark in zip(short, marks, strict=True)]


def middle_out(name: str, longest: int) -> str:
    """A name with an ellipsis in its middle if it is too long."""
    end = longest // 2
    return name if len(name) <= longest else f"{name[: longest - end - 1]}…{name[-end:]}"


def shorten(name: str, longest: int) -> str:
    """A name, truncated with an ellipsis if it is too long."""
    return name if len(name) <= longest else name[: longest - 1] + "…"
