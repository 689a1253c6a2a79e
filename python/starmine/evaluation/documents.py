"""The table of an evaluation as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from starmine.evaluation.report import CHEATS_NOTE, FALLBACK, HELD_OUT_NOTE, fallbacks, games_a_pairing, marked

if TYPE_CHECKING:
    from starmine.evaluation.evaluation import Evaluation

SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "§": r"\S{}",
}
METHOD_HEADS = ["method", "seeds", "self-play", "cross-play", "pairs", "all pairs"]
METHODS_NOTE = "Cross-play is the mean over disjoint pairs of seeds in both seatings, ± over these pairs."


def table_text(results: Evaluation) -> str:
    """A line for each cell of the table; nan and None are empty fields."""
    means = [mean for row in results.table.means for mean in row]
    return csv_text([asdict(mean) for mean in means])


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of equal keys as CSV; nan and None are empty fields."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in row.items()}
        for row in rows
    )
    return text.getvalue()


def to_markdown(results: Evaluation) -> str:
    """The table in Markdown, with one for the seeds of methods, and what they show."""
    parts = []
    for heads, rows in _tables(results):
        lines = [heads, ["---"] * len(heads), *rows]
        parts.append("\n".join(f"| {' | '.join(_markdown(cell) for cell in line)} |" for line in lines))
    return "\n\n".join([*parts, " ".join(caption(results))]) + "\n"


def to_latex(results: Evaluation) -> str:
    """The tables as `tabular`s, which need no package; what they show stands in comments before them."""
    parts = ["\n".join(f"% {line}" for line in caption(results))]
    for heads, rows in _tables(results):
        lines = [" & ".join(_latex(cell) for cell in line) + r" \\" for line in [heads, *rows]]
        head, *body = lines
        columns = "l" + "r" * (len(heads) - 1)
        parts.append("\n".join([rf"\begin{{tabular}}{{{columns}}}", head, r"\hline", *body, r"\end{tabular}"]))
    return "\n\n".join(parts) + "\n"


def caption(results: Evaluation) -> list[str]:
    """What the table shows, in sentences."""
    settings = results.settings
    seats = "Rows sit in seat 0, columns in seat 1." if settings.variant.players == 2 else ""
    seats = seats or "Rows hold one seat, each for a share of the games, and columns all others."
    if settings.partners:
        seats = "Rows play with columns in all seatings; means leave self-play out."
    lines = [
        f"Mean scores of {games_a_pairing(settings)}, {settings.described}, decks of seed {settings.seed}.",
        seats,
        "± is the standard error over decks, of methods that over seeds." if settings.methods else "",
        "" if settings.methods else "± is the standard error over decks.",
        METHODS_NOTE if settings.methods else "",
        f"{CHEATS_NOTE}." if settings.cheaters else "",
        f"{HELD_OUT_NOTE}." if settings.hold_out else "",
        f"{fallbacks(results)}." if fallbacks(results) else "",
    ]
    return [line for line in lines if line]


def _tables(results: Evaluation) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The table, and that of methods if there are some: heads and rows of texts."""
    table = results.table
    longest = max(map(len, [*table.rows, *table.columns]))
    rows, columns = (marked(results, names, longest) for names in (table.rows, table.columns))
    cells = [
        [_text(mean.score, mean.shown_error) + FALLBACK * bool(mean.fallback_share) for mean in means]
        for means in table.means
    ]
    yield ["", *columns], [[row, *texts] for row, texts in zip(rows, cells, strict=True)]
    lines = [
        [
            method.name,
            str(len(method.seeds)),
            _text(method.self_play, method.self_play_error),
            _text(method.cross_play, method.cross_play_error),
            str(method.pairs),
            f"{_text(method.all_pairs)} ({_text(method.lowest)} to {_text(method.highest)})",
        ]
        for method in results.methods
    ]
    if lines:
        yield METHOD_HEADS, lines


def _text(mean: float, error: float | None = None) -> str:
    """A mean and its standard error; nothing without games."""
    if math.isnan(mean):
        return ""
    return f"{mean:.2f}" if error is None else f"{mean:.2f} ± {error:.2f}"


def _markdown(text: str) -> str:
    """A text whose bars do not end a cell."""
    return text.replace("|", "\\|")


def _latex(text: str) -> str:
    """A text with LaTeX's special characters escaped."""
    return "".join(SPECIAL.get(character, character) for character in text).replace(" ± ", r" $\pm$ ")
