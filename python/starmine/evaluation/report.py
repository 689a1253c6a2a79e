"""The results of an evaluation as text, at most 100 columns wide."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator

from starmine._core import _search_parts
from starmine.evaluation.grid import (
    HELD_OUT,
    MOST_PAIRINGS,
    Grid,
    caption,
    largest_error,
    marked,
    mean_text,
    method_grids,
    middle_out,
    shorten,
)
from starmine.evaluation.llm_usage import fallback_share
from starmine.evaluation.matrix import FALLBACK, HELD_OUT_MEAN, MEAN, SELF_PLAY, Mean, table_of
from starmine.evaluation.results import Cell, Results
from starmine.games.results import with_error

WIDTH = 100
LONGEST_NAME = 13
NARROW_CELL = 6


def report(results: Results) -> str:
    """The table, a line for each player and each method, the calls of chat players, and the failures."""
    lines = [textwrap.fill(line, WIDTH, subsequent_indent="    ") for line in caption(results)]
    methods = [aligned(grid) for grid in method_grids(results)]
    parts = [
        *matrices(results),
        aligned(player_rows(results)),
        *methods,
        gains(results),
        calls(results),
        failures(results),
    ]
    return "\n\n".join("\n".join(part) for part in map(list, [lines, *parts]) if part)


def aligned(grid: Grid) -> list[str]:
    """The lines of a grid: the first column to the left, all others to the right, "±" without the blank behind it."""
    lines = [[text.replace("± ", "±") for text in line] for line in grid]
    first, *others = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        line[0].ljust(first) + "".join(f" {text:>{width}}" for text, width in zip(line[1:], others, strict=True))
        for line in lines
    ]


def matrices(results: Results) -> Iterator[list[str]]:
    """The table. If it is wider than the text, numbers head its columns and it is split into blocks that fit.

    These have no standard errors: a line before them has the largest.
    """
    table = table_of(results)
    labels = labelled(results, table.rows)
    heads = [f"{MEAN}{HELD_OUT}" if name == HELD_OUT_MEAN else name for name in table.columns]
    wide = [[label, *map(mean_text, means)] for label, means in zip(labels, table.means, strict=True)]
    lines = aligned([["", *labelled(results, heads)], *wide])
    if len(lines[0]) <= WIDTH:
        yield lines
        return
    if largest := largest_error(results):
        yield largest
    heads = [narrow_head(results, name) for name in heads]
    blocks = math.ceil(len(heads) / ((WIDTH - len(labels[0])) // NARROW_CELL))
    columns = math.ceil(len(heads) / blocks)
    for start in range(0, len(heads), columns):
        block = slice(start, start + columns)
        rows = [[label, *map(narrow, means[block])] for label, means in zip(labels, table.means, strict=True)]
        yield aligned([["", *heads[block]], *rows])


def narrow_head(results: Results, column: str) -> str:
    """The head of a narrow column: the player's number."""
    if column in results.names:
        return str(results.names.index(column) + 1)
    return "self" if column == SELF_PLAY else column


def narrow(mean: Mean) -> str:
    """A cell of a narrow column, without the standard error."""
    return with_error(mean.score, None, digits=max(0, 2 - len(mean.marks))) + mean.marks


def player_rows(results: Results) -> Grid:
    """A row for each player: its self-play, and in the square matrix its means with all others."""
    names = results.names
    has_means = len(names) > 1 and not results.settings.partners
    heads = ["self-play", "score", "fireworks", "perfect", "lost", "turns", "games/s"]
    rows = []
    for label, name in zip(labelled(results, names), names, strict=True):
        own = results.pairing(name, name)
        row = [
            label,
            with_error(own.score, own.standard_error, digits=2) + FALLBACK * bool(own.fallback_share),
            with_error(own.fireworks, own.fireworks_standard_error, digits=2),
            number(own.perfect, ".1%"),
            number(own.lost, ".1%"),
            number(own.length, ".1f"),
            number(own.games_per_second, ",.0f"),
        ]
        if has_means:
            index, others = names.index(name), [number for number, other in enumerate(names) if other != name]
            as_player = mark_of(results, [(index, other) for other in others])
            as_partner = mark_of(results, [(other, index) for other in others])
            row.append(with_error(*results.as_player(name), digits=2) + as_player)
            row.append(with_error(*results.as_partner(name), digits=2) + as_partner)
        rows.append(row)
    return [[*heads, *["row mean", "column mean"] * has_means], *rows]


def mark_of(results: Results, cells: list[Cell]) -> str:
    """The mark behind a mean over pairings in which a fallback chose moves; else nothing."""
    return FALLBACK * bool(fallback_share(results.calls.get(cell, {}) for cell in cells))


def labelled(results: Results, names: list[str]) -> list[str]:
    """Names with the numbers of players."""
    numbers = [f"{results.names.index(name) + 1:>2}" if name in results.names else "  " for name in names]
    return [f"{number} {name}" for number, name in zip(numbers, marked(results, names, LONGEST_NAME), strict=True)]


def gains(results: Results) -> Iterator[str]:
    """The points that each search gains with its blueprint as partner, if the blueprint is evaluated, too."""
    kinds = {name: identity.text for name, identity in results.settings.identities.items()}
    for name, kind in kinds.items():
        blueprint, _ = _search_parts(kind or "") or ("", [])
        for other in [other for other, bot in kinds.items() if bot == blueprint]:
            if not results.is_played((results.names.index(name), results.names.index(other))):
                continue
            gain = results.difference((name, other), (other, other))
            who, partner = shorten(name, WIDTH // 2), shorten(other, WIDTH // 4)
            yield f"{who} gains {with_error(*gain, digits=2)} with {partner} (the same decks)"


def calls(results: Results) -> Iterator[str]:
    """How often chat players were asked, with what outcomes, the sums of their usage, and the first problems."""
    for name in results.names:
        totals = results.calls_of(name)
        if not totals or not totals["calls"]:
            continue
        from starmine.text.exchange import calls_text

        yield from textwrap.wrap(f"{shorten(name, WIDTH // 2)}: {calls_text(totals)}", WIDTH, subsequent_indent="    ")
        for outcome, problem in sorted(totals["problems"].items()):
            line = f"first {outcome} reply: {middle_out(' '.join(problem.split()), 3 * WIDTH)}"
            yield textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def failures(results: Results) -> Iterator[str]:
    """The pairings with failed games."""
    failed = [pairing for pairing in results.pairings if pairing.failed]
    if failed:
        yield "Games in which a player failed:"
    for pairing in failed[:MOST_PAIRINGS]:
        who = f"{pairing.player} with {pairing.partner}: {pairing.failed:,} of {pairing.games:,}"
        line = shorten(f"{who}, such as {pairing.failures[0]}", 3 * WIDTH)
        yield textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    if len(failed) > MOST_PAIRINGS:
        yield f"  and {len(failed) - MOST_PAIRINGS:,} more pairings"


def number(value: float, form: str) -> str:
    """A formatted number; a dash for nan."""
    return "-" if math.isnan(value) else format(value, form)
