"""What boards are made of: the shapes and colours of the suits, the colours of the rest, and letters drawn as lines.

`drawing.json` is the one table of shapes and colours. Pictures are drawn from it here; for the pages in a browser,
`browser_file` makes a script and a style sheet of it. A suit has a name, a shape in a box of 24 x 24, the fill of its
cards, and the ink on them. A fill of several colours is a gradient from the upper left to the lower right. Another
colour has a value for light pages and one for dark pages.

Letters and digits are lines, so that a picture looks the same on machines without fonts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
_TABLE = json.loads((FOLDER / "drawing.json").read_text(encoding="utf-8"))
SUITS: dict[str, dict[str, Any]] = _TABLE["suits"]
THEMES: dict[str, dict[str, str]] = {
    "light": {name: light for name, (light, _) in _TABLE["colors"].items()},
    "dark": {name: dark for name, (_, dark) in _TABLE["colors"].items()},
}
GRADIENT: list[list[str]] = SUITS["M"]["fill"]
# The fill of each suit's cards, and what is drawn on it.
COLORS: dict[str, tuple[str, str]] = {
    letter: ("url(#starmine-M)" if letter == "M" else suit["fill"], suit["ink"]) for letter, suit in SUITS.items()
}

# Characters as lines in a box of 10 x 14.
GLYPHS = {
    "0": "M5 1C2 1 1 4 1 7S2 13 5 13 9 10 9 7 8 1 5 1z",
    "1": "M2 4 5.5 1V13M2 13H9",
    "2": "M1.5 4C1.5 2 3 1 5 1S8.5 2 8.5 4C8.5 7 1 9.5 1 13H9",
    "3": "M1.5 2.5C3 .5 8.5 .5 8.5 4 8.5 6.5 6 6.8 4 6.8 6.5 6.8 9 7.5 9 10 9 14 2.5 14 1 11.5",
    "4": "M7 13V1L1 9.5H9.5",
    "5": "M8.5 1H2.5L2 6.5C4 5 9 5 9 9.2 9 13.5 3 14 1 11.5",
    "6": "M8 1.5C4 1 1 5 1 9 1 11.5 3 13 5 13S9 11.5 9 9 7 5.5 5 5.5 1.5 7 1 9",
    "7": "M1 1H9L4 13",
    "8": "M5 6.5C3 6.5 2 5.2 2 3.8S3 1 5 1 8 2.3 8 3.8 7 6.5 5 6.5 1 8 1 9.8 3 13 5 13 9 11.6 9 9.8 7 6.5 5 6.5z",
    "9": "M9 5C8.5 7 7 8.5 5 8.5S1 7 1 4.8 3 1 5 1 9 2.5 9 5C9 9 6 13 2 12.5",
    "R": "M1.5 13V1H5C10 1 10 7.5 5 7.5H1.5M5 7.5 9 13",
    "Y": "M1 1 5 7 9 1M5 7V13",
    "G": "M9 3.5C7.5 0 1 0 1 7S8 14.5 9 10V7.5H5.5",
    "W": "M0 1 2.5 13 5 4 7.5 13 10 1",
    "B": "M1.5 1V13H5.5C10 13 10 7 5.5 6.8 9.5 6.5 9 1 5.2 1zM1.5 6.8H5.5",
    "M": "M.5 13V1L5 8 9.5 1V13",
    "K": "M1.5 1V13M9 1 1.5 8M4 6 9 13",
    "S": "M8.5 3C7 0 1.5 .5 1.5 4 1.5 8 8.8 6 8.8 10 8.8 14 2 14 1 11",
    "H": "M1.5 1V13M8.5 1V13M1.5 7H8.5",
    "D": "M1.5 1V13H4.5C10.5 13 10.5 1 4.5 1z",
    "C": "M9 3.5C7.5 0 1 0 1 7S7.5 14 9 10.5",
    "P": "M1.5 13V1H5C10 1 10 7.5 5 7.5H1.5",
    "T": "M1 1H9M5 1V13",
    "?": "M1.5 4C1.5 0 8.5 0 8.5 4 8.5 6.5 5 6.5 5 9.5M5 12.8V13",
    "!": "M5 1V9M5 12.8V13",
    "/": "M8.5 0 1.5 14",
    "x": "M1.5 3.5 8.5 10.5M8.5 3.5 1.5 10.5",
}  # fmt: skip
GLYPH_WIDTH, GLYPH_HEIGHT = 10, 14


def glyphs(x: float, y: float, text: str, height: float, color: str, weight: float = 1.9, anchor: str = "start") -> str:
    """A text as lines.

    Args:
        x: of its left end, its middle or its right end, by `anchor`.
        y: of its top.
        text: of characters of `GLYPHS`.
        height: of a character.
        color: of the lines.
        weight: the lines' width, in a character of height 14.
        anchor: "start", "middle" or "end".
    """
    scale = height / GLYPH_HEIGHT
    step = (GLYPH_WIDTH + 2.5) * scale
    left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * (len(text) * step - 2.5 * scale)
    parts = [
        f'<path transform="translate({left + index * step:.4g} {y:.4g}) scale({scale:.4g})" d="{GLYPHS[character]}"/>'
        for index, character in enumerate(text)
    ]
    line = f'fill="none" stroke="{color}" stroke-width="{weight:g}" stroke-linecap="round" stroke-linejoin="round"'
    return f"<g {line}>{''.join(parts)}</g>"


def shape(x: float, y: float, letter: str, size: float, color: str) -> str:
    """A suit's shape in a square."""
    path = SUITS[letter]["shape"]
    return f'<path transform="translate({x:.4g} {y:.4g}) scale({size / 24:.4g})" d="{path}" fill="{color}"/>'


def browser_file(name: str) -> str:
    """A script or a style sheet of the pages: "suits.js" and "colors.css" are made of the table, others are files."""
    if name == "suits.js":
        return f"export const SUITS = {json.dumps(SUITS)};\n"
    if name == "colors.css":
        return _colors()
    return (FOLDER / name).read_text(encoding="utf-8")


def _colors() -> str:
    """The colours as properties: of the pages for light and dark, and of the elements of each suit."""
    pairs = [f"  --{name}: light-dark({light}, {dark});\n" for name, (light, dark) in _TABLE["colors"].items()]
    rules = [f".sm-board, .sr {{\n{''.join(pairs)}}}\n"]
    for letter, suit in SUITS.items():
        fill = suit["fill"]
        if not isinstance(fill, str):
            fill = f"linear-gradient(135deg, {', '.join(f'{color} {offset}' for offset, color in fill)})"
        rules.append(f".sm-board .sm-{letter} {{ --fill: {fill}; --on: {suit['ink']}; }}\n")
    return "".join(rules)
