"""Looking at games: frames, pictures, replays, and where the points went.

A `Frame` is what one seat, or everybody, sees of a position; `svg` and `png` draw it, in the browser `board.js` does.
`replay` writes the page that steps through a game, and `live_game`, `web_game` and `server` are the page to play on.
Shapes and colours of a board stand once, in `drawing.json`, which `shapes` reads for Python and for the browser.
`analysis` finds mistakes.
"""

from starmine.look.analysis import Mistake, mistakes, verdict
from starmine.look.frame import Frame, frame_of
from starmine.look.live_game import LiveGame
from starmine.look.png import to_png
from starmine.look.replay import replay_html
from starmine.look.svg import to_svg

__all__ = [
    "Frame",
    "LiveGame",
    "Mistake",
    "frame_of",
    "mistakes",
    "replay_html",
    "to_png",
    "to_svg",
    "verdict",
]
