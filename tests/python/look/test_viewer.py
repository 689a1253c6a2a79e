"""The viewer of notebooks: what it tells and refuses, and its board in a real browser."""

import json
import re

import pytest
from drawn_board import drawn_board, expected_board

import starmine
from starmine.look import replay_data, viewer

pytest.importorskip("anywidget")

# A model as notebooks give it to a widget, with the values of the test.
PAGE = """<!doctype html><html lang="en"><title>widget</title><style>{style}</style>
<body data-jp-theme-light="{light}"><div id="widget"></div><script type="module">
{script}
const values = {values};
const heard = {{}};
window.model = {{
  get: (name) => values[name],
  set: (name, value) => {{ values[name] = value; for (const listener of heard[`change:${{name}}`] ?? []) listener(); }},
  on: (name, listener) => (heard[name] ??= []).push(listener),
  off: (name, listener) => {{ heard[name] = heard[name].filter((other) => other !== listener); }},
  save_changes: () => {{ window.saved = {{ game: values.game, turn: values.turn }}; }},
}};
window.heard = heard;
window.remove = widget.render({{ model: window.model, el: document.getElementById("widget") }});
</script></body></html>"""


@pytest.fixture(scope="module")
def games():
    return starmine.play_games(["smart", "simple"], games=3, record=True, seed=1).trajectories


def page_of(folder, widget, light="true"):
    """The address of a page that shows the widget as a notebook does."""
    values = {name: getattr(widget, name) for name in ("data", "theme", "game", "turn")}
    text = PAGE.format(
        style=widget._css,
        light=light,
        script=widget._esm.replace("export default {", "const widget = {"),
        values=json.dumps(values).replace("<", "\\u003c"),
    )
    path = folder / "widget.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


def test_a_widget_holds_the_games_of_a_replay(games):
    widget = viewer(games, compare="info", names=["a", "b"], titles=["x", "y", "z"], game=2, turn=5)
    assert widget.data == replay_data(games, compare="info", names=["a", "b"], titles=["x", "y", "z"])
    assert (widget.game, widget.turn) == (2, 5)
    assert {"data", "game", "turn", "theme", "_esm", "_css"} <= set(widget.get_state())
    assert not re.search(r"^import |https?://(?!www\.w3\.org/2000/svg)", widget._esm, re.MULTILINE)


def test_turns_and_games_that_there_are_not_are_refused(games):
    widget = viewer(games)
    length = int(games.lengths[0])
    widget.turn = length
    for name, value, most in (("turn", length + 1, length), ("turn", -1, length), ("game", 3, 2), ("game", -1, 2)):
        with pytest.raises(starmine.StarmineError, match=rf"{name}={value} is not allowed: expected 0 to {most}"):
            setattr(widget, name, value)
    assert (widget.game, widget.turn) == (0, length)
    with pytest.raises(starmine.StarmineError, match="game=3 is not allowed: expected 0 to 2"):
        viewer(games, game=3)
    with pytest.raises(starmine.StarmineError, match="theme='blue' is not allowed"):
        viewer(games, theme="blue")


def test_a_shorter_game_is_shown_from_its_end(games):
    lengths = [int(length) for length in games.lengths]
    longest, shortest = lengths.index(max(lengths)), lengths.index(min(lengths))
    assert max(lengths) > min(lengths)
    widget = viewer(games, game=longest, turn=max(lengths))
    widget.game = shortest
    assert widget.turn == min(lengths)


def test_the_board_follows_the_widget_and_the_widget_the_board(open_page, tmp_path, games):
    page = open_page(page_of(tmp_path, viewer(games, game=1, turn=4)))

    def shows(game, turn):
        found, expected = drawn_board(page), expected_board(games.state(game, turn))
        assert {name: found[name] for name in expected} == expected

    shows(1, 4)
    assert page.locator(".sr-left > .sr-board + .sr-controls").count() == 1
    page.get_by_label("Next turn", exact=True).click()
    shows(1, 5)
    assert page.evaluate("window.saved") == {"game": 1, "turn": 5}
    page.keyboard.press("ArrowRight")
    assert page.evaluate("window.saved") == {"game": 1, "turn": 6}
    page.evaluate("window.model.set('turn', 9)")
    shows(1, 9)
    page.evaluate("window.model.set('game', 2)")
    shows(2, 9)
    page.evaluate("window.remove()")
    assert page.evaluate("Object.values(window.heard).flat().length") == 0


@pytest.mark.parametrize(("light", "theme", "expected"), [("false", None, "dark"), ("true", "dark", "dark")])
def test_the_board_has_the_notebook_s_theme(open_page, tmp_path, games, light, theme, expected):
    page = open_page(page_of(tmp_path, viewer(games[0], theme=theme), light), color_scheme="light")
    for part in (".sr", ".sm-board"):
        assert page.evaluate("part => getComputedStyle(document.querySelector(part)).colorScheme", part) == expected
