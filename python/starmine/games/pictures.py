"""The methods of states and views that draw them; the compiled classes get them when the package is imported."""

from __future__ import annotations

from starmine._core import State, View
from starmine._util.imports import look_up


def _state_to_svg(self: State, seat: int | None = None, theme: str = "light") -> str:
    """A picture of the position as SVG text.

    Args:
        self: the state.
        seat: the seat that looks: its own cards are hidden, with what it may believe of them. None for the open table.
        theme: "light" or "dark".

    Raises:
        StarmineError: there is no such seat.
        UnknownNameError: there is no such theme.
    """
    svg: str = look_up("draw_position")(self, seat, theme)
    return svg


def _view_to_svg(self: View, theme: str = "light") -> str:
    """A picture of what the observer sees, as SVG text.

    Args:
        self: the view.
        theme: "light" or "dark".

    Raises:
        UnknownNameError: there is no such theme.
    """
    svg: str = look_up("draw_position")(self, None, theme)
    return svg


def _repr_svg_(self: State | View) -> str:
    """The picture that a notebook shows."""
    return self.to_svg()


def attach() -> None:
    """Give states and views `to_svg`, and `_repr_svg_`, by which notebooks show them."""
    for kind, method in ((State, _state_to_svg), (View, _view_to_svg)):
        method.__name__, method.__qualname__ = "to_svg", f"{kind.__name__}.to_svg"
        setattr(kind, "to_svg", method)  # noqa: B010 - the classes are declared final
        setattr(kind, "_repr_svg_", _repr_svg_)  # noqa: B010
