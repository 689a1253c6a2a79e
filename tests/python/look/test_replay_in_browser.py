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
ROLES = {"button", "slider", "combobox", "checkbox", "link", "listitem", "list", "image", "group", "region"}


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
    return starmine.play_games(
        ["smart", "simple", "smart"], games=3, variant=starmine.variant("standard", players=3), record=True
    ).trajectories


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


@pytest.mark.parametrize("chosen", ["Whose view", "Game", "Show beliefs", "Turn", "Change between light and dark"])
def test_keys_step_whatever_was_chosen_before(open_page, tmp_path, games, chosen):
    """Also while the focus is in a list of seats or games, of which the key would choose the next one."""
    page = open_page(saved(tmp_path, replay_html(games, compare="info")) + "#game=0&turn=3")
    control = page.get_by_label(chosen, exact=True)
    control.focus()
    if chosen in ("Whose view", "Game"):
        control.select_option("1")
    elif chosen == "Show beliefs":
        control.uncheck()
    game, seat = (1, None) if chosen == "Game" else (0, 1 if chosen == "Whose view" else None)
    turn = int(page.evaluate("location.hash").rpartition("=")[2])  # a lost game opens on a turn of its own
    for key, step in [("ArrowLeft", -1), ("ArrowLeft", -1), ("ArrowRight", 1)]:
        page.keyboard.press(key)
        turn += step
        assert page.evaluate("location.hash") == f"#game={game}&turn={turn}"
        same(page, games.state(game, turn), seat)
    page.keyboard.press("End")
    same(page, games.state(game), seat)
    page.keyboard.press("Home")
    page.keyboard.press("n")
    same(page, games.state(game, mistakes(games.state(game))[0].turn), seat)


def test_turns_and_mistakes_can_be_clicked(open_page, tmp_path, games):
    page = open_page(saved(tmp_path, replay_html(games[1], compare="info")))
    page.locator(".sr-turn").nth(6).click()
    same(page, games.state(1, 7))
    first = mistakes(games.state(1))[0]
    page.locator(".sr-mistake").first.click()
    same(page, games.state(1, first.turn))
    assert first.text in page.locator(".sr-mistake").first.inner_text()
    assert page.locator(".sr-verdict").inner_text() == verdict(games.state(1))
    page.get_by_label("First turn").click()
    position = games.state(1, 0)
    agrees = position.suggest("info") == games.state(1).history[0].action
    assert ("info agrees" in page.locator(".sr-next").inner_text()) == agrees


def test_the_page_tells_why_points_went(open_page, tmp_path):
    """Each mistake says what Python says, what had been hinted and what could be known, and goes to its turn."""
    rules = starmine.variant("standard", players=3)
    games = starmine.play_games(["smart", "simple", "smart"], 2, seed=5, variant=rules, record=True).trajectories
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


# Points of the arrow's lines and heads, and the boxes of what it may not cross, by name.
ARROW = """() => {
  const inside = (x, y, box) => x > box.left && x < box.right && y > box.top && y < box.bottom;
  const boxes = [...document.querySelectorAll('.sm-face, .sm-told > *, .sm-map, .sm-who, .sm-stack, .sm-status')]
    .map((made) => [made.className || made.tagName, made.getBoundingClientRect()]);
  const layer = document.querySelector('.sm-arrows').getBoundingClientRect();
  const crossed = new Set();
  let points = 0;
  for (const path of document.querySelectorAll('.sm-arrows path')) {
    const length = path.getTotalLength();
    for (let at = 0; at <= length; at += 2, points += 1) {
      const { x, y } = path.getPointAtLength(at);
      for (const [name, box] of boxes) if (inside(layer.left + x, layer.top + y, box)) crossed.add(name);
    }
  }
  return { points, crossed: [...crossed] };
}"""


@pytest.mark.parametrize("width", [400, 1200])
def test_the_arrow_crosses_no_card_and_no_name(open_page, tmp_path, games, width):
    address = saved(tmp_path, replay_html(games[0])) + "#turn=0"
    page = open_page(address, viewport={"width": width, "height": 900})
    assert page.evaluate(ARROW) == {"points": 0, "crossed": []}
    kinds = set()
    for turn in range(1, 31):
        page.keyboard.press("ArrowRight")
        found = page.evaluate(ARROW)
        assert found["points"] > 20, turn
        assert found["crossed"] == [], turn
        kinds.add(games.state(0, turn).history[-1].kind)
    assert len(kinds) == 4


@pytest.mark.parametrize("name", starmine.variants())
def test_every_variant_is_drawn(open_page, tmp_path, name):
    state = starmine.variant(name, players=4, lost_game_score="fireworks").new_game(seed=2)
    play(state, random.Random(1), turns=14)
    page = open_page(saved(tmp_path, replay_html(state)), viewport={"width": 400, "height": 800})
    page.keyboard.press("End")
    same(page, state)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 400


def test_a_teal_suit_is_no_rainbow(open_page, tmp_path):
    """Of a game of hanab.live with six suits: letters, shapes and grounds are that site's, and ours of no suit."""
    state = starmine.Variant(colors=6).new_game(seed=2)
    play(state, random.Random(1), turns=20)
    site = ["red", "yellow", "green", "blue", "purple", "teal"]
    page = open_page(saved(tmp_path, replay_html(state, suits=site)))
    page.keyboard.press("End")
    assert page.locator(".sm-stack small").all_inner_texts() == list("RYGBPT")
    assert page.locator(".sm-board :is(.sm-M, .sm-W)").count() == 0
    assert page.locator(".sm-board .sm-T").count() > 0
    grounds = page.evaluate(
        """() => [...'RYGBPT'].map((letter) => {
          const made = document.createElement('div');
          made.className = `sm-face sm-${letter}`;
          document.querySelector('.sm-board').append(made);
          const { backgroundColor, backgroundImage } = getComputedStyle(made);
          return [backgroundColor, backgroundImage];
        })"""
    )
    assert {image for _, image in grounds} == {"none"}
    assert len({color for color, _ in grounds}) == 6


def test_every_control_has_a_name(open_page, tmp_path, games):
    page = open_page(saved(tmp_path, replay_html(games, compare="info", policy="ippo-3p-small")) + "#turn=20")
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    shown = [node for node in tree if not node["ignored"] and node["role"]["value"] in ROLES]
    roles = {node["role"]["value"] for node in shown}
    assert {"button", "slider", "combobox", "checkbox", "link", "image"} <= roles
    controls = [
        node for node in shown if node["role"]["value"] in ("button", "slider", "combobox", "checkbox", "link", "image")
    ]
    assert [node for node in controls if not node["name"]["value"].strip()] == []


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_scheme_is_the_system_s_until_it_is_changed(open_page, tmp_path, games, scheme):
    page = open_page(saved(tmp_path, replay_html(games[0])), color_scheme=scheme)
    ground = "getComputedStyle(document.querySelector('.sm-board')).colorScheme"
    assert page.evaluate(ground) == scheme
    page.get_by_label("Change between light and dark").click()
    assert page.evaluate(ground) == {"light": "dark", "dark": "light"}[scheme]


def test_a_lost_game_opens_on_its_costliest_turn(open_page, tmp_path):
    lost = starmine.play_games(["smart", "simple"], 1, seed=5, record=True).trajectories.state(0)
    kept = starmine.play_games(["smart", "smart"], 1, seed=5, record=True).trajectories.state(0)
    assert (lost.ending, kept.ending != "lost") == ("lost", True)
    costliest = max(mistakes(lost), key=lambda mistake: mistake.points).turn
    address = saved(tmp_path, replay_html([lost, kept], names=["smart", "simple"], compare="smart"))
    page = open_page(address)
    assert page.evaluate("location.hash") == f"#game=0&turn={costliest}"
    assert page.locator(".sr-title").inner_text() == "Game 0 of smart, simple: 0 of 25 points"
    assert "smart would have done the same" not in page.locator(".sr-mistakes").inner_text()
    page.get_by_label("Game", exact=True).select_option("1")
    assert page.evaluate("location.hash") == "#game=1&turn=0"
    page.evaluate("() => { location.hash = '#game=0&turn=3' }")
    page.wait_for_function("document.querySelector('.sr-link').hash === '#game=0&turn=3'")


def test_a_player_with_neither_card_nor_token_is_told(open_page, tmp_path):
    """The page opens on the turn that ended the game and gives its reason, which is not the want of turns."""
    rules = starmine.Variant(
        colors=1, hand_size=2, max_information_tokens=4, crowning_piece=True, copies=[[2, 1, 1, 1, 1]]
    )
    state = rules.new_game(deck=["R4", "R5", "R1", "R2", "R3", "R1"])
    for move in ["hint +1 red", "play 0"] * 4 + ["play 0"]:
        state.apply(move)
    page = open_page(saved(tmp_path, replay_html(state)))
    assert page.evaluate("location.hash") == "#turn=9"
    reason = "seat 0 plays R4; seat 1 has neither a card nor an information token"
    assert f"5 turn 9: {reason}" in page.locator(".sr-mistakes").inner_text()
    assert "turns" not in page.locator(".sr-mistakes").inner_text()
    assert reason in page.locator(".sr-verdict").inner_text()


def test_the_lists_use_the_window_s_height(open_page, tmp_path, games):
    page = open_page(saved(tmp_path, replay_html(games[1])), viewport={"width": 1400, "height": 900})
    bottom = page.locator(".sr-log").bounding_box()
    controls = page.locator(".sr-controls").bounding_box()
    assert 0 <= controls["y"] - (bottom["y"] + bottom["height"]) < 30
