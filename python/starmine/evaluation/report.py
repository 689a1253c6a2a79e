"""The results of an evaluation as text, at most 100 columns wide."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from starmine._core import _search_parts
from starmine.evaluation.pairing import Pairing

if TYPE_CHECKING:
    from starmine.evaluation.evaluation import Evaluation

CHEATS = "†"  # behind the name of an entrant that sees its own hand
CHEATS_NOTE = f"{CHEATS} sees its own hand: an upper bound, not a player"
WIDTH = 100
LONGEST_NAME = 13
WIDE_CELL, NARROW_CELL = 14, 6
MOST_FAILURES = 10


def report(results: Evaluation) -> str:
    """The matrix, a line for each entrant, and the failures."""
    parts = [heading(results), *matrices(results), "\n".join(entrants(results))]
    notes = [list(gains(results)), list(failures(results))]
    return "\n\n".join(parts + ["\n".join(lines) for lines in notes if lines])


def heading(results: Evaluation) -> str:
    """The settings, and how to read the matrix."""
    settings = results.settings
    players = settings.variant.players
    seats = (
        "row: in seat 0; column: in seat 1"
        if players == 2
        else f"row: in one seat, each of {players} for a share of the games; column: in all others"
    )
    lines = [
        f"{settings.described}; {settings.games:,} games a pairing, decks of seed {settings.seed}",
        f"mean scores, at most {settings.variant.max_score}, ± standard error",
        seats,
    ]
    if len(settings.entrants) > 1:
        lines.append("diagonal: self-play, which row and column means leave out")
    if settings.cheaters:
        lines.append(CHEATS_NOTE)
    return "\n".join(textwrap.fill(line, WIDTH) for line in lines)


def matrices(results: Evaluation) -> Iterator[str]:
    """The matrix, split into blocks of columns that fit the width."""
    names = results.names
    labels = labelled(results)
    margin = len(labels[0])
    wide = max(WIDE_CELL, margin + 1)
    is_wide = margin + wide * len(names) <= WIDTH
    width = wide if is_wide else NARROW_CELL
    blocks = math.ceil(len(names) / ((WIDTH - margin) // width))
    columns = math.ceil(len(names) / blocks)
    for start in range(0, len(names), columns):
        block = range(start, min(start + columns, len(names)))
        headings = [labels[index].strip() if is_wide else str(index + 1) for index in block]
        lines = [" " * margin + "".join(f"{heading:>{width}}" for heading in headings)]
        for row, player in enumerate(names):
            cells = [results.pairing(player, names[column]) for column in block]
            texts = "".join(f"{cell(pairing, is_wide):>{width}}" for pairing in cells)
            lines.append(labels[row] + texts)
        yield "\n".join(lines)


def cell(pairing: Pairing, is_wide: bool) -> str:
    """A cell of the matrix, with a star if games failed."""
    star = "*" if pairing.failed else ""
    if math.isnan(pairing.score):
        return f"-{star}"
    if is_wide:
        return mean(pairing.score, pairing.standard_error) + star
    return f"{pairing.score:.{1 if star else 2}f}{star}"


def entrants(results: Evaluation) -> Iterator[str]:
    """A line for each entrant: its self-play, and its means with all others."""
    names = results.names
    labels = labelled(results)
    headings = f"{'score':>13}{'fireworks':>13}{'perfect':>8}{'lost':>7}{'turns':>6}{'games/s':>10}"
    if len(names) > 1:
        headings += f"{'row mean':>13}{'column mean':>13}"
    yield f"{'self-play':<{len(labels[0])}}{headings}"
    for label, name in zip(labels, names, strict=True):
        own = results.pairing(name, name)
        numbers = f"{mean(own.score, own.standard_error):>13}{mean(own.fireworks, own.fireworks_standard_error):>13}"
        numbers += f"{number(own.perfect, '.1%'):>8}{number(own.lost, '.1%'):>7}{number(own.length, '.1f'):>6}"
        numbers += f"{number(own.games_per_second, ',.0f'):>10}"
        if len(names) > 1:
            numbers += f"{mean(*results.as_player(name)):>13}{mean(*results.as_partner(name)):>13}"
        yield label + numbers


def labelled(results: Evaluation) -> list[str]:
    """Numbers and names of the entrants, padded to equal width."""
    labels = [f"{index:>2} {name}" for index, name in enumerate(marked(results, LONGEST_NAME), 1)]
    width = max(len("self-play"), *(len(label) for label in labels))
    return [label.ljust(width) for label in labels]


def marked(results: Evaluation, longest: int) -> list[str]:
    """The names of the entrants, shortened, with a mark behind those that see their own hand."""
    cheaters = results.settings.cheaters
    return [shorten(name, longest) + (CHEATS if name in cheaters else "") for name in results.names]


def gains(results: Evaluation) -> Iterator[str]:
    """What each search gains beside its blueprint, where that is an entrant too."""
    kinds = {name: identity.text for name, identity in results.settings.identities.items()}
    for name, kind in kinds.items():
        blueprint, _ = _search_parts(kind or "") or ("", [])
        for other in [other for other, bot in kinds.items() if bot == blueprint]:
            gain = results.difference((name, other), (other, other))
            who, partner = shorten(name, WIDTH // 2), shorten(other, WIDTH // 4)
            yield f"{who} gains {mean(*gain)} beside {partner} (the same decks)"


def failures(results: Evaluation) -> Iterator[str]:
    """The pairings with failed games."""
    failed = [pairing for pairing in results.pairings if pairing.failed]
    if failed:
        yield "* Games in which a player failed are left out:"
    for pairing in failed[:MOST_FAILURES]:
        who = f"{pairing.player} with {pairing.partner}: {pairing.failed:,} of {pairing.games:,}"
        line = shorten(f"{who}, such as {pairing.failures[0]}", 3 * WIDTH)
        yield textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    if len(failed) > MOST_FAILURES:
        yield f"  and {len(failed) - MOST_FAILURES:,} more pairings"


def number(value: float, form: str) -> str:
    """A formatted number; a dash for nan."""
    return "-" if math.isnan(value) else format(value, form)


def mean(value: float, error: float | None) -> str:
    """A mean and its standard error; a dash for nan."""
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if error is None else f"{value:.2f} ±{error:.2f}"


def shorten(name: str, longest: int) -> str:
    """A name, truncated with an ellipsis if it is too long."""
    return name if len(name) <= longest else name[: longest - 1] + "…"
