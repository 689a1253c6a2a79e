"""Takes the screenshots of docs/look.md.

They show a replay and the page of `starmine play`.

python tools/draw_look.py

It needs playwright and Chromium. look-inputs.json keeps the checksums of what the pictures were taken of, so that a
test finds those that are out of date.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import starmine
from starmine.look import LiveGame, replay_html
from starmine.look.server import FILES, Server
from starmine.look.shapes import browser_file
from starmine.look.web_game import WebGame

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DOCS = Path(__file__).parents[1] / "docs"
INPUTS = Path(__file__).parent / "look-inputs.json"
SHOTS = {
    "look-desktop-light.png": ({"width": 1280, "height": 800}, "light"),
}
MOVES = 5  # of the person before the picture of the page
BOTS = ["smart", "simple", "smart"]


def page() -> str:
    """A replay of three games of smart with a careless partner, the worst of twelve."""
    rules = starmine.variant("standard", players=3)
    games = starmine.play_games(BOTS, 12, seed=5, variant=rules)
    worst = games[games.scores.argsort(kind="stable")[:3]]
    return replay_html(worst, names=BOTS, compare="information", policy="ippo-3p")


def web_game() -> WebGame:
    """The game of the page of `starmine play`."""
    return WebGame(lambda number: LiveGame(starmine.Variant(), [None, "smart"], seed=11, game=number))


def played() -> str:
    """What `play` takes a picture of: the page's files, the game and the advice."""
    game = web_game()
    shown = game.show()
    for turn in range(0, 2 * MOVES, 2):
        game.act(game.advise("smart", [0, turn])["action"], [0, turn])
        shown = game.step([0, turn + 1])
    files = [browser_file(name) for name, _ in FILES.values()]
    return json.dumps([shown, game.advise("smart", [0, 2 * MOVES]), files])


def play(browser: Browser) -> None:
    """The page of `starmine play`, some moves into a game with `smart` and advice asked for."""
    server = Server(web_game())
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        shown = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
        shown.goto(server.address)
        shown.get_by_label("Speed").select_option("fast")
        for number in range(MOVES + 1):
            shown.get_by_role("button", name="Advice").and_(shown.locator(":enabled")).wait_for()
            shown.get_by_role("button", name="Advice").click()
            advice = shown.locator(".sp-advised")
            advice.wait_for()
            if number < MOVES:
                advice.click()
                shown.wait_for_timeout(700)
        shown.screenshot(path=DOCS / "look-play.png")
    finally:
        server.stop()
        thread.join()


def inputs() -> dict[str, str]:
    """The checksum of what each group of pictures is taken of."""
    texts = {"replay": page(), "play": played()}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def main() -> None:
    """Write the screenshots and the checksums of what they were taken of."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        file = Path(folder) / "replay.html"
        file.write_text(page(), encoding="utf-8")
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (size, scheme) in SHOTS.items():
            shown = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
            shown.goto(f"{file.as_uri()}#game=1&turn=32")
            shown.wait_for_timeout(300)
            shown.screenshot(path=DOCS / name)
        play(browser)
        browser.close()
    INPUTS.write_text(json.dumps(inputs(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
