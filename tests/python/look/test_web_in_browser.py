"""Whole games by clicks in a real browser, and everything that the browser was sent."""

import json

import pytest
from drawn_board import drawn_board, expected_board
from web_person import serving, web_game_of

import starmine

pytestmark = pytest.mark.slow


def listening(page):
    """All answers that the page gets: addresses and bodies."""
    kept = []
    page.on("response", lambda answer: kept.append((answer.url, answer.body())))
    return kept


def begin(page):
    """Let partners play without waiting."""
    page.locator(".sm-board").wait_for()
    page.get_by_label("Speed").select_option("fast")


def shows(page, state, seat):
    """Whether the board shows what this seat may see of the state."""
    found, expected = drawn_board(page), expected_board(state, seat)
    assert {name: found[name] for name in expected} == expected


def hidden(body, seat):
    """Whether an answer hides this seat's cards, and has no deck and no seed."""
    data = json.loads(body)
    if "frame" not in data or data["over"]:
        return True
    keys = set(data) | set(data["frame"])
    cards = [card["card"] for card in data["frame"]["hands"][seat]]
    return not keys & {"deck", "seed", "games"} and set(cards) <= {None}


def test_a_whole_game_by_clicks(browser):
    """The person plays as `smart` would, so that the game is that of `smart` in both seats."""
    web_game = web_game_of(("smart", None), advisers=["smart"], seed=11)
    game = web_game.game
    whole = starmine.play_games(["smart", "smart"], 1, seed=11).state(0)
    problems = []
    with serving(web_game) as server:
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        sent = listening(page)
        page.goto(server.address)
        begin(page)
        clicked = 0
        while True:
            page.locator(".sp-say", has_text="Your turn").or_(page.locator(".sp-result")).wait_for()
            if game.is_over:
                break
            shows(page, game.state, 1)
            clicked += 1
            if clicked < 4:
                page.get_by_role("button", name="Advice").click()
                page.locator(".sp-advised").click()
            else:
                page.locator(f".sm-move[data-action='{whole.history[game.state.length].action}']").click()
            page.locator(".sr-log li").nth(2 * clicked - 1).wait_for()
        assert game.state == whole
        assert f"{whole.score} of 25 points" in page.locator(".sp-result").inner_text()
        shows(page, whole, None)
        with page.expect_download() as download:
            page.get_by_role("link", name="Save replay").click()
        assert b'<main id="replay">' in download.value.path().read_bytes()
        page.get_by_role("button", name="New game").click()
        page.locator(".sp-say", has_text="Your turn").wait_for()
        assert (web_game.number, web_game.game.names, web_game.game.state.length) == (1, ["smart", "you"], 1)
        page.close()
    assert problems == []
    origin = server.address.partition(server.token)[0]
    assert all(address.startswith(server.address) for address, _ in sent), origin
    answers = [body for address, body in sent if address.rpartition("/")[2] in ("game", "act", "step", "advice")]
    assert len(answers) > whole.length
    assert all(hidden(body, 1) for body in answers)


def test_a_second_tab_that_shows_an_earlier_position_plays_no_move(browser):
    """Its move is refused; it then shows the game as it is, says so, and plays on."""
    web_game = web_game_of(seed=3)
    game = web_game.game
    with serving(web_game) as server:
        first, second = (browser.new_page() for _ in range(2))
        for page in (first, second):
            page.set_default_timeout(60_000)
            page.goto(server.address)
            begin(page)
            page.locator(".sp-say", has_text="Your turn").wait_for()
        first.locator(".sm-move").last.click()
        first.locator(".sr-log li").nth(1).wait_for()
        first.locator(".sp-say", has_text="Your turn").wait_for()
        before = game.state.copy()
        second.locator(".sm-move").first.click()
        second.locator(".sp-problem", has_text="moved on").wait_for()
        assert game.state == before
        shows(second, game.state, 0)
        second.locator(".sm-move").first.click()
        second.locator(".sr-log li").nth(3).wait_for()
        assert game.state.length == 4
        # Both pages go on with the partner's turns; each turn is played once.
        first.get_by_role("button", name="Advice").click()
        first.locator(".sp-problem", has_text="moved on").wait_for()
        shows(first, game.state, 0)
        for page in (first, second):
            page.close()
