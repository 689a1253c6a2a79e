"""Looking at games: frames, pictures, replays, and where the points went."""

from starmine.look.frame import FORMAT, Frame, frame_of
from starmine.look.mistakes import Mistake, mistakes, reachable
from starmine.look.replay import replay_data, replay_html
from starmine.look.table import Table

__all__ = ["FORMAT", "Frame", "Mistake", "Table", "frame_of", "mistakes", "reachable", "replay_data", "replay_html"]
