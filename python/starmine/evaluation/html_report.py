"""An evaluation as one HTML page: the matrix, the scores' histograms, and the worst games to step through."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from starmine.data.game import Game
from starmine.evaluation.calls import Calls
from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.grid import caption, method_grids, score_grid
from starmine.evaluation.pairing import SCORE
from starmine.look.analysis import verdict
from starmine.look.words import told_apart

STYLE = """
:root { color-scheme: light dark; }
body { max-width: 70rem; margin: 1.5rem auto; padding: 0 1rem; font: 15px/1.45 system-ui, sans-serif; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 4px 10px; border: 1px solid #8886; text-align: right; font-variant-numeric: tabular-nums; }
.text, th { text-align: left; }
figure { display: inline-block; margin: 0 1rem 1rem 0; }
rect { fill: #2468b4; }
text { font: 9px system-ui, sans-serif; fill: currentColor; }
"""
WIDTH, HEIGHT = 260, 90  # of a histogram, without its labels


def evaluation_html(results: Evaluation, worst: Sequence[Game] = (), replay: str = "worst.html") -> str:
    """The page, one file without scripts.

    Args:
        results: the evaluation.
        worst: the games that scored least, in the order of their replay.
        replay: the address of that replay.
    """
    shown = "".join(f"<p>{html.escape(line)}.</p>\n" for line in caption(results))
    methods = "".join(_table(heads, [_row(*row) for row in rows]) for heads, *rows in method_grids(results))
    figures = "".join(_histogram(results, index) for index in range(len(results.names)))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Evaluation of bots</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Evaluation</h1>\n"
        f"<h2>Mean scores</h2>\n{_matrix(results)}{methods}{shown}<p>Starmine {results.settings.version}.</p>\n"
        f"<h2>Scores in self-play</h2>\n{figures}{_calls(results)}{_worst(worst, replay)}</body>\n</html>\n"
    )


def _matrix(results: Evaluation) -> str:
    """The table with its standard errors; a mean is the darker the higher."""
    (heads, *named), most, rows = score_grid(results), results.settings.variant.max_score, []
    for (name, *texts), means in zip(named, results.table.means, strict=True):
        shares = [0.0 if math.isnan(mean.score) else max(0.0, mean.score / most) for mean in means]
        cells = "".join(
            f'<td style="background: rgb(36 104 180 / {40 * share:.0f}%)">{text}</td>'
            for share, text in zip(shares, texts, strict=True)
        )
        rows.append(f'<tr><th scope="row">{html.escape(name)}</th>{cells}</tr>')
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Sequence[str]) -> str:
    """A table that scrolls where the page is narrower."""
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
    return f'<div class="wide"><table>\n{f"<tr>{head}</tr>" if head else ""}{"".join(rows)}\n</table></div>\n'


def names_of(game: Game) -> list[str]:
    """The names of a game's players by seat."""
    return [str(player["name"]) for player in game.players]


def title_of(game: Game) -> str:
    """A game's number among those of its pairing, such as "Game 17 of smart with simple"."""
    assert game.table.index is not None
    return f"Game {game.table.index[0]} of {' with '.join(dict.fromkeys(names_of(game)))}"


def _worst(games: Sequence[Game], replay: str) -> str:
    """The games that scored least: each with a link to its replay, and how it ended."""
    if not games:
        return ""
    rows = [
        f"<tr><td>{game.score}</td>"
        f'<td class="text"><a href="{html.escape(replay)}#game={index}">'
        f"{html.escape(title_of(game))}</a></td>"
        f'<td class="text">{html.escape(verdict(game.state(), told_apart(names_of(game))))}</td></tr>'
        for index, game in enumerate(games)
    ]
    return f"<h2>The worst games</h2>\n{_table(['points', 'to step through', 'how it ended'], rows)}"


def _calls(results: Evaluation) -> str:
    """What the calls of chat players came to in each pairing, and over all pairings their first problems."""
    rows, problems = [], []
    for pairing in results.pairings:
        who = f"{pairing.player} with {pairing.partner}"
        rows += [_row(name, who, *_numbers(calls)) for name, calls in pairing.calls.items()]
    for name in results.names:
        found = (results.calls_of(name) or {}).get("problems", {})
        problems += [_row(name, f"first {outcome} reply", problem) for outcome, problem in sorted(found.items())]
    if not rows:
        return ""
    heads = (
        "player",
        "games of",
        "calls",
        "outcomes",
        "repeated calls",
        "moves of the fallback",
        "seconds a call",
        "usage",
    )
    first = _table([], problems) if problems else ""
    return f"<h2>Calls of language models</h2>\n{_table(heads, rows)}{first}"


def _numbers(calls: Calls) -> list[str]:
    """The totals of a chat player's calls, as the cells of a row."""
    from starmine.text.exchange import listed, seconds_a_call

    seconds = f"{seconds_a_call(calls):.2f}" if calls["calls"] else "-"
    told = [f"{calls['calls']:,}", listed(calls["outcomes"]), listed(calls["repeated"]), f"{calls['fallbacks']:,}"]
    return [*told, seconds, listed(calls["usage"])]


def _row(*cells: str) -> str:
    texts = "".join(f'<td class="text">{html.escape(cell)}</td>' for cell in cells)
    return f"<tr>{texts}</tr>\n"


def _histogram(results: Evaluation, index: int) -> str:
    """The scores of a player with itself: a bar a score, as high as its number of games."""
    name, most = results.names[index], results.settings.variant.max_score
    scores: NDArray[np.int16] = results.outcomes[index, index, SCORE, : results.played[index, index]]
    counts = np.bincount(scores[scores >= 0], minlength=most + 1)
    highest, width = max(1, int(counts.max())), WIDTH / len(counts)
    bars = "".join(
        f'<rect x="{score * width:.1f}" y="{HEIGHT * (1 - count / highest):.1f}" width="{width * 0.9:.1f}" '
        f'height="{HEIGHT * count / highest:.1f}"><title>{score}: {count:,} games</title></rect>'
        for score, count in enumerate(counts.tolist())
    )
    own = results.pairing(name, name).score
    words = html.escape(f"{name}: " + ("no games" if math.isnan(own) else f"mean {own:.2f}"))
    return (
        f"<figure><figcaption>{words}</figcaption>"
        f'<svg width="{WIDTH}" height="{HEIGHT + 14}" role="img" aria-label="{words}">{bars}'
        f'<text x="0" y="{HEIGHT + 11}">0</text><text x="{WIDTH}" y="{HEIGHT + 11}" text-anchor="end">{most}</text>'
        "</svg></figure>\n"
    )
