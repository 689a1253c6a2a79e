"""The results of an evaluation as text, at most 100 columns wide."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from starmine._core import _search_parts
from starmine.evaluation.calls import described, fallback_share
from starmine.evaluation.tables import HELD_OUT_MEAN, MEAN, SELF_PLAY, Mean

if TYPE_CHECKING:
    from starmine.evaluation.evaluation import Cell, Evaluation, Settings

CHEATS = "†"  # behind the name of an entrant that sees its own hand
CHEATS_NOTE = f"{CHEATS} sees its own hand: an upper bound, not a player"
HELD_OUT = "‡"  # behind the name of a partner that is held out
HELD_OUT_NOTE = f"{HELD_OUT} given as held out of training"
FALLBACK = "§"  # behind a score of games in which the fallback of a chat player chose moves
WIDTH = 100
LONGEST_NAME = 13
WIDE_CELL, NARROW_CELL = 14, 6
MOST_FAILURES = 10


def report(results: Evaluation) -> str:
    """The table, a line for each entrant and each method, the calls of chat players, and the failures."""
    parts = [heading(results), *matrices(results), "\n".join(entrants(results))]
    by_fallback = fallbacks(results)
    notes = [list(methods(results)), list(gains(results)), list(calls(results)), list(failures(results))]
    notes.insert(2, textwrap.wrap(by_fallback, WIDTH, subsequent_indent="    ") if by_fallback else [])
    return "\n\n".join(parts + ["\n".join(lines) for lines in notes if lines])


def games_a_pairing(settings: Settings) -> str:
    """How many games a cell of the table stands for; with partners, two players play each deck in both seatings."""
    if settings.partners and settings.variant.players == 2:
        return f"{settings.games:,} decks a pairing, each in both seatings"
    return f"{settings.games:,} games a pairing"


def heading(results: Evaluation) -> str:
    """The settings, and how to read the matrix."""
    settings = results.settings
    players = settings.variant.players
    if settings.partners:
        seats = "row: player; column: partner"
        seats += ", in both seat orders" if players == 2 else f" in all seats but one, each of {players} for a share"
    elif players == 2:
        seats = "row: in seat 0; column: in seat 1"
    else:
        seats = f"row: in one seat, each of {players} for a share of the games; column: in all others"
    lines = [
        f"{settings.described}; {games_a_pairing(settings)}, decks of seed {settings.seed}",
        f"mean scores, at most {settings.variant.max_score}, ± standard error",
        seats,
    ]
    if settings.partners:
        lines.append("± over decks; of a method over seeds. Means leave self-play out")
    elif len(settings.entrants) > 1:
        lines.append("diagonal: self-play, which row and column means leave out")
    lines += [CHEATS_NOTE] * bool(settings.cheaters) + [f"{HELD_OUT_NOTE}; {MEAN}{HELD_OUT} is over them"] * bool(
        settings.hold_out
    )
    return "\n".join(textwrap.fill(line, WIDTH) for line in lines)


def matrices(results: Evaluation) -> Iterator[str]:
    """The table, split into blocks of columns that fit the width."""
    table = results.table
    labels = labelled(results, table.rows)
    heads = labelled(results, [f"{MEAN}{HELD_OUT}" if name == HELD_OUT_MEAN else name for name in table.columns])
    margin = len(labels[0])
    wide = max(WIDE_CELL, *(len(head.strip()) + 1 for head in heads))
    is_wide = margin + wide * len(heads) <= WIDTH
    width = wide if is_wide else NARROW_CELL
    blocks = math.ceil(len(heads) / ((WIDTH - margin) // width))
    columns = math.ceil(len(heads) / blocks)
    for start in range(0, len(heads), columns):
        block = range(start, min(start + columns, len(heads)))
        headings = [heads[index].strip() if is_wide else narrow(results, table.columns[index]) for index in block]
        lines = [" " * margin + "".join(f"{heading:>{width}}" for heading in headings)]
        for label, means in zip(labels, table.means, strict=True):
            texts = "".join(f"{cell(means[index], is_wide):>{width}}" for index in block)
            lines.append(label + texts)
        yield "\n".join(lines)


def narrow(results: Evaluation, column: str) -> str:
    """The head of a narrow column: the entrant's number."""
    short = {MEAN: "mean", HELD_OUT_MEAN: f"mean{HELD_OUT}", SELF_PLAY: "self"}
    return short.get(column) or str(results.names.index(column) + 1)


def cell(found: Mean, is_wide: bool) -> str:
    """A cell of the table, with a star if games failed and a mark if a fallback chose moves."""
    marks = "*" * bool(found.failed) + FALLBACK * bool(found.fallback_share)
    if math.isnan(found.score):
        return f"-{marks}"
    if is_wide:
        return mean(found.score, found.shown_error) + marks
    return f"{found.score:.{max(0, 2 - len(marks))}f}{marks}"


def entrants(results: Evaluation) -> Iterator[str]:
    """A line for each entrant: its self-play, and in the square matrix its means with all others."""
    names = results.names
    has_means = len(names) > 1 and not results.settings.partners
    labels = labelled(results, names)
    headings = f"{'score':>13}{'fireworks':>13}{'perfect':>8}{'lost':>7}{'turns':>6}{'games/s':>10}"
    if has_means:
        headings += f"{'row mean':>13}{'column mean':>13}"
    yield f"{'self-play':<{len(labels[0])}}{headings}"
    for label, name in zip(labels, names, strict=True):
        own = results.pairing(name, name)
        mark = FALLBACK * bool(own.fallback_share)
        numbers = (
            f"{mean(own.score, own.standard_error) + mark:>13}{mean(own.fireworks, own.fireworks_standard_error):>13}"
        )
        numbers += f"{number(own.perfect, '.1%'):>8}{number(own.lost, '.1%'):>7}{number(own.length, '.1f'):>6}"
        numbers += f"{number(own.games_per_second, ',.0f'):>10}"
        if has_means:
            index, others = names.index(name), [number for number, other in enumerate(names) if other != name]
            row = mark_of(results, [(index, other) for other in others])
            column = mark_of(results, [(other, index) for other in others])
            numbers += f"{mean(*results.as_player(name)) + row:>13}{mean(*results.as_partner(name)) + column:>13}"
        yield label + numbers


def mark_of(results: Evaluation, cells: list[Cell]) -> str:
    """The mark behind a mean over pairings in which a fallback chose moves; else nothing."""
    return FALLBACK * bool(fallback_share(results.calls.get(cell, {}) for cell in cells))


def fallbacks(results: Evaluation) -> str:
    """What the mark of a fallback means, with the pairings; nothing where no fallback chose moves."""
    found = [pairing for pairing in results.pairings if pairing.fallback_share]
    shares = [f"{pairing.player} with {pairing.partner} {percent(pairing.fallback_share)}" for pairing in found]
    more = [f"and {len(found) - MOST_FAILURES:,} more pairings"] * (len(found) > MOST_FAILURES)
    listed = ", ".join([*shares[:MOST_FAILURES], *more])
    return f"{FALLBACK} share of chat players' moves that a fallback chose: {listed}" if found else ""


def percent(share: float) -> str:
    """A share above 0, which is not shown as 0."""
    return f"{share:.1%}" if share >= 0.0005 else "below 0.1%"


def labelled(results: Evaluation, names: list[str]) -> list[str]:
    """Names with the numbers of entrants, padded to equal width."""
    numbers = [f"{results.names.index(name) + 1:>2}" if name in results.names else "  " for name in names]
    labels = [f"{number} {name}" for number, name in zip(numbers, marked(results, names, LONGEST_NAME), strict=True)]
    width = max(len("self-play"), *(len(label) for label in labels))
    return [label.ljust(width) for label in labels]


def marked(results: Evaluation, names: list[str], longest: int) -> list[str]:
    """Names, shortened, with marks behind those that see their own hand and those that are held out."""
    cheaters, held_out = results.settings.cheaters, results.settings.hold_out
    short = [shorten(name, longest) for name in names]
    if len(set(short)) < len(set(names)):  # the ends of names, such as numbers of seeds, tell them apart
        short = [middle_out(name, longest) for name in names]
    marks = [CHEATS * (name in cheaters) + HELD_OUT * (name in held_out) for name in names]
    return [name + mark for name, mark in zip(short, marks, strict=True)]


def methods(results: Evaluation) -> Iterator[str]:
    """A line for each method: its seeds with themselves and with each other."""
    found = results.methods
    width = max([len("seeds of"), *(len(shorten(method.name, WIDTH // 4)) for method in found)])
    if found:
        yield f"{'seeds of':<{width}}{'seeds':>7}{'self-play':>14}{'cross-play':>14}{'pairs':>7}  all pairs"
    for method in found:
        own = mean(method.self_play, method.self_play_error)
        crossed = mean(method.cross_play, method.cross_play_error)
        pairs = f"{number(method.all_pairs, '.2f')} ({number(method.lowest, '.2f')} to {number(method.highest, '.2f')})"
        name = shorten(method.name, WIDTH // 4)
        yield f"{name:<{width}}{len(method.seeds):>7}{own:>14}{crossed:>14}{method.pairs:>7}  {pairs}"
    if found:
        yield "cross-play: mean over disjoint pairs of seeds, both seatings; ± over seeds, and over these pairs"


def gains(results: Evaluation) -> Iterator[str]:
    """What each search gains beside its blueprint, where that is an entrant too."""
    kinds = {name: identity.text for name, identity in results.settings.identities.items()}
    for name, kind in kinds.items():
        blueprint, _ = _search_parts(kind or "") or ("", [])
        for other in [other for other, bot in kinds.items() if bot == blueprint]:
            if not results.is_played((results.names.index(name), results.names.index(other))):
                continue
            gain = results.difference((name, other), (other, other))
            who, partner = shorten(name, WIDTH // 2), shorten(other, WIDTH // 4)
            yield f"{who} gains {mean(*gain)} beside {partner} (the same decks)"


def calls(results: Evaluation) -> Iterator[str]:
    """How often chat players were asked, with what outcomes, the sums of their usage, and the first problems."""
    for name in results.names:
        found = results.calls_of(name)
        if not found or not found["calls"]:
            continue
        yield from textwrap.wrap(f"{shorten(name, WIDTH // 2)}: {described(found)}", WIDTH, subsequent_indent="    ")
        for outcome, problem in sorted(found["problems"].items()):
            line = f"first {outcome} reply: {middle_out(' '.join(problem.split()), 3 * WIDTH)}"
            yield textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


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


def middle_out(name: str, longest: int) -> str:
    """A name with an ellipsis in its middle if it is too long."""
    end = longest // 2
    return name if len(name) <= longest else f"{name[: longest - end - 1]}…{name[-end:]}"


def shorten(name: str, longest: int) -> str:
    """A name, truncated with an ellipsis if it is too long."""
    return name if len(name) <= longest else name[: longest - 1] + "…"
