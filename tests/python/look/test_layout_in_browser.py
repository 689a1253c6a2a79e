"""No hand lies under the controls, in the pages of replays and of `starmine play`, for two to five players."""

import random

import pytest
from random_games import play
from web_person import serving, web_game_of

import starmine
from starmine.look import replay_html

pytestmark = pytest.mark.slow

PLAYERS = [2, 5, *(pytest.param(players, marks=pytest.mark.nightly) for players in (3, 4))]
SIZES = {"desktop": {"width": 1280, "height": 720}, "phone": {"width": 390, "height": 844}}
SMALLER = [(1024, 600), (800, 480), (700, 900), (360, 640), (844, 390), (1920, 560)]
LONG = ["search: smart; rollouts=1000", "policy: somewhere/of/mine.safetensors", "you", "Bartholomew Smith", "e"]

# For each scroll position of the page: the hands that overlap the controls, and those that are whole in the window.
MEASURE = """() => {
  const hands = [...document.querySelectorAll('.sm-seat')];
  const whole = new Set(), under = new Set();
  const { scrollHeight: end, scrollWidth: wide } = document.documentElement;
  const look = () => {
    const controls = document.querySelector('.sr-controls').getBoundingClientRect();
    hands.forEach((hand, index) => {
      const box = hand.getBoundingClientRect();
      const above = box.bottom <= controls.top + 0.5, below = box.top >= controls.bottom - 0.5;
      const beside = box.right <= controls.left + 0.5 || box.left >= controls.right - 0.5;
      if (!(above || below || beside)) under.add(index);
      if (box.top >= -0.5 && box.bottom <= innerHeight + 0.5) whole.add(index);
    });
  };
  scrollTo(0, 0);
  look();
  const first = whole.size;
  for (let y = 0; y <= end; y += 40) { scrollTo(0, y); look(); }
  scrollTo(0, 0);
  return { hands: hands.length, first, whole: whole.size, under: [...under], wide };
}"""


def measured(page):
    """What `MEASURE` finds once the page has settled."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate(MEASURE)


def replay_page(open_page, folder, players, size, **shown):
    """A replay of a game, with all that can stand in its controls."""
    rules = starmine.variant("standard", players=players)
    games = starmine.play_games(["smart"] * players, 1, variant=rules, seed=3, record=True)
    path = folder / f"replay-{players}.html"
    path.write_text(replay_html(games, compare="info", policy=f"ippo-{players}p-small", **shown), encoding="utf-8")
    return open_page(path.as_uri() + "#turn=0", viewport=size), int(games.lengths[0])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("players", PLAYERS)
def test_all_hands_of_a_replay_are_seen_above_its_controls(open_page, tmp_path, players, size):
    page, length = replay_page(open_page, tmp_path, players, SIZES[size])
    for turn in range(0, length + 1, 6):
        page.evaluate("hash => { location.hash = hash }", f"#turn={turn}")
        page.wait_for_function("hash => document.querySelector('.sr-link').hash === hash", arg=f"#turn={turn}")
        found = measured(page)
        assert found["under"] == [], turn
        assert found["first"] == found["whole"] == found["hands"] == players, turn
        assert found["wide"] <= SIZES[size]["width"]


@pytest.mark.parametrize(("width", "height"), SMALLER)
@pytest.mark.parametrize("players", [2, 5])
def test_in_smaller_windows_the_controls_give_way(open_page, tmp_path, players, width, height):
    """Then the controls do not stay in the window, and every hand can be scrolled into it."""
    size = {"width": width, "height": height}
    page, _ = replay_page(open_page, tmp_path, players, size, names=LONG[:players], titles=["A long title " * 5])
    for turn in (0, 20):
        page.evaluate("hash => { location.hash = hash }", f"#turn={turn}")
        found = measured(page)
        assert found["under"] == []
        assert found["whole"] == players
        assert found["wide"] <= width


def test_the_controls_follow_the_window(open_page, tmp_path):
    """A window that is made smaller, or larger, moves them; a step does not."""
    page, _ = replay_page(open_page, tmp_path, 5, SIZES["desktop"])
    at_bottom = "() => document.querySelector('.sr-controls').getBoundingClientRect().bottom >= innerHeight - 1"
    assert page.evaluate(at_bottom)
    page.set_viewport_size({"width": 1280, "height": 500})
    page.wait_for_function(f"() => !({at_bottom})()")
    assert measured(page)["under"] == []
    page.set_viewport_size(SIZES["desktop"])
    page.wait_for_function(at_bottom)


@pytest.mark.parametrize("variant", ["avalanche", "timed-display"])
@pytest.mark.parametrize("size", SIZES)
def test_other_rules_fit_as_well(open_page, tmp_path, variant, size):
    state = starmine.variant(variant, players=5, hand_size=6).new_game(seed=1)
    play(state, random.Random(0), turns=9)
    path = tmp_path / "replay.html"
    path.write_text(replay_html(state), encoding="utf-8")
    found = measured(open_page(path.as_uri() + "#turn=5", viewport=SIZES[size]))
    assert (found["under"], found["whole"]) == ([], 5)
    assert found["wide"] <= SIZES[size]["width"]


@pytest.mark.parametrize("size", [*SIZES.values(), {"width": 800, "height": 480}], ids=str)
@pytest.mark.parametrize("players", PLAYERS)
def test_no_hand_of_a_table_lies_under_its_controls(browser, players, size):
    """While the person is to act, with advice, and after the end."""
    web_game = web_game_of((None, *["smart"] * (players - 1)), advisers=["smart"], seed=3)
    with serving(web_game) as server:
        page = browser.new_page(viewport=size)
        page.set_default_timeout(60_000)
        page.goto(server.address)
        page.get_by_label("Speed").select_option("fast")
        for _ in range(3):
            page.locator(".sp-say", has_text="Your turn").wait_for()
            found = measured(page)
            assert (found["under"], found["hands"], found["whole"]) == ([], players, players)
            assert found["wide"] <= size["width"]
            page.get_by_role("button", name="Advice").click()
            page.locator(".sp-advised").wait_for()
            assert measured(page)["under"] == []
            page.locator(".sp-advised").click()
        table = web_game.game
        with web_game._lock:  # the page asks for the partners' turns meanwhile
            while not table.is_over:
                table.act(table.advice("smart")) if table.waits else table.play_partner()
        page.reload()
        page.locator(".sp-result").wait_for()
        found = measured(page)
        assert (found["under"], found["hands"], found["whole"]) == ([], players, players)
        assert found["wide"] <= size["width"]
        page.close()
