"""A widget for notebooks that steps through games."""

from __future__ import annotations

from typing import Any

from starmine.look.replay import Watched, replay_data, script, style

RENDER = """
export default {
  render({ model, el }) {
    replay(el, model.get("data"));
  },
};
"""


def viewer(games: Watched, **options: Any) -> Any:
    """A widget that steps through games in a notebook (Jupyter, VS Code, Colab, marimo).

    Args:
        games: as `replay_html` takes them.
        **options: `names`, `titles`, `compare`, `policy` and `beliefs`, as `replay_html` takes them.

    Returns:
        An `anywidget.AnyWidget`, which a notebook shows as the value of a cell.

    Raises:
        ImportError: anywidget is not installed, the extra `notebook`.
        StarmineError, UnknownNameError, VariantError: as `replay_html`.

    >>> import starmine
    >>> games = starmine.play_games(["smart", "smart"], games=2, record=True)
    >>> widget = starmine.look.viewer(games, compare="info")
    """
    try:
        import anywidget
        import traitlets
    except ImportError as missing:
        raise ImportError("the viewer needs anywidget: pip install 'starmine[notebook]'") from missing

    class Viewer(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore]
        """The widget; `data` holds the games."""

        _esm = script() + RENDER
        _css = style()
        data = traitlets.Dict().tag(sync=True)

    return Viewer(data=replay_data(games, **options))
