"""Whole games by clicks in a real browser, and everything that the browser was sent."""

import json

import pytest
from drawn_board import drawn_board, expected_board
from web_person import serving, web_tables_of

import starmine

pytestmark = pytest.mark.slow


def listening(page):
    """All answers that the page gets: addresses and bodies."""
    kept = []
    page.on("response", lambda answer: kept.append((answer.url, answer.body())))
    return kept


def table_at(web_tables, page):
    """The table that the page shows."""
    return web_tables._places[page.evaluate("location.hash").partition("=")[2]].table


def begin(page, seats):
    """Set up a table by the form, with partners that do not wait."""
    page.get_by_label("Seats").select_option(str(len(seats)))
    for seat, name in enumerate(seats):
        page.get_by_role("combobox", name=f"Seat {seat}").select_option(name)
    page.get_by_role("button", name="Start").click()
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
    web_tables = web_tables_of(advisers=["smart"], seed=11)
    whole = starmine.play_games(["smart", "smart"], 1, seed=11, record=True).trajectories.state(0)
    problems = []
    with serving(web_tables) as server:
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        sent = listening(page)
        page.goto(server.address)
        begin(page, ["smart", "you"])
        table = table_at(web_tables, page)
        clicked = 0
        while True:
            page.locator(".sp-say", has_text="Your turn").or_(page.locator(".sp-result")).wait_for()
            if table.is_over:
                break
            shows(page, table.state, 1)
            clicked += 1
            if clicked < 4:
                page.get_by_role("button", name="Advice").click()
                page.locator(".sp-advised").click()
            else:
                page.locator(f".sm-move[data-action='{whole.history[table.state.length].action}']").click()
            page.locator(".sr-log li").nth(2 * clicked - 1 - 2 * (clicked > 3)).wait_for()
            if clicked == 3:
                page.locator(".sp-say", has_text="Your turn").wait_for()
                turns = table.state.length
                page.get_by_role("button", name="Take back").click()
                page.locator(".sr-log li").nth(turns - 2).wait_for(state="detached")
                assert table.state.length == turns - 2
        assert table.state == whole
        assert f"{whole.score} of 25 points after 1 moves were taken back" in page.locator(".sp-result").inner_text()
        shows(page, whole, None)
        with page.expect_download() as download:
            page.get_by_role("link", name="Save replay").click()
        assert b'<main id="replay">' in download.value.path().read_bytes()
        page.get_by_role("button", name="Play again").click()
        page.locator(".sp-say", has_text="Your turn").wait_for()
        assert table_at(web_tables, page) is not table
        assert (table_at(web_tables, page).names, table_at(web_tables, page).state.length) == (["smart", "you"], 1)
        page.get_by_role("button", name="Leave").click()
        page.locator(".sp-form").first.wait_for()
        page.close()
    assert problems == []
    origin = server.address.partition(server.token)[0]
    assert all(address.startswith(server.address) for address, _ in sent), origin
    told = [body for address, body in sent if address.partition(server.token)[2].startswith("/tables/")]
    answers = [body for body in told if body[:1] == b"{"]
    assert len(answers) > whole.length
    assert all(hidden(body, 1) for body in answers)


def test_watching_and_every_control_has_a_name(browser):
    web_tables = web_tables_of(seed=11)
    with serving(web_tables) as server:
        page = browser.new_page(viewport={"width": 400, "height": 800})
        page.set_default_timeout(60_000)
        page.goto(server.address)
        begin(page, ["smart", "info", "smart"])
        table = table_at(web_tables, page)
        page.get_by_role("button", name="Pause").click()
        names = page.evaluate(
            """() => [...document.querySelectorAll('button, select, a')].map(
                (made) => made.getAttribute('aria-label') ?? made.textContent)"""
        )
        assert all(names)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        page.get_by_role("button", name="Go on").click()
        page.locator(".sp-result").wait_for()
        assert table.is_over
        shows(page, table.state, None)
        page.keyboard.press("ArrowLeft")  # steps at once: nothing need be clicked first
        before = table.trajectories().state(0, table.state.length - 1)
        shows(page, before, None)
        page.keyboard.press("ArrowRight")
        shows(page, table.state, None)
        page.get_by_role("link", name="All tables").click()
        page.get_by_role("link", name="Table 1: smart, info, smart (over)").click()
        page.locator(".sp-result").wait_for()
        page.close()


def test_a_second_tab_that_shows_an_earlier_position_plays_no_move(browser):
    """Its move is refused; it then shows the game as it is, says so, and plays on."""
    web_tables = web_tables_of(seed=3)
    with serving(web_tables) as server:
        shown = web_tables.open("standard", [None, "smart"])
        table = web_tables._places[shown["id"]].table
        first, second = (browser.new_page() for _ in range(2))
        for page in (first, second):
            page.set_default_timeout(60_000)
            page.goto(f"{server.address}#table={shown['id']}")
            page.get_by_label("Speed").select_option("fast")
            page.locator(".sp-say", has_text="Your turn").wait_for()
        first.locator(".sm-move").last.click()
        first.locator(".sr-log li").nth(1).wait_for()
        first.locator(".sp-say", has_text="Your turn").wait_for()
        before = table.state.copy()
        second.locator(".sm-move").first.click()
        second.locator(".sp-problem", has_text="moved on").wait_for()
        assert table.state == before
        shows(second, table.state, 0)
        second.locator(".sm-move").first.click()
        second.locator(".sr-log li").nth(3).wait_for()
        assert table.state.length == 4
        # Both pages go on with the partner's turns; each turn is played once.
        first.get_by_role("button", name="Advice").click()
        first.locator(".sp-problem", has_text="moved on").wait_for()
        shows(first, table.state, 0)
        for page in (first, second):
            page.close()


def test_a_server_that_has_ended_is_said(browser):
    with serving(web_tables_of()) as server:
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(server.address)
        begin(page, ["you", "smart"])
    page.get_by_role("button", name="Advice").click()
    page.locator(".sp-problem", has_text="does not answer").wait_for()
    page.close()
