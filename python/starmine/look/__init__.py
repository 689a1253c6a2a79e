"""Looking at games: frames, pictures, replays."""

from starmine.look.frame import FORMAT, Frame, frame_of

__all__ = ["FORMAT", "Frame", "frame_of"]
