"""Takes the screenshots of docs/look.md: a replay at the width of a desktop and of a phone, light and dark.

python docs/draw_look.py

It needs playwright and Chromium.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import starmine
from starmine.look import replay_html

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
        browser.close()


if __name__ == "__main__":
    main()
