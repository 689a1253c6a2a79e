"""A replay in a real browser: the board against the engine, the keyboard, names for all controls, hostile text."""

import random
import re

import pytest
from drawn_board import drawn_board, expected_board
from random_games import play

import starmine
from starmine.look import frame_of, mistakes, replay_html, verdict

pytestmark = pytest.mark.slow

HOSTILE = '</script><img src=x onerror="window.broken=1"><script>window.broken=1</script>&lt;b&gt;"'


def saved(folder, text):
    """The address of a page that holds this text."""
    path = folder / "replay.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


def same(page, state, seat=None):
    """Whether the board shows the state."""
    found, expected = drawn_board(page), expected_board(state, seat)
    assert {name: found[name] for name in expected} == expected
    assert set(found["critical"]) <= set(frame_of(state)["critical"])


@pytest.fixture(scope="module")
def games():
    return starmine.play_games(["smart", "simple", "smart"], games=3, variant=starmine.variant("standard", players=3))


def test_the_board_is_the_engine_s_at_random_turns(open_page, tmp_path, games):
    page = open_page(saved(tmp_path, replay_html(games, beliefs=False)) + "#game=1&turn=3")
    same(page, games.state(1, 3))
    rng = random.Random(0)
    for _ in range(50):
        game, seat = rng.randrange(3), rng.choice([None, 0, 1, 2])
        turn = rng.randint(0, int(games.lengths[game]))
        page.evaluate("hash => { location.hash = hash }", f"#game={game}&turn={turn}")
        page.wait_for_function(
            "hash => document.querySelector('.sr-link').hash === hash", arg=f"#game={game}&turn={turn}"
        )
        page.get_by_label("Whose view").select_option("" if seat is None else str(seat))
        same(page, games.state(game, turn), seat)


def test_the_keyboard_steps_and_jumps_to_mistakes(open_page, tmp_path, games):
    page = open_page(saved(tmp_path, replay_html(games[1])) + "#turn=0")
    length = int(games.lengths[1])
    for key, turn in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", length), ("ArrowRight", length)]:
        page.keyboard.press(key)
        same(page, games.state(1, turn))
        assert page.evaluate("location.hash") == f"#turn={turn}"
    page.keyboard.press("Home")
    for turn in dict.fromkeys(mistake.turn for mistake in mistakes(games.state(1))):
        page.keyboard.press("n")
        same(page, games.state(1, turn))
    page.get_by_label("Turn", exact=True).focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    same(page, games.state(1, 1))


def test_turns_and_mistakes_can_be_clicked(open_page, tmp_path, games):
    page = open_page(saved(tmp_path, replay_html(games[1], compare="holmes")))
    page.locator(".sr-turn").nth(6).click()
    same(page, games.state(1, 7))
    first = mistakes(games.state(1))[0]
    page.locator(".sr-mistake").first.click()
    same(page, games.state(1, first.turn))
    assert first.text in page.locator(".sr-mistake").first.inner_text()
    assert page.locator(".sr-verdict").inner_text() == verdict(games.state(1))
    page.get_by_label("First turn").click()
    position = games.state(1, 0)
    agrees = position.suggest("holmes") == games.state(1).history[0].action
    assert ("holmes agrees" in page.locator(".sr-next").inner_text()) == agrees


def test_the_page_tells_why_points_went(open_page, tmp_path):
    """Each mistake says what Python says, what had been hinted and what could be known, and goes to its turn."""
    rules = starmine.variant("standard", players=3)
    games = starmine.play_games(["smart", "simple", "smart"], 2, seed=5, variant=rules)
    state = games.state(1)
    found = mistakes(state)
    assert {mistake.kind for mistake in found} == {"misplay", "critical", "time"}
    page = open_page(saved(tmp_path, replay_html(games, compare="smart")) + "#game=1")
    cards = [mistake for mistake in found if mistake.kind != "time"]
    assert page.locator(".sr-mistake").count() == len(cards)
    for row, mistake in zip(page.locator(".sr-mistake").all(), cards, strict=True):
        told, position = row.inner_text(), games.state(1, mistake.turn - 1)
        event = state.history[mistake.turn - 1]
        assert f"turn {mistake.turn}: {mistake.text}" in told
        assert ("of 3 lives" in told) == (mistake.kind == "misplay")
        share = mistake.chance if mistake.kind == "misplay" else 1 - mistake.chance
        assert (
            abs(int(re.search(r"for its owner it was .* with a probability of <?(\d+)%", told)[1]) - 100 * share) <= 1
        )
        hints = frame_of(position)["hands"][mistake.seat][event.slot]["told"]
        turns = [turn for turn, said in hints if said.startswith("+")]
        assert ("no hint had touched it" in told) == (not turns)
        assert all(f"(turn {turn})" in told for turn in turns)
        assert ("smart would have done the same" in told) == (position.suggest("smart") == event.action)
        row.click()
        assert page.locator(".sr-mistake[aria-current]").inner_text() == told
        same(page, games.state(1, mistake.turn))
        said = page.locator(".sr-said").inner_text()
        assert said.startswith(frame_of(games.state(1, mistake.turn))["words"])
    late = [mistake.turn for mistake in found if mistake.kind == "time"]
    assert page.locator(".sr-late").all_inner_texts() == [str(turn) for turn in late]
    page.locator(".sr-late").first.click()
    same(page, games.state(1, late[0]))


def test_a_seat_that_looks_learns_no_other_likelihood(open_page, tmp_path, games):
    page = open_page(saved(tmp_path, replay_html(games[0])))
    turn = next(turn for turn, event in enumerate(games.state(0).history, 1) if event.kind == "play")
    owner = games.state(0).history[turn - 1].seat
    for seat, told in [("", True), (str(owner), True), (str((owner + 1) % 3), False)]:
        page.evaluate("hash => { location.hash = hash }", f"#turn={turn}")
        page.get_by_label("Whose view").select_option(seat)
        assert ("for its owner it was playable with a probability of" in page.locator(".sr-said").inner_text()) == told


@pytest.mark.parametrize("name", starmine.variants())
def test_every_variant_is_drawn(open_page, tmp_path, name):
    state = starmine.variant(name, players=4, lost_game_score="fireworks").new_game(seed=2)
    play(state, random.Random(1), turns=14)
    page = open_page(saved(tmp_path, replay_html(state)), viewport={"width": 400, "height": 800})
    page.keyboard.press("End")
    same(page, state)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 400


def test_hostile_text_stays_text(open_page, tmp_path, games):
    text = replay_html(games[0], names=[HOSTILE, "b", "c"], titles=[HOSTILE], title=HOSTILE)
    page = open_page(saved(tmp_path, text))
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(50)
    assert page.evaluate("window.broken") is None
    assert page.title() == " ".join(HOSTILE.split())
    assert page.locator(".sr-title").inner_text().startswith(HOSTILE)
    assert page.locator(".sm-who").first.inner_text() == HOSTILE
    assert page.locator("#replay img").count() == 0
