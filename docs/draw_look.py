"""Takes the screenshots of docs/look.md.

They show a replay at the widths of a desktop and of a phone, light and dark, the page of `starmine play --web`, and the
report of an evaluation.

python docs/draw_look.py

It needs playwright and Chromium.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import starmine
from starmine.evaluation.html_report import evaluation_html
from starmine.look import replay_html
from starmine.look.lobby import Lobby
from starmine.look.server import Server

FOLDER = Path(__file__).parent
SHOTS = {
    "look-desktop-light.png": ({"width": 1280, "height": 800}, "light"),
    "look-desktop-dark.png": ({"width": 1280, "height": 800}, "dark"),
    "look-phone-light.png": ({"width": 400, "height": 820}, "light"),
    "look-phone-dark.png": ({"width": 400, "height": 820}, "dark"),
}
BOTS = ["smart", "simple", "smart"]


def page() -> str:
    """A replay of three games of smart with a careless partner, the worst of twelve."""
    rules = starmine.variant("standard", players=3)
    games = starmine.play_games(BOTS, 12, seed=5, variant=rules, record=True)
    assert games.trajectories is not None
    worst = games.trajectories[games.scores.argsort(kind="stable")[:3]]
    return replay_html(worst, names=BOTS, compare="info", policy="ippo-3p")


def play(browser: Browser) -> None:
    """The page of `starmine play --web`, some moves into a game with `smart` and advice asked for."""
    server = Server(Lobby({name: lambda name=name: name for name in ("smart", "info")}, seed=11))  # type: ignore[misc]
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        shown = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
        shown.goto(server.address)
        shown.get_by_role("combobox", name="Seat 0").select_option("you")
        shown.get_by_role("combobox", name="Seat 1").select_option("smart")
        shown.get_by_role("button", name="Start").click()
        shown.get_by_label("Speed").select_option("fast")
        for number in range(6):
            shown.get_by_role("button", name="Advice").and_(shown.locator(":enabled")).wait_for()
            shown.get_by_role("button", name="Advice").click()
            advice = shown.locator(".sp-advised")
            advice.wait_for()
            if number < 5:
                advice.click()
                shown.wait_for_timeout(700)
        shown.screenshot(path=FOLDER / "look-play.png")
    finally:
        server.stop()
        thread.join()


def evaluation(browser: Browser, folder: Path) -> None:
    """The report of `starmine eval --html`."""
    file = folder / "eval.html"
    results = starmine.evaluate(["smart", "info", "simple", "ippo-2p"], games=200)
    file.write_text(evaluation_html(results, "worst.html"), encoding="utf-8")
    shown = browser.new_page(viewport={"width": 1000, "height": 740}, color_scheme="light")
    shown.goto(file.as_uri())
    shown.screenshot(path=FOLDER / "look-eval.png")


def main() -> None:
    """Write the screenshots."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        file = Path(folder) / "replay.html"
        file.write_text(page(), encoding="utf-8")
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (size, scheme) in SHOTS.items():
            shown = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
            shown.goto(f"{file.as_uri()}#game=1&turn=21")
            shown.wait_for_timeout(300)
            shown.screenshot(path=FOLDER / name)
        play(browser)
        evaluation(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
