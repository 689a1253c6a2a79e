"""Looking at games: frames, pictures, replays, and where the points went."""

from starmine.look.analysis import Mistake, mistakes, reachable, verdict
from starmine.look.frame import FORMAT, Frame, frame_of
from starmine.look.live_game import LiveGame
from starmine.look.png import to_png
from starmine.look.replay import ReplayOptions, replay_data, replay_html
from starmine.look.svg import grid_svg, svg_of, to_svg

__all__ = [
    "FORMAT",
    "Frame",
    "LiveGame",
    "Mistake",
    "ReplayOptions",
    "frame_of",
    "grid_svg",
    "mistakes",
    "reachable",
    "replay_data",
    "replay_html",
    "svg_of",
    "to_png",
    "to_svg",
    "verdict",
]
