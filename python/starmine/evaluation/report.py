"""The results of an evaluation as text, and as CSV."""

from __future__ import annotations

import csv
import io
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from starmine._core import _search_parts
from starmine._util.numbers import without_nan
from starmine.evaluation.matrix import FAILURES, TableCell, methods_of, table_of
from starmine.evaluation.settings import Cell
from starmine.games.scores import FALLBACK, with_error
from starmine.games.variants import variant_text

if TYPE_CHECKING:
    from starmine.evaluation.evaluation import Evaluation

WIDTH = 80  # of the text, in letters; tables of very many players are wider
NARROWEST = 6  # the width of a head whose name is broken into lines
LONGEST_MESSAGE = 300
MOST_FAILURES = 10  # pairings that are named
CHEATS = "†"  # behind the name of a player that sees its own hand
HELD_OUT = "‡"  # behind the name of a partner that is held out

Rows: TypeAlias = list[list[str]]


def report(results: Evaluation) -> str:
    """The table, a line for each player and each method, and the failures."""
    lines = [textwrap.fill(line, WIDTH, subsequent_indent="    ") for line in [*caption(results), *notes(results)]]
    parts = [
        lines,
        matrix(results),
        [*aligned(player_rows(results)), *legend(results)],
        aligned(method_rows(results)),
        gains(results),
        failures(results),
    ]
    return "\n\n".join("\n".join(part) for part in map(list, parts) if part)


def caption(results: Evaluation) -> list[str]:
    """What the table shows, a sentence each: its games, and how to read it."""
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
    sentences = [
        f"Mean scores of {games}, {variant_text(settings.variant)}, decks of seed {settings.seed}",
        f"At most {settings.variant.max_score}; ± standard error over decks{over_seeds}",
        seats,
    ]
    if settings.methods:
        sentences.append("Cross-play: mean over disjoint pairs of seeds in both seatings, ± over these pairs")
    return sentences


def notes(results: Evaluation) -> list[str]:
    """What the marks behind names and scores mean, as far as they occur."""
    notes = [f"{CHEATS} sees its own hand: an upper bound, not a player"] * bool(results.settings.cheaters)
    notes += [f"{HELD_OUT} given as held out of training"] * bool(results.settings.hold_out)
    if assumed := results.settings.assumed:
        notes.append(f"{', '.join(assumed)} did not say which rules it plays (a module's `variant`): these are assumed")
    if fallbacks := sum(pairing.fallbacks for pairing in results.pairings):
        notes.append(f"{FALLBACK} a fallback chose some moves of a chat player: {fallbacks:,} in all pairings")
    if any(pairing.failed for pairing in results.pairings):
        notes.append(f"{FAILURES} without the games in which a player failed")
    return notes


def marked(results: Evaluation, names: Sequence[str]) -> list[str]:
    """The names, with marks behind players that see their own hand and partners that are held out."""
    settings = results.settings
    return [name + CHEATS * (name in settings.cheaters) + HELD_OUT * (name in settings.hold_out) for name in names]


def aligned(rows: Rows, breaks_words: bool = False) -> list[str]:
    """The lines of a table: the first column to the left, all others to the right, "±" without the blank behind it.

    Heads that would make the table too wide are broken into lines, between words or also within. No rows, no lines.
    """
    if not rows:
        return []
    heads, *cells = [[text.replace("± ", "±") for text in row] for row in rows]
    first, *columns = [max(map(len, column), default=0) for column in zip(*cells, strict=True)]
    for most in range(max(NARROWEST, *map(len, heads)), NARROWEST - 1, -1):
        broken = [
            textwrap.wrap(head, max(most, width), break_long_words=breaks_words)
            for head, width in zip(heads, [first, *columns], strict=True)
        ]
        widths = [max([width, *map(len, head)]) for head, width in zip(broken, [first, *columns], strict=True)]
        if sum(widths) + len(columns) <= WIDTH:
            break
    most = max(map(len, broken))
    lines = [*zip(*([""] * (most - len(head)) + head for head in broken), strict=True), *cells]
    texts = (
        line[0].ljust(widths[0])
        + "".join(f" {text:>{width}}" for text, width in zip(line[1:], widths[1:], strict=True))
        for line in lines
    )
    return [text.rstrip() for text in texts]


def matrix(results: Evaluation) -> list[str]:
    """The table of mean scores. One that would be too wide has no standard errors."""
    table = table_of(results)
    heads, labels = ["", *marked(results, table.columns)], marked(results, table.rows)
    lines = aligned(
        [heads, *([label, *map(mean_text, means)] for label, means in zip(labels, table.means, strict=True))], True
    )
    if max(map(len, lines)) <= WIDTH:
        return lines
    rows = [[with_error(mean.score, None, digits=2) + mean.marks for mean in means] for means in table.means]
    narrow = [heads, *([label, *row] for label, row in zip(labels, rows, strict=True))]
    return [*largest_error(results), *aligned(narrow, True)]


def mean_text(mean: TableCell) -> str:
    """A mean score with its standard error and its marks."""
    return with_error(mean.score, mean.shown_error, digits=2) + mean.marks


def largest_error(results: Evaluation) -> list[str]:
    """What stands with a table without standard errors; nothing where no cell has one."""
    errors = [mean.shown_error for row in table_of(results).means for mean in row if mean.shown_error is not None]
    return [f"Standard errors: at most {math.ceil(100 * max(errors)) / 100:.2f}"] if errors else []


def player_rows(results: Evaluation) -> Rows:
    """A row for each player: its self-play, and in the square matrix its means with all others."""
    names = results.names
    has_means = len(names) > 1 and not results.settings.partners
    heads = ["self-play", "score", "kept", "perfect", "lost", "turns", "games a second"]
    rows = []
    for label, name in zip(marked(results, names), names, strict=True):
        own = results.pairing(name, name)
        row = [
            label,
            with_error(own.score, own.standard_error, digits=2) + FALLBACK * bool(own.fallbacks),
            number(own.fireworks, ".2f"),
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


def legend(results: Evaluation) -> list[str]:
    """What the columns of `player_rows` are, as far as their names do not say it."""
    lines = ["kept: mean score if lost games kept their points"]
    if len(results.names) > 1 and not results.settings.partners:
        lines.append("row mean, column mean: means of the table above without self-play")
    return lines


def mark_of(results: Evaluation, cells: list[Cell]) -> str:
    """The mark behind a mean over pairings in which a fallback chose moves; else nothing."""
    return FALLBACK * any(results.fallbacks.get(cell, 0) for cell in cells)


def method_rows(results: Evaluation) -> Rows:
    """A row for each method; none without methods."""
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
    return [["method", "seeds", "self-play", "cross-play", "pairs", "all pairs"], *rows] if rows else []


def gains(results: Evaluation) -> Iterator[str]:
    """The points that each search gains with its blueprint as partner, if the blueprint is evaluated, too."""
    kinds = {name: identity.text for name, identity in results.settings.identities.items()}
    for name, kind in kinds.items():
        blueprint, _ = _search_parts(kind or "") or ("", [])
        for other in [other for other, bot in kinds.items() if bot == blueprint]:
            if results.includes((results.names.index(name), results.names.index(other))):
                gain = results.difference((name, other), (other, other))
                yield f"{name} gains {with_error(*gain, digits=2)} with {other} (the same decks)"


def failures(results: Evaluation) -> Iterator[str]:
    """The pairings with failed games."""
    failed = [pairing for pairing in results.pairings if pairing.failed]
    if failed:
        yield "Games in which a player failed:"
    for pairing in failed[:MOST_FAILURES]:
        who = f"{pairing.player} with {pairing.partner}: {pairing.failed:,} of {pairing.games:,}"
        yield message(f"{who}, such as {pairing.failures[0]}")
    if len(failed) > MOST_FAILURES:
        yield f"  and {len(failed) - MOST_FAILURES:,} more pairings"


def message(text: str) -> str:
    """An error of a player, indented. A long one loses its middle; its end names the line that raised the error."""
    text = " ".join(text.split())
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[: LONGEST_MESSAGE // 2]} ... {text[-LONGEST_MESSAGE // 2 :]}"
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def number(value: float, form: str) -> str:
    """A formatted number; a dash for nan."""
    return "-" if math.isnan(value) else format(value, form)


def csv_of_table(results: Evaluation) -> str:
    """A line for each cell of the table; nan and None are empty fields."""
    return csv_text([asdict(mean) for row in table_of(results).means for mean in row])


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of equal keys as CSV; nan and None are empty fields."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(without_nan, rows))
    return text.getvalue()
