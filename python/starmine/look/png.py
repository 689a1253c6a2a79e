"""Pictures as PNG files and as arrays, by the libraries resvg and Pillow."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError, State, View
from starmine._util.imports import library
from starmine._util.numbers import is_number
from starmine.look.svg import to_svg

MOST_SCALE = 10  # 8,000 pixels wide


def to_png(position: State | View, seat: int | None = None, theme: str = "light", scale: float = 2.0) -> bytes:
    """A picture of the position as a PNG file.

    Args:
        position: a state, or a seat's view.
        seat: as `State.to_svg` takes it.
        theme: "light" or "dark".
        scale: of the picture, which is 800 pixels wide at 1.0; up to 10.

    Raises:
        StarmineError: there is no such seat, it is not the view's, or the scale is not above 0 and up to 10.
        UnknownNameError: there is no such theme.
        ImportError: resvg-py is not installed.
    """
    return png_of(to_svg(position, seat, theme), scale)


def png_of(svg: str, scale: float = 1.0) -> bytes:
    """An SVG picture as a PNG file."""
    if not is_number(scale, 0, MOST_SCALE) or not scale:
        raise StarmineError(f"scale={scale!r} is not allowed: expected a number above 0 and up to {MOST_SCALE}")
    resvg = library("resvg_py", "PNG pictures need resvg-py", "pictures")
    return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=scale))


def rgb_of(svg: str, scale: float = 1.0) -> NDArray[np.uint8]:
    """An SVG picture as colours: uint8 (height, width, 3)."""
    png = png_of(svg, scale)
    pillow = library("PIL.Image", "pictures as arrays need Pillow", "pictures")
    with pillow.open(io.BytesIO(png)) as image:
        return np.array(image.convert("RGB"), np.uint8)
