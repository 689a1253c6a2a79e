"""The notebook's widget: what it is given, and that its script steps through the games in a browser."""

import json
import re

import pytest
from drawn_board import drawn_board, expected_board

import starmine

anywidget = pytest.importorskip("anywidget", reason="anywidget is not installed")


@pytest.fixture(scope="module")
def games():
    return starmine.play_games(["smart", "iggi"], games=2, record=True)


def test_the_widget_holds_the_games(games):
    widget = starmine.look.viewer(games, compare="smart")
    assert isinstance(widget, anywidget.AnyWidget)
    assert widget.data == starmine.look.replay_data(games, compare="smart")
    assert not re.search(r"^import |https?://(?!www\.w3\.org/2000/svg)", widget._esm, re.MULTILINE)


def test_its_script_steps_through_the_games(games, open_page, tmp_path):
    widget = starmine.look.viewer(games)
    script = widget._esm.replace("export default", "const widget =")
    data = json.dumps(widget.data)
    call = f"widget.render({{ model: {{ get: () => ({data}) }}, el: document.getElementById('here') }});"
    path = tmp_path / "cell.html"
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><style>{widget._css}</style><div id="here"></div>'
        f'<script type="module">{script}{call}</script>',
        encoding="utf-8",
    )
    page = open_page(path.as_uri())
    page.get_by_role("region", name="Replay of a game of Hanabi").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expected = expected_board(games.trajectories.state(0, 2))
    found = drawn_board(page)
    assert {name: found[name] for name in expected} == expected
    assert page.evaluate("location.hash") == ""
