"""Draws docs/board.svg: a turn of a game of the policy `ippo-2p` with itself, as seat 0 sees it.

python docs/draw_board.py
"""

from __future__ import annotations

from pathlib import Path

from starmine import State
from starmine.look import frame_of, svg_of
from starmine.look.replay import Thinker
from starmine.policies.load import load_own

PICTURE = Path(__file__).parent / "board.svg"
POLICY, SEED, TURNS = "ippo-2p", 4, 40


def position() -> State:
    """The game after some turns of the policy."""
    state = load_own(POLICY).variant.new_game(seed=SEED)
    for _ in range(TURNS):
        state.apply(state.suggest(POLICY))
    return state


def picture() -> str:
    """The file's text."""
    state = position()
    thought = Thinker(load_own(POLICY)).thoughts(state)[-1]
    thought["moves"] = {action: state.variant.action_meaning(action) for action in range(state.variant.num_actions)}
    return svg_of(frame_of(state, state.current_player, names=["ippo-2p", "partner"], policy=thought)) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
